// SPDX-License-Identifier: Apache-2.0
// Who may drive the arm, over the cards and simulated: controllers that come, go, stay silent or
// leave zeros behind. The bench does what the controller manager does, in its order.

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "arm_bench.hpp"
#include "ga_hardware/effort_commands.hpp"
#include "ga_hardware/safety_machine.hpp"

namespace {

using ga_hardware::Fault;
using test::Return;
using test::States;

template <class Rig>
class EffortSwitches : public testing::Test {
 protected:
  /// Under the law's control with open brakes.
  void hold_the_arm() {
    ASSERT_TRUE(rig.bring_up());
    ASSERT_EQ(rig.hold(400), Return::OK);
    ASSERT_EQ(rig.state("arm/brakes"), 0);
    ASSERT_GT(std::abs(rig.effort(1)), 5);
  }
  /// A predecessor like the stock effort controllers, which write zeros when they are deactivated.
  void swap_leaving_zeros() {
    ASSERT_TRUE(rig.switch_mode(rig.efforts(), rig.efforts()));
    rig.set_efforts(zeros);
  }
  int fault_code() const { return static_cast<int>(rig.state("arm/fault_code")); }
  /// The efforts are what they were, but for the steps of the D/A converters.
  void expect_efforts(const std::vector<double>& before) {
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(rig.effort(i), before[i], 0.2) << i;
  }
  void expect_no_torque_and_no_power() {
    EXPECT_EQ(rig.largest_effort(), 0);
    EXPECT_EQ(rig.state("arm/power"), 0);
    EXPECT_EQ(rig.state("arm/brakes"), 1);
    if constexpr (std::is_same_v<Rig, test::ArmBench>) {
      EXPECT_TRUE(rig.outputs_are_off());
    }
  }
  std::vector<double> efforts_now() const {
    std::vector<double> now;
    for (std::size_t i = 0; i < 6; ++i) now.push_back(rig.effort(i));
    return now;
  }

  Rig rig;
  const std::vector<double> zeros = std::vector<double>(6);
  const std::vector<double> push{30, 0, 0, 0, 0, 0};
};

struct Names {
  template <class Rig>
  static std::string GetName(int) {
    return std::is_same_v<Rig, test::ArmBench> ? "OverTheCards" : "Simulated";
  }
};
using Rigs = testing::Types<test::ArmBench, test::SimLawBench>;
TYPED_TEST_SUITE(EffortSwitches, Rigs, Names);

TYPED_TEST(EffortSwitches, ControllersThatRanOnWhileItWasInactiveHoldTheActivationBack) {
  this->hold_the_arm();
  auto& bench = this->rig;
  bench.system().deactivate();  // as set_hardware_component_state does: the controllers run on
  const auto go_on = [&](int cycles) {
    for (int i = 0; i < cycles; ++i) {
      bench.set_efforts(this->push);
      ASSERT_EQ(bench.cycle(), Return::OK);
    }
  };
  go_on(1500);
  EXPECT_EQ(bench.largest_effort(), 0);
  const auto before = bench.positions();
  {
    const test::LastError error;
    bench.system().activate();
    EXPECT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE);
    EXPECT_NE(error().find("controllers still claim the effort interfaces; deactivate them first"),
              std::string::npos)
        << error();
  }
  go_on(300);
  EXPECT_LT(bench.largest_distance(before), 1e-3);
  EXPECT_EQ(bench.state("arm/brakes"), 1);

  ASSERT_TRUE(bench.stop());
  ASSERT_EQ(bench.cycle(), Return::OK);
  bench.system().activate();
  ASSERT_EQ(bench.state(), States::PRIMARY_STATE_ACTIVE);
  ASSERT_TRUE(bench.engage());
  ASSERT_EQ(bench.hold(500), Return::OK);
  EXPECT_EQ(bench.state("arm/brakes"), 0);
  EXPECT_LT(bench.largest_distance(before), 1e-3);
}

