// SPDX-License-Identifier: Apache-2.0
#include "followed_reference.hpp"

#include <algorithm>
#include <cmath>

#include "ga_dynamics/algorithm/cholesky.hpp"

namespace ga_controllers {

namespace {

/// A reference that jumps far enough to step a torque by this share of its limit is smoothed; the
/// way to it then takes up `kSlew` of the limit per second, and so about a quarter of it if it is
/// no faster than kGather times the acceleration of all of it.
constexpr double kJump = 0.01, kSlew = 3, kGather = 0.13;
/// And so is one that jumps farther than the joint turns in so many cycles at its velocity limit.
constexpr double kLeap = 4, kShort = 1e-4;  ///< s, of the shortest cycle
/// The followed reference is as good as there when what is left would step the torque by the first
/// of these shares, and has arrived at the second.
constexpr double kNear = 1e-5, kArrived = 1e-8;
/// Given velocities count up to this share of the limit on the way, given accelerations anywhere up
/// to this share of what the torque allows. Unless a change of the velocity confirms it, an
/// acceleration also counts no further than reaches the velocity limit in kAtOnce [s]: the feedback
/// holds against it.
constexpr double kFaster = 1.02, kStronger = 4, kAtOnce = 0.05;
/// Given accelerations whose integral over the last kDoubtTime [s] differs from the given
/// velocities by this share of the velocity limit are not believed unless confirmed.
constexpr double kDoubt = 0.2, kDoubtTime = 0.1;
/// Values beyond this (rad, rad/s, rad/s²) are no reference.
constexpr double kAbsurd = 1e6;
/// An arm without an effort limit is taken to be as strong as it is to correct an error of this
/// size [rad].
constexpr double kUnlimited = 0.1;

bool all_sane(std::span<const double> values, std::size_t n) noexcept {
  return std::all_of(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n),
                     [](double value) { return std::abs(value) <= kAbsurd; });
}

/// The acceleration [rad/s²] that ways are judged by.
double strength(std::size_t i, const LawSetting& law, const MeasuredArm& arm) noexcept {
  const double own = arm.strength(i);
  return std::isfinite(own) ? own : kUnlimited * std::max(law.gains[i].kp, 100.0);
}

/// The acceleration that the law would correct this offset with.
double correction(std::size_t i, const Blending::State& offset, const LawSetting& law) noexcept {
  return law.gains[i].kp * std::abs(offset.q) + law.gains[i].kd * std::abs(offset.qd);
}

/// What the way of a joint to a reference with the velocity `qd` may cost.
Blending::Bounds bounds(std::size_t i, double qd, const LawSetting& law, const MeasuredArm& arm) {
  const double all = strength(i, law, arm), velocity = arm.limits[i].velocity;
  const double fastest = std::min(velocity, kGather * all);
  // With the given velocity no faster than the limit, and against it at least fast enough to make
  // up for it: it may contradict the positions.
  const double with = std::min(fastest, std::max(velocity - std::abs(qd), velocity / 10));
  const double against = fastest + std::abs(qd);
  return {kSlew * all, fastest, qd > 0 ? with : against, qd > 0 ? against : with};
}

/// The part of a change that is beyond what is explained.
double beyond(double change, double explained) noexcept {
  return std::copysign(std::max(std::abs(change) - explained, 0.0), change);
}

}  // namespace

FollowedReference::FollowedReference(const ga_dynamics::Chain& chain,
                                     const LawParameters& parameters, const MeasuredArm& arm)
    : blend_time_(parameters.blend_time),
      given_(arm.size()),
      followed_(arm.size()),
      joints_(arm.size()),
      to_go_(arm.size()),
      hold_(arm.size()),
      braking_(arm.size()),
      factor_(arm.size() * arm.size()) {
  if (parameters.keep_limits)
    governor_ = std::make_unique<ReferenceGovernor>(chain, arm.torque_limit);
}

