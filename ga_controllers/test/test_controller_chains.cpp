// SPDX-License-Identifier: Apache-2.0

// Which chain MoveIt uses, and what is switched for it: the PUMA's controllers as the controller
// manager lists them.

#include <gtest/gtest.h>

#include <algorithm>

#include "moveit/controller_chains.hpp"

namespace ga_controllers {
namespace {

using Names = std::vector<std::string>;

const std::string kTrajectory = "joint_trajectory_controller/JointTrajectoryController";
const Names kHeadTypes{kTrajectory};
const Names kProtected{"ga_controllers/HandGuidingController"};

Names interfaces(const std::string& prefix, const Names& quantities) {
  Names names;
  for (const char* joint : {"joint1", "joint2"}) {
    for (const std::string& quantity : quantities) names.push_back(prefix + joint + "/" + quantity);
  }
  return names;
}

const Names kEfforts = interfaces("", {"effort"});

/// All inactive.
std::vector<ControllerInfo> controllers() {
  std::vector<ControllerInfo> all{
      {"joint_state_broadcaster", "joint_state_broadcaster/JointStateBroadcaster", "inactive", {}},
      {"gravity_hold", "ga_controllers/GravityHoldController", "inactive", kEfforts},
      {"hand_guiding", "ga_controllers/HandGuidingController", "inactive", kEfforts},
  };
  for (const std::string law : {"point_to_point", "tracking", "tracking_integral"}) {
    all.push_back({law, "ga_controllers/TrackingController", "inactive", kEfforts});
    all.push_back({law + "_trajectory", kTrajectory, "inactive",
                   interfaces(law + "/", {"position", "velocity", "acceleration"})});
  }
  return all;
}

ControllerInfo& find(std::vector<ControllerInfo>& all, const std::string& name) {
  return *std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
}

std::vector<ControllerInfo> with_active(const Names& names) {
  auto all = controllers();
  for (const std::string& name : names) {
    ControllerInfo& controller = find(all, name);
    controller.state = "active", controller.claimed = controller.required;
  }
  return all;
}

const ControllerChain& chain(const std::vector<ControllerChain>& chains, const std::string& head) {
  return *std::find_if(chains.begin(), chains.end(),
                       [&](const auto& one) { return one.head() == head; });
}

Names preferred(const std::vector<ControllerInfo>& all, const Names& defaults) {
  const auto chains = find_chains(all, kHeadTypes);
  Names names;
  for (const ControllerChain& one : chains) {
    if (is_preferred(one, chains, defaults)) names.push_back(one.head());
  }
  return names;
}

ControllerSwitch plan(const std::vector<ControllerInfo>& all, const Names& activate,
                      const Names& deactivate = {}) {
  return plan_switch(all, find_chains(all, kHeadTypes), activate, deactivate, kProtected);
}

std::string refusal(const std::vector<ControllerInfo>& all, const Names& activate) {
  try {
    plan(all, activate);
  } catch (const SwitchError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ControllerChains, AreFoundFromTheInterfacesDownToTheHardware) {
  const auto chains = find_chains(with_active({"tracking", "tracking_trajectory"}), kHeadTypes);
  ASSERT_EQ(chains.size(), 3u);
  const ControllerChain& active = chain(chains, "tracking_trajectory");
  EXPECT_EQ(active.controllers, (Names{"tracking_trajectory", "tracking"}));
  EXPECT_EQ(active.joints, (Names{"joint1", "joint2"}));
  EXPECT_TRUE(active.active);
  EXPECT_FALSE(chain(chains, "point_to_point_trajectory").active);
}

TEST(ControllerChains, WithAnInactiveLawTheChainIsNotActive) {
  const auto chains = find_chains(with_active({"tracking_trajectory"}), kHeadTypes);
  EXPECT_FALSE(chain(chains, "tracking_trajectory").active);
}

TEST(ControllerChains, OfThreeControllersAndWithoutAny) {
  std::vector<ControllerInfo> all{
      {"direct", kTrajectory, "active", {"a/position", "b/position"}, {"a/position", "b/position"}},
      {"head", kTrajectory, "inactive", {"filter/c/position"}},
      {"filter", "a_filter", "inactive", {"law/c/position"}},
      {"law", "a_law", "inactive", {"c/effort"}},
      {"unconfigured", kTrajectory, "unconfigured", {}}};
  const auto chains = find_chains(all, kHeadTypes);
  ASSERT_EQ(chains.size(), 2u);
  EXPECT_EQ(chains[0].controllers, Names{"direct"});
  EXPECT_EQ(chains[0].joints, (Names{"a", "b"}));
  EXPECT_TRUE(chains[0].active);
  EXPECT_EQ(chains[1].controllers, (Names{"head", "filter", "law"}));
  EXPECT_EQ(chains[1].joints, Names{"c"});
  const ControllerSwitch wanted = plan(all, {"head"});
  EXPECT_EQ(wanted.activate, (Names{"law", "filter", "head"}));
  EXPECT_TRUE(wanted.deactivate.empty());
}

TEST(PreferredChain, IsTheActiveOneWhateverTheDefault) {
  EXPECT_EQ(
      preferred(with_active({"tracking", "tracking_trajectory"}), {"point_to_point_trajectory"}),
      Names{"tracking_trajectory"});
}

TEST(PreferredChain, IsTheOneWhoseLawIsActive) {
  EXPECT_EQ(preferred(with_active({"point_to_point"}), {"tracking_trajectory"}),
            Names{"point_to_point_trajectory"});
}

TEST(PreferredChain, IsTheDefaultOtherwise) {
  const auto all = with_active({"gravity_hold"});
  EXPECT_EQ(preferred(all, {"tracking_integral_trajectory"}),
            Names{"tracking_integral_trajectory"});
  EXPECT_EQ(preferred(all, {}), Names{});
}

TEST(PreferredChain, IsTheOnlyOne) {
  const std::vector<ControllerInfo> all{{"one", kTrajectory, "inactive", {"a/position"}},
                                        {"other", kTrajectory, "inactive", {"b/position"}}};
  EXPECT_EQ(preferred(all, {}), (Names{"one", "other"}));
}

TEST(ControllerSwitch, TakesTheArmFromTheLawThatHoldsIt) {
  const ControllerSwitch wanted =
      plan(with_active({"joint_state_broadcaster", "gravity_hold"}), {"tracking_trajectory"});
  EXPECT_EQ(wanted.activate, (Names{"tracking", "tracking_trajectory"}));
  EXPECT_EQ(wanted.deactivate, Names{"gravity_hold"});
}

TEST(ControllerSwitch, ReplacesAWholeChain) {
  const ControllerSwitch wanted = plan(with_active({"tracking", "tracking_trajectory"}),
                                       {"tracking_integral_trajectory"}, {"tracking_trajectory"});
  EXPECT_EQ(wanted.activate, (Names{"tracking_integral", "tracking_integral_trajectory"}));
  EXPECT_EQ(wanted.deactivate, (Names{"tracking_trajectory", "tracking"}));
  // Also if only one of the two was named: the other cannot stay.
  EXPECT_EQ(plan(with_active({"tracking", "tracking_trajectory"}), {"tracking_integral_trajectory"})
                .deactivate.size(),
            2u);
}

TEST(ControllerSwitch, AddsTheTrajectoryControllerToItsActiveLaw) {
  const ControllerSwitch wanted = plan(with_active({"tracking"}), {"tracking_trajectory"});
  EXPECT_EQ(wanted.activate, Names{"tracking_trajectory"});
  EXPECT_TRUE(wanted.deactivate.empty());
}

TEST(ControllerSwitch, DoesNothingForAnActiveChain) {
  const ControllerSwitch wanted =
      plan(with_active({"tracking", "tracking_trajectory"}), {"tracking_trajectory"});
  EXPECT_TRUE(wanted.activate.empty());
  EXPECT_TRUE(wanted.deactivate.empty());
}

TEST(ControllerSwitch, LeavesProtectedControllersAlone) {
  EXPECT_EQ(refusal(with_active({"hand_guiding"}), {"tracking_trajectory"}),
            "controller 'hand_guiding' (ga_controllers/HandGuidingController) is active and keeps "
            "tracking_trajectory from the arm; deactivate it first: ros2 control "
            "switch_controllers --deactivate hand_guiding");
}

TEST(ControllerSwitch, NamesWhatIsNotConfigured) {
  auto all = controllers();
  find(all, "tracking").state = "unconfigured";
  EXPECT_EQ(refusal(all, {"tracking_trajectory"}),
            "controller 'tracking' is unconfigured; configure it first: ros2 control "
            "set_controller_state tracking inactive");
  EXPECT_EQ(refusal(all, {"nobody"}),
            "controller 'nobody' is not configured at the controller manager");
}

}  // namespace
}  // namespace ga_controllers
