// SPDX-License-Identifier: Apache-2.0

// A law with references, behind a predecessor: followed, held, kept within the limits.

#include <gtest/gtest.h>

#include <cmath>

#include "bench.hpp"

namespace test {
namespace {

using rclcpp::Parameter;

TEST(Chained, FollowsItsReferencesOnEveryArm) {
  double worst = 0;
  for (const std::string& urdf : {puma(), scara(), seven_joints()}) {
    Arm arm(urdf);
    Bench bench(kLaw, urdf, {Parameter("gains.bandwidth", Values{60})});
    ASSERT_TRUE(bench.set_in_motion(arm));
    EXPECT_LT(bench.follow(arm, 0, 1), 0.01);
    bench.follow(arm, 1, 3, &worst);
  }
  RecordProperty("worst_error", std::to_string(worst));
  // Point to point has a tracking lag of 2/bandwidth.
  EXPECT_LT(worst, tracks(kLaw) ? 4e-5 : 0.04);
}

TEST(Chained, APredecessorThatStopsAbruptlyMakesNoStep) {
  // joint_trajectory_controller does this when it aborts: it holds the measured position.
  for (const bool friction : {false, true}) {
    Arm arm(puma(), friction);
    Bench bench(kLaw, puma(), {Parameter("friction", friction ? 0.8 : 0.0)});
    ASSERT_TRUE(bench.set_in_motion(arm, 0.8));
    const Values hold = arm.q(), rest(6, 0.0);
    bench.refer({hold, rest, rest});
    const double first = bench.cycle(arm), step = bench.cycles(arm, 300);
    double furthest = 0;
    for (int k = 0; k < 3000; ++k) {
      bench.cycle(arm);
      furthest = std::max(furthest, arm.distance(hold));
    }
    RecordProperty(friction ? "step_with_friction" : "step", std::to_string(step));
    EXPECT_LT(first, 0.01);
    EXPECT_LT(step, 0.01);
    EXPECT_LT(furthest, 0.1);
    EXPECT_LT(arm.distance(hold), friction ? 0.03 : 1e-3);
    EXPECT_LT(arm.speed(), 1e-3);
  }
}

TEST(Chained, AReferenceOutsideTheLimitsIsKeptAtThem) {
  Arm arm(scara());
  Bench bench(kLaw, scara());
  ASSERT_TRUE(bench.configure());
  const Values rest(4, 0.0), inside{0, 0, 0.1, 0}, outside{0, 0, 0.5, 0}, kept{0, 0, 0.2, 0};
  arm.put(inside);
  ASSERT_TRUE(bench.activate(arm, true));
  bench.refer({inside, rest, rest});
  bench.cycles(arm, 100);
  bench.refer({outside, rest, rest});
  EXPECT_LT(bench.cycles(arm, 4000), 0.01);
  EXPECT_LT(arm.distance(kept), 1e-3);
}

}  // namespace
}  // namespace test
