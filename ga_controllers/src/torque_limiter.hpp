// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__TORQUE_LIMITER_HPP_
#define GA_CONTROLLERS__TORQUE_LIMITER_HPP_

// Last stage of the law: from its target torque to the commanded torque, with bumpless transfer.
// The difference to the torque before a change fades out, bounded by what the new law can
// compensate. Then magnitude and rate are limited. An inherited torque above the law's own limit
// returns to that limit as the difference fades; no torque exceeds the hand-over limit.

#include <algorithm>
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
  /// Per joint: the law's limit [N m], the hand-over limit [N m] and the rate limit [N m/s];
  /// infinity for none. `blend_time`: time constant of the blend [s], zero for none.
  TorqueLimiter(std::vector<double> limit, std::vector<double> handover_limit,
                std::vector<double> rate_limit, double blend_time);

  /// Previous torque of the arm, clamped to the hand-over limit; NaN: the joint was not driven.
  void start(std::span<const double> last_torque) noexcept;
  /// Turns the target torque into the commanded torque, in place. A joint whose target is not
  /// finite keeps its torque. `start_torque`: part of the target that accelerates the arm from
  /// rest, empty for none. If the torque before a change lacks this part, it is added without
  /// blending. Updates the arm's inertia while a blend is active.
  void apply(const Cycle& cycle, std::span<double> tau, std::span<const double> start_torque,
             const LawSetting& law, MeasuredArm& arm) noexcept;

  /// Last commanded torque; NaN after start() where the joint was not driven.
  std::span<const double> last() const noexcept { return last_; }
  /// Remainder of the torque before the last change.
  std::span<const double> blend() const noexcept { return blend_; }
  /// Ends the blend: the law itself commands that remainder from the next update on.
  void end_blend() noexcept { blend_left_ = 0; }
  /// True if an inherited torque exceeds the law's limit.
  bool exceeds_limit() const noexcept {
    return std::any_of(excess_.begin(), excess_.end(), [](double e) { return e > 0; });
  }
  /// +1 at the upper limit, −1 at the lower limit, else 0.
  std::span<const int> saturation() const noexcept { return saturation_; }

 private:
  /// The torque, clamped to the law's limit.
  double clamped(std::size_t joint, double torque) const noexcept;
  bool lacks(std::span<const double> part, std::span<const double> tau) const noexcept;
  void solve(const MeasuredArm& arm, std::span<double> vector) noexcept;
  void bound_blend(const LawSetting& law, MeasuredArm& arm) noexcept;

  std::vector<double> limit_, handover_limit_, rate_limit_;
  double blend_time_;
  std::vector<double> last_, blend_;
  std::vector<double> excess_;  ///< of an inherited torque over the law's limit
  std::vector<int> saturation_;
  double blend_left_ = 0;   ///< remaining share of the blend
  double blend_speed_ = 0;  ///< share of the velocity limits that it may move the joints at
  bool started_ = false;    ///< the blend comes from start(), not from this law
  std::vector<double> disturbance_, bound_, factor_, inverse_;  ///< scratch of bound_blend()
  BoxProjection projection_;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__TORQUE_LIMITER_HPP_
