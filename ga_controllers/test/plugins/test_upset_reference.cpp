// SPDX-License-Identifier: Apache-2.0

// A law with references, when they are lost.

#include <gtest/gtest.h>

#include <cmath>

#include "bench.hpp"

namespace test {
namespace {

using rclcpp::Parameter;

TEST(Upset, AReferenceThatIsNotFiniteHoldsThenIsAnError) {
  for (const std::size_t which : {0u, 1u, 2u}) {
    Arm arm(puma());
    Bench bench(kLaw, puma(), {Parameter("error_cycles", 5)});
    ASSERT_TRUE(bench.set_in_motion(arm));
    EXPECT_LT(bench.cycles(arm, 20), 0.01) << "no reference yet is no error";
    bench.follow(arm, 0, 0.8);
    Motion bad(arm.chain, 0.8);
    (which == 0 ? bad.q : which == 1 ? bad.qd : bad.qdd)[2] = NAN;
    bench.refer(bad.reference());
    EXPECT_LT(bench.cycles(arm, 4), 0.01);
    EXPECT_LT(bench.follow(arm, 0.8, 0.81), 0.01) << "good again";
    bench.refer(bad.reference());
    bench.cycles(arm, 4);
    Values before = arm.torque();
    for (int k = 0; k < 1500; ++k) {
      arm.write_states();
      ASSERT_FALSE(bench.update());
      for (std::size_t i = 0; i < 6; ++i) {
        ASSERT_LT(std::abs(arm.torque()[i] - before[i]), 0.01 * arm.limit(i));
      }
      before = arm.torque();
      arm.step();
    }
    EXPECT_LT(arm.speed(), 1e-2) << "the torque still holds the arm";
    EXPECT_LT(arm.distance(Motion(arm.chain, 0.8).q), 0.2);
  }
}

TEST(Upset, AMovingReferenceThatDoesNotChangeIsStale) {
  Arm arm(puma());
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.set_in_motion(arm, 0.8));  // then the predecessor stops writing
  EXPECT_LT(bench.cycles(arm, 2000), 0.01);
  EXPECT_LT(arm.speed(), 1e-3);
  const Values at = arm.q();
  EXPECT_LT(bench.follow(arm, 0.8, 0.81), 0.01) << "it writes again";
  EXPECT_LT(arm.distance(at), 0.05);
}

TEST(Upset, AHeldAccelerationDoesNotPushTheArm) {
  // joint_trajectory_controller repeats the last point of a trajectory, with its acceleration, and
  // accepts a velocity of 1e-7 rad/s there.
  for (const double velocity : {0.0, 1e-7}) {
    Arm arm(puma());
    Bench bench(kLaw, puma());
    ASSERT_TRUE(bench.configure());
    const Values at{0.5, -0.8, 2.2, 0, 0.4, 0};
    arm.put(at);
    ASSERT_TRUE(bench.activate(arm, true));
    bench.refer({at, Values(6, velocity), Values{8, -10, 40, -90, 90, 90}});
    bench.cycles(arm, 400);
    EXPECT_LT(arm.distance(at), 1e-3) << velocity;
    const Values before = arm.q();
    EXPECT_LT(bench.cycles(arm, 2000), 0.01) << velocity;
    EXPECT_LT(arm.distance(before), 1e-3) << velocity;
    EXPECT_LT(arm.distance(at), 1e-4) << velocity;
    EXPECT_LT(arm.speed(), 1e-6) << velocity;
  }
}

}  // namespace
}  // namespace test
