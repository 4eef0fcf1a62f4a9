// SPDX-License-Identifier: Apache-2.0
#ifndef ARM_SYSTEM_SUITE_HPP_
#define ARM_SYSTEM_SUITE_HPP_

// Test suite for every ArmSystem: lifecycle, brakes, tool outputs, faults and resets.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ga_hardware/safety_machine.hpp"
#include "law_bench.hpp"

namespace test {

template <class Rig>
class ArmSystemSuite : public ArmTest<Rig> {
 protected:
  using ArmTest<Rig>::rig;

  void expect_no_step(const std::vector<double>& last, double most) {
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_LE(std::abs(rig.effort(i) - last[i]), most) << rig.joints()[i];
    }
  }
  /// Active: nothing moves before the first command, and the first command makes no jump.
  void expect_no_jump() {
    const auto before = rig.positions();
    EXPECT_TRUE(std::isnan(rig.command("joint1/effort"))) << "the old command must be gone";
    ASSERT_TRUE(rig.switch_mode(rig.efforts(), rig.efforts()));
    ASSERT_EQ(rig.cycles(300), Return::OK);
    EXPECT_EQ(rig.largest_effort(), 0);
    EXPECT_LT(rig.largest_distance(before), 2e-4);
    ASSERT_TRUE(rig.engage());
    ASSERT_EQ(rig.hold(1500), Return::OK);
    EXPECT_EQ(rig.state("arm/brakes"), 0);
    EXPECT_LT(rig.largest_distance(before), 1e-3);
    ASSERT_EQ(rig.move(300, 0.2), Return::OK);
    EXPECT_GT(rig.position(0), before[0] + 0.02) << "it must work again";
  }
};
TYPED_TEST_SUITE_P(ArmSystemSuite);

TYPED_TEST_P(ArmSystemSuite, RefusesACycleOfItsOwn) {
  using Plugin = typename TypeParam::Plugin;
  std::string urdf = TypeParam::urdf();
  EXPECT_EQ(refusal<Plugin>(urdf), "");
  const std::string type = "type=\"system\"";
  urdf.insert(urdf.find(type) + type.size(), " is_async=\"true\"");
  EXPECT_NE(refusal<Plugin>(urdf).find("is_async"), std::string::npos);
}

TYPED_TEST_P(ArmSystemSuite, StandsOnItsBrakesUntilTheFirstEffortAndDoesNotSag) {
  auto& bench = this->rig;
  bench.system().configure();
  ASSERT_TRUE(bench.make_ready());
  const auto before = bench.positions();
  bench.system().activate();
  ASSERT_EQ(bench.cycles(200), Return::OK);
  EXPECT_LT(bench.largest_distance(before), 2e-4);
  EXPECT_EQ(bench.state("arm/brakes"), 1);
  EXPECT_EQ(bench.state("arm/power"), TypeParam::kStandingPower);
  EXPECT_EQ(this->fault_code(), 0);
  ASSERT_TRUE(bench.start());
  ASSERT_EQ(bench.cycles(50), Return::OK);  // claimed, but nothing commanded yet
  EXPECT_EQ(bench.state("arm/brakes"), 1);
  EXPECT_LT(bench.largest_distance(before), 2e-4);
  ASSERT_TRUE(bench.stop());
  ASSERT_EQ(bench.cycles(10), Return::OK);
  ASSERT_TRUE(bench.engage());
  ASSERT_EQ(bench.hold(1000), Return::OK);
  EXPECT_EQ(bench.state("arm/brakes"), 0);
  EXPECT_EQ(bench.state("arm/power"), 1);
  EXPECT_GT(bench.largest_effort(), 5);
  EXPECT_LT(bench.largest_distance(before), 1e-3);
}

TYPED_TEST_P(ArmSystemSuite, EffortStartedAndStoppedInOneSwitchChangesNothing) {
  ASSERT_NO_FATAL_FAILURE(this->hold_the_arm());
  auto& bench = this->rig;
  std::vector<double> torque;
  for (const std::string& name : bench.efforts()) torque.push_back(bench.command(name));
  bench.set_efforts(torque);
  ASSERT_EQ(bench.cycle(), Return::OK);
  const double held = bench.effort(1);
  ASSERT_TRUE(bench.switch_mode(bench.efforts(), bench.efforts()));
  ASSERT_EQ(bench.cycle(), Return::OK);
  EXPECT_DOUBLE_EQ(bench.effort(1), held);
  for (int i = 0; i < 50; ++i) {
    bench.set_efforts(torque);
    ASSERT_EQ(bench.cycle(), Return::OK);
    EXPECT_DOUBLE_EQ(bench.effort(1), held);
    EXPECT_EQ(bench.state("arm/brakes"), 0);
  }
}

