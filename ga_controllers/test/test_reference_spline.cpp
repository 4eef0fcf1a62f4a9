// SPDX-License-Identifier: Apache-2.0

// The spline through positions alone: consistent, continuous and late by the same time for all
// samples; and when positions pass without it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "reference_completion.hpp"
#include "reference_spline.hpp"

namespace ga_controllers {
namespace {

constexpr double kDt = 1e-3;

/// The states of `cycles` cycles of positions.
std::vector<Blending::State> spline(int cycles, const std::function<double(int)>& position) {
  ReferenceSpline spline(1);
  std::vector<Blending::State> states;
  for (int k = 0; k < cycles; ++k) {
    const double q = position(k);
    spline.update({&q, 1}, kDt);
    states.push_back(spline.state(0));
  }
  return states;
}

TEST(ReferenceSpline, IsAParabolaOfAParabola) {
  // Averages of a parabola are parabolas; only the constant part differs.
  for (const int held : {1, 2, 5, 10, 25}) {
    const auto states = spline(1000, [&](int k) {
      const double t = (k / held * held) * kDt;
      return 0.3 + 0.2 * t + 0.5 * t * t;
    });
    const auto& [q, qd, qdd] = states.back();
    const double delay = (1.5 * (std::max(held, 10) - 1) + 1 + (held - 1) / 2.0) * kDt;
    const double t = 999 * kDt - delay;
    EXPECT_NEAR(qdd, 1, held == 1 ? 1e-7 : 0.02) << "held for " << held;
    EXPECT_NEAR(qd, 0.2 + t, 2e-4) << "held for " << held;
    EXPECT_NEAR(q, 0.3 + 0.2 * t + 0.5 * t * t, 2e-4) << "held for " << held;
  }
}

TEST(ReferenceSpline, VelocityAndAccelerationAreThoseOfItsPositions) {
  const auto states =
      spline(600, [](int k) { return std::sin(6 * (k / 10 * 10) * kDt); });  // held at 100 Hz
  for (std::size_t k = 51; k + 1 < states.size(); ++k) {
    const double rate = (states[k + 1].q - states[k - 1].q) / (2 * kDt);
    EXPECT_NEAR(states[k].qd, rate, 1e-9) << "cycle " << k;
    EXPECT_LT(std::abs(states[k + 1].qdd - states[k].qdd), 0.3) << "cycle " << k;
  }
}

TEST(ReferenceSpline, AStepEndsExactlyWithoutOvershoot) {
  const auto states = spline(100, [](int k) { return k < 20 ? 1.0 : 1.5; });
  for (const auto& state : states) {
    EXPECT_GE(state.q, 1 - 1e-12);
    EXPECT_LE(state.q, 1.5 + 1e-12);
  }
  EXPECT_EQ(states[19].qd, 0);
  EXPECT_NEAR(states.back().q, 1.5, 1e-12);
  EXPECT_NEAR(states.back().qdd, 0, 1e-7);
}

TEST(ReferenceSpline, ARestBetweenMotionsIsNoSampleInterval) {
  // Otherwise the next motion would be late by 1.5 times the rest.
  const auto position = [](int k) {
    const int moving = k < 200 ? k : k < 260 ? 200 : k - 60;
    return 0.4 * moving * kDt;
  };
  const auto states = spline(500, position);
  EXPECT_NEAR(states.back().q, position(499) - 0.4 * 14.5 * kDt, 1e-9);
}

/// Cycles after which the completed reference is the spline, with its rates.
int smooth_cycles(int cycles, const std::function<double(int)>& position) {
  ReferenceCompletion completion(1);
  const double velocity_limit = 2, acceleration_limit = 30;
  int smooth = 0;
  for (int k = 0; k < cycles; ++k) {
    const double q = position(k);
    completion.take({{&q, 1}, {}, {}}, kDt, {&velocity_limit, 1}, {&acceleration_limit, 1});
    const auto [is, qd, qdd] = completion.state(0);
    if (is != q || qd != 0 || qdd != 0) ++smooth;
    EXPECT_LE(std::abs(qd), velocity_limit);
    EXPECT_LE(std::abs(qdd), acceleration_limit / 2);
  }
  return smooth;
}

TEST(ReferenceCompletion, StepsNoiseAndFastMotionsPassUnchanged) {
  EXPECT_EQ(smooth_cycles(500, [](int k) { return k < 100 ? 0.0 : 0.1; }), 0) << "step";
  EXPECT_EQ(smooth_cycles(500, [](int k) { return k < 100 ? 0.0 : 3 * k * kDt; }), 0) << "fast";
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 1e-3);
  EXPECT_LT(smooth_cycles(5000, [&](int) { return noise(random); }), 50) << "noise";
  // Apart from its start, which is a step of the velocity.
  EXPECT_GT(smooth_cycles(5000, [&](int k) { return 0.5 * std::sin(2 * k * kDt); }), 4930);
}

TEST(ReferenceCompletion, AMovingSampleThatRepeatsIsExtrapolatedForAWhile) {
  ReferenceCompletion completion(1);
  const double limit = 10, q = 0.1, qd = 0.5, qdd = 2;
  const auto take = [&](bool accelerations) {
    completion.take({{&q, 1}, {&qd, 1}, {&qdd, accelerations ? 1u : 0u}}, kDt, {&limit, 1},
                    {&limit, 1});
    return completion.state(0);
  };
  for (int k = 0; k < 50; ++k) {
    const auto state = take(true);
    const double t = k * kDt;
    EXPECT_NEAR(state.q, q + qd * t + qdd * t * t / 2, 1e-12) << "cycle " << k;
    EXPECT_NEAR(state.qd, qd + qdd * t, 1e-12);
  }
  for (int k = 0; k < 5; ++k) take(true);
  EXPECT_EQ(take(true).q, q) << "held too long";
  // Without accelerations, there is none to extrapolate with.
  completion.reset();
  take(false);
  EXPECT_NEAR(take(false).q, q + qd * kDt, 1e-12);
  EXPECT_EQ(take(false).qdd, 0);
}

TEST(ReferenceCompletion, AccelerationsFollowTheVelocities) {
  ReferenceCompletion completion(1);
  const double limit = 100;
  for (const int held : {1, 10}) {
    completion.reset();
    for (int k = 0; k < 500; ++k) {
      const double t = (k / held * held) * kDt, q = std::sin(3 * t), qd = 3 * std::cos(3 * t);
      completion.take({{&q, 1}, {&qd, 1}, {}}, kDt, {&limit, 1}, {&limit, 1});
      const double late = (held + 1) * kDt;
      if (k < 100) continue;
      EXPECT_NEAR(completion.state(0).qdd, -9 * std::sin(3 * (k * kDt - late)), 0.05 * held) << k;
      EXPECT_NEAR(completion.state(0).q, std::sin(3 * k * kDt), 2e-5 * held);
    }
  }
  EXPECT_TRUE(completion.estimated());
}

}  // namespace
}  // namespace ga_controllers
