// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__REFERENCE_VELOCITY_HPP_
#define GA_CONTROLLERS__REFERENCE_VELOCITY_HPP_

// Estimates the velocity of one joint's reference from its positions alone, given in every cycle or
// as samples held for some cycles. The estimate is zero until several changes in the same direction
// came at about equal intervals, so steps and noise yield no velocity. It never exceeds the last
// difference quotient, and drops to zero when the next sample is overdue.
//
// Real-time safe: no allocation, no lock, no exception. Units: rad, s (m for prismatic joints).

#include <algorithm>
#include <cmath>

namespace ga_controllers {

class ReferenceVelocity {
 public:
  void reset() noexcept { *this = {}; }
  /// One cycle of dt [s] in which the position changed by `change`. The estimate grows by at most
  /// `acceleration` [rad/s²].
  double update(double change, double dt, double acceleration) noexcept {
    age_ += dt;
    if (change == 0) {
      if (age_ > kOverdue * interval_) velocity_ = last_change_ = 0;
      return velocity_;
    }
    const bool continues = change * last_change_ > 0 && age_ < kMaxIntervalRatio * interval_ &&
                           interval_ < kMaxIntervalRatio * age_;
    run_ = continues ? std::min(run_ + 1, kMinRun) : 1;
    interval_ = age_;
    last_change_ = change;
    age_ = 0;
    const bool moving = run_ == kMinRun && interval_ <= kMaxInterval;
    const double limit = moving ? std::abs(velocity_) + acceleration * interval_ : 0;
    velocity_ = std::copysign(std::min(std::abs(change) / interval_, limit), change);
    return velocity_;
  }

 private:
  /// Consecutive changes before a motion is detected. In white noise, one change in 180 000 completes
  /// such a run.
  static constexpr int kMinRun = 8;
  static constexpr double kMaxInterval = 0.05;  ///< s, between samples
  /// Ratios to the last interval: the next sample is overdue; the intervals are too uneven.
  static constexpr double kOverdue = 1.5, kMaxIntervalRatio = 2.5;

  double velocity_ = 0;
  double age_ = 0, interval_ = 0;  ///< s, since the last change; between the last two
  double last_change_ = 0;
  int run_ = 0;  ///< consecutive changes in the same direction at even intervals
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__REFERENCE_VELOCITY_HPP_