TYPED_TEST_P(ArmSystemSuite, EffortOnlyStoppedIsAControlledStopWithBrakes) {
  ASSERT_NO_FATAL_FAILURE(this->hold_the_arm());
  auto& bench = this->rig;
  ASSERT_EQ(bench.move(600, 0.4), Return::OK);
  ASSERT_GT(bench.state("joint1/velocity"), 0.2);
  ASSERT_TRUE(bench.stop());
  double largest = bench.largest_effort();
  for (int i = 0; i < 250; ++i) {
    const auto last = this->efforts_now();
    ASSERT_EQ(bench.cycle(), Return::OK);
    EXPECT_LT(bench.largest_effort(), largest + 2) << i;
    largest = bench.largest_effort();
    // Blends to the holding torque with a time constant of 20 ms while it ramps down: no step.
    this->expect_no_step(last, 7);
    if (i == 100) {
      EXPECT_LT(std::abs(bench.effort(0)), 5);
    }
    if (i > 0) {  // the first write after the switch closes them
      EXPECT_EQ(bench.state("arm/brakes"), 1);
    }
  }
  ASSERT_EQ(bench.cycles(500), Return::OK);
  EXPECT_EQ(bench.largest_effort(), 0);
  EXPECT_EQ(bench.state("arm/brakes"), 1);
  EXPECT_EQ(bench.state("arm/power"), TypeParam::kStandingPower);
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_ACTIVE);
  for (const std::string& joint : bench.joints()) {
    EXPECT_NEAR(bench.state(joint + "/velocity"), 0, 2e-3) << joint;
  }
  this->expect_no_jump();  // what was commanded before the stop is forgotten
}

TYPED_TEST_P(ArmSystemSuite, RefusesToReleaseTheBrakesForSomeJointsOnly) {
  auto& bench = this->rig;
  bench.system().configure();
  EXPECT_FALSE(bench.switch_mode({"joint1/effort", "joint2/effort"}, {}));
  EXPECT_TRUE(bench.switch_mode({"tool/output1", "tool/output2"}, {}));
  EXPECT_TRUE(bench.start());
  EXPECT_TRUE(bench.switch_mode({"joint1/effort"}, {"joint1/effort"}));
}

TYPED_TEST_P(ArmSystemSuite, PowerOffIsAControlledStopAndLeavesTheStatesStreaming) {
  ASSERT_NO_FATAL_FAILURE(this->hold_the_arm());
  auto& bench = this->rig;
  const double held = bench.largest_effort();
  bench.set("arm/power", 0);
  EXPECT_EQ(bench.hold(1), Return::DEACTIVATE);
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE);
  EXPECT_GT(bench.largest_effort(), 0.8 * held) << "ramping down, not cut";
  ASSERT_EQ(bench.cycles(400), Return::OK);
  this->expect_no_torque_and_no_power();
  bench.system().activate();  // no fault: it comes back at once
  ASSERT_EQ(bench.state(), States::PRIMARY_STATE_ACTIVE);
  this->expect_no_jump();
}

TYPED_TEST_P(ArmSystemSuite, ToolOutputsAreSetAndShown) {
  auto& bench = this->rig;
  bench.system().configure();
  ASSERT_TRUE(bench.make_ready());
  bench.system().activate();
  ASSERT_EQ(bench.cycles(2), Return::OK);
  EXPECT_EQ(bench.state("tool/output1"), 0);
  bench.set("tool/output2", 1);
  ASSERT_EQ(bench.cycles(2), Return::OK);
  EXPECT_EQ(bench.state("tool/output1"), 0);
  EXPECT_EQ(bench.state("tool/output2"), 1);
}