void FollowedReference::start(std::span<const double> q, std::span<const double> qd,
                              bool known) noexcept {
  for (std::size_t i = 0; i < to_go_.size(); ++i) {
    if (known) given_.q[i] = q[i];
    given_.qd[i] = known ? qd[i] : 0;
    given_.qdd[i] = 0;
    followed_.q[i] = given_.q[i];
    followed_.qd[i] = given_.qd[i];
    followed_.qdd[i] = 0;
    joints_[i].counted = {given_.q[i], given_.qd[i], 0};
    joints_[i].rate = given_.qd[i];
    joints_[i].shown.forget();
    joints_[i].jumped = false;
    joints_[i].fed = joints_[i].doubt = 0;
  }
  holds_ = false;
  violation_ = {};
}

/// Where the joints rest that have just lost their reference: as far as they run while their
/// velocity fades, so that they need not come back. The velocity is the followed one: a given
/// velocity may be a spike that was never followed.
void FollowedReference::decide_hold(const MeasuredArm& arm) noexcept {
  for (std::size_t i = 0; i < to_go_.size(); ++i) {
    // One that cannot be followed is given up for what is.
    const Motion& last = governor_ && governor_->has_left(i) ? followed_ : given_;
    const double q = last.q[i], fastest = arm.limits[i].velocity;
    const double rate = std::clamp(followed_.qd[i], -fastest, fastest);
    hold_[i] = std::clamp(q + rate * blend_time_, std::min(q, arm.limits[i].lower),
                          std::max(q, arm.limits[i].upper));
  }
}

bool FollowedReference::take(const Reference& r, double dt, const LawSetting& law,
                             const MeasuredArm& arm) noexcept {
  const std::size_t n = to_go_.size();
  const bool none = r.q.empty();
  // An acceleration without a velocity says nothing of where the reference goes.
  const bool has_qd = r.qd.size() >= n, has_qdd = has_qd && r.qdd.size() >= n;
  const bool sane_rates = (!has_qd || all_sane(r.qd, n)) && (!has_qdd || all_sane(r.qdd, n));
  const bool good = r.q.size() >= n && all_sane(r.q, n) && (!law.takes_rates() || sane_rates);
  if (!good && !holds_) decide_hold(arm);
  const std::span<const double> positions = good ? r.q : holds_ ? given_.q : hold_;
  doubt_left_ = std::exp(-dt / kDoubtTime);
  for (std::size_t i = 0; i < n; ++i) {
    const bool rates = good && sane_rates;
    take_joint(i, {positions[i], rates && has_qd ? r.qd[i] : 0, rates && has_qdd ? r.qdd[i] : 0},
               dt, law, arm);
  }
  holds_ = !good;
  return good || none;
}

