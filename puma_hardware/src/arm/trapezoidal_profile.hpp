// SPDX-License-Identifier: Apache-2.0
#ifndef ARM__TRAPEZOIDAL_PROFILE_HPP_
#define ARM__TRAPEZOIDAL_PROFILE_HPP_

// Trapezoidal velocity profile of one joint, from rest to rest. Real-time safe, does not throw.

#include <algorithm>
#include <cmath>

namespace puma_hardware {

class TrapezoidalProfile {
 public:
  /// Speed [rad/s] and acceleration [rad/s²] are positive.
  void start(double from, double to, double speed, double acceleration) noexcept {
    from_ = from;
    distance_ = std::abs(to - from);
    sign_ = to < from ? -1 : 1;
    acceleration_ = acceleration;
    peak_ = std::min(speed, std::sqrt(acceleration * distance_));
    ramp_ = peak_ / acceleration;
    duration_ = distance_ > 0 ? 2 * ramp_ + (distance_ - peak_ * ramp_) / peak_ : 0;
    time_ = 0;
  }
  void advance(double dt) noexcept { time_ = std::min(time_ + dt, duration_); }

  bool done() const noexcept { return time_ >= duration_; }
  double progress() const noexcept { return duration_ > 0 ? time_ / duration_ : 1; }
  double duration() const noexcept { return duration_; }
  double position() const noexcept {
    const double left = duration_ - time_;
    double covered = peak_ * (time_ - 0.5 * ramp_);
    if (time_ < ramp_) covered = 0.5 * acceleration_ * time_ * time_;
    if (left < ramp_) covered = distance_ - 0.5 * acceleration_ * left * left;
    return from_ + sign_ * covered;
  }
  double velocity() const noexcept {
    return sign_ * std::min({peak_, acceleration_ * time_, acceleration_ * (duration_ - time_)});
  }
  double acceleration() const noexcept {
    if (done()) return 0;
    if (time_ < ramp_) return sign_ * acceleration_;
    return duration_ - time_ < ramp_ ? -sign_ * acceleration_ : 0;
  }

 private:
  double from_ = 0, distance_ = 0, acceleration_ = 1, peak_ = 0, ramp_ = 0, duration_ = 0;
  double time_ = 0;
  int sign_ = 1;
};

}  // namespace puma_hardware

#endif  // ARM__TRAPEZOIDAL_PROFILE_HPP_