TYPED_TEST_P(ArmSystemSuite, ThermalFadesTheTorqueAndLeavesTheStatesStreaming) {
  ASSERT_NO_FATAL_FAILURE(this->hold_the_arm());
  auto& bench = this->rig;
  ASSERT_EQ(bench.move(300, 0.3), Return::OK);
  ASSERT_EQ(bench.inject("thermal:joint2"), "");
  ASSERT_EQ(bench.move(TypeParam::kThermalCycles, 0.3), Return::DEACTIVATE);
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE);
  EXPECT_EQ(this->fault_code(), static_cast<int>(ga_hardware::Fault::kThermal));
  EXPECT_EQ(bench.state("arm/thermal"), 2);
  EXPECT_GT(bench.largest_effort(), 5) << "fading, not cut";
  for (int i = 0; i < 1000; ++i) {
    const auto last = this->efforts_now();
    ASSERT_EQ(bench.cycle(), Return::OK);
    this->expect_no_step(last, 8);
    if (i == 260) {
      EXPECT_EQ(bench.largest_effort(), 0);
    }
  }
  this->expect_no_torque_and_no_power();
  EXPECT_TRUE(std::isfinite(bench.position(0))) << "the calibration stands";
  EXPECT_EQ(bench.reset_fault(), "-the cause of the fault persists; remove it first");
  bench.system().activate();
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE) << "a latched fault holds it back";
  ASSERT_EQ(bench.inject(""), "");
  EXPECT_EQ(bench.reset_fault(), "+cleared; set the component active again to continue");
  EXPECT_EQ(this->fault_code(), 0);
  bench.system().activate();
  ASSERT_EQ(bench.state(), States::PRIMARY_STATE_ACTIVE);
  this->expect_no_jump();
}

TYPED_TEST_P(ArmSystemSuite, TheFaultResetLineClearsOnItsRise) {
  ASSERT_NO_FATAL_FAILURE(this->hold_the_arm());
  auto& bench = this->rig;
  bench.set("arm/fault_reset", 1);
  ASSERT_EQ(bench.hold(2), Return::OK);
  ASSERT_EQ(bench.inject("thermal:joint1"), "");
  ASSERT_EQ(bench.hold(2000), Return::DEACTIVATE);
  ASSERT_EQ(bench.inject(""), "");
  ASSERT_EQ(bench.cycles(1000), Return::OK);
  EXPECT_EQ(this->fault_code(), static_cast<int>(ga_hardware::Fault::kThermal))
      << "it stayed up: no new request";
  bench.set("arm/fault_reset", 0);
  ASSERT_EQ(bench.cycles(2), Return::OK);
  bench.set("arm/fault_reset", 1);
  ASSERT_EQ(bench.cycle(), Return::OK);
  EXPECT_EQ(this->fault_code(), 0);
}

TYPED_TEST_P(ArmSystemSuite, ErrorsCutTheOutputsAndMayComeTwice) {
  using hardware_interface::CallbackReturn;
  ASSERT_NO_FATAL_FAILURE(this->hold_the_arm());
  auto& bench = this->rig;
  ASSERT_FALSE(bench.outputs_are_off());
  const rclcpp_lifecycle::State any(States::PRIMARY_STATE_ACTIVE, "active");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(bench.plugin().on_error(any), CallbackReturn::SUCCESS);
    this->expect_no_torque_and_no_power();
  }
  bench.system().error();
  ASSERT_EQ(bench.state(), States::PRIMARY_STATE_UNCONFIGURED);
  bench.system().configure();
  ASSERT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE);
  this->expect_no_torque_and_no_power();
}

TYPED_TEST_P(ArmSystemSuite, ErrorsMayComeBeforeTheConnection) {
  using hardware_interface::CallbackReturn;
  typename TypeParam::Plugin plugin;
  hardware_interface::HardwareComponentInterfaceParams params;
  params.hardware_info =
      hardware_interface::parse_control_resources_from_urdf(TypeParam::urdf()).at(0);
  ASSERT_EQ(plugin.on_init(params), CallbackReturn::SUCCESS);
  const rclcpp_lifecycle::State any(States::PRIMARY_STATE_ACTIVE, "active");
  EXPECT_EQ(plugin.on_error(any), CallbackReturn::SUCCESS);
  const auto states = plugin.on_export_state_interfaces();
  const auto commands = plugin.on_export_command_interfaces();
  ASSERT_EQ(plugin.on_configure(any), CallbackReturn::SUCCESS);
  EXPECT_EQ(plugin.get_state("arm/power"), 0);
  EXPECT_EQ(plugin.get_state("joint2/effort"), 0);
}

TYPED_TEST_P(ArmSystemSuite, CleanedUpInMotionTheArmEndsWithoutTorqueAndPower) {
  ASSERT_NO_FATAL_FAILURE(this->hold_the_arm());
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

TYPED_TEST_P(ArmSystemSuite, ShutDownInMotionTheArmEndsWithoutTorqueAndPower) {
  ASSERT_NO_FATAL_FAILURE(this->hold_the_arm());
  auto& bench = this->rig;
  ASSERT_EQ(bench.move(300, 0.3), Return::OK);
  bench.system().shutdown();
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_FINALIZED);
  this->expect_no_torque_and_no_power();
}

