// SPDX-License-Identifier: Apache-2.0
#include "reference_spline.hpp"

#include <algorithm>
#include <cmath>

namespace ga_controllers {

namespace {

/// Cycles of the moving averages: at least kShortest, which is a multiple of most shorter intervals
/// between samples and filters noise, and at most kLongest.
constexpr int kShortest = 10, kLongest = 100;
/// Samples are slower if two consecutive intervals are longer by this factor, and about equal.
constexpr double kSlower = 1.2, kEqual = 1.3;
constexpr double kMeanCycles = 64;       ///< of the mean cycle
constexpr double kShortestCycle = 1e-9;  ///< s

}  // namespace

ReferenceSpline::ReferenceSpline(std::size_t joints)
    : joints_(joints), window_(joints * kStages * kLongest), interval_(kShortest) {}

void ReferenceSpline::begin(std::span<const double> positions) noexcept {
  double* window = window_.data();
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    Joint& joint = joints_[i];
    joint.input = positions[i];
    joint.still = memory();
    joint.output.fill(positions[i]);
    joint.sum.fill(positions[i] * interval_);
    std::fill_n(window, kStages * kLongest, positions[i]);
    window += kStages * kLongest;
  }
  at_ = 0;
}

/// Restarts with a longer interval if samples have become slower.
void ReferenceSpline::find_interval(std::span<const double> positions) noexcept {
  ++age_;
  bool same = true;
  for (std::size_t i = 0; i < joints_.size(); ++i) same = same && positions[i] == joints_[i].input;
  if (same) return;
  const int shorter = std::min(age_, last_age_), longer = std::max(age_, last_age_);
  last_age_ = age_;
  age_ = 0;
  if (shorter <= kSlower * interval_ || longer > kEqual * shorter || longer > kLongest) return;
  interval_ = longer;
  begin(positions);
}

void ReferenceSpline::update(std::span<const double> positions, double dt) noexcept {
  if (!(dt > kShortestCycle)) return;
  if (!begun_) {
    interval_ = kShortest;
    age_ = -1;
    last_age_ = 0;
    dt_ = dt;
    begin(positions);
    begun_ = true;
  }
  dt_ += (dt - dt_) / kMeanCycles;
  find_interval(positions);
  double* window = window_.data() + at_;
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    Joint& joint = joints_[i];
    double value = positions[i];
    joint.still = value == joint.input ? std::min(joint.still + 1, memory()) : 0;
    joint.input = value;
    for (double& sum : joint.sum) {
      sum += value - *window;
      *window = value;
      value = sum / interval_;
      window += kLongest;
    }
    std::copy_backward(joint.output.begin(), joint.output.end() - 1, joint.output.end());
    joint.output[0] = value;
    // At rest the averages equal the input; computed, they differ by rounding errors.
    if (joint.still < memory()) continue;
    joint.sum.fill(joint.input * interval_);
    joint.output.fill(joint.input);
  }
  at_ = at_ + 1 < interval_ ? at_ + 1 : 0;
}

// Central differences: the state of the previous cycle.
Blending::State ReferenceSpline::state(std::size_t joint) const noexcept {
  const auto& y = joints_[joint].output;
  return {y[1], (y[0] - y[2]) / (2 * dt_), (y[0] - 2 * y[1] + y[2]) / (dt_ * dt_)};
}

double ReferenceSpline::jerk(std::size_t joint) const noexcept {
  const auto& y = joints_[joint].output;
  return (y[0] - 3 * y[1] + 3 * y[2] - y[3]) / (dt_ * dt_ * dt_);
}

}  // namespace ga_controllers
