// SPDX-License-Identifier: Apache-2.0
#include "followed_reference.hpp"

#include <algorithm>
#include <cmath>

#include "ga_dynamics/cholesky.hpp"

namespace ga_controllers {

namespace {

/// A reference that jumps far enough to step a torque by this share of its limit is smoothed; the
/// way to it then costs about `kShare` of the limit, and `kSlew` of it per second.
constexpr double kJump = 0.01, kShare = 0.25, kSlew = 3;

/// The torque limit and the inertia that was computed last tell what a jump is.
bool is_jump(std::size_t i, double dq, double dqd, const LawSetting& law, const ArmState& arm) {
  const double dv = law.gains[i].kp * std::abs(dq) + law.gains[i].kd * std::abs(dqd);
  return arm.own_inertia(i) * dv > kJump * arm.torque_limit[i];
}

/// What the way of a joint to a reference with the velocity `qd` may cost.
Fading::Bounds bounds(std::size_t i, double decay, double qd, const ArmState& arm) {
  const double strength = arm.strength(i), velocity = arm.limits[i].velocity;
  return {decay, kShare * strength, kSlew * strength,
          std::max(velocity - std::abs(qd), velocity / 10)};
}

}  // namespace

FollowedReference::FollowedReference(const ga_dynamics::Chain& chain,
                                     const LawParameters& parameters, const ArmState& arm)
    : blend_time_(parameters.blend_time),
      given_(arm.size()),
      followed_(arm.size()),
      way_(arm.size()),
      to_go_(arm.size()),
      hold_(arm.size()),
      braking_(arm.size()),
      factor_(arm.size() * arm.size()) {
  if (parameters.keep_limits) guard_ = std::make_unique<ReferenceGuard>(chain, arm.torque_limit);
}

void FollowedReference::start(std::span<const double> q, std::span<const double> qd,
                              bool known) noexcept {
  for (std::size_t i = 0; i < to_go_.size(); ++i) {
    if (known) given_.q[i] = q[i];
    given_.qd[i] = known ? qd[i] : 0;
    given_.qdd[i] = 0;
  }
  holds_ = false;
  departure_ = {};
}

/// Where the joints rest that have just lost their reference: as far as the arm runs while its
/// velocity fades, so that it need not come back.
void FollowedReference::decide_hold(const ArmState& arm) noexcept {
  for (std::size_t i = 0; i < to_go_.size(); ++i) {
    // One that cannot be followed is given up for what is.
    const Motion& last = guard_ && guard_->has_left(i) ? followed_ : given_;
    const double q = last.q[i];
    hold_[i] = std::clamp(q + last.qd[i] * blend_time_, std::min(q, arm.limits[i].lower),
                          std::max(q, arm.limits[i].upper));
  }
}

bool FollowedReference::take(const Reference& r, double dt, const LawSetting& law,
                             const ArmState& arm) noexcept {
  const std::size_t n = to_go_.size();
  const bool none = r.q.empty();
  const bool has_rates = r.qd.size() >= n && r.qdd.size() >= n;
  const bool finite_rates = has_rates && all_finite(r.qd, n) && all_finite(r.qdd, n);
  const bool good =
      r.q.size() >= n && all_finite(r.q, n) && (!law.takes_rates() || !has_rates || finite_rates);
  const bool rates = good && finite_rates;
  if (!good && !holds_) decide_hold(arm);
  const std::span<const double> positions = good ? r.q : holds_ ? given_.q : hold_;
  for (std::size_t i = 0; i < n; ++i) {
    double &q_ref = given_.q[i], &qd_ref = given_.qd[i], &qdd_ref = given_.qdd[i];
    const double q = positions[i];
    const double qd = rates ? r.qd[i] : 0, qdd = rates ? r.qdd[i] : 0;
    // What the accelerations explain is no jump: a trajectory may step its acceleration.
    const double speed_up = (std::abs(qdd_ref) + std::abs(qdd)) * dt;
    const double dq = std::abs(q - q_ref - (qd_ref + qd) / 2 * dt) - speed_up * dt;
    const double dqd = std::abs(qd - qd_ref) - speed_up;
    if (is_jump(i, std::max(dq, 0.0), std::max(dqd, 0.0), law, arm)) jumped_ = true;
    q_ref = q;
    qd_ref = qd;
    qdd_ref = qdd;
  }
  holds_ = !good;
  return good || none;
}

void FollowedReference::take_arm(const ArmState& arm) noexcept {
  std::copy(arm.q.begin(), arm.q.end(), given_.q.begin());
  std::copy(arm.qd.begin(), arm.qd.end(), given_.qd.begin());
}

bool FollowedReference::advance(const Cycle& cycle, const LawSetting& law,
                                const FrictionFeed& friction, ArmState& arm) noexcept {
  way_.time += cycle.dt;
  const bool swings = jumped_ && !cycle.changed && blend_time_ > 0;
  if (swings) begin_at_followed(cycle.dt, law, arm);
  if (cycle.changed) begin_at_arm(cycle, law, friction, arm);
  jumped_ = false;
  for (std::size_t i = 0; i < to_go_.size(); ++i) {
    to_go_[i] = 0;
    followed_.q[i] = given_.q[i];
    followed_.qd[i] = given_.qd[i];
    followed_.qdd[i] = given_.qdd[i];
    if (way_.joints[i].over(way_.time)) continue;
    const Fading::State left = way_.joints[i].at(way_.time);
    to_go_[i] = std::abs(left.q);
    followed_.q[i] += left.q;
    followed_.qd[i] += left.qd;
    followed_.qdd[i] += left.qdd;
  }
  if (guard_ && law.takes_reference()) {
    departure_ = guard_->keep(arm.q, cycle.dt, {followed_.q, followed_.qd, followed_.qdd});
  }
  return swings;
}

/// A law that is switched on far from its reference does not jump at it.
void FollowedReference::begin_at_arm(const Cycle& cycle, const LawSetting& law,
                                     const FrictionFeed& friction, ArmState& arm) noexcept {
  arm.update_inertia();
  way_.time = 0;
  const bool fades = law.takes_reference() && blend_time_ > 0;
  if (fades) estimate_braking(cycle.torque_before, friction, arm);
  for (std::size_t i = 0; i < to_go_.size(); ++i) {
    way_.joints[i].stop();
    if (!fades) continue;
    const Fading::State left{arm.q[i] - given_.q[i], arm.qd[i] - given_.qd[i],
                             braking_[i] != 0 ? braking_[i] - given_.qdd[i] : 0};
    way_.joints[i].start(left, bounds(i, 1.5 / blend_time_, given_.qd[i], arm));
  }
  if (guard_ && fades) guard_->begin(arm.q, arm.qd, braking_);
}

/// What is followed goes on with its velocity and acceleration, and swings over.
void FollowedReference::begin_at_followed(double dt, const LawSetting& law,
                                          ArmState& arm) noexcept {
  arm.update_inertia();
  way_.time = 0;
  for (std::size_t i = 0; i < to_go_.size(); ++i) {
    const double qdd = followed_.qdd[i], qd = followed_.qd[i] + qdd * dt;
    const Fading::State left{followed_.q[i] + (followed_.qd[i] + qd) / 2 * dt - given_.q[i],
                             qd - given_.qd[i], qdd - given_.qdd[i]};
    const double decay = std::max(1 / blend_time_, std::sqrt(law.gains[i].kp));
    way_.joints[i].start(left, bounds(i, decay, given_.qd[i], arm));
  }
}

/// The deceleration that the torque before the change gives to joints that brake ahead of a
/// position limit: a reference that began without would need the way for it again. Elsewhere, and
/// where it would speed the joint up, the estimate is not needed and may be a payload or friction
/// that the model does not know.
void FollowedReference::estimate_braking(std::span<const double> torque,
                                         const FrictionFeed& friction, ArmState& arm) noexcept {
  const std::size_t n = to_go_.size();
  std::fill(braking_.begin(), braking_.end(), 0.0);
  if (!guard_ || !all_finite(torque, n)) return;
  arm.dynamics.bias(arm.q, arm.qd, braking_);
  for (std::size_t i = 0; i < n; ++i) {
    braking_[i] = torque[i] - braking_[i] - friction.at(i, arm.qd[i]);
  }
  std::copy(arm.inertia.begin(), arm.inertia.end(), factor_.begin());
  ga_dynamics::cholesky_solve(static_cast<int>(n), factor_.data(), braking_.data());
  for (std::size_t i = 0; i < n; ++i) {
    const double strength = arm.strength(i), ahead = std::copysign(1.0, arm.qd[i]);
    const double most = guard_->must_brake(i, arm.q[i], arm.qd[i], strength) ? strength / 2 : 0;
    braking_[i] = ahead * std::clamp(ahead * braking_[i], -most, 0.0);
  }
}

}  // namespace ga_controllers