TYPED_TEST_P(ArmSystemSuite, ANewConnectionFindsTheToolsOutputsOff) {
  ASSERT_NO_FATAL_FAILURE(this->hold_the_arm());
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
  ASSERT_TRUE(bench.make_ready());
  bench.system().activate();
  ASSERT_EQ(bench.cycles(5), Return::OK);
  EXPECT_EQ(bench.state("tool/output2"), 0) << "what was commanded before is forgotten";
}

TYPED_TEST_P(ArmSystemSuite, TakesTheSameFaultsByTheSameNames) {
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

TYPED_TEST_P(ArmSystemSuite, FaultsOfTheLoopComeOnRequestAndLastUntilTheyAreTakenBack) {
  ASSERT_NO_FATAL_FAILURE(this->hold_the_arm());
  auto& bench = this->rig;
  for (const ga_hardware::Fault fault :
       {ga_hardware::Fault::kDeadlineMissed, ga_hardware::Fault::kEmergencyStop}) {
    ASSERT_EQ(bench.inject(to_string(fault)), "");
    EXPECT_EQ(bench.hold(20), Return::DEACTIVATE);
    EXPECT_EQ(this->fault_code(), static_cast<int>(fault));
    ASSERT_EQ(bench.cycles(400), Return::OK);
    bench.set("arm/fault_reset", 1);
    ASSERT_EQ(bench.cycle(), Return::OK);
    EXPECT_EQ(this->fault_code(), static_cast<int>(fault));
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

TYPED_TEST_P(ArmSystemSuite, AFaultIsNotClearedWhileTheArmIsStopping) {
  ASSERT_NO_FATAL_FAILURE(this->hold_the_arm());
  auto& bench = this->rig;
  ASSERT_EQ(bench.inject("thermal:joint2"), "");
  ASSERT_EQ(bench.hold(20), Return::DEACTIVATE);
  ASSERT_EQ(bench.inject(""), "");
  EXPECT_EQ(bench.reset_fault(), "-the arm is still stopping; call again when it has stopped");
}

TYPED_TEST_P(ArmSystemSuite, AnEncoderThatStandsStillIsNoticedBeforeTheArmRunsAway) {
  ASSERT_NO_FATAL_FAILURE(this->hold_the_arm());
  auto& bench = this->rig;
  ASSERT_EQ(bench.move(300, 0.3), Return::OK);
  ASSERT_EQ(bench.inject("encoder-frozen:joint1"), "");
  EXPECT_EQ(bench.move(3000, 0.3), Return::DEACTIVATE);
  EXPECT_EQ(this->fault_code(), static_cast<int>(ga_hardware::Fault::kEncoderFrozen));
  EXPECT_EQ(bench.cycle(), Return::OK);
  EXPECT_EQ(bench.largest_effort(), 0) << "cut";
}

REGISTER_TYPED_TEST_SUITE_P(
    ArmSystemSuite, RefusesACycleOfItsOwn, StandsOnItsBrakesUntilTheFirstEffortAndDoesNotSag,
    EffortStartedAndStoppedInOneSwitchChangesNothing, EffortOnlyStoppedIsAControlledStopWithBrakes,
    RefusesToReleaseTheBrakesForSomeJointsOnly,
    PowerOffIsAControlledStopAndLeavesTheStatesStreaming, ToolOutputsAreSetAndShown,
    ThermalFadesTheTorqueAndLeavesTheStatesStreaming, TheFaultResetLineClearsOnItsRise,
    ErrorsCutTheOutputsAndMayComeTwice, ErrorsMayComeBeforeTheConnection,
    CleanedUpInMotionTheArmEndsWithoutTorqueAndPower,
    ShutDownInMotionTheArmEndsWithoutTorqueAndPower, ANewConnectionFindsTheToolsOutputsOff,
    TakesTheSameFaultsByTheSameNames, FaultsOfTheLoopComeOnRequestAndLastUntilTheyAreTakenBack,
    AFaultIsNotClearedWhileTheArmIsStopping, AnEncoderThatStandsStillIsNoticedBeforeTheArmRunsAway);

}  // namespace test

#endif  // ARM_SYSTEM_SUITE_HPP_
