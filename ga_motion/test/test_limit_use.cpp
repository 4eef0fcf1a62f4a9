// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "ga_dynamics/dynamics.hpp"
#include "ga_motion/time_parameterization.hpp"
#include "refusal.hpp"
#include "timing_paths.hpp"

namespace ga_motion {
namespace {

using namespace ga_dynamics;
using ga_dynamics::test::refusal;
using ga_motion::test::puma;

/// 2 kg on a slide of 10 N, 3 m/s, from -1 to 1 m, with 1 N of friction.
Chain cart() {
  DhJoint slide;
  slide.type = JointType::kPrismatic;
  slide.body.mass = 2;
  slide.drive.coulomb_positive = slide.drive.coulomb_negative = 1;
  slide.limits = {-1, 1, 3, 10};
  return Chain::from_dh({slide}, {0, 0, 0});
}

TEST(LimitUse, OfAQuinticIsThatOfItsClosedForm) {
  const std::vector<double> start{-0.5}, goal{1.0};
  const auto motion = make_quintic(start, goal, 1.0);
  const LimitUse use = limit_use(cart(), limits_of(cart()), *motion);
  const JointUse& joint = use.joints.at(0);
  EXPECT_NEAR(joint.velocity.share, 1.875 * 1.5 / 3, 1e-5);
  EXPECT_NEAR(joint.velocity.time, 0.5, 2e-3);
  const double peak = 2 * 5.7735 * 1.5 + 1;  // with friction, while it accelerates
  EXPECT_NEAR(joint.torque.value, peak, 1e-2);
  EXPECT_NEAR(joint.torque.share, peak / 10, 1e-3);
  EXPECT_NEAR(joint.torque.time, 0.2113, 2e-3);  // (1 - 1 / sqrt 3) / 2
  EXPECT_GT(joint.torque.time_over, 0.2);
  EXPECT_NEAR(joint.position.share, 1, 1e-9);
  EXPECT_FALSE(use.within(0.5));
  EXPECT_TRUE(use.within(0.9));
}

TEST(LimitUse, FindsPositionsBeyondTheirLimits) {
  const std::vector<double> start{0.0}, goal{1.25};
  const LimitUse use = limit_use(cart(), limits_of(cart()), *make_quintic(start, goal, 9.0));
  EXPECT_NEAR(use.joints[0].position.share, 1.25, 1e-9);
  EXPECT_EQ(use.joints[0].position.value, 1.25);
  EXPECT_FALSE(use.within(0.1));
}

TEST(LimitUse, OfValuesThatAreNotFiniteExceedsEveryLimit) {
  const std::vector<double> times{0, 1};
  const test::Points q{{0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}};
  test::Points qd = q;
  qd[0][2] = 1e200;  // its square is infinite
  const auto motion = make_hermite_spline(times, q, qd);
  TimingLimits limits = limits_of(puma());
  const LimitUse use = limit_use(puma(), limits, *motion);
  EXPECT_FALSE(use.within(1));
  EXPECT_TRUE(std::isnan(use.joints[1].torque.value));
  EXPECT_TRUE(std::isinf(use.joints[1].torque.share));
  EXPECT_GT(use.joints[1].torque.time_over, 0.9);
  // Without a limit as well.
  limits.torque.assign(6, std::numeric_limits<double>::infinity());
  limits.velocity = limits.torque;
  EXPECT_FALSE(limit_use(puma(), limits, *motion).within(1));
}

TEST(LimitUse, RefusesArgumentsThatDoNotFit) {
  const auto motion = make_hold(std::vector<double>(6, 0.0), 1);
  EXPECT_EQ(refusal([&] { limit_use(cart(), limits_of(cart()), *motion); }),
            "limit_use: motion has 6 joints, the arm 1; give one for this arm");
  EXPECT_EQ(refusal([&] { limit_use(puma(), limits_of(cart()), *motion); }),
            "limit_use: limits have 1 values for 6 joints; give one per joint");
  EXPECT_EQ(refusal([&] { limit_use(puma(), limits_of(puma()), *motion, 0); }),
            "limit_use: step 0 s; give a time");
}

TEST(HermiteSpline, MeetsItsPointsWithTheirDerivatives) {
  const std::vector<double> times{0, 0.5, 2};
  const test::Points q{{0, 1}, {0.3, -1}, {0.1, 2}}, v{{0, 1}, {2, -1}, {0, 0}},
      a{{1, 0}, {-4, 2}, {0, 0}};
  std::vector<double> position(2), velocity(2), acceleration(2);
  for (const bool fifth : {false, true}) {
    const auto spline = make_hermite_spline(times, q, v, fifth ? a : test::Points{});
    for (std::size_t k = 0; k < 3; ++k) {
      for (const double side : {-1e-10, 0.0}) {
        if (k == 0 && side < 0) continue;
        spline->sample(times[k] + side, position, velocity, acceleration);
        for (std::size_t i = 0; i < 2; ++i) {
          EXPECT_NEAR(position[i], q[k][i], 1e-8);
          EXPECT_NEAR(velocity[i], v[k][i], 1e-7);
          if (fifth) {
            EXPECT_NEAR(acceleration[i], a[k][i], 1e-6);
          }
        }
      }
    }
    // Half-way, the cubic is known by Hermite's formula.
    spline->sample(0.25, position, velocity, acceleration);
    if (!fifth) {
      EXPECT_NEAR(position[0], 0.15 + 0.5 * (0 - 2) / 8, 1e-12);
    }
    spline->sample(2.1, position, velocity, acceleration);
    EXPECT_EQ(position, q.back());
    EXPECT_EQ(acceleration, std::vector<double>(2, 0.0));
  }
}

TEST(HermiteSpline, RepeatsAFifthOrderPolynomialExactly) {
  const std::vector<double> start{-1}, goal{2};
  const auto quintic = make_quintic(start, goal, 1.5);
  std::vector<double> times;
  test::Points q, v, a;
  for (const double t : {0.0, 0.4, 1.1, 1.5}) {
    std::vector<double> one(1), two(1), three(1);
    quintic->sample(t, one, two, three);
    times.push_back(t), q.push_back(one), v.push_back(two), a.push_back(three);
  }
  const auto spline = make_hermite_spline(times, q, v, a);
  std::vector<double> q1(1), v1(1), a1(1), q2(1), v2(1), a2(1);
  for (double t = 0; t <= 1.5; t += 0.07) {
    quintic->sample(t, q1, v1, a1);
    spline->sample(t, q2, v2, a2);
    EXPECT_NEAR(q1[0], q2[0], 1e-12);
    EXPECT_NEAR(v1[0], v2[0], 1e-11);
    EXPECT_NEAR(a1[0], a2[0], 1e-9);
  }
}

TEST(HermiteSpline, RefusesTablesThatDoNotFit) {
  const test::Points two{{0}, {1}}, three{{0}, {1}, {2}}, wide{{0, 0}, {1, 1}};
  const std::vector<double> times{0, 1}, late{1, 2}, back{0, 0};
  const std::string start = "make_hermite_spline: ";
  EXPECT_EQ(refusal([&] { make_hermite_spline(times, two, three); }),
            start + "3 velocities for 2 times; give one each");
  EXPECT_EQ(refusal([&] { make_hermite_spline(times, two, wide); }),
            start + "velocities[0] has 2 values for 1 joints; give one per joint");
  EXPECT_EQ(refusal([&] { make_hermite_spline(late, two, two); }),
            start + "times[0] is 1 s; begin with 0");
  EXPECT_EQ(refusal([&] { make_hermite_spline(back, two, two); }),
            start + "times[1] is 0 s after 0 s; give increasing, finite times");
  EXPECT_EQ(refusal([&] { make_hermite_spline({}, two, two); }),
            start + "0 times; give two or more");
}

TEST(SafeAccelerations, OfThePumaAreThoseOfAnIndependentSearch) {
  // 6000 postures, all corners of the velocities, another program.
  const double found[] = {8.0, 10.0, 48, 102, 93, 100};
  const double loaded[] = {2.2, 3.8, 17, 82, 71, 100};
  const Chain heavy = puma().with_payload({2.5, {0, 0, 0}, {}});
  const auto empty = safe_accelerations(puma(), limits_of(puma()));
  const auto with = safe_accelerations(heavy, limits_of(heavy));
  ASSERT_EQ(empty.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(empty[i] / found[i], 1, 0.02) << i;
    EXPECT_NEAR(with[i] / loaded[i], 1, 0.04) << i;
  }
}

TEST(SafeAccelerations, KeepTheTorqueLimitsAtOtherPosturesToo) {
  const TimingLimits limits = limits_of(puma());
  const auto safe = safe_accelerations(puma(), limits);
  Dynamics dynamics(puma(), {.drives = Drives::kAll});
  std::mt19937 random(5);
  std::uniform_real_distribution<double> share(0, 1), side(-1, 1);
  std::vector<double> q(6), qd(6), qdd(6), tau(6);
  double worst = 0;
  for (int k = 0; k < 20000; ++k) {
    for (std::size_t i = 0; i < 6; ++i) {
      q[i] = limits.lower[i] + share(random) * (limits.upper[i] - limits.lower[i]);
      qd[i] = side(random) * limits.velocity[i];
      qdd[i] = std::copysign(safe[i], side(random));
    }
    dynamics.inverse_dynamics(q, qd, qdd, tau);
    for (std::size_t i = 0; i < 6; ++i) {
      worst = std::max(worst, std::abs(tau[i]) / limits.torque[i]);
    }
  }
  EXPECT_LT(worst, 1.01);
  EXPECT_GT(worst, 0.9);
}

TEST(SafeAccelerations, AreNoneWhereGravityAloneIsTooMuch) {
  const Chain heavy = puma().with_payload({15, {0, 0, 0}, {}});
  EXPECT_TRUE(safe_accelerations(heavy, limits_of(heavy)).empty());
  TimingLimits limits = limits_of(puma());
  limits.torque[1] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refusal([&] { safe_accelerations(puma(), limits); }),
            "safe_accelerations: joint2 has no torque or no velocity limit; give both");
}

}  // namespace
}  // namespace ga_motion
