// SPDX-License-Identifier: Apache-2.0

// Velocity estimated from positions alone: of a motion, but not of steps, noise and rests.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "reference_velocity.hpp"

namespace ga_controllers {
namespace {

constexpr double kDt = 1e-3, kStrength = 25;

/// The estimates of `cycles` cycles of positions.
std::vector<double> estimates(int cycles, const std::function<double(int)>& position) {
  ReferenceVelocity estimate;
  std::vector<double> rates;
  for (int k = 1; k <= cycles; ++k) {
    rates.push_back(estimate.update(position(k) - position(k - 1), kDt, kStrength));
  }
  return rates;
}

double largest(const std::vector<double>& rates) {
  double most = 0;
  for (const double rate : rates) most = std::max(most, std::abs(rate));
  return most;
}

TEST(ReferenceVelocity, EqualsThatOfAMotion) {
  for (const double rate : {0.5, -0.5}) {
    for (const int held : {1, 3, 10}) {
      const auto rates = estimates(500, [&](int k) { return rate * (k / held * held) * kDt; });
      EXPECT_NEAR(rates.back(), rate, 1e-9) << "held for " << held;
      // Not before the motion has lasted, and never more than its velocity.
      for (int k = 0; k < 7 * held; ++k) ASSERT_EQ(rates[static_cast<std::size_t>(k)], 0);
      EXPECT_LT(largest(rates), std::abs(rate) + 1e-9);
    }
  }
}

TEST(ReferenceVelocity, GrowsNoFasterThanTheArm) {
  const auto rates = estimates(60, [](int k) { return 100.0 * k * kDt; });
  for (std::size_t k = 1; k < rates.size(); ++k) {
    ASSERT_LE(rates[k] - rates[k - 1], kStrength * kDt + 1e-12);
  }
  EXPECT_GT(rates.back(), 1);
}

TEST(ReferenceVelocity, IsZeroWhenTheNextSampleIsOverdue) {
  for (const int held : {1, 10}) {
    const int stop = 200;
    const auto rates =
        estimates(400, [&](int k) { return 0.5 * (std::min(k, stop) / held * held) * kDt; });
    EXPECT_NEAR(rates[static_cast<std::size_t>(stop - 1)], 0.5, 1e-9);
    EXPECT_EQ(rates[static_cast<std::size_t>(stop + 2 * held)], 0) << "held for " << held;
  }
}

TEST(ReferenceVelocity, PassesThroughZeroAtAReversal) {
  const auto rates = estimates(400, [](int k) { return -0.5 * std::abs(k - 200) * kDt; });
  EXPECT_NEAR(rates[198], 0.5, 1e-9);
  EXPECT_NEAR(std::abs(rates[201]), 0, 1e-9);
  EXPECT_NEAR(rates.back(), -0.5, 1e-9);
}

TEST(ReferenceVelocity, OfStepsAndSlowSamplesIsZero) {
  EXPECT_EQ(largest(estimates(100, [](int k) { return k < 50 ? 0.0 : 0.3; })), 0);
  EXPECT_EQ(largest(estimates(3000, [](int k) { return k / 100 * 0.05; })), 0);
  // Back and forth.
  EXPECT_EQ(largest(estimates(3000, [](int k) { return k / 10 % 2 * 0.05; })), 0);
}

TEST(ReferenceVelocity, OfNoiseIsZeroAlmostAlways) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 3e-4);
  double before = 0;
  ReferenceVelocity estimate;
  int moving = 0;
  const int cycles = 1000000;
  for (int k = 0; k < cycles; ++k) {
    const double now = noise(random);
    if (estimate.update(now - before, kDt, kStrength) != 0) ++moving;
    before = now;
  }
  EXPECT_LT(moving, cycles / 50000);
}

/// The last estimate of changes of 0.01 at these intervals [s].
double after_changes(ReferenceVelocity& estimate, const std::vector<double>& intervals) {
  double rate = 0;
  for (const double interval : intervals) {
    for (int k = 1; k < static_cast<int>(std::round(interval / kDt)); ++k)
      estimate.update(0, kDt, 1e9);
    rate = estimate.update(0.01, kDt, 1e9);
  }
  return rate;
}

TEST(ReferenceVelocity, NeedsIntervalsThatAreAboutEqual) {
  ReferenceVelocity even, late, early;
  std::vector<double> intervals;
  for (int k = 0; k < 20; ++k) intervals.push_back(k % 2 == 0 ? 0.010 : 0.014);
  EXPECT_GT(after_changes(even, intervals), 0.6);
  for (double& interval : intervals) interval = interval < 0.012 ? 0.010 : 0.020;
  EXPECT_EQ(after_changes(late, intervals), 0);
  // Two samples in a burst must not be taken for the speed of the motion.
  ASSERT_GT(after_changes(early, std::vector<double>(12, 0.030)), 0.3);
  EXPECT_EQ(after_changes(early, {0.005}), 0);
}

TEST(ReferenceVelocity, IsEstimatedFromSamplesUpTo50MsApart) {
  ReferenceVelocity near, far;
  EXPECT_NEAR(after_changes(near, std::vector<double>(12, 0.048)), 0.01 / 0.048, 1e-9);
  EXPECT_EQ(after_changes(far, std::vector<double>(12, 0.053)), 0);
}

TEST(ReferenceVelocity, AfterAPauseNeedsAnotherRun) {
  for (const bool forgotten : {false, true}) {
    ReferenceVelocity estimate;
    ASSERT_GT(after_changes(estimate, std::vector<double>(12, 0.010)), 0.9);
    for (int k = 0; k < 14; ++k) EXPECT_GT(estimate.update(0, kDt, 1e9), 0.9) << "not overdue yet";
    if (forgotten) {
      estimate.reset();
    } else {
      for (int k = 0; k < 3; ++k) estimate.update(0, kDt, 1e9);
      EXPECT_EQ(estimate.update(0, kDt, 1e9), 0) << "overdue";
    }
    EXPECT_EQ(after_changes(estimate, std::vector<double>(7, 0.010)), 0);
    EXPECT_GT(after_changes(estimate, {0.010, 0.010}), 0.9);
  }
}

}  // namespace
}  // namespace ga_controllers