TYPED_TEST(EffortSwitches, WhatIsWrittenWithoutASwitchAfterTheActivationIsNotObeyed) {
  this->hold_the_arm();
  auto& bench = this->rig;
  // The outputs fail and come back while a controller of which the new connection knows nothing
  // goes on.
  bench.system().error();
  bench.system().configure();
  ASSERT_EQ(bench.cycles(500), Return::OK);
  if constexpr (std::is_same_v<TypeParam, test::ArmBench>) {
    ASSERT_EQ(bench.calibrate()[0], '+');
  }
  bench.system().activate();
  ASSERT_EQ(bench.state(), States::PRIMARY_STATE_ACTIVE);
  const auto before = bench.positions();
  for (int i = 0; i < 500; ++i) {
    bench.set_efforts(this->push);
    ASSERT_EQ(bench.cycle(), Return::OK);
  }
  EXPECT_EQ(bench.state("arm/brakes"), 1);
  EXPECT_EQ(bench.largest_effort(), 0);
  EXPECT_LT(bench.largest_distance(before), 1e-3);
  this->swap_leaving_zeros();
  ASSERT_EQ(bench.cycles(300), Return::OK);
  EXPECT_EQ(bench.state("arm/brakes"), 1) << "the zeros are nobody's command";
  ASSERT_TRUE(bench.engage());
  ASSERT_EQ(bench.hold(500), Return::OK);
  EXPECT_EQ(bench.state("arm/brakes"), 0);
}

TYPED_TEST(EffortSwitches, ZerosThatAPredecessorLeavesDoNotReachTheArm) {
  this->hold_the_arm();
  auto& bench = this->rig;
  const auto held = this->efforts_now();
  const auto before = bench.positions();
  this->swap_leaving_zeros();
  ASSERT_EQ(bench.cycles(2), Return::OK);
  this->expect_efforts(held);
  EXPECT_TRUE(std::isnan(bench.command("joint2/effort"))) << "for the successor to write";
  ASSERT_EQ(bench.hold(500), Return::OK);
  EXPECT_EQ(bench.state("arm/brakes"), 0);
  EXPECT_LT(bench.largest_distance(before), 1e-3);
}

TYPED_TEST(EffortSwitches, ZerosThatComeLateDoNotReachTheArmEither) {
  this->hold_the_arm();
  auto& bench = this->rig;
  const auto held = this->efforts_now();
  ASSERT_TRUE(bench.switch_mode(bench.efforts(), bench.efforts()));
  ASSERT_EQ(bench.cycle(), Return::OK);
  bench.set_efforts(this->zeros);  // a switch beside the cycles: without activate_asap
  ASSERT_EQ(bench.cycles(2), Return::OK);
  this->expect_efforts(held);
  ASSERT_EQ(bench.hold(100), Return::OK);
}

TYPED_TEST(EffortSwitches, ASuccessorThatStaysSilentIsNoticed) {
  this->hold_the_arm();
  auto& bench = this->rig;
  const auto held = this->efforts_now();
  this->swap_leaving_zeros();
  int cycles = 0;
  Return result = Return::OK;
  for (; cycles < 30 && result == Return::OK; ++cycles) {
    if (cycles > 0) this->expect_efforts(held);
    result = bench.cycle();
  }
  EXPECT_EQ(result, Return::DEACTIVATE);
  EXPECT_GT(cycles, 9);
  EXPECT_LT(cycles, 14);  // 10 ms
  ASSERT_EQ(bench.cycle(), Return::OK);
  EXPECT_EQ(this->fault_code(), static_cast<int>(Fault::kCommandTimeout));
  EXPECT_NE(bench.diagnosis(2).find("command-timeout"), std::string::npos);
  ASSERT_EQ(bench.cycles(3000), Return::OK);
  EXPECT_EQ(bench.largest_effort(), 0);
  EXPECT_EQ(bench.state("arm/brakes"), 1);
}

TYPED_TEST(EffortSwitches, ASuccessorBeforeTheFirstTorqueFindsClosedBrakes) {
  auto& bench = this->rig;
  ASSERT_TRUE(bench.bring_up());
  ASSERT_EQ(bench.cycles(10), Return::OK);
  this->swap_leaving_zeros();
  ASSERT_EQ(bench.cycles(300), Return::OK);
  EXPECT_EQ(bench.state("arm/brakes"), 1);
  ASSERT_EQ(bench.hold(300), Return::OK);
  EXPECT_EQ(bench.state("arm/brakes"), 0);
}

