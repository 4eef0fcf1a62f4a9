// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__SHOWN_VELOCITY_HPP_
#define GA_CONTROLLERS__SHOWN_VELOCITY_HPP_

// The velocity of one joint's reference that is given by its positions alone, in every cycle or as
// samples that are held for some cycles. A motion counts as such after several changes in the same
// direction at about the same intervals, so steps and noise show no velocity. The estimate never
// exceeds the last difference quotient, and it drops to zero when the next sample is overdue.
//
// Real-time safe: no allocation, no lock, no exception. Units: rad, s (m for prismatic joints).

#include <algorithm>
#include <cmath>

namespace ga_controllers {

class ShownVelocity {
 public:
  void forget() noexcept { *this = {}; }
  /// After a cycle of dt in which the position has changed by `change`. The estimate grows by no
  /// more than `acceleration` [rad/s²] allows.
  double update(double change, double dt, double acceleration) noexcept {
    age_ += dt;
    if (change == 0) {
      if (age_ > kOverdue * interval_) rate_ = last_ = 0;
      return rate_;
    }
    const bool goes_on =
        change * last_ > 0 && age_ < kUneven * interval_ && interval_ < kUneven * age_;
    run_ = goes_on ? std::min(run_ + 1, kRun) : 1;
    interval_ = age_;
    last_ = change;
    age_ = 0;
    const bool moves = run_ == kRun && interval_ <= kLongest;
    const double most = moves ? std::abs(rate_) + acceleration * interval_ : 0;
    rate_ = std::copysign(std::min(std::abs(change) / interval_, most), change);
    return rate_;
  }

 private:
  /// Of white noise one change in 180 000 ends a run of this length.
  static constexpr int kRun = 8;
  static constexpr double kLongest = 0.05;  ///< s, between samples
  /// Times the last interval: the next sample is overdue; intervals differ too much.
  static constexpr double kOverdue = 1.5, kUneven = 2.5;

  double rate_ = 0;
  double age_ = 0, interval_ = 0;  ///< s, since the last change and before it
  double last_ = 0;                ///< change
  int run_ = 0;                    ///< changes alike
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__SHOWN_VELOCITY_HPP_
