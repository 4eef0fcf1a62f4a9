// SPDX-License-Identifier: Apache-2.0

// A law with references, loaded by a real controller manager: aborts, fallbacks in mid-motion.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cell.hpp"

namespace test {
namespace {

TEST(Loaded, AnAbortedTrajectoryLeavesAStandingArm) {
  Cell cell(puma(), true);
  ASSERT_TRUE(cell.load_law("law", kLaw));
  ASSERT_TRUE(cell.load_trajectory_controller("trajectory", "law", 2e-4));
  ASSERT_TRUE(cell.change({"law", "trajectory"}, {}));
  cell.pass(0.3);
  cell.watch->take_steps();
  cell.move("trajectory", 0.5, 1.0);  // friction alone exceeds the path tolerance
  cell.pass(1.5);
  const double step = cell.watch->take_steps().any;
  RecordProperty("any_step", std::to_string(step));
  // Tracking feeds friction forward at the reference's velocity: it steps where that stops.
  EXPECT_LT(step, tracks(kLaw) ? 0.1 : 0.005);
  EXPECT_LT(cell.watch->speed(), 0.02);
  EXPECT_LT(cell.distance(cell.start), 0.4) << "it was not aborted";
  EXPECT_TRUE(cell.active("law"));
}

TEST(Loaded, ATrajectoryThatIsTooFastStaysOnItsPath) {
  if (!tracks(kLaw)) return;  // it does not follow velocities
  for (const bool scales : {false, true}) {
    Cell cell(puma(), false);
    cell.keep_path = true;
    ASSERT_TRUE(cell.load_law("law", kLaw));
    ASSERT_TRUE(cell.load_trajectory_controller("trajectory", "law", scales ? 0.6 : 0, scales));
    ASSERT_TRUE(cell.change({"law", "trajectory"}, {}));
    cell.pass(0.3);
    cell.move("trajectory", 0.6, 0.3);  // up to 3.7 rad/s; the limit is 1.5 rad/s
    double off_path = 0;
    for (int k = 0; k < 3000; ++k) {
      cell.pass(0.001);
      // All joints are to move by the same angle.
      const Values q = cell.watch->position();
      double least = INFINITY, most = -INFINITY;
      for (std::size_t i = 0; i < q.size(); ++i) {
        least = std::min(least, q[i] - cell.start[i]);
        most = std::max(most, q[i] - cell.start[i]);
      }
      off_path = std::max(off_path, most - least);
    }
    RecordProperty(scales ? "off_path_scaled" : "off_path", std::to_string(off_path));
    EXPECT_LT(off_path, 0.01);
    EXPECT_NEAR(cell.distance(cell.start), 0.6, 2e-3) << "it was aborted";
    EXPECT_LT(cell.watch->speed(), 0.01);
    EXPECT_TRUE(cell.active("law"));
  }
}

TEST(Loaded, TheGravityHoldTakesOverFromAnErrorInMidMotion) {
  for (const bool with_friction : {false, true}) {
    Cell cell(puma(), with_friction);
    ASSERT_TRUE(cell.load_law("fallback", LawKind::kGravityHold));
    ASSERT_TRUE(cell.load_law("law", kLaw, {"fallback"}));
    ASSERT_TRUE(cell.load_trajectory_controller("trajectory", "law"));
    ASSERT_TRUE(cell.change({"law", "trajectory"}, {}));
    cell.pass(0.5);
    cell.move("trajectory", 0.3, 1.2);
    cell.pass(0.5);
    const Values at = cell.watch->position();
    EXPECT_GT(cell.watch->speed(), 0.1);
    cell.watch->take_steps();
    cell.watch->blind = true;
    for (int k = 0; k < 200 && cell.active("law"); ++k) cell.pass(0.001);
    cell.watch->blind = false;
    cell.pass(0.02);
    const Steps steps = cell.watch->take_steps();
    cell.pass(1);
    RecordProperty(with_friction ? "step_with_friction" : "step", std::to_string(steps.any));
    EXPECT_LT(steps.any, 0.01);
    EXPECT_FALSE(cell.active("law"));
    EXPECT_FALSE(cell.active("trajectory"));
    EXPECT_TRUE(cell.active("fallback"));
    EXPECT_FALSE(cell.watch->braked);
    EXPECT_LT(cell.distance(at), 0.2);
    EXPECT_LT(cell.watch->speed(), 0.01);
  }
}

}  // namespace
}  // namespace test