TYPED_TEST(EffortSwitches, AChangeWhoseSuccessorFailsIsAStop) {
  this->hold_the_arm();
  auto& bench = this->rig;
  this->swap_leaving_zeros();
  ASSERT_TRUE(bench.stop());  // its activation failed: the controller manager gives up, same cycle
  double last = std::abs(bench.effort(1));
  for (int i = 0; i < 400; ++i) {
    ASSERT_EQ(bench.cycle(), Return::OK);
    EXPECT_GT(std::abs(bench.effort(1)), last - 2) << "fading, not cut";
    last = std::abs(bench.effort(1));
  }
  EXPECT_EQ(bench.largest_effort(), 0);
  EXPECT_EQ(bench.state("arm/brakes"), 1);
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_ACTIVE);
}

TYPED_TEST(EffortSwitches, OneJointMayChangeHandsWhileTheOthersGoOn) {
  this->hold_the_arm();
  auto& bench = this->rig;
  const auto held = this->efforts_now();
  ASSERT_TRUE(bench.switch_mode({"joint2/effort"}, {"joint2/effort"}));
  bench.set("joint2/effort", 0);
  ASSERT_EQ(bench.cycle(), Return::OK);
  EXPECT_TRUE(std::isnan(bench.command("joint2/effort")));
  EXPECT_FALSE(std::isnan(bench.command("joint3/effort"))) << "its controller may be a slow one";
  ASSERT_EQ(bench.cycle(), Return::OK);
  this->expect_efforts(held);
  ASSERT_EQ(bench.hold(100), Return::OK);
}

TYPED_TEST(EffortSwitches, CleanedUpInMotionTheArmEndsWithoutTorqueAndPower) {
  this->hold_the_arm();
  auto& bench = this->rig;
  ASSERT_EQ(bench.move(300, 0.3), Return::OK);
  bench.system().deactivate();
  bench.system().cleanup();
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_UNCONFIGURED);
  this->expect_no_torque_and_no_power();
  bench.system().configure();
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE);
  EXPECT_EQ(this->fault_code(), 0);
}

TYPED_TEST(EffortSwitches, ShutDownInMotionTheArmEndsWithoutTorqueAndPower) {
  this->hold_the_arm();
  auto& bench = this->rig;
  ASSERT_EQ(bench.move(300, 0.3), Return::OK);
  bench.system().shutdown();
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_FINALIZED);
  this->expect_no_torque_and_no_power();
}

TYPED_TEST(EffortSwitches, ANewConnectionFindsTheToolsOutputsOff) {
  this->hold_the_arm();
  auto& bench = this->rig;
  bench.set("tool/output2", 1);
  ASSERT_EQ(bench.hold(2), Return::OK);
  ASSERT_EQ(bench.state("tool/output2"), 1);
  bench.system().deactivate();
  bench.system().cleanup();
  bench.system().configure();
  ASSERT_EQ(bench.cycles(500), Return::OK);
  EXPECT_EQ(bench.state("tool/output2"), 0);
  EXPECT_TRUE(std::isnan(bench.command("tool/output2")));
  if constexpr (std::is_same_v<TypeParam, test::ArmBench>) {
    ASSERT_EQ(bench.calibrate()[0], '+');
  }
  bench.system().activate();
  ASSERT_EQ(bench.cycles(5), Return::OK);
  EXPECT_EQ(bench.state("tool/output2"), 0) << "what was commanded before is forgotten";
}

TYPED_TEST(EffortSwitches, BothTakeTheSameFaultsByTheSameNames) {
  auto& bench = this->rig;
  bench.system().configure();
  for (const char* name : {"thermal:joint2", "encoder-jump:joint1", "encoder-frozen:joint3",
                           "pcl818-lost", "pcl726-lost", "pcl833a-lost", "pcl833b-lost",
                           "card-lost", "deadline-missed", "emergency-stop", ""}) {
    EXPECT_EQ(bench.inject(name), "") << name;
  }
  const std::string refused = bench.inject("fire");
  for (const char* name :
       {"card-lost", "deadline-missed", "emergency-stop", "encoder-frozen:JOINT"})
    EXPECT_NE(refused.find(name), std::string::npos) << refused;
}

