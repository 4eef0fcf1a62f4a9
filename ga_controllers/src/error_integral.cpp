// SPDX-License-Identifier: Apache-2.0
#include "error_integral.hpp"

#include <algorithm>
#include <cmath>

#include "ga_dynamics/algorithm/cholesky.hpp"

namespace ga_controllers {

ErrorIntegral::ErrorIntegral(const LawParameters& parameters, std::size_t joints)
    : dead_band_(parameters.integral_dead_band),
      limit_(parameters.integral_limit),
      friction_(parameters.friction),
      rest_velocity_(std::max(dead_band_, friction_ > 0 ? 2 * parameters.friction_velocity : 0)),
      sum_(joints),
      rest_(joints),
      at_rest_(joints),
      direction_(joints),
      rest_torque_(joints),
      stiction_torque_(joints),
      step_(joints),
      factor_(joints * joints) {}

void ErrorIntegral::clear() noexcept {
  std::fill(sum_.begin(), sum_.end(), 0.0);
  std::fill(at_rest_.begin(), at_rest_.end(), false);
}

void ErrorIntegral::advance(double dt, const FollowedReference& reference,
                            std::span<const int> saturation, std::span<const JointGains> gains,
                            MeasuredArm& arm) noexcept {
  // Uses the followed reference, which still moves after a change while the input may rest. It
  // counts as resting if it moves less than the dead band in a second and is neither reversing nor
  // about to start, or if it is too slow for full friction feed-forward.
  const Motion& followed = reference.followed();
  const std::span<const double> remaining = reference.remaining();
  bool leaves_rest = false;
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    const double e = arm.q[i] - followed.q[i];
    const bool at_goal = std::abs(e) < dead_band_;
    const bool resting = std::abs(followed.qd[i]) <= rest_velocity_ &&
                         std::abs(followed.qdd[i]) <= 10 * rest_velocity_ &&
                         remaining[i] <= rest_velocity_;
    rest_[i] = !resting ? Rest::kMoving : at_goal ? Rest::kAtGoal : Rest::kOffGoal;
    if (rest_[i] == Rest::kAtGoal) continue;  // do not integrate rounding noise
    leaves_rest = leaves_rest || (at_rest_[i] && !resting);
    direction_[i] = e < 0 ? 1 : -1;
    // Anti-windup: the integral's torque has the sign of −e and must not push further into
    // saturation.
    if (saturation[i] != 0 && saturation[i] * e < 0) continue;
    sum_[i] = std::clamp(sum_[i] + e * dt, -limit_, limit_);
  }
  if (leaves_rest) discard_stiction_torque(gains, arm);
}

/// What the integral added at rest worked against stiction, and the friction of the next motion is
/// fed forward. Kept, it would disturb the motion until it is integrated away.
void ErrorIntegral::discard_stiction_torque(std::span<const JointGains> gains,
                                            MeasuredArm& arm) noexcept {
  bool any = false;
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    const bool leaves_rest = at_rest_[i] && rest_[i] == Rest::kMoving;
    step_[i] = leaves_rest && gains[i].ki > 0 ? stiction_torque_[i] : 0;
    any = any || step_[i] != 0;
    if (leaves_rest) at_rest_[i] = false;
  }
  if (!any) return;
  arm.dynamics.inertia_matrix(arm.q, factor_);
  ga_dynamics::cholesky_solve(static_cast<int>(sum_.size()), factor_.data(), step_.data());
  if (!all_finite(step_, sum_.size())) return;  // a massless joint
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    if (gains[i].ki > 0) sum_[i] += step_[i] / gains[i].ki;
  }
}

/// While the reference rests, the integral pushes a sticking joint until it breaks away. Break-away
/// takes more torque than sliding (Stribeck effect), so the joint would overshoot, stick, be pushed
/// back, and hunt in a limit cycle. Within the dead band, the torque that the law has added since
/// the reference came to rest is therefore removed, up to the Coulomb friction. Friction stops the
/// joint there and holds it with a margin in both directions.
void ErrorIntegral::relax(const MeasuredArm& arm, std::span<double> tau,
                          std::span<double> friction) noexcept {
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    if (rest_[i] == Rest::kMoving) continue;
    if (!at_rest_[i]) {
      at_rest_[i] = true;
      rest_torque_[i] = tau[i] - friction[i];
      direction_[i] = rest_[i] == Rest::kAtGoal ? 0 : direction_[i];
    }
    const double added = (tau[i] - friction[i] - rest_torque_[i]) * direction_[i];
    const double coulomb = arm.drives[i].coulomb(direction_[i]);
    stiction_torque_[i] = direction_[i] * std::clamp(added, 0.0, friction_ * coulomb);
    if (rest_[i] != Rest::kAtGoal) continue;
    tau[i] -= stiction_torque_[i];
    friction[i] -= stiction_torque_[i];
  }
}

}  // namespace ga_controllers
