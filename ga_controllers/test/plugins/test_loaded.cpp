// SPDX-License-Identifier: Apache-2.0

// Controllers loaded by a real controller manager, at 1 kHz of simulated time, behind the stock
// joint_trajectory_controller, for every law: changes of the chain, switches in mid-motion.

#include <gtest/gtest.h>

#include "cell.hpp"

namespace test {
namespace {

TEST(Loaded, ByItsNameOnAStockHardwarePlugin) {
  Cell cell(scara(), true, true);
  ASSERT_TRUE(cell.load_law("law", kLaw));
  ASSERT_TRUE(cell.change({"law"}, {}));
  cell.pass(0.1);
  ASSERT_TRUE(cell.active("law"));
  ASSERT_TRUE(cell.change({}, {"law"}));
  // The mock arm does not move; the remaining command is gravity compensation.
  Values gravity(4);
  ga_dynamics::Dynamics(cell.chain).gravity(cell.start, gravity);
  auto quill = cell.manager->resources().claim_command_interface("quill/effort");
  EXPECT_NEAR(quill.get_optional().value(), gravity[2], 0.05);
  EXPECT_TRUE(cell.succeeds([&] { return cell.manager->unload_controller("law"); }));
}

/// Checks that no torque step is a bump, neither in the 20 cycles after a switch nor later.
void judge(const Steps& steps, bool friction) {
  const std::string suffix = friction ? "_with_friction" : "";
  ::testing::Test::RecordProperty("switch_step" + suffix, std::to_string(steps.at_switch));
  ::testing::Test::RecordProperty("any_step" + suffix, std::to_string(steps.any));
  EXPECT_LT(steps.any, 0.01);
}

TEST(Loaded, TheChainChangesInMidMotionWithoutABump) {
  for (const bool friction : {false, true}) {
    Cell cell(puma(), friction);
    ASSERT_TRUE(cell.load_law("law", kLaw));
    ASSERT_TRUE(cell.load_trajectory_controller("trajectory", "law"));
    ASSERT_TRUE(cell.change({"law"}, {}));
    cell.pass(0.3);
    EXPECT_LT(cell.distance(cell.start), 2e-3) << "the arm sagged when the brakes opened";
    cell.watch->take_steps();
    Steps steps;
    double furthest = 0;
    for (int k = 0; k < 3; ++k) {
      ASSERT_TRUE(cell.change({"trajectory"}, {}));
      const Values attached = cell.watch->position();
      cell.pass(0.2);
      if (k == 0) {
        EXPECT_LT(cell.distance(attached), 2e-3);
      }
      steps.add(cell.watch->take_steps());
      cell.move("trajectory", k % 2 == 0 ? 0.3 : 0.0, 1.2);
      cell.pass(0.5);
      cell.watch->take_steps();
      const Values at = cell.watch->position();
      ASSERT_TRUE(cell.change({}, {"trajectory"}));
      cell.pass(0.3);
      steps.add(cell.watch->take_steps());
      cell.pass(1);
      furthest = std::max(furthest, cell.distance(at));
      EXPECT_TRUE(cell.active("law"));
      EXPECT_LT(cell.watch->speed(), 0.02);
    }
    judge(steps, friction);
    RecordProperty(friction ? "furthest_with_friction" : "furthest", std::to_string(furthest));
    EXPECT_LT(furthest, 0.2);
  }
}

TEST(Loaded, SwitchesToEveryOtherControllerAndBackInMidMotion) {
  for (const bool friction : {false, true}) {
    Cell cell(puma(), friction);
    ASSERT_TRUE(cell.load_law("law", kLaw));
    ASSERT_TRUE(cell.load_trajectory_controller("trajectory", "law"));
    std::vector<std::string> others;
    for (const LawKind kind : kAllLaws) {
      if (kind == kLaw) continue;
      others.push_back(name_of(kind));
      ASSERT_TRUE(cell.load_law(others.back(), kind));
    }
    ASSERT_TRUE(cell.change({"law", "trajectory"}, {}));
    cell.pass(0.3);
    Steps steps;
    double furthest = 0;
    bool there = false;
    for (const std::string& other : others) {
      cell.move("trajectory", there ? 0.0 : 0.3, 1.2);
      there = !there;
      cell.pass(0.5);
      cell.watch->take_steps();
      const Values at = cell.watch->position();
      ASSERT_TRUE(cell.change({other}, {"trajectory", "law"}));
      cell.pass(0.1);
      ASSERT_TRUE(cell.change({"law"}, {other}));
      cell.pass(0.1);
      ASSERT_TRUE(cell.change({"trajectory"}, {}));
      cell.pass(0.5);
      steps.add(cell.watch->take_steps());
      furthest = std::max(furthest, cell.distance(at));
    }
    judge(steps, friction);
    RecordProperty(friction ? "furthest_with_friction" : "furthest", std::to_string(furthest));
    EXPECT_LT(furthest, 0.25);
  }
}

TEST(Loaded, AnArmWithoutAStateIsStoppedByItsBrakes) {
  Cell cell(puma(), true);
  const bool falls_back = kLaw != LawKind::kGravityHold;
  if (falls_back) {
    ASSERT_TRUE(cell.load_law("fallback", LawKind::kGravityHold));
  }
  ASSERT_TRUE(cell.load_law("law", kLaw, falls_back ? Names{"fallback"} : Names{}));
  ASSERT_TRUE(cell.change({"law"}, {}));
  cell.pass(0.3);
  const Values at = cell.watch->position();
  cell.watch->blind = true;
  cell.pass(0.5);
  EXPECT_FALSE(cell.active("law"));
  EXPECT_FALSE(cell.active("fallback"));
  EXPECT_TRUE(cell.watch->braked);
  EXPECT_LT(cell.distance(at), 0.01);
  EXPECT_FALSE(cell.change({"law"}, {})) << "blind it must not start";
}

}  // namespace
}  // namespace test