TYPED_TEST(EffortSwitches, FaultsOfTheLoopComeOnRequestAndLastUntilTheyAreTakenBack) {
  this->hold_the_arm();
  auto& bench = this->rig;
  for (const Fault fault : {Fault::kDeadlineMissed, Fault::kEmergencyStop}) {
    ASSERT_EQ(bench.inject(to_string(fault)), "");
    EXPECT_EQ(bench.hold(20), Return::DEACTIVATE);
    EXPECT_EQ(this->fault_code(), static_cast<int>(fault));
    ASSERT_EQ(bench.cycles(400), Return::OK);
    EXPECT_EQ(bench.reset_fault(), "-the cause of the fault persists; remove it first");
    ASSERT_EQ(bench.inject(""), "");
    ASSERT_EQ(bench.cycles(1000), Return::OK);
    EXPECT_EQ(bench.reset_fault(), "+cleared; set the component active again to continue");
    bench.system().activate();
    ASSERT_EQ(bench.state(), States::PRIMARY_STATE_ACTIVE);
    ASSERT_TRUE(bench.engage());
    ASSERT_EQ(bench.hold(400), Return::OK);
  }
}

TYPED_TEST(EffortSwitches, AFaultIsNotClearedWhileTheArmIsStopping) {
  this->hold_the_arm();
  auto& bench = this->rig;
  ASSERT_EQ(bench.inject("thermal:joint2"), "");
  ASSERT_EQ(bench.hold(20), Return::DEACTIVATE);
  ASSERT_EQ(bench.inject(""), "");
  EXPECT_EQ(bench.reset_fault(), "-the arm is still stopping; call again when it has stopped");
}

TYPED_TEST(EffortSwitches, AnEncoderThatStandsStillIsNoticedBeforeTheArmRunsAway) {
  this->hold_the_arm();
  auto& bench = this->rig;
  ASSERT_EQ(bench.move(300, 0.3), Return::OK);
  ASSERT_EQ(bench.inject("encoder-frozen:joint1"), "");
  EXPECT_EQ(bench.move(3000, 0.3), Return::DEACTIVATE);
  EXPECT_EQ(this->fault_code(), static_cast<int>(Fault::kEncoderFrozen));
  EXPECT_EQ(bench.cycle(), Return::OK);
  EXPECT_EQ(bench.largest_effort(), 0) << "cut";
}

TEST(EffortSystem, ACycleOfItsOwnIsRefused) {
  const auto async = [](std::string urdf) {
    const std::string type = "type=\"system\"";
    return urdf.insert(urdf.find(type) + type.size(), " is_async=\"true\"");
  };
  EXPECT_NE(test::refusal<puma_hardware::PumaSystem>(async(test::real_puma())).find("is_async"),
            std::string::npos);
  EXPECT_NE(test::refusal<ga_hardware::SimSystem>(async(test::puma())).find("is_async"),
            std::string::npos);
  EXPECT_EQ(test::refusal<puma_hardware::PumaSystem>(test::real_puma()), "");
}

TEST(EffortCommands, AreOfOneTo64Joints) {
  for (const std::size_t joints : {0, 65}) {
    EXPECT_THROW(ga_hardware::EffortCommands{joints}, std::invalid_argument) << joints;
  }
  for (const std::size_t joints : {1, 63, 64}) {
    ga_hardware::EffortCommands commands(joints);
    ga_hardware::ArmInterfaces interfaces;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < joints; ++i) names.push_back("joint" + std::to_string(i));
    interfaces.effort_names = names;
    commands.bind(interfaces);
    EXPECT_EQ(commands.refuse(names, {}), "") << joints;
    names.pop_back();
    EXPECT_EQ(commands.refuse(names, {}).empty(), names.empty()) << joints;
  }
}

}  // namespace
