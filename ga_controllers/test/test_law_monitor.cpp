// SPDX-License-Identifier: Apache-2.0

// The monitors on signals whose values are known, and their cost.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "counting_allocator.hpp"
#include "ga_controllers/law_monitor.hpp"

namespace ga_controllers {
namespace {

constexpr double kDt = 1e-3;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using Signal = std::function<double(double)>;

/// Two joints with torque limits of 10 and 20 N m.
ga_dynamics::Chain two_joints() {
  ga_dynamics::DhJoint first, second;
  first.name = "first";
  first.limits = {-2, 2, 3, 10};
  first.body = {1, {}, {0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1}};
  second = first;
  second.name = "second";
  second.limits.effort = 20;
  return ga_dynamics::Chain::from_dh({first, second});
}

double sine(double t, double amplitude, double frequency) {
  return amplitude * std::sin(2 * std::numbers::pi * frequency * t);
}
double zero(double) { return 0; }

/// Signals of the first joint; the second rests.
struct Signals {
  Signal error = zero, torque = zero, disturbance = zero;
  double velocity = 0;  ///< of the reference
};

void run(LawMonitor& monitor, double from, double to, const Signals& s) {
  std::vector<double> q(2), q_ref(2), qd_ref(2), tau(2), d(2);
  for (double t = from; t < to - kDt / 2; t += kDt) {
    q_ref[0] = s.velocity * t;
    qd_ref[0] = s.velocity;
    q[0] = q_ref[0] + s.error(t);
    tau[0] = s.torque(t);
    d[0] = s.disturbance(t);
    monitor.update({q, q_ref, qd_ref, tau, d}, kDt);
  }
}

TEST(LawMonitor, NamesAnOscillationWithSizeAndFrequency) {
  LawMonitor monitor(two_joints());
  run(monitor, 0, 2, {.error = [](double t) { return sine(t, 1e-3, 8); }});
  EXPECT_NEAR(monitor.joint(0).oscillation, 2e-3, 2e-5) << "from crest to trough";
  EXPECT_NEAR(monitor.joint(0).frequency, 8, 0.1);
  EXPECT_EQ(monitor.joint(0).torque_oscillation, 0);
  EXPECT_EQ(monitor.oscillating(), 0u);
  EXPECT_FALSE(monitor.joint(1).oscillates());
  // It is over three swings after it has ended.
  run(monitor, 2, 2.4, {});
  EXPECT_FALSE(monitor.joint(0).oscillates());
  EXPECT_EQ(monitor.oscillating(), monitor.size());
}

TEST(LawMonitor, SeesSlowHunting) {
  LawMonitor monitor(two_joints());
  run(monitor, 0, 12, {.error = [](double t) { return std::fmod(t, 2) < 1 ? 7e-4 : -7e-4; }});
  EXPECT_NEAR(monitor.joint(0).oscillation, 1.4e-3, 1e-5);
  EXPECT_NEAR(monitor.joint(0).frequency, 0.5, 0.01);
}

TEST(LawMonitor, IgnoresSettlingNoiseAndMotion) {
  LawMonitor settling(two_joints());
  bool seen = false;
  for (double t = 0; t < 3; t += 0.1) {
    run(settling, t, t + 0.1,
        {.error = [](double at) { return sine(at, 0.02 * std::exp(-5 * at), 6); }});
    seen = seen || settling.joint(0).oscillates();
  }
  EXPECT_FALSE(seen) << "an overshoot that dies out";
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 4e-5);
  LawMonitor noisy(two_joints());
  run(noisy, 0, 3, {.error = [&](double) { return noise(random); }});
  EXPECT_FALSE(noisy.joint(0).oscillates());
  LawMonitor moving(two_joints());
  run(moving, 0, 3, {.error = [](double t) { return sine(t, 1e-3, 3); }, .velocity = 0.1});
  EXPECT_FALSE(moving.joint(0).oscillates()) << "a tracking error that changes its sign";
}

TEST(LawMonitor, ThresholdFollowsTheEncoder) {
  const Signals swings{.error = [](double t) { return sine(t, 1e-3, 8); }};
  LawMonitor coarse(two_joints(), {}, {2.1e-3, 0});
  run(coarse, 0, 2, swings);
  EXPECT_FALSE(coarse.joint(0).oscillates());
  LawMonitor fine(two_joints(), {}, {1.9e-3, 0});
  run(fine, 0, 2, swings);
  EXPECT_TRUE(fine.joint(0).oscillates());
  LawMonitor least(two_joints(), {}, {0, 0});
  run(least, 0, 2, {.error = [](double t) { return sine(t, 0.49 * LawMonitor::kSwing, 8); }});
  EXPECT_FALSE(least.joint(0).oscillates());
  run(least, 2, 4, {.error = [](double t) { return sine(t, 0.51 * LawMonitor::kSwing, 8); }});
  EXPECT_TRUE(least.joint(0).oscillates());
}

TEST(LawMonitor, SeesATorqueThatSwingsFastAlsoInMotion) {
  LawMonitor monitor(two_joints());
  run(monitor, 0, 1, {.torque = [](double t) { return sine(t, 4, 20); }, .velocity = 0.1});
  EXPECT_NEAR(monitor.joint(0).torque_oscillation, 0.8, 0.01);
  EXPECT_NEAR(monitor.joint(0).frequency, 20, 0.3);
  EXPECT_EQ(monitor.joint(0).oscillation, 0);
  EXPECT_EQ(monitor.oscillating(), 0u);
  // A motion to and fro, every 0.2 s.
  LawMonitor motion(two_joints());
  run(motion, 0, 3, {.torque = [](double t) { return sine(t, 9, 2.5); }, .velocity = 0.1});
  EXPECT_FALSE(motion.joint(0).oscillates());
}

TEST(LawMonitor, ChatterIsTheRmsChangePerCycleOverTheLimit) {
  LawMonitor monitor(two_joints());
  int k = 0;
  run(monitor, 0, 2, {.torque = [&](double) { return ++k % 2 == 0 ? 0.1 : 0.0; }});
  EXPECT_NEAR(monitor.joint(0).chatter, 0.01, 1e-5);
  EXPECT_EQ(monitor.joint(1).chatter, 0);
  // A ramp: constant changes.
  LawMonitor ramp(two_joints());
  run(ramp, 0, 1, {.torque = [](double t) { return 5 * t; }});
  EXPECT_NEAR(ramp.joint(0).chatter, 5e-4, 1e-6);
  // About the last half second.
  run(ramp, 1, 2.5, {.torque = [](double) { return 5; }});
  EXPECT_NEAR(ramp.joint(0).chatter, 5e-4 * std::exp(-1.5), 5e-5);
}

TEST(LawMonitor, SaturationIsAShareOfTime) {
  LawMonitor monitor(two_joints());
  int k = 0;
  run(monitor, 0, 3, {.torque = [&](double) { return ++k % 4 == 0 ? -10.0 : 3.0; }});
  EXPECT_NEAR(monitor.joint(0).saturation, 0.25, 0.01);
  EXPECT_EQ(monitor.joint(1).saturation, 0);
  // The controller's own limit counts.
  LawMonitor own(two_joints(), {5, 5});
  run(own, 0, 1, {.torque = [](double) { return 4.95; }});
  EXPECT_NEAR(own.joint(0).saturation, 1, 1e-9);
}

TEST(LawMonitor, ComparesTheModelErrorWithItsUsualSize) {
  LawMonitor monitor(two_joints());
  run(monitor, 0, 1, {.disturbance = [](double) { return 0.5; }});
  EXPECT_NEAR(monitor.joint(0).model_error, 0.05, 1e-9);
  EXPECT_EQ(monitor.joint(0).model_error_ratio, 0) << "not known yet";
  run(monitor, 1, 60, {.disturbance = [](double) { return 0.5; }});
  EXPECT_NEAR(monitor.joint(0).model_error_ratio, 1, 1e-3);
  run(monitor, 60, 60.5, {.disturbance = [](double) { return 2; }});  // grasps a payload
  EXPECT_NEAR(monitor.joint(0).model_error, 0.2, 0.002);
  EXPECT_NEAR(monitor.joint(0).model_error_ratio, 3.6, 0.2);
  // A restart forgets the present error and keeps the usual one.
  monitor.start();
  EXPECT_EQ(monitor.joint(0).model_error, 0);
  run(monitor, 61, 61.2, {.disturbance = [](double) { return 2; }});
  EXPECT_GT(monitor.joint(0).model_error_ratio, 3);
}

TEST(LawMonitor, SkipsCyclesWithoutAValidState) {
  LawMonitor monitor(two_joints());
  run(monitor, 0, 1, {.torque = [](double t) { return 5 * t; }});
  const double before = monitor.joint(0).chatter;
  run(monitor, 1, 1.01, {.error = [](double) { return kNan; }});
  run(monitor, 1, 1.01, {.torque = [](double) { return kNan; }});
  EXPECT_EQ(monitor.joint(0).chatter, before);
  const std::vector<double> one(1), two(2);
  monitor.update({one, two, two, two}, kDt);
  monitor.update({two, two, two, two}, kNan);
  EXPECT_EQ(monitor.joint(0).chatter, before);
}

TEST(LawMonitor, JointsWithoutATorqueLimitHaveNoTorqueMonitors) {
  ga_dynamics::DhJoint free;
  free.name = "free";
  free.body = {1, {}, {0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1}};
  LawMonitor monitor(ga_dynamics::Chain::from_dh({free, free}));
  run(monitor, 0, 1,
      {.torque = [](double t) { return sine(t, 100, 20); },
       .disturbance = [](double) { return 5; }});
  EXPECT_EQ(monitor.joint(0).chatter, 0);
  EXPECT_EQ(monitor.joint(0).saturation, 0);
  EXPECT_EQ(monitor.joint(0).model_error, 0);
  EXPECT_FALSE(monitor.joint(0).oscillates());
}

TEST(LawMonitor, RefusesBadArguments) {
  EXPECT_THROW(LawMonitor(two_joints(), {1}), std::invalid_argument);
  EXPECT_THROW(LawMonitor(two_joints(), {1, -1}), std::invalid_argument);
  EXPECT_THROW(LawMonitor(two_joints(), {}, {1, 2, 3}), std::invalid_argument);
}

TEST(LawMonitor, DoesNotAllocate) {
  LawMonitor monitor(two_joints());
  std::vector<double> q(2), rest(2), tau(2);
  const long before = test::allocations();
  for (int k = 0; k < 5000; ++k) {
    q[0] = sine(k * kDt, 1e-2, 8);
    tau[0] = sine(k * kDt, 9, 20);
    monitor.update({q, rest, rest, tau, rest}, kDt);
  }
  monitor.start();
  EXPECT_EQ(test::allocations() - before, 0);
}

}  // namespace
}  // namespace ga_controllers
