// SPDX-License-Identifier: Apache-2.0

// Which velocity a computed-torque loop gets from encoder counts at 1 kHz: the plain difference, a
// filtered one, a tracking observer, and one with the commanded acceleration fed forward.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "arm/transmission.hpp"
#include "ga_hardware/arm_model.hpp"

namespace puma_hardware {
namespace {

constexpr double kPeriod = 1e-3;
constexpr double kBandwidth = 150;  // rad/s, the arm's default

struct Sample {
  double position, velocity, acceleration;
};
using Motion = std::function<Sample(double t)>;

/// 0.3 rad to and fro at 1 Hz: 1.9 rad/s, joint 1's limit.
Sample sinusoid(double t) {
  const double w = 2 * std::numbers::pi, a = 0.3;
  return {a * std::sin(w * t), a * w * std::cos(w * t), -a * w * w * std::sin(w * t)};
}

/// From rest to rest along a quintic, 0.5 rad in 2 s: like the line of the papers on the control of
/// a PUMA from a PC, slow for most joints.
Sample line(double t) {
  const double d = 0.5, T = 2, s = std::clamp(t / T, 0.0, 1.0);
  return {d * s * s * s * (10 + s * (-15 + 6 * s)), d / T * 30 * s * s * (1 - s) * (1 - s),
          d / (T * T) * 60 * s * (1 - s) * (1 - 2 * s)};
}

class Estimator {
 public:
  virtual ~Estimator() = default;
  virtual double update(double measured, double acceleration) = 0;
};

class Difference : public Estimator {
 public:
  double update(double measured, double) override {
    const double velocity = started_ ? (measured - last_) / kPeriod : 0;
    last_ = measured;
    started_ = true;
    return velocity;
  }

 private:
  bool started_ = false;
  double last_ = 0;
};

/// The difference through a first-order low-pass of the same bandwidth.
class FilteredDifference : public Estimator {
 public:
  double update(double measured, double) override {
    velocity_ +=
        (1 - std::exp(-kBandwidth * kPeriod)) * (difference_.update(measured, 0) - velocity_);
    return velocity_;
  }

 private:
  Difference difference_;
  double velocity_ = 0;
};

class Tracking : public Estimator {
 public:
  explicit Tracking(double share) : share_(share) {}
  double update(double measured, double acceleration) override {
    observer_.update(measured, share_ * acceleration);
    return observer_.velocity();
  }

 private:
  ga_hardware::VelocityObserver observer_{kBandwidth, kPeriod};
  double share_;
};

struct Error {
  double rms = 0;    ///< rad/s, all of it
  double noise = 0;  ///< rad/s, what jumps from cycle to cycle
  double lag = 0;    ///< s by which the estimate fits the true velocity best
};

Error measure(Estimator& estimator, const Motion& motion) {
  const ArmSettings settings = ArmSettings::from(ga_dynamics::Chain::from_urdf_file(PUMA_URDF), {});
  const double scale = Transmission(settings).counts_per_rad(0);
  std::vector<double> estimate, truth;
  // The sinusoid begins at full speed: the first second is for the observer to find it.
  for (int k = -1000; k < 2000; ++k) {
    const Sample now = motion(k * kPeriod), before = motion((k - 1) * kPeriod);
    const double counts = std::round(now.position * scale);
    const double velocity = estimator.update(counts / scale, before.acceleration);
    if (k < 0) continue;
    estimate.push_back(velocity);
    truth.push_back(now.velocity);
  }
  constexpr std::size_t kSettled = 200;
  Error e;
  double best = INFINITY;
  for (std::size_t shift = 0; shift < 50; ++shift) {
    double sum = 0;
    for (std::size_t k = kSettled; k < truth.size(); ++k) {
      sum += std::pow(estimate[k] - truth[k - shift], 2);
    }
    if (shift == 0) e.rms = std::sqrt(sum / static_cast<double>(truth.size() - kSettled));
    if (sum < best) {
      best = sum;
      e.lag = static_cast<double>(shift) * kPeriod;
    }
  }
  double sum = 0;
  for (std::size_t k = kSettled; k < truth.size(); ++k) {
    const double jump = (estimate[k] - estimate[k - 1]) - (truth[k] - truth[k - 1]);
    sum += jump * jump;
  }
  e.noise = std::sqrt(sum / static_cast<double>(truth.size() - kSettled));
  return e;
}

TEST(Velocity, TheObserverWithFeedForwardIsTheBest) {
  struct Row {
    const char* name;
    std::function<std::unique_ptr<Estimator>()> make;
    Error sinusoid, line;
  };
  Row rows[] = {
      {"difference", [] { return std::make_unique<Difference>(); }, {}, {}},
      {"filtered difference", [] { return std::make_unique<FilteredDifference>(); }, {}, {}},
      {"observer", [] { return std::make_unique<Tracking>(0); }, {}, {}},
      {"observer, acceleration fed", [] { return std::make_unique<Tracking>(1); }, {}, {}},
      {"the same, 20 % wrong", [] { return std::make_unique<Tracking>(0.8); }, {}, {}},
  };
  std::printf("%-28s | %26s | %26s\n", "mrad/s, ms", "1 Hz sinusoid, 1.9 rad/s",
              "line, 0.47 rad/s");
  std::printf("%-28s | %8s %8s %8s | %8s %8s %8s\n", "velocity by", "rms", "jumps", "lag", "rms",
              "jumps", "lag");
  for (Row& row : rows) {
    row.sinusoid = measure(*row.make(), sinusoid);
    row.line = measure(*row.make(), line);
    std::printf("%-28s | %8.2f %8.2f %8.0f | %8.2f %8.2f %8.0f\n", row.name, 1e3 * row.sinusoid.rms,
                1e3 * row.sinusoid.noise, 1e3 * row.sinusoid.lag, 1e3 * row.line.rms,
                1e3 * row.line.noise, 1e3 * row.line.lag);
  }
  const Row &difference = rows[0], &filtered = rows[1], &plain = rows[2], &fed = rows[3],
            &wrong = rows[4];
  for (const auto motion : {&Row::sinusoid, &Row::line}) {
    EXPECT_LT((fed.*motion).rms, 0.1 * (difference.*motion).rms);
    EXPECT_LT((fed.*motion).rms, 0.5 * (filtered.*motion).rms);
    EXPECT_LT((fed.*motion).noise, 0.5 * (filtered.*motion).noise);
    EXPECT_LT((fed.*motion).rms, (plain.*motion).rms);
    EXPECT_LT((wrong.*motion).rms, (plain.*motion).rms) << "a model that is 20 % off still helps";
    EXPECT_LE((fed.*motion).lag, kPeriod);
  }
  EXPECT_GT(plain.sinusoid.rms, 10 * fed.sinusoid.rms) << "what the feed-forward takes away";
}

TEST(Velocity, ForgetsAWrongStartWithinAFewTimeConstants) {
  ga_hardware::VelocityObserver observer(kBandwidth, kPeriod);
  observer.reset(0.1, 1);
  for (int k = 0; k < 80; ++k) observer.update(0, 0);
  EXPECT_NEAR(observer.position(), 0, 1e-4);
  EXPECT_NEAR(observer.velocity(), 0, 1e-2);
}

}  // namespace
}  // namespace puma_hardware
