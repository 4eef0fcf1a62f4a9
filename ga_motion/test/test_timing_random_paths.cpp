// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "ga_motion/time_parameterization.hpp"
#include "timing_paths.hpp"

// Timing along many random paths of the PUMA: that it ends, how much it saves, what it makes use of.

namespace ga_motion {
namespace {

using ga_dynamics::Chain;
using ga_motion::test::kPaths;
using ga_motion::test::kQuarters;
using ga_motion::test::Points;
using ga_motion::test::puma;
using ga_motion::test::without_position_limits;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Chain with_mass(double mass) { return puma().with_payload({mass, {0, 0, 0}, {}}); }

/// The same numbers with every standard library.
class RandomPaths {
 public:
  explicit RandomPaths(unsigned seed) : random_(seed) {}

  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(random_() >> 11U) * 0x1p-53;
  }
  /// Way-points within `reach` of a posture, infinite: anywhere, in the middle 85 % of the ranges.
  Points points(std::size_t count, double reach) {
    Points result(count, std::vector<double>(ranges_.lower.size()));
    for (std::size_t i = 0; i < ranges_.lower.size(); ++i) {
      const double edge = 0.075 * (ranges_.upper[i] - ranges_.lower[i]);
      const double low = ranges_.lower[i] + edge, high = ranges_.upper[i] - edge;
      const double middle = uniform(low, high);
      for (auto& point : result) {
        point[i] = reach < kInfinity ? middle + uniform(-reach, reach) : uniform(low, high);
      }
    }
    return result;
  }
  /// Five way-points; the curve stays within the position limits.
  std::shared_ptr<const Path> inside(double reach) {
    std::vector<double> q(6), first(6), second(6);
    for (;;) {
      auto path = make_spline_path(points(5, reach), kQuarters);
      bool inside = true;
      for (int k = 0; k <= 200 && inside; ++k) {
        path->sample(k / 200.0, q, first, second);
        for (std::size_t i = 0; i < 6; ++i) {
          inside = inside && q[i] > ranges_.lower[i] && q[i] < ranges_.upper[i];
        }
      }
      if (inside) return path;
    }
  }

