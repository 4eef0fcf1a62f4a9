// SPDX-License-Identifier: Apache-2.0

// A controller behind another one: references, restarts by changes of the chain, switches in
// mid-motion.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "bench.hpp"
#include "counting_allocator.hpp"

namespace test {
namespace {

using ga_controllers::Reference;
using rclcpp::Parameter;

const LawKind kLaw = law_under_test();
const bool kTakesReferences = kLaw != LawKind::kGravityHold;

/// Lets the predecessor move the arm from time `from` to `to`; the largest change of a torque.
double follow(Bench& bench, Arm& arm, double from, double to, double* worst = nullptr) {
  double change = 0;
  for (int k = 0; k < static_cast<int>(std::round((to - from) / kDt)); ++k) {
    const Motion now(arm.chain, from + k * kDt);
    if (worst != nullptr) *worst = std::max(*worst, arm.distance(now.q));
    bench.refer(now.reference());
    change = std::max(change, bench.cycle(arm));
  }
  return change;
}

/// In motion at time `t` of the predecessor's motion.
void set_in_motion(Bench& bench, Arm& arm, double t) {
  const Motion at(arm.chain, t);
  arm.put(at.q, at.qd);
  arm.drive(at.qdd);
  ASSERT_TRUE(bench.activate(arm, true));
}

TEST(Chained, ExportsReferences) {
  Bench bench(kLaw, scara());
  ASSERT_TRUE(bench.configure());
  ASSERT_EQ(bench.references.size(), 12u);
  EXPECT_EQ(bench.references[0]->get_name(), "controller/shoulder/position");
  EXPECT_EQ(bench.references[6]->get_name(), "controller/quill/velocity");
  EXPECT_EQ(bench.references[11]->get_name(), "controller/wrist/acceleration");
}

TEST(Chained, FollowsItsReferencesOnEveryArm) {
  for (const std::string& urdf : {puma(), scara(), seven_joints()}) {
    Arm arm(urdf);
    Bench bench(kLaw, urdf, {Parameter("gains.bandwidth", Values{60})});
    ASSERT_TRUE(bench.configure());
    set_in_motion(bench, arm, 0);
    EXPECT_LT(follow(bench, arm, 0, 1), 0.01);
    double worst = 0;
    follow(bench, arm, 1, 3, &worst);
    RecordProperty("worst_error", std::to_string(worst));
    if (tracks(kLaw)) {
      EXPECT_LT(worst, 5e-5);
    } else if (kTakesReferences) {
      EXPECT_LT(worst, 0.05) << "point to point lags behind by 2/bandwidth";
    }
  }
}

TEST(Chained, HoldsUntilThePredecessorSaysSomething) {
  Arm arm(puma());
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.configure());
  const Values start(arm.plant.q().begin(), arm.plant.q().end());
  ASSERT_TRUE(bench.activate(arm, true));
  bench.cycles(arm, 1000);
  EXPECT_LT(arm.distance(start), 1e-4);
}

TEST(Chained, APredecessorThatStopsDeadMakesNoStep) {
  // joint_trajectory_controller does that when it aborts: it holds the measured position.
  if (!kTakesReferences) GTEST_SKIP() << "this law takes no reference";
  for (const bool friction : {false, true}) {
    Arm arm(puma(), friction);
    Bench bench(kLaw, puma(), {Parameter("friction", friction ? 0.8 : 0.0)});
    ASSERT_TRUE(bench.configure());
    set_in_motion(bench, arm, 0);
    follow(bench, arm, 0, 0.8);
    Motion hold(arm.chain, 0.8);
    hold.q.assign(arm.plant.q().begin(), arm.plant.q().end());
    hold.qd.assign(6, 0.0);
    hold.qdd.assign(6, 0.0);
    bench.refer(hold.reference());
    const double first = bench.cycle(arm), step = bench.cycles(arm, 300);
    double furthest = 0;
    for (int k = 0; k < 3000; ++k) {
      bench.cycle(arm);
      furthest = std::max(furthest, arm.distance(hold.q));
    }
    RecordProperty(friction ? "step_with_friction" : "step", std::to_string(step));
    // Friction that is fed forward reverses with the velocity.
    EXPECT_LT(first, 0.01);
    EXPECT_LT(step, friction ? 0.02 : 0.01);
    EXPECT_LT(furthest, 0.1);
    EXPECT_LT(arm.distance(hold.q), friction ? 0.03 : 1e-3);
    EXPECT_LT(arm.speed(), 1e-3);
  }
}

TEST(Chained, AReferenceOutsideTheLimitsIsKeptAtThem) {
  if (!kTakesReferences) GTEST_SKIP() << "this law takes no reference";
  Arm arm(scara());
  Bench bench(kLaw, scara());
  ASSERT_TRUE(bench.configure());
  const Values rest(4, 0.0), inside{0, 0, 0.1, 0}, outside{0, 0, 0.5, 0}, kept{0, 0, 0.2, 0};
  arm.put(inside, rest);
  ASSERT_TRUE(bench.activate(arm, true));
  bench.refer({inside, rest, rest});
  bench.cycles(arm, 100);
  bench.refer({outside, rest, rest});
  EXPECT_LT(bench.cycles(arm, 4000), 0.01);
  EXPECT_LT(arm.distance(kept), 1e-3);
}

/// What the controller manager does when a predecessor comes or goes.
void restart(Bench& bench, Arm& arm, bool chained) {
  bench.deactivate();
  ASSERT_TRUE(bench.activate(arm, chained));
}

TEST(Chained, APredecessorComesAndGoesWithoutABump) {
  for (const bool friction : {false, true}) {
    Arm arm(puma(), friction);
    Bench bench(kLaw, puma(), {Parameter("friction", friction ? 0.8 : 0.0)});
    ASSERT_TRUE(bench.configure());
    set_in_motion(bench, arm, 0);
    follow(bench, arm, 0, 0.8);
    restart(bench, arm, false);  // in mid-motion, without a set-point
    const Values at(arm.plant.q().begin(), arm.plant.q().end());
    EXPECT_LT(bench.cycle(arm), 0.01);
    EXPECT_LT(bench.cycles(arm, 300), friction ? 0.02 : 0.01);
    bench.cycles(arm, 4000);
    EXPECT_LT(arm.speed(), 1e-3);
    if (kTakesReferences) {
      EXPECT_LT(arm.distance(at), 0.2);
    }
    restart(bench, arm, true);
    Motion hold(arm.chain, 0);  // the predecessor starts where it finds the arm
    hold.q.assign(arm.plant.q().begin(), arm.plant.q().end());
    hold.qd.assign(6, 0.0);
    hold.qdd.assign(6, 0.0);
    bench.refer(hold.reference());
    EXPECT_LT(bench.cycle(arm), 0.01);
    EXPECT_LT(bench.cycles(arm, 1000), 0.01);
    EXPECT_LT(arm.distance(hold.q), 1e-3);
  }
}

TEST(Chained, ARestartKeepsTheIntegral) {
  // A payload that the model does not know: without the integral's torque the arm would sag.
  if (kLaw != LawKind::kTrackingIntegral) GTEST_SKIP() << "of the integral law alone";
  Arm arm(puma());
  arm.plant = ga_dynamics::Plant(
      arm.chain.with_payload({.mass = 2, .com = {0, 0, 0}, .inertia = {}}), {.friction = false});
  const Motion at(arm.chain, 0.3);
  const Values rest(6, 0.0);
  arm.put(at.q, rest);
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.configure());
  ASSERT_TRUE(bench.activate(arm, true));
  bench.refer({at.q, rest, rest});
  bench.cycles(arm, 4000);
  ASSERT_LT(arm.distance(at.q), 1e-4);
  for (const bool chained : {false, true, false, true}) {
    restart(bench, arm, chained);
    if (chained) bench.refer({at.q, rest, rest});
    for (int k = 0; k < 300; ++k) {
      ASSERT_LT(bench.cycle(arm), 0.001);
      ASSERT_LT(arm.distance(at.q), 2e-4);
    }
  }
}

