// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PLUGINS__SENDER_CLOCK_HPP_
#define GA_CONTROLLERS__PLUGINS__SENDER_CLOCK_HPP_

// Whether the sender of a reference slows its own time by the rate that the law reports.
//
// The stock joint_trajectory_controller does so if its speed_scaling.state_interface is set. It then
// sends the positions of the slowed time, but velocities and accelerations as without: the positions
// advance by less than the velocities say, by the reported rate. Other senders ignore the rate.
//
// Real-time safe after construction: no allocation, no lock, no exception. Units: rad, s (m for
// prismatic joints).

#include <cmath>
#include <span>
#include <vector>

namespace ga_controllers {

class SenderClock {
 public:
  explicit SenderClock(std::size_t joints = 0) : q_(joints), qd_(joints) {}

  void reset() noexcept {
    known_ = false;
    slows_ = false;
  }
  /// Time of the reference in this cycle over dt [s], for its new sample. `reported`: the rate that the
  /// sender has read. Without velocities, or with values that are not finite: 1.
  double time_scale(std::span<const double> q, std::span<const double> qd, double dt,
                    double reported) noexcept {
    const std::size_t n = q_.size();
    if (q.size() < n || qd.size() < n || !(reported >= 0 && reported < 1)) {
      known_ = q.size() >= n && qd.size() >= n;
      if (known_) remember(q, qd);
      return 1;
    }
    double along = 0, squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double expected = (qd_[i] + qd[i]) / 2 * dt;
      along += (q[i] - q_[i]) * expected;
      squares += expected * expected;
    }
    remember(q, qd);
    // The difference must be visible; NaN is not.
    const bool visible = known_ && 1 - reported > kVisible && squares > kSmallest * kSmallest;
    known_ = true;
    if (visible) {
      const double advance = along / squares;
      const double as_reported = std::abs(advance - reported), as_sent = std::abs(advance - 1);
      const double nearer = std::fmin(as_reported, as_sent);
      if (nearer < kClear * (1 - reported)) slows_ = as_reported < as_sent;
    }
    return slows_ ? reported : 1;
  }

 private:
  static constexpr double kVisible = 0.01, kClear = 0.3, kSmallest = 1e-9;
  void remember(std::span<const double> q, std::span<const double> qd) noexcept {
    for (std::size_t i = 0; i < q_.size(); ++i) q_[i] = q[i], qd_[i] = qd[i];
  }

  std::vector<double> q_, qd_;
  bool known_ = false, slows_ = false;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PLUGINS__SENDER_CLOCK_HPP_
