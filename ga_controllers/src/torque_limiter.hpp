// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__TORQUE_LIMITER_HPP_
#define GA_CONTROLLERS__TORQUE_LIMITER_HPP_

// The way out of the law: from the torque that it wants to the one that the arm gets. The
// difference to the torque before a change fades, as far as the new law can hold the arm against
// it, then size and rate are limited. A torque that was taken over and is beyond the law's own
// limit goes back to it as the difference fades; no torque ever exceeds what the joint can bear.

#include <span>
#include <vector>

#include "box_projection.hpp"
#include "cycle.hpp"
#include "law_parameters.hpp"
#include "measured_arm.hpp"

namespace ga_controllers {

/// Construction allocates. All else is real-time safe: no allocation, no lock, no exception. Units:
/// s, N m (N for prismatic joints).
class TorqueLimiter {
 public:
  /// Of one limit [N m] of the law, one that the joint can bear, and one limit of the rate [N m/s]
  /// per joint, infinity for none; `blend_time` is the time constant of the fading, zero for none.
  TorqueLimiter(std::vector<double> limit, std::vector<double> bearable,
                std::vector<double> rate_limit, double blend_time);

  /// What the arm was driven with before, as far as the joints can bear it; not finite: nothing.
  void start(std::span<const double> last_torque) noexcept;
  /// From the torque that the law wants to the one that is given, in place. One that is not finite
  /// leaves the joint's torque as it was. `setting_out`: the part of it that accelerates the arm
  /// from rest, empty for none. If the torque before a change lacks this part, it is added at once.
  /// Updates the arm's inertia after a change, until its torque has faded.
  void give(const Cycle& cycle, std::span<double> tau, std::span<const double> setting_out,
            const LawSetting& law, MeasuredArm& arm) noexcept;

  /// Given last; NaN after start() where nothing drove the joint.
  std::span<const double> last() const noexcept { return last_; }
  /// What is left of the torque before the last change.
  std::span<const double> blend() const noexcept { return blend_; }
  /// +1 where the upper limit cuts, −1 where the lower one does, else 0.
  std::span<const int> cut() const noexcept { return cut_; }

 private:
  /// What the law's limit leaves of a torque.
  double possible(std::size_t joint, double torque) const noexcept;
  bool lacks(std::span<const double> part, std::span<const double> tau) const noexcept;
  void solve(const MeasuredArm& arm, std::span<double> vector) noexcept;
  void bound_blend(const LawSetting& law, MeasuredArm& arm) noexcept;

  std::vector<double> limit_, bearable_, rate_limit_;
  double blend_time_;
  std::vector<double> last_, blend_;
  std::vector<double> excess_;  ///< of a torque beyond the limit that was taken over
  std::vector<int> cut_;
  double fading_ = 0;       ///< share of the blend that is left
  double blend_speed_ = 0;  ///< share of the velocity limits that it may push the joints to
  bool started_ = false;    ///< and the torque from before it is still taken over
  std::vector<double> push_, most_, factor_, inverse_;  ///< scratch of bound_blend()
  BoxProjection projection_;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__TORQUE_LIMITER_HPP_