TEST(Chained, ALongPauseIsNoRestart) {
  // Someone has moved the arm meanwhile: it stays where it is found.
  Arm arm(puma());
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.configure());
  ASSERT_TRUE(bench.activate(arm));
  bench.cycles(arm, 100);
  bench.deactivate();
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  const Motion elsewhere(arm.chain, 1);
  arm.put(elsewhere.q, Values(6, 0.0));
  ASSERT_TRUE(bench.activate(arm));
  bench.cycles(arm, 2000);
  EXPECT_LT(arm.distance(elsewhere.q), 0.05);
}

/// As they are for the PUMA: all of the friction is fed forward where the velocity is a
/// reference's.
std::vector<Parameter> parameters_of(LawKind kind, bool friction) {
  if (!friction || kind == LawKind::kGravityHold) return {};
  if (!tracks(kind)) return {Parameter("friction", 0.7)};
  return {Parameter("friction", 1.0), Parameter("friction_velocity", 3e-4)};
}

/// The largest change of a torque in the same motion without a switch.
double without_switch(LawKind kind) {
  Arm arm(puma(), true);
  Bench bench(kind, puma(), parameters_of(kind, true), "unswitched");
  EXPECT_TRUE(bench.configure());
  set_in_motion(bench, arm, 0);
  follow(bench, arm, 0, 0.6);
  return follow(bench, arm, 0.6, 0.9);
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
        ASSERT_TRUE(first.configure() && second.configure());
        set_in_motion(first, arm, 0);
        follow(first, arm, 0, 0.6);
        const Values at(arm.plant.q().begin(), arm.plant.q().end());
        first.deactivate();
        ASSERT_TRUE(second.activate(arm, chained));
        const std::string pair = name_of(kLaw) + " to " + name_of(other) +
                                 (chained ? ", chained" : ", alone") +
                                 (friction ? ", friction" : "");
        const double change = chained ? follow(second, arm, 0.6, 0.62) : second.cycles(arm, 20);
        const double later = chained ? follow(second, arm, 0.62, 0.9) : second.cycles(arm, 280);
        EXPECT_LT(change, 0.01) << pair;
        // With friction the torque has steps of its own where a joint stops or turns round.
        EXPECT_LT(later,
                  0.01 + (friction ? std::max(without_switch(kLaw), without_switch(other)) : 0))
            << pair;
        (friction ? worst_with_friction : worst) =
            std::max(friction ? worst_with_friction : worst, change);
        if (!chained) {
          second.cycles(arm, 4000);
          EXPECT_LT(arm.speed(), 1e-3) << pair;
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
  ASSERT_TRUE(bench.configure());
  set_in_motion(bench, arm, 0);
  const rclcpp::Duration dt = rclcpp::Duration::from_seconds(kDt);
  long allocations = 0;
  for (int k = 0; k < 10000; ++k) {
    Motion now(arm.chain, k * kDt);
    if (k % 1000 == 3) now.q[0] = NAN;
    if (k % 1000 == 300) now.q[0] += 0.1;
    bench.refer(now.reference());
    arm.write_states();
    bench.now = bench.now + dt;
    const long before = allocations_of_this_thread();
    const auto result = bench.controller->update(bench.now, dt);
    allocations += allocations_of_this_thread() - before;
    ASSERT_EQ(result, controller_interface::return_type::OK);
    arm.step();
  }
  EXPECT_EQ(allocations, 0);
}

}  // namespace
}  // namespace test
