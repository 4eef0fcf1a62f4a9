// SPDX-License-Identifier: Apache-2.0
#ifndef EFFORT_SWITCH_SUITE_HPP_
#define EFFORT_SWITCH_SUITE_HPP_

// Test suite for every ArmSystem: who may drive the arm. Controllers that come, go, stay silent or
// leave zeros behind. The bench does what the controller manager does, in its order.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_hardware/safety_machine.hpp"
#include "law_bench.hpp"

namespace test {

template <class Rig>
class EffortSwitches : public ArmTest<Rig> {
 protected:
  using ArmTest<Rig>::rig;

  /// A predecessor like the stock effort controllers, which write zeros when they are deactivated.
  void swap_leaving_zeros() {
    ASSERT_TRUE(rig.switch_mode(rig.efforts(), rig.efforts()));
    rig.set_efforts(zeros);
  }
  /// The efforts are what they were, but for the steps of the D/A converters.
  void expect_efforts(const std::vector<double>& before) {
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(rig.effort(i), before[i], 0.2) << i;
  }

  const std::vector<double> zeros = std::vector<double>(6);
  const std::vector<double> push{30, 0, 0, 0, 0, 0};
};
TYPED_TEST_SUITE_P(EffortSwitches);

TYPED_TEST_P(EffortSwitches, ControllersThatRanOnWhileItWasInactiveHoldTheActivationBack) {
  ASSERT_NO_FATAL_FAILURE(this->hold_the_arm());
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
    const LastError error;
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

TYPED_TEST_P(EffortSwitches, WhatIsWrittenWithoutASwitchAfterTheActivationIsNotObeyed) {
  ASSERT_NO_FATAL_FAILURE(this->hold_the_arm());
  auto& bench = this->rig;
  // The outputs fail and come back while a controller of which the new connection knows nothing
  // goes on.
  bench.system().error();
  bench.system().configure();
  ASSERT_EQ(bench.cycles(500), Return::OK);
  ASSERT_TRUE(bench.make_ready());
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

TYPED_TEST_P(EffortSwitches, ZerosThatAPredecessorLeavesDoNotReachTheArm) {
  ASSERT_NO_FATAL_FAILURE(this->hold_the_arm());
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

TYPED_TEST_P(EffortSwitches, ZerosThatComeLateDoNotReachTheArmEither) {
  ASSERT_NO_FATAL_FAILURE(this->hold_the_arm());
  auto& bench = this->rig;
  const auto held = this->efforts_now();
  ASSERT_TRUE(bench.switch_mode(bench.efforts(), bench.efforts()));
  ASSERT_EQ(bench.cycle(), Return::OK);
  bench.set_efforts(this->zeros);  // a switch beside the cycles: without activate_asap
  ASSERT_EQ(bench.cycles(2), Return::OK);
  this->expect_efforts(held);
  ASSERT_EQ(bench.hold(100), Return::OK);
}

TYPED_TEST_P(EffortSwitches, ALateSuccessorFindsAHeldArm) {
  ASSERT_NO_FATAL_FAILURE(this->hold_the_arm());
  auto& bench = this->rig;
  const auto held = this->efforts_now();
  const auto before = bench.positions();
  this->swap_leaving_zeros();
  for (int cycle = 0; cycle < 10; ++cycle) {
    ASSERT_EQ(bench.cycle(), Return::OK);
    this->expect_efforts(held);
  }
  for (int cycle = 10; cycle < 1900; ++cycle) {
    const auto last = this->efforts_now();
    ASSERT_EQ(bench.cycle(), Return::OK);
    for (std::size_t i = 0; i < 6; ++i) {
      ASSERT_NEAR(bench.effort(i), last[i], 0.02 * std::abs(held[i]) + 0.5) << "joint " << i;
    }
  }
  EXPECT_TRUE(ga_controllers::is_kept_torque(bench.command("joint2/effort")));
  EXPECT_EQ(this->fault_code(), 0);
  EXPECT_EQ(bench.state("arm/brakes"), 0);
  EXPECT_LT(bench.largest_distance(before), 2e-3);
  ASSERT_EQ(bench.hold(500), Return::OK) << "the successor commands";
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_ACTIVE);
  EXPECT_EQ(bench.state("arm/brakes"), 0);
  EXPECT_LT(bench.largest_distance(before), 2e-3);
}

TYPED_TEST_P(EffortSwitches, ASuccessorThatStaysSilentIsNoticed) {
  ASSERT_NO_FATAL_FAILURE(this->hold_the_arm());
  auto& bench = this->rig;
  this->swap_leaving_zeros();
  int cycles = 0;
  Return result = Return::OK;
  for (; cycles < 3000 && result == Return::OK; ++cycles) result = bench.cycle();
  EXPECT_EQ(result, Return::DEACTIVATE);
  EXPECT_NEAR(cycles, 2011, 5) << "10 ms, then hold_time";
  ASSERT_EQ(bench.cycle(), Return::OK);
  EXPECT_EQ(this->fault_code(), static_cast<int>(ga_hardware::Fault::kCommandTimeout));
  EXPECT_NE(bench.diagnosis(2, "command-timeout").find("command-timeout"), std::string::npos);
  ASSERT_EQ(bench.cycles(1000), Return::OK);
  EXPECT_EQ(bench.largest_effort(), 0);
  EXPECT_EQ(bench.state("arm/brakes"), 1);
}

TYPED_TEST_P(EffortSwitches, ASuccessorBeforeTheFirstTorqueFindsClosedBrakes) {
  auto& bench = this->rig;
  ASSERT_TRUE(bench.bring_up());
  ASSERT_EQ(bench.cycles(10), Return::OK);
  this->swap_leaving_zeros();
  ASSERT_EQ(bench.cycles(300), Return::OK);
  EXPECT_EQ(bench.state("arm/brakes"), 1);
  EXPECT_FALSE(ga_controllers::is_kept_torque(bench.command("joint2/effort")));
  ASSERT_EQ(bench.hold(300), Return::OK);
  EXPECT_EQ(bench.state("arm/brakes"), 0);
}

TYPED_TEST_P(EffortSwitches, AChangeWhoseSuccessorFailsIsAStop) {
  ASSERT_NO_FATAL_FAILURE(this->hold_the_arm());
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

TYPED_TEST_P(EffortSwitches, OneJointMayChangeHandsWhileTheOthersGoOn) {
  ASSERT_NO_FATAL_FAILURE(this->hold_the_arm());
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

REGISTER_TYPED_TEST_SUITE_P(EffortSwitches,
                            ControllersThatRanOnWhileItWasInactiveHoldTheActivationBack,
                            WhatIsWrittenWithoutASwitchAfterTheActivationIsNotObeyed,
                            ZerosThatAPredecessorLeavesDoNotReachTheArm,
                            ZerosThatComeLateDoNotReachTheArmEither, ALateSuccessorFindsAHeldArm,
                            ASuccessorThatStaysSilentIsNoticed,
                            ASuccessorBeforeTheFirstTorqueFindsClosedBrakes,
                            AChangeWhoseSuccessorFailsIsAStop,
                            OneJointMayChangeHandsWhileTheOthersGoOn);

}  // namespace test

#endif  // EFFORT_SWITCH_SUITE_HPP_