void FollowedReference::take_joint(std::size_t i, const Blending::State& now, double dt,
                                   const LawSetting& law, const MeasuredArm& arm) noexcept {
  Joint& joint = joints_[i];
  const double all = strength(i, law, arm), fastest = kFaster * arm.limits[i].velocity;
  const Blending::State last = joint.counted;
  const double qdd_before = given_.qdd[i], rate_before = joint.rate, most = kStronger * all;
  joint.doubt = doubt_left_ * joint.doubt + now.qdd * dt - (now.qd - given_.qd[i]);
  given_.q[i] = now.q;
  given_.qd[i] = now.qd;
  given_.qdd[i] = now.qdd;
  joint.rate = now.qd;
  if (now.qd == 0 && now.qdd == 0) {
    joint.rate = joint.shown.update(now.q - last.q, dt, all);
  } else {
    joint.shown.forget();
  }
  Blending::State& next = joint.counted;
  next = {now.q, std::clamp(joint.rate, -fastest, fastest), 0};
  // What the accelerations explain is no jump: a trajectory may step its acceleration.
  const double speed_up = std::min(std::abs(qdd_before) + std::abs(now.qdd), 2 * most) * dt;
  joint.surplus = {beyond(next.q - last.q - (last.qd + next.qd) / 2 * dt, speed_up * dt),
                   beyond(next.qd - last.qd, speed_up), 0};
  joint.settles = joint.jumped;
  // A light joint hardly needs torque for a jump, but it has to keep to its velocity limit.
  joint.jumped = correction(i, joint.surplus, law) > kJump * all ||
                 std::abs(joint.surplus.q) > kLeap * arm.limits[i].velocity * std::max(dt, kShort);
  const double velocity = arm.limits[i].velocity;
  const double trust = std::max(1 - std::abs(joint.doubt) / (kDoubt * velocity), 0.0);
  const double change = joint.jumped ? 0 : next.qd - last.qd;
  next.qdd =
      believed_acceleration(now.qdd, change, dt, all, continued_acceleration(all, velocity, trust));
  // Velocities beyond the limit are followed, so they confirm their accelerations.
  const double rate_change = joint.jumped ? 0 : joint.rate - rate_before;
  const double at_once = trust * std::min(most, velocity / kAtOnce);
  joint.fed = believed_acceleration(now.qdd, rate_change, dt, most, at_once);
  if (joint.settles) joint.surplus.qdd = next.qdd - last.qdd;
  if (!joint.jumped) return;
  // What is followed goes on as it was, acceleration included.
  const double followed_change = followed_.qd[i] - joint.followed_rate;
  const double followed = believed_acceleration(followed_.qdd[i], followed_change, dt, all,
                                                continued_acceleration(all, velocity, 0));
  joint.before = {followed_.q[i] - last.q, followed_.qd[i] - last.qd, followed - last.qdd};
  joint.surplus = {next.q - last.q - (last.qd + last.qdd * dt / 2) * dt,
                   next.qd - last.qd - last.qdd * dt, next.qdd - last.qdd};
}

void FollowedReference::take_arm(const MeasuredArm& arm, double dt) noexcept {
  doubt_left_ = std::exp(-dt / kDoubtTime);
  std::copy(arm.q.begin(), arm.q.end(), given_.q.begin());
  std::copy(arm.qd.begin(), arm.qd.end(), given_.qd.begin());
  for (std::size_t i = 0; i < to_go_.size(); ++i) {
    joints_[i].counted = {arm.q[i], arm.qd[i], 0};
    joints_[i].rate = arm.qd[i];
    joints_[i].doubt *= doubt_left_;
    joints_[i].shown.forget();
  }
}

/// Lets the joint's offset to the given reference fade.
void FollowedReference::blend(std::size_t i, bool any_jumped, double dt, const LawSetting& law,
                              const MeasuredArm& arm) noexcept {
  Joint& joint = joints_[i];
  Blending& blending = joint.blending;
  if (joint.jumped || (any_jumped && !blending.active())) {
    blending.begin(joint.jumped ? joint.before : Blending::State{},
                   std::max(1 / blend_time_, std::sqrt(law.gains[i].kp)));
    joint.filters = true;
  }
  if (!blending.active()) return;
  const Blending::Bounds way = bounds(i, joint.counted.qd, law, arm);
  blending.advance(dt, way);
  if (joint.filters) {
    const auto& [q, qd, qdd] = joint.surplus;
    blending.shift({-q, -qd, -qdd}, way);
  }
  const Blending::State& left = blending.offset();
  const double share = (correction(i, left, law) + std::abs(left.qdd)) / strength(i, law, arm);
  joint.near = share < kNear;
  if (share < kArrived) blending.stop();
}

bool FollowedReference::advance(const Cycle& cycle, const LawSetting& law,
                                const FrictionFeedforward& friction, MeasuredArm& arm) noexcept {
  bool jumped = false;
  const bool blends = blend_time_ > 0 && !cycle.changed && law.takes_reference();
  for (const Joint& joint : joints_) jumped = jumped || (joint.jumped && blends);
  if (jumped) arm.update_inertia();
  if (cycle.changed) begin_at_arm(cycle, law, friction, arm);
  for (std::size_t i = 0; i < to_go_.size(); ++i) {
    Joint& joint = joints_[i];
    if (blends) blend(i, jumped, cycle.dt, law, arm);
    const Blending::State &left = joint.blending.offset(), &now = joint.counted;
    const bool on_its_way = joint.blending.active();
    joint.followed_rate = followed_.qd[i];
    to_go_[i] = std::abs(left.q);
    followed_.q[i] = given_.q[i] + left.q;
    followed_.qd[i] = on_its_way ? now.qd + left.qd : joint.rate;
    // Without a jump nothing goes on with the acceleration, and it may step.
    const bool filters = on_its_way && joint.filters;
    followed_.qdd[i] = left.qdd + (filters ? now.qdd : joint.fed);
  }
  if (governor_ && law.takes_reference()) {
    violation_ = governor_->keep(arm.q, cycle.dt, {followed_.q, followed_.qd, followed_.qdd});
  }
  return jumped;
}

