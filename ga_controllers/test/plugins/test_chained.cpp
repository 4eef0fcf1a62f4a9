// SPDX-License-Identifier: Apache-2.0

// A controller behind a predecessor, for every law: restarts by changes of the chain, switches in
// mid-motion.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "bench.hpp"
#include "counted_update.hpp"

namespace test {
namespace {

using rclcpp::Parameter;

TEST(Chained, ExportsReferences) {
  Bench bench(kLaw, scara());
  ASSERT_TRUE(bench.configure());
  ASSERT_EQ(bench.references.size(), 12u);
  EXPECT_EQ(bench.references[0]->get_name(), "controller/shoulder/position");
  EXPECT_EQ(bench.references[6]->get_name(), "controller/quill/velocity");
  EXPECT_EQ(bench.references[11]->get_name(), "controller/wrist/acceleration");
}

TEST(Chained, HoldsUntilTheFirstReference) {
  Arm arm(puma());
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.configure());
  const Values start = arm.q();
  ASSERT_TRUE(bench.activate(arm, true));
  bench.cycles(arm, 1000);
  EXPECT_LT(arm.distance(start), 1e-4);
}

TEST(Chained, APredecessorComesAndGoesWithoutABump) {
  for (const bool friction : {false, true}) {
    Arm arm(puma(), friction);
    Bench bench(kLaw, puma(), {Parameter("friction", friction ? 0.8 : 0.0)});
    ASSERT_TRUE(bench.set_in_motion(arm, 0.8));
    ASSERT_TRUE(bench.restart(arm, false));  // in mid-motion, without a set-point
    const Values at = arm.q();
    EXPECT_LT(bench.cycle(arm), 0.01);
    const double step = bench.cycles(arm, 300);
    RecordProperty(friction ? "step_with_friction" : "step", std::to_string(step));
    EXPECT_LT(step, 0.0025);
    bench.cycles(arm, 4000);
    EXPECT_LT(arm.speed(), 1e-3);
    EXPECT_LT(arm.distance(at), 0.2);
    ASSERT_TRUE(bench.restart(arm, true));
    const Values hold = arm.q(), rest(6, 0.0);  // the predecessor starts at the measured position
    bench.refer({hold, rest, rest});
    EXPECT_LT(bench.cycle(arm), 0.01);
    EXPECT_LT(bench.cycles(arm, 1000), 0.01);
    EXPECT_LT(arm.distance(hold), 1e-3);
  }
}

TEST(Chained, ALongPauseIsNoRestart) {
  // The arm was moved meanwhile: the controller holds it where it is.
  Arm arm(puma());
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.configure());
  ASSERT_TRUE(bench.activate(arm));
  bench.cycles(arm, 100);
  bench.deactivate();
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  const Motion elsewhere(arm.chain, 1);
  arm.put(elsewhere.q);
  ASSERT_TRUE(bench.activate(arm));
  bench.cycles(arm, 2000);
  EXPECT_LT(arm.distance(elsewhere.q), 0.05);
}

std::vector<Parameter> parameters_of(LawKind kind, bool friction) {
  return friction ? friction_parameters(kind) : std::vector<Parameter>{};
}

TEST(Chained, HandsOverToEveryOtherControllerInMidMotion) {
  double worst = 0, worst_with_friction = 0;
  for (const LawKind other : kAllLaws) {
    if (other == kLaw) continue;
    for (const bool friction : {false, true}) {
      for (const bool chained : {false, true}) {
        Arm arm(puma(), friction);
        Bench first(kLaw, puma(), parameters_of(kLaw, friction), "first"),
            second(other, puma(), parameters_of(other, friction), "second");
        ASSERT_TRUE(second.configure() && first.set_in_motion(arm, 0.6));
        const Values at = arm.q();
        first.deactivate();
        ASSERT_TRUE(second.activate(arm, chained));
        const std::string pair = name_of(kLaw) + " to " + name_of(other) +
                                 (chained ? ", chained" : ", alone") +
                                 (friction ? ", friction" : "");
        const double change = chained ? second.follow(arm, 0.6, 0.62) : second.cycles(arm, 20);
        const double later = chained ? second.follow(arm, 0.62, 0.9) : second.cycles(arm, 280);
        EXPECT_LT(change, 0.01) << pair;
        EXPECT_LT(later, 0.01) << pair;
        (friction ? worst_with_friction : worst) =
            std::max(friction ? worst_with_friction : worst, change);
        if (!chained) {
          second.cycles(arm, 4000);
          EXPECT_LT(arm.speed(), 2e-3) << pair;
          EXPECT_LT(arm.distance(at), 0.2) << pair;
        }
      }
    }
  }
  RecordProperty("switch_step", std::to_string(worst));
  RecordProperty("switch_step_with_friction", std::to_string(worst_with_friction));
}

TEST(Chained, AllocatesNothing) {
  Arm arm(puma());
  Bench bench(kLaw, puma(), {Parameter("state_publish_rate", 1000.0)});
  ASSERT_TRUE(bench.set_in_motion(arm));
  long allocations = 0;
  for (int k = 0; k < 10000; ++k) {
    Motion now(arm.chain, k * kDt);
    if (k % 1000 == 3) now.q[0] = NAN;
    if (k % 1000 == 300) now.q[0] += 0.1;
    bench.refer(now.reference());
    ASSERT_TRUE(counted_cycle(bench, arm, allocations));
  }
  EXPECT_EQ(allocations, 0);
}

}  // namespace
}  // namespace test
