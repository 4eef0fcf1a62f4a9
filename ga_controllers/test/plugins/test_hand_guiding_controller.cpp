// SPDX-License-Identifier: Apache-2.0

// The hand guiding controller: it takes no references, is passive, and is switched without a bump.
// What it does for a hand is tested in ga_hardware (test_hand_guiding).

#include <gtest/gtest.h>

#include <cmath>

#include "counted_update.hpp"
#include "operator.hpp"

namespace test {
namespace {

using rclcpp::Parameter;

const std::vector<Parameter> kFriction = friction_parameters(LawKind::kHandGuiding);

TEST(HandGuiding, StaysWhereItIsAndTakesNoSetPoints) {
  Arm arm(puma(), true);
  Bench bench(kLaw, puma(), kFriction);
  Operator user(bench);
  const Values start = arm.q();
  ASSERT_TRUE(user.start(arm));
  Values elsewhere = start;
  elsewhere[0] += 0.3;
  user.send(message(arm.chain, elsewhere));
  bench.cycles(arm, 2000);
  EXPECT_LT(arm.distance(start), 1e-4);
  EXPECT_EQ(bench.controller->get_node()->count_subscribers("/controller/reference"), 0u);
}

TEST(HandGuiding, AnArmInMotionComesToRest) {
  Arm arm(puma(), true);
  Bench bench(kLaw, puma(), kFriction);
  ASSERT_TRUE(bench.configure());
  const Motion at(arm.chain, 0.4);
  arm.put(at.q, at.qd);
  arm.drive(at.qdd);
  ASSERT_TRUE(bench.activate(arm));
  EXPECT_LT(bench.cycle(arm), 1e-9) << "it continues the previous torque";
  EXPECT_LT(bench.cycles(arm, 300), 0.02);
  bench.cycles(arm, 4000);
  EXPECT_LT(arm.speed(), 1e-3);
}

TEST(HandGuiding, IsSwitchedToAndFromEveryLawWithoutABump) {
  for (const LawKind other : kAllLaws) {
    Arm arm(puma(), true);
    Bench first(other, puma(), friction_parameters(other), "first"),
        guiding(kLaw, puma(), kFriction), last(other, puma(), friction_parameters(other), "last");
    ASSERT_TRUE(guiding.configure() && last.configure() && first.set_in_motion(arm, 0.6));
    first.deactivate();
    ASSERT_TRUE(guiding.activate(arm));
    EXPECT_LT(guiding.cycles(arm, 50), 0.02) << name_of(other);
    guiding.deactivate();
    ASSERT_TRUE(last.activate(arm));
    EXPECT_LT(last.cycles(arm, 300), 0.02) << name_of(other);
    last.cycles(arm, 3000);
    EXPECT_LT(arm.speed(), 2e-3) << name_of(other);
  }
}

TEST(HandGuiding, IgnoresAPredecessorThatStops) {
  Arm arm(puma(), true);
  Bench bench(kLaw, puma(), kFriction);
  ASSERT_TRUE(bench.set_in_motion(arm, 0.1));
  const Motion at(arm.chain, 0.1);
  Values lost(arm.size(), std::nan(""));
  for (int k = 0; k < 100; ++k) {
    bench.refer({lost, lost, lost});
    arm.write_states();
    ASSERT_TRUE(bench.update());
    arm.step();
  }
}

TEST(HandGuiding, AllocatesNothing) {
  Arm arm(puma(), true);
  Bench bench(kLaw, puma(), {Parameter("friction", 0.7), Parameter("state_publish_rate", 1000.0)});
  ASSERT_TRUE(bench.set_in_motion(arm));
  long allocations = 0;
  for (int k = 0; k < 3000; ++k) ASSERT_TRUE(counted_cycle(bench, arm, allocations));
  EXPECT_EQ(allocations, 0);
}

}  // namespace
}  // namespace test