 private:
  std::mt19937_64 random_;
  TimingLimits ranges_ = limits_of(puma());
};

TEST(HeavyPayload, AtTheEdgeOfWhatTheMotorsHoldIsTimedOrRefusedWithAReason) {
  RandomPaths random(3);
  int timed = 0, refused = 0;
  for (int k = 0; k < 3000; ++k) {
    const Chain chain = with_mass(random.uniform(13, 15));
    const TimingLimits limits = without_position_limits(chain);
    const double reach[] = {kInfinity, 0.4, 0.05};
    const auto count = static_cast<std::size_t>(random.uniform(2, 6));
    const Points points = random.points(count, reach[k % 3]);
    try {
      PathTimer(chain, limits, {.intervals = 200}).time(make_spline_path(points));
      ++timed;
    } catch (const TimingError& error) {
      ++refused;
      const double limit = limits.torque[static_cast<std::size_t>(error.joint())];
      EXPECT_GT(error.value(), limit) << k << ": " << error.what();
    }
  }
  EXPECT_GT(timed, 1000);
  EXPECT_GT(refused, 20);
}

TEST(HeavyPayload, AtOnePlaceTooHeavyIsRefusedAtOnce) {
  const Points points{
      {0, -0.35, 1.57, 0, 0, 0}, {0.8, -0.05, 1.57, 0, 0, 0}, {0.2, -0.3, 1.57, 0.3, 0.2, 0}};
  const Chain chain = with_mass(15);
  try {
    PathTimer(chain, limits_of(chain)).time(make_spline_path(points));
    ADD_FAILURE() << "accepted";
  } catch (const TimingError& error) {
    EXPECT_EQ(error.flaw(), TimingFlaw::kFriction);
    EXPECT_EQ(error.joint(), 1);
    EXPECT_NEAR(error.value(), 188.58, 0.01);
  }
}

/// Grid points whose speed is below a tenth of both of their neighbors' speeds.
int stops(const Timing& timing) {
  int count = 0;
  for (std::size_t k = 1; k + 1 < timing.speed.size(); ++k) {
    count += timing.speed[k] < 0.1 * std::min(timing.speed[k - 1], timing.speed[k + 1]) ? 1 : 0;
  }
  return count;
}

TEST(Profile, DoesNotStopInMidPathOnCoarseGrids) {
  RandomPaths random(3);
  PathTimer timer(puma(), without_position_limits(puma()), {.intervals = 100});
  for (int k = 0; k < 2000; ++k) {
    const double reach[] = {kInfinity, 0.4, 0.05};
    EXPECT_EQ(stops(timer.time(make_spline_path(random.points(5, reach[k % 3])))), 0) << k;
  }
}

TEST(Profile, OnTheCoarsestGridIsBoundedInItsTorqueRates) {
  TimingLimits limits = limits_of(puma());
  for (std::size_t i = 0; i < 6; ++i) limits.torque_rate[i] = limits.torque[i] / 0.02;
  PathTimer timer(puma(), limits, {.intervals = 10});
  const Timing timing = timer.time(make_spline_path(kPaths[3]));
  EXPECT_EQ(stops(timing), 0);
  EXPECT_NEAR(timing.trajectory->duration(), 1.14, 0.02);
}

struct Saving {
  double mean = 0, least = kInfinity;
};

/// Duration with the constant accelerations that are safe everywhere, over that by torque.
Saving saving(const Chain& chain, int count) {
  const TimingLimits limits = limits_of(chain);
  TimingLimits constant = limits;
  constant.acceleration = safe_accelerations(chain, limits);
  constant.torque.assign(6, kInfinity);
  PathTimer by_torque(chain, limits), by_acceleration(chain, constant);
  RandomPaths random(2);
  Saving result;
  for (int k = 0; k < count; ++k) {
    const auto path = random.inside(0.4);
    const double ratio = by_acceleration.time(path).trajectory->duration() /
                         by_torque.time(path).trajectory->duration();
    result.mean += ratio / count;
    result.least = std::min(result.least, ratio);
  }
  return result;
}

TEST(Saving, OverAHundredShortPlansIsThatOfTheDocuments) {
  const Saving empty = saving(puma(), 100), loaded = saving(with_mass(2.5), 100);
  std::printf("constant accelerations: %.3f (least %.3f) times as long, with 2.5 kg %.3f (%.3f)\n",
              empty.mean, empty.least, loaded.mean, loaded.least);
  EXPECT_NEAR(empty.mean, 1.3, 0.05);
  EXPECT_GT(empty.least, 1.1);
  EXPECT_NEAR(loaded.mean, 2.2, 0.1);
  EXPECT_GT(loaded.least, 1.5);
}

TEST(Limits, AreUsedToNinetyEightPercentAlongNinetyNinePercentOfFortyPaths) {
  PathTimer timer(puma(), limits_of(puma()));
  RandomPaths random(1);
  double least = 1;
  for (int k = 0; k < 40; ++k) {
    const Timing timing = timer.time(random.inside(k < 20 ? kInfinity : 0.4));
    const std::vector<ActiveLimit> active = timer.active_limits();
    double share = 0;
    for (std::size_t i = 0; i < active.size(); ++i) {
      EXPECT_LT(active[i].use, 1.005);
      if (active[i].use >= 0.98) share += timing.s[i + 1] - timing.s[i];
    }
    least = std::min(least, share / timing.s.back());
  }
  std::printf("some limit at 98 %% along %.2f %% of the path or more\n", 100 * least);
  EXPECT_GE(least, 0.99);
}

/// By which share full torque in 20 ms makes the motions longer.
double price_of_ramps(double reach, int count) {
  TimingLimits limits = limits_of(puma());
  PathTimer free(puma(), limits);
  for (std::size_t i = 0; i < 6; ++i) limits.torque_rate[i] = limits.torque[i] / 0.02;
  PathTimer bounded(puma(), limits);
  RandomPaths random(5);
  double price = 0;
  for (int k = 0; k < count; ++k) {
    const auto path = random.inside(reach);
    const double fastest = free.time(path).trajectory->duration();
    price += (bounded.time(path).trajectory->duration() / fastest - 1) / count;
  }
  return price;
}

TEST(TorqueRamps, OfTwentyMillisecondsCostWhatTheDocumentsSay) {
  const double long_price = price_of_ramps(kInfinity, 4), short_price = price_of_ramps(0.4, 8);
  std::printf("full torque in 20 ms: long paths %.2f %%, short paths %.2f %% longer\n",
              100 * long_price, 100 * short_price);
  EXPECT_GT(long_price, 0.0015);
  EXPECT_LT(long_price, 0.006);
  EXPECT_GT(short_price, 0.012);
  EXPECT_LT(short_price, 0.027);
}

}  // namespace
}  // namespace ga_motion