/// A law that is switched on far from its reference does not jump at it.
void FollowedReference::begin_at_arm(const Cycle& cycle, const LawSetting& law,
                                     const FrictionFeedforward& friction,
                                     MeasuredArm& arm) noexcept {
  arm.update_inertia();
  const bool fades = law.takes_reference() && blend_time_ > 0;
  if (fades) estimate_braking(cycle.torque_before, friction, arm);
  for (std::size_t i = 0; i < to_go_.size(); ++i) {
    joints_[i].blending.stop();
    joints_[i].filters = joints_[i].near = false;
    if (!fades) continue;
    const Blending::State& now = joints_[i].counted;
    joints_[i].blending.begin({arm.q[i] - now.q, arm.qd[i] - now.qd, 0}, 1.5 / blend_time_);
    if (braking_[i] == 0) continue;
    joints_[i].blending.shift({0, 0, braking_[i] - given_.qdd[i]}, bounds(i, now.qd, law, arm));
  }
  if (governor_ && fades) governor_->begin(arm.q, arm.qd, braking_);
}

bool FollowedReference::sets_out(const LawSetting& law, const MeasuredArm& arm) const noexcept {
  bool rests = law.takes_rates(), accelerates = false;
  for (std::size_t i = 0; i < to_go_.size(); ++i) {
    const double speed = std::abs(arm.qd[i]) + std::abs(given_.qd[i]);
    rests = rests && correction(i, {0, speed, 0}, law) <= kJump * strength(i, law, arm);
    accelerates = accelerates || given_.qdd[i] != 0;
  }
  return rests && accelerates;
}

double FollowedReference::way_acceleration(std::size_t i, const MeasuredArm& arm,
                                           const LawSetting& law) const noexcept {
  return joints_[i].blending.acceleration(bounds(i, joints_[i].counted.qd, law, arm));
}

/// The deceleration that the torque before the change gives to joints that brake ahead of a
/// position limit: a reference that began without would need the way for it again. Elsewhere, and
/// where it would speed the joint up, the estimate is not needed and may be a payload or friction
/// that the model does not know.
void FollowedReference::estimate_braking(std::span<const double> torque,
                                         const FrictionFeedforward& friction,
                                         MeasuredArm& arm) noexcept {
  const std::size_t n = to_go_.size();
  std::fill(braking_.begin(), braking_.end(), 0.0);
  if (!governor_ || !all_finite(torque, n)) return;
  arm.dynamics.bias(arm.q, arm.qd, braking_);
  for (std::size_t i = 0; i < n; ++i) {
    braking_[i] = torque[i] - braking_[i] - friction.at(i, arm.qd[i]);
  }
  std::copy(arm.inertia.begin(), arm.inertia.end(), factor_.begin());
  ga_dynamics::cholesky_solve(static_cast<int>(n), factor_.data(), braking_.data());
  // A joint without inertia has no deceleration.
  if (!all_finite(braking_, n)) std::fill(braking_.begin(), braking_.end(), 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const double strength = arm.strength(i), ahead = std::copysign(1.0, arm.qd[i]);
    const double most = governor_->must_brake(i, arm.q[i], arm.qd[i], strength) ? strength / 2 : 0;
    braking_[i] = ahead * std::clamp(ahead * braking_[i], -most, 0.0);
  }
}

}  // namespace ga_controllers
