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
      slow_(std::max(dead_band_, friction_ > 0 ? 2 * parameters.friction_velocity : 0)),
      sum_(joints),
      rests_(joints),
      settled_(joints),
      push_(joints),
      rest_torque_(joints),
      pushed_(joints),
      step_(joints),
      factor_(joints * joints) {}

void ErrorIntegral::clear() noexcept {
  std::fill(sum_.begin(), sum_.end(), 0.0);
  std::fill(settled_.begin(), settled_.end(), false);
}

void ErrorIntegral::advance(double dt, const FollowedReference& reference, std::span<const int> cut,
                            std::span<const JointGains> gains, MeasuredArm& arm) noexcept {
  // The followed reference: after a change it moves although the given one may rest. One that
  // moves by less than the dead band in a second rests, unless it is turning back or has yet to
  // set out; and so does one that is so slow that its friction is no longer fed forward in full.
  const Motion& followed = reference.followed();
  const std::span<const double> to_go = reference.to_go();
  bool leaves = false;  // a rest
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    const double e = arm.q[i] - followed.q[i];
    const bool at_goal = std::abs(e) < dead_band_;
    const bool resting = std::abs(followed.qd[i]) <= slow_ &&
                         std::abs(followed.qdd[i]) <= 10 * slow_ && to_go[i] <= slow_;
    rests_[i] = !resting ? Rest::kMoving : at_goal ? Rest::kAtGoal : Rest::kBeside;
    if (rests_[i] == Rest::kAtGoal) continue;  // no rounding noise
    leaves = leaves || (settled_[i] && !resting);
    push_[i] = e < 0 ? 1 : -1;
    // The integral's torque has the sign of −e: pushing further into the limit that cuts the
    // torque?
    if (cut[i] != 0 && cut[i] * e < 0) continue;
    sum_[i] = std::clamp(sum_[i] + e * dt, -limit_, limit_);
  }
  if (leaves) forget_pushes(gains, arm);
}

/// What the integral has added in a rest was against stiction, and the next motion's friction is
/// fed forward: kept, it would hold the joint back, or push it, until it is integrated away again.
void ErrorIntegral::forget_pushes(std::span<const JointGains> gains, MeasuredArm& arm) noexcept {
  bool any = false;
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    const bool leaves = settled_[i] && rests_[i] == Rest::kMoving;
    step_[i] = leaves && gains[i].ki > 0 ? pushed_[i] : 0;
    any = any || step_[i] != 0;
    if (leaves) settled_[i] = false;
  }
  if (!any) return;
  arm.dynamics.inertia_matrix(arm.q, factor_);
  ga_dynamics::cholesky_solve(static_cast<int>(sum_.size()), factor_.data(), step_.data());
  if (!all_finite(step_, sum_.size())) return;  // a joint without inertia
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    if (gains[i].ki > 0) sum_[i] += step_[i] / gains[i].ki;
  }
}

/// While the reference rests, the integral pushes a joint that sticks beside its goal until it
/// breaks away; that takes more torque than to slide on (Stribeck), so the joint would shoot past
/// the goal, stick, be pushed back, and hunt for ever. Within the dead band the law therefore takes
/// back what it has added since the reference came to rest, up to the Coulomb friction: friction
/// brakes the joint there and then holds it with torque to spare both ways.
void ErrorIntegral::relax(const MeasuredArm& arm, std::span<double> tau,
                          std::span<double> friction) noexcept {
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    if (rests_[i] == Rest::kMoving) continue;
    if (!settled_[i]) {
      settled_[i] = true;
      rest_torque_[i] = tau[i] - friction[i];
      push_[i] = rests_[i] == Rest::kAtGoal ? 0 : push_[i];
    }
    const double added = (tau[i] - friction[i] - rest_torque_[i]) * push_[i];
    const double coulomb = arm.drives[i].coulomb(push_[i]);
    pushed_[i] = push_[i] * std::clamp(added, 0.0, friction_ * coulomb);
    if (rests_[i] != Rest::kAtGoal) continue;
    tau[i] -= pushed_[i];
    friction[i] -= pushed_[i];
  }
}

}  // namespace ga_controllers
