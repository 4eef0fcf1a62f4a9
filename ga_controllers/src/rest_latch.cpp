// SPDX-License-Identifier: Apache-2.0
#include "rest_latch.hpp"

#include <algorithm>
#include <cmath>

namespace ga_controllers {

namespace {

/// Dead bands from the goal at which a latched joint is released.
constexpr double kRelease = 2.5;
/// Largest widening of the dead band of a joint that slips past its goal.
constexpr double kWidest = 32;
/// Widened dead band over the distance from the goal at which the joint sticks.
constexpr double kHere = 1.1;
/// s; a joint that stays within a dead band for so long, outside that of its goal, sticks.
constexpr double kStuck = 0.05;
/// 1/s, of the torque limit: how fast the torque against stiction is removed, 0.8 % per millisecond.
constexpr double kRemovalRate = 8;
/// s, in which the feedback fades when a latch closes or opens.
constexpr double kFade = 0.03;
/// s; a joint that was latched for so long has settled: what releases it is not its own slip.
constexpr double kSettled = 1;

}  // namespace

RestLatch::RestLatch(const LawParameters& parameters, std::size_t joints)
    : dead_band_(parameters.integral_dead_band),
      friction_(parameters.friction),
      rest_velocity_(std::max(dead_band_, friction_ > 0 ? 2 * parameters.friction_velocity : 0)),
      rest_(joints),
      begins_(joints),
      direction_(joints),
      widening_(joints, 1.0),
      stuck_side_(joints),
      stuck_time_(joints),
      stuck_at_(joints),
      feedback_(joints, 1.0),
      latched_time_(joints),
      left_(joints),
      last_friction_(joints),
      rest_torque_(joints),
      pushed_(joints),
      standstill_(joints),
      step_(joints),
      factor_(joints * joints) {}

void RestLatch::set_standstill(std::size_t joint, double bandwidth) noexcept {
  standstill_[joint] = 0.5 * dead_band_ * bandwidth;
}

void RestLatch::clear(StateObserver& observer) noexcept {
  for (std::size_t i = 0; i < rest_.size(); ++i) {
    rest_[i] = Rest::kMoving;
    pushed_[i] = left_[i] = 0;
    feedback_[i] = 1;
    observer.hold(i, false);
  }
}

/// Widens the dead band of a joint that sticks on the other side of its goal than before.
/// Judged by positions: the observed velocity is wrong while friction holds a joint that is pushed.
void RestLatch::widen(std::size_t joint, double error, double dt) noexcept {
  if (!(dead_band_ > 0)) return;
  const bool stays = std::abs(error - stuck_at_[joint]) <= dead_band_;
  if (!stays) stuck_at_[joint] = error;
  // Without friction, or while another joint moves, a joint inside the dead band is not latched.
  const bool off_goal =
      rest_[joint] == Rest::kOffGoal && std::abs(error) >= widening_[joint] * dead_band_;
  stuck_time_[joint] = stays && off_goal ? stuck_time_[joint] + dt : 0;
  if (stuck_time_[joint] < kStuck) return;
  const int side = error < 0 ? -1 : 1;
  if (stuck_side_[joint] == -side) {
    const double here = kHere * std::abs(error) / dead_band_;
    widening_[joint] = std::min(widening_[joint] > 1 ? here : 2, kWidest);
  }
  stuck_side_[joint] = side;
}

void RestLatch::advance(const FollowedReference& reference, double dt, StateObserver& observer,
                        MeasuredArm& arm) noexcept {
  // Uses the followed reference, which still moves after a change while the input may rest. It
  // counts as resting if it moves less than the dead band in a second and is neither reversing nor
  // about to start, or if it is too slow for full friction feed-forward.
  const Motion& followed = reference.followed();
  const std::span<const double> remaining = reference.remaining();
  // Joints that move disturb one that rests, by what the model lacks: none is latched then.
  bool all_stand = true;
  for (std::size_t i = 0; i < rest_.size(); ++i) {
    all_stand = all_stand && std::abs(followed.qd[i]) <= dead_band_ &&
                std::abs(followed.qdd[i]) <= 10 * rest_velocity_;
  }
  for (std::size_t i = 0; i < rest_.size(); ++i) {
    const double e = arm.q[i] - followed.q[i];
    const bool resting = std::abs(followed.qd[i]) <= rest_velocity_ &&
                         std::abs(followed.qdd[i]) <= 10 * rest_velocity_ &&
                         remaining[i] <= rest_velocity_;
    const Rest before = rest_[i];
    const double band = widening_[i] * (before == Rest::kLatched ? kRelease : 1) * dead_band_;
    const ga_dynamics::Drive& drive = arm.drives[i];
    const bool sticks = friction_ * std::max(drive.coulomb_positive, drive.coulomb_negative) > 0;
    const bool at_goal = sticks && all_stand && std::abs(e) < band;
    rest_[i] = !resting ? Rest::kMoving : at_goal ? Rest::kLatched : Rest::kOffGoal;
    begins_[i] = rest_[i] != before;
    if (rest_[i] == Rest::kMoving && before == Rest::kOffGoal) left_[i] = pushed_[i];
    if (before == Rest::kMoving) {
      direction_[i] = stuck_side_[i] = 0;
      widening_[i] = 1;
    }
    if (rest_[i] == Rest::kOffGoal) direction_[i] = e < 0 ? 1 : -1;
    if (before == Rest::kLatched && rest_[i] != Rest::kLatched) {
      if (latched_time_[i] >= kSettled) stuck_side_[i] = 0, widening_[i] = 1;
      latched_time_[i] = 0;
    }
    if (rest_[i] == Rest::kLatched) latched_time_[i] += dt;
    widen(i, e, dt);
    if (begins_[i] && before == Rest::kMoving) rest_torque_[i] = NAN;
    const double fade = rest_[i] == Rest::kLatched ? -dt / kFade : dt / kFade;
    feedback_[i] = std::clamp(feedback_[i] + fade, 0.0, 1.0);
    observer.hold(i, rest_[i] == Rest::kLatched);
  }
}

/// Turns the torques `step_` into disturbances: D⁻¹ step. False for an arm with a massless joint.
bool RestLatch::remove(StateObserver& observer, MeasuredArm& arm) noexcept {
  arm.update_inertia();
  arm.solve_inertia(step_, factor_);
  if (!all_finite(step_, step_.size())) return false;
  for (std::size_t i = 0; i < step_.size(); ++i) observer.add_disturbance(i, step_[i]);
  return true;
}

void RestLatch::settle(std::span<double> tau, std::span<const double> friction, double dt,
                       StateObserver& observer, MeasuredArm& arm) noexcept {
  bool any = false;
  for (std::size_t i = 0; i < rest_.size(); ++i) {
    // What the friction feed-forward of a motion adds replaces the push.
    const double replaced = std::clamp(friction[i] - last_friction_[i], std::min(left_[i], 0.0),
                                       std::max(left_[i], 0.0));
    last_friction_[i] = friction[i];
    step_[i] = rest_[i] == Rest::kMoving ? replaced : 0;
    if (rest_[i] == Rest::kOffGoal) left_[i] = 0;
    if (rest_[i] != Rest::kMoving) {
      const double own = tau[i] - friction[i];
      if (std::isnan(rest_torque_[i])) rest_torque_[i] = own;
      const double added = (own - rest_torque_[i]) * direction_[i];
      const double coulomb = friction_ * arm.drives[i].coulomb(direction_[i]);
      pushed_[i] = direction_[i] * std::clamp(added, 0.0, coulomb);
      if (rest_[i] == Rest::kLatched && begins_[i]) left_[i] = pushed_[i];
    }
    const double most = kRemovalRate * std::min(arm.torque_limit[i], 1e3) * dt;
    step_[i] += std::clamp(left_[i] - step_[i], -most, most);
    left_[i] -= step_[i];
    any = any || step_[i] != 0;
  }
  if (!any) return;
  for (std::size_t i = 0; i < rest_.size(); ++i) tau[i] -= step_[i];
  remove(observer, arm);
}

}  // namespace ga_controllers
