// SPDX-License-Identifier: Apache-2.0

// The velocity that positions alone show: that of a motion, none of steps, noise and rests.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "shown_velocity.hpp"

namespace ga_controllers {
namespace {

constexpr double kDt = 1e-3, kStrength = 25;

/// The estimates of `cycles` cycles of positions.
std::vector<double> estimates(int cycles, const std::function<double(int)>& position) {
  ShownVelocity shown;
  std::vector<double> rates;
  for (int k = 1; k <= cycles; ++k) {
    rates.push_back(shown.update(position(k) - position(k - 1), kDt, kStrength));
  }
  return rates;
}

double largest(const std::vector<double>& rates) {
  double most = 0;
  for (const double rate : rates) most = std::max(most, std::abs(rate));
  return most;
}

TEST(ShownVelocity, OfAMotionIsItsOwn) {
  for (const double rate : {0.5, -0.5}) {
    for (const int held : {1, 3, 10}) {
      const auto rates = estimates(500, [&](int k) { return rate * (k / held * held) * kDt; });
      EXPECT_NEAR(rates.back(), rate, 1e-9) << "held for " << held;
      // Not before it has lasted, and never more.
      for (int k = 0; k < 7 * held; ++k) ASSERT_EQ(rates[static_cast<std::size_t>(k)], 0);
      EXPECT_LT(largest(rates), std::abs(rate) + 1e-9);
    }
  }
}

TEST(ShownVelocity, GrowsNoFasterThanTheArm) {
  const auto rates = estimates(60, [](int k) { return 100.0 * k * kDt; });
  for (std::size_t k = 1; k < rates.size(); ++k) {
    ASSERT_LE(rates[k] - rates[k - 1], kStrength * kDt + 1e-12);
  }
  EXPECT_GT(rates.back(), 1);
}

TEST(ShownVelocity, IsZeroWhenTheNextSampleIsOverdue) {
  for (const int held : {1, 10}) {
    const int stop = 200;
    const auto rates =
        estimates(400, [&](int k) { return 0.5 * (std::min(k, stop) / held * held) * kDt; });
    EXPECT_NEAR(rates[static_cast<std::size_t>(stop - 1)], 0.5, 1e-9);
    EXPECT_EQ(rates[static_cast<std::size_t>(stop + 2 * held)], 0) << "held for " << held;
  }
}

TEST(ShownVelocity, TurnsThroughZero) {
  const auto rates = estimates(400, [](int k) { return -0.5 * std::abs(k - 200) * kDt; });
  EXPECT_NEAR(rates[198], 0.5, 1e-9);
  EXPECT_NEAR(std::abs(rates[201]), 0, 1e-9);
  EXPECT_NEAR(rates.back(), -0.5, 1e-9);
}

TEST(ShownVelocity, OfStepsAndSlowSamplesIsZero) {
  EXPECT_EQ(largest(estimates(100, [](int k) { return k < 50 ? 0.0 : 0.3; })), 0);
  EXPECT_EQ(largest(estimates(3000, [](int k) { return k / 100 * 0.05; })), 0);
  // To and fro.
  EXPECT_EQ(largest(estimates(3000, [](int k) { return k / 10 % 2 * 0.05; })), 0);
}

TEST(ShownVelocity, OfNoiseIsZeroAlmostAlways) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 3e-4);
  double before = 0;
  ShownVelocity shown;
  int moving = 0;
  const int cycles = 1000000;
  for (int k = 0; k < cycles; ++k) {
    const double now = noise(random);
    if (shown.update(now - before, kDt, kStrength) != 0) ++moving;
    before = now;
  }
  EXPECT_LT(moving, cycles / 50000);
}

}  // namespace
}  // namespace ga_controllers
