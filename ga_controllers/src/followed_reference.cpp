// SPDX-License-Identifier: Apache-2.0
#include "followed_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ga_dynamics/algorithm/cholesky.hpp"

namespace ga_controllers {

namespace {

/// Least rate of the reference's time: every sample is checked, however slow its sender is.
constexpr double kSlowestSender = 1e-3;

/// A jump that would step a torque by the share kJump of its limit is smoothed. Blending to the new
/// reference then changes the torque by at most kSlew times the limit per second. Its velocity is
/// at most kVelocityTime [s] times the acceleration at the torque limit, so it uses about a quarter
/// of the torque.
constexpr double kJump = 0.01, kSlew = 3, kVelocityTime = 0.13;
/// A jump is also smoothed if it exceeds this many cycles of motion at the velocity limit. Cycles
/// count as at least kMinCycle [s].
constexpr double kJumpCycles = 4, kMinCycle = 1e-4;
/// Blending is nearly complete when the remaining offset would step the torque by the share kNear
/// of its limit, and complete at kArrived.
constexpr double kNear = 1e-5, kArrived = 1e-8;
/// While blending, input velocities are limited to kVelocityMargin times the velocity limit. Input
/// accelerations are always limited to kAccelerationMargin times the acceleration at the torque
/// limit. An acceleration that no change of velocity confirms is also limited to one that reaches
/// the velocity limit in kSpeedUpTime [s], which the feedback can compensate.
constexpr double kVelocityMargin = 1.02, kAccelerationMargin = 4, kSpeedUpTime = 0.05;
/// Input accelerations are not trusted without confirmation if their integral over the last
/// kMismatchTime [s] differs from the input velocities by this share of the velocity limit.
constexpr double kMaxMismatch = 0.2, kMismatchTime = 0.1;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();  ///< mismatch before
/// With time scaling, the input may be faster and accelerate more by this factor.
constexpr double kScalable = 10;
/// Jumps that are taken for noise and do not end the path: by less than this [rad], and by less than this
/// share of the velocity limit. kNoise: while the reference is filtered after a jump.
constexpr double kNoise = 3e-3, kFaintNoise = 1e-4, kVelocityNoise = 0.02;
/// References with larger values (rad, rad/s, rad/s²) are rejected.
constexpr double kMaxMagnitude = 1e6;
/// Without an effort limit, the acceleration limit is the one that corrects an error of this size
/// [rad].
constexpr double kNominalError = 0.1;

bool all_plausible(std::span<const double> values, std::size_t n) noexcept {
  return std::all_of(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n),
                     [](double value) { return std::abs(value) <= kMaxMagnitude; });
}

/// Acceleration limit [rad/s²] for blending.
double max_acceleration(std::size_t i, const LawSetting& law, const MeasuredArm& arm) noexcept {
  const double own = arm.max_acceleration(i);
  return std::isfinite(own) ? own : kNominalError * std::max(law.gains[i].kp, 100.0);
}

/// The feedback acceleration of the law for this offset.
double correction(std::size_t i, const Blending::State& offset, const LawSetting& law) noexcept {
  return law.gains[i].kp * std::abs(offset.q) + law.gains[i].kd * std::abs(offset.qd);
}

/// Limits for blending a joint to a reference that moves at `qd`.
Blending::Bounds bounds(std::size_t i, double qd, const LawSetting& law, const MeasuredArm& arm) {
  const double all = max_acceleration(i, law, arm), velocity = arm.limits[i].velocity;
  const double fastest = std::min(velocity, kVelocityTime * all);
  // In the direction of the input velocity, the sum stays below the limit. Against it, the blend
  // must at least compensate it: the velocity may contradict the positions.
  const double with = std::min(fastest, std::max(velocity - std::abs(qd), velocity / 10));
  const double against = fastest + std::abs(qd);
  return {kSlew * all, fastest, qd > 0 ? with : against, qd > 0 ? against : with};
}

/// The part of a change that exceeds the explained part.
double beyond(double change, double explained) noexcept {
  return std::copysign(std::max(std::abs(change) - explained, 0.0), change);
}

}  // namespace

FollowedReference::FollowedReference(const ga_dynamics::Chain& chain,
                                     const LawParameters& parameters, const MeasuredArm& arm)
    : blend_time_(parameters.blend_time),
      given_(arm.size()),
      followed_(arm.size()),
      path_(arm.size()),
      joints_(arm.size()),
      remaining_(arm.size()),
      completion_(arm.size()),
      hold_(arm.size()),
      velocity_limit_(arm.size()),
      acceleration_limit_(arm.size()),
      braking_(arm.size()),
      factor_(arm.size() * arm.size()) {
  if (parameters.keep_limits)
    governor_ = std::make_unique<ReferenceGovernor>(chain, arm.torque_limit);
  if (parameters.keep_path)
    scaling_ = std::make_unique<TimeScaling>(chain, arm.torque_limit, parameters.friction_velocity,
                                             parameters.look_ahead);
}

void FollowedReference::start(std::span<const double> q, std::span<const double> qd,
                              bool known) noexcept {
  for (std::size_t i = 0; i < remaining_.size(); ++i) {
    if (known) given_.q[i] = q[i];
    given_.qd[i] = known ? qd[i] : 0;
    given_.qdd[i] = 0;
    followed_.q[i] = given_.q[i];
    followed_.qd[i] = given_.qd[i];
    followed_.qdd[i] = 0;
    path_.q[i] = followed_.q[i];
    path_.qd[i] = followed_.qd[i];
    path_.qdd[i] = 0;
    joints_[i].accepted = {given_.q[i], given_.qd[i], 0};
    joints_[i].rate = given_.qd[i];
    joints_[i].estimate.reset();
    joints_[i].jumped = false;
    joints_[i].feedforward = 0;
    joints_[i].mismatch = kUnknown;
  }
  if (scaling_) scaling_->reset();
  holding_ = false;
  violation_ = {};
  completion_.reset();
}

/// Where the joints come to rest after their reference was lost: ahead by the distance that they
/// travel while the velocity decays, so that they do not return. This uses the followed velocity,
/// because an input velocity may be a spike that was never followed.
void FollowedReference::choose_hold_position(const MeasuredArm& arm) noexcept {
  for (std::size_t i = 0; i < remaining_.size(); ++i) {
    // The input reference is not used while the governor overrides it, or while time is stretched: it
    // is ahead of the arm then.
    const bool behind = scaling_ && scaling_->behind();
    const bool overridden = behind || (governor_ && governor_->is_overriding(i));
    const double q = (overridden ? followed_ : given_).q[i], fastest = arm.limits[i].velocity;
    const double rate = std::clamp((behind ? followed_ : path_).qd[i], -fastest, fastest);
    hold_[i] = std::clamp(q + rate * blend_time_, std::min(q, arm.limits[i].lower),
                          std::max(q, arm.limits[i].upper));
  }
}

bool FollowedReference::take(const Reference& r, double dt, const LawSetting& law,
                             const MeasuredArm& arm) noexcept {
  const std::size_t n = remaining_.size();
  const bool slowed = scales(law) && r.time_scale >= 0 && r.time_scale < 1;
  step_ = slowed ? std::max(r.time_scale, kSlowestSender) * dt : dt;
  stands_ = slowed && r.time_scale <= 0;
  dt = step_;
  const bool none = r.q.empty();
  // An acceleration without a velocity does not describe a motion.
  const bool has_qd = r.qd.size() >= n, has_qdd = has_qd && r.qdd.size() >= n;
  const bool plausible_rates =
      (!has_qd || all_plausible(r.qd, n)) && (!has_qdd || all_plausible(r.qdd, n));
  const bool good =
      r.q.size() >= n && all_plausible(r.q, n) && (!law.takes_rates() || plausible_rates);
  if (!good && !holding_) choose_hold_position(arm);
  const std::span<const double> positions = good ? r.q : holding_ ? given_.q : hold_;
  mismatch_decay_ = std::exp(-dt / kMismatchTime);
  const bool completes = good && law.takes_rates(), rates = good && plausible_rates;
  completes ? complete({r.q, has_qd ? r.qd : std::span<const double>(),
                        has_qdd ? r.qdd : std::span<const double>()},
                       stands_ ? 0 : dt, law, arm)
            : completion_.reset();
  for (std::size_t i = 0; i < n; ++i) {
    const Blending::State now{positions[i], rates && has_qd ? r.qd[i] : 0,
                              rates && has_qdd ? r.qdd[i] : 0};
    take_joint(i, completes ? completion_.state(i) : now, dt, law, arm);
  }
  for (std::size_t i = 0; i < n && none; ++i) joints_[i].mismatch = kUnknown;
  holding_ = !good;
  return good || none;
}

/// Estimates missing velocities and accelerations.
void FollowedReference::complete(const Reference& r, double dt, const LawSetting& law,
                                 const MeasuredArm& arm) noexcept {
  for (std::size_t i = 0; i < remaining_.size(); ++i) {
    velocity_limit_[i] = arm.limits[i].velocity;
    acceleration_limit_[i] = max_acceleration(i, law, arm);
  }
  completion_.take(r, dt, velocity_limit_, acceleration_limit_);
}

void FollowedReference::take_joint(std::size_t i, const Blending::State& now, double dt,
                                   const LawSetting& law, const MeasuredArm& arm) noexcept {
  Joint& joint = joints_[i];
  const bool estimated = completion_.estimated();
  // Time scaling slows down what is too fast.
  const double scalable = scaling_ && law.takes_rates() ? kScalable : 1;
  const double all = max_acceleration(i, law, arm),
               fastest = scalable * kVelocityMargin * arm.limits[i].velocity;
  const Blending::State last = joint.last = joint.accepted;
  const double qdd_before = given_.qdd[i], rate_before = joint.rate,
               most = scalable * kAccelerationMargin * all;
  // The first sample of a reference has no predecessor that its acceleration could contradict. It must
  // be fed forward at once: one that is trusted a cycle later steps the torque.
  const double mismatch = mismatch_decay_ * joint.mismatch + now.qdd * dt - (now.qd - given_.qd[i]);
  joint.mismatch = std::isnan(joint.mismatch) ? 0 : mismatch;
  given_.q[i] = now.q;
  given_.qd[i] = now.qd;
  given_.qdd[i] = now.qdd;
  joint.rate = now.qd;
  if (now.qd == 0 && now.qdd == 0) {
    joint.rate = joint.estimate.update(now.q - last.q, dt, all);
  } else {
    joint.estimate.reset();
  }
  Blending::State& next = joint.accepted;
  next = {now.q, std::clamp(joint.rate, -fastest, fastest), 0};
  // A change that the accelerations explain is not a jump: trajectories may step the acceleration.
  // One that is estimated from that change explains nothing; the one before does.
  const double speed_up =
      estimated ? 0 : std::min(std::abs(qdd_before) + std::abs(now.qdd), 2 * most) * dt;
  const double expected = estimated ? std::clamp(qdd_before, -all, all) * dt : 0;
  joint.unexplained = {beyond(next.q - last.q - (last.qd + next.qd) / 2 * dt, speed_up * dt),
                       beyond(next.qd - last.qd - expected, speed_up), 0};
  joint.jumped_before = joint.jumped;
  // A light joint needs hardly any torque for a jump, but must respect its velocity limit.
  joint.jumped = correction(i, joint.unexplained, law) > kJump * all ||
                 std::abs(joint.unexplained.q) >
                     kJumpCycles * arm.limits[i].velocity * std::max(dt, kMinCycle);
  const double velocity = arm.limits[i].velocity;
  const double trust = std::max(1 - std::abs(joint.mismatch) / (kMaxMismatch * velocity), 0.0);
  const double change = joint.jumped ? 0 : next.qd - last.qd;
  next.qdd =
      plausible_acceleration(now.qdd, change, dt, all, unconfirmed_limit(all, velocity, trust));
  // Velocities beyond the limit are followed as well, so they confirm their accelerations.
  const double rate_change = joint.jumped ? 0 : joint.rate - rate_before;
  const double unconfirmed = trust * std::min(most, velocity / kSpeedUpTime);
  joint.feedforward = plausible_acceleration(now.qdd, rate_change, dt, most, unconfirmed);
  if (joint.jumped_before) joint.unexplained.qdd = next.qdd - last.qdd;
  if (!joint.jumped) return;
  // The followed reference continues with its position, velocity and acceleration.
  const double followed_change = path_.qd[i] - joint.followed_rate;
  const double followed = plausible_acceleration(path_.qdd[i], followed_change, dt, all,
                                                 unconfirmed_limit(all, velocity, 0));
  joint.before = {path_.q[i] - last.q, path_.qd[i] - last.qd, followed - last.qdd};
  joint.unexplained = {next.q - last.q - (last.qd + last.qdd * dt / 2) * dt,
                       next.qd - last.qd - last.qdd * dt, next.qdd - last.qdd};
}

void FollowedReference::take_measured(const MeasuredArm& arm, double dt) noexcept {
  step_ = dt;
  stands_ = false;
  std::copy(arm.q.begin(), arm.q.end(), given_.q.begin());
  std::copy(arm.qd.begin(), arm.qd.end(), given_.qd.begin());
  for (std::size_t i = 0; i < remaining_.size(); ++i) {
    joints_[i].accepted = {arm.q[i], arm.qd[i], 0};
    joints_[i].rate = arm.qd[i];
    joints_[i].mismatch = kUnknown;
    joints_[i].estimate.reset();
  }
}

/// Advances the decay of the joint's offset to the input reference.
void FollowedReference::blend(std::size_t i, bool any_jumped, double dt, const LawSetting& law,
                              const MeasuredArm& arm) noexcept {
  Joint& joint = joints_[i];
  Blending& blending = joint.blending;
  if (joint.jumped || (any_jumped && !blending.active())) {
    blending.begin(joint.jumped ? joint.before : Blending::State{},
                   std::max(1 / blend_time_, std::sqrt(law.gains[i].kp)));
    joint.filtering = true;
  }
  if (!blending.active()) return;
  const Blending::Bounds limits = bounds(i, joint.accepted.qd, law, arm);
  blending.advance(dt, limits);
  if (joint.filtering) {
    const auto& [q, qd, qdd] = joint.unexplained;
    blending.shift({-q, -qd, -qdd}, limits);
  }
  const Blending::State& left = blending.offset();
  const double share =
      (correction(i, left, law) + std::abs(left.qdd)) / max_acceleration(i, law, arm);
  joint.near = share < kNear;
  if (share < kArrived) blending.stop();
}

bool FollowedReference::advance(const Cycle& cycle, const LawSetting& law,
                                const FrictionFeedforward& friction, MeasuredArm& arm) noexcept {
  bool jumped = false;
  const bool blends = blend_time_ > 0 && !cycle.changed && law.takes_reference();
  for (const Joint& joint : joints_) jumped = jumped || (joint.jumped && blends);
  const bool rejoins = scaling_ && scaling_->may_rejoin() && !cycle.changed;
  jumped = jumped || (rejoins && blends);
  if (rejoins || (jumped && scaling_ && scaling_->behind() && leaves_path(arm))) drop_path();
  if (jumped) arm.update_inertia();
  if (cycle.changed) restart_at_arm(cycle, law, friction, arm);
  for (std::size_t i = 0; i < remaining_.size(); ++i) {
    Joint& joint = joints_[i];
    if (blends) blend(i, jumped, step_, law, arm);
    const Blending::State &left = joint.blending.offset(), &now = joint.accepted;
    const bool blending = joint.blending.active();
    joint.followed_rate = path_.qd[i];
    remaining_[i] = std::abs(left.q);
    followed_.q[i] = given_.q[i] + left.q;
    followed_.qd[i] = blending ? now.qd + left.qd : joint.rate;
    // The acceleration may step unless a jump is being filtered.
    const bool filtering = blending && joint.filtering;
    followed_.qdd[i] = left.qdd + (filtering ? now.qdd : joint.feedforward);
  }
  const bool scales = this->scales(law);
  if (scaling_ && (cycle.changed || !scales)) scaling_->reset();
  if (scales) {
    path_ = followed_;
    scaling_->advance(cycle.dt, stands_ ? 0 : step_, {followed_.q, followed_.qd, followed_.qdd});
  }
  if (governor_ && law.takes_reference()) {
    violation_ =
        governor_->govern(arm.q, cycle.dt, {followed_.q, followed_.qd, followed_.qdd}, scales);
    if (scales && scaling_->rate() < 1 && !scaling_->slowed_by_user() &&
        violation_.reason == LimitViolation::Reason::kNone) {
      violation_ = {LimitViolation::Reason::kTooFast, scaling_->limiting()};
    }
  }
  if (scales && scaling_->lost()) {
    violation_ = {LimitViolation::Reason::kPathLost, scaling_->limiting()};
  } else if (!governor_) {
    violation_ = {};
  }
  const std::size_t n = remaining_.size();
  failed_ = law.takes_reference() && !(all_finite(followed_.q, n) && all_finite(followed_.qd, n) &&
                                       all_finite(followed_.qdd, n));
  if (failed_) {
    for (Joint& joint : joints_) joint.blending.stop();
    start(arm.q, arm.qd, all_finite(arm.q, n) && all_finite(arm.qd, n));
  }
  if (!scales || !scaling_->behind()) path_ = followed_;
  return jumped;
}

/// Laws without velocities are slowed down by the user only.
bool FollowedReference::scales(const LawSetting& law) const noexcept {
  return scaling_ && (law.takes_rates() || (law.takes_reference() && scaling_->slows()));
}

/// True if a jump is more than noise.
bool FollowedReference::leaves_path(const MeasuredArm& arm) const noexcept {
  bool leaves = false;
  for (std::size_t i = 0; i < remaining_.size(); ++i) {
    const Joint& joint = joints_[i];
    const double size = joint.blending.active() && joint.filtering ? kNoise : kFaintNoise;
    const bool noise = std::abs(joint.unexplained.q) < size &&
                       std::abs(joint.unexplained.qd) < kVelocityNoise * arm.limits[i].velocity;
    leaves = leaves || (joint.jumped && !noise);
  }
  return leaves;
}

/// The input jumped, e.g. because a goal was canceled: the rest of the path before no longer counts. The
/// followed reference continues from where it is.
void FollowedReference::drop_path() noexcept {
  const bool continues = scaling_->redirect();
  const TimeScaling::Values at = scaling_->state();
  for (std::size_t i = 0; i < remaining_.size(); ++i) {
    Joint& joint = joints_[i];
    const Blending::State from =
        continues ? Blending::State{at.q[i], at.qd[i], at.qdd[i]}
                  : Blending::State{followed_.q[i], followed_.qd[i], followed_.qdd[i]};
    joint.jumped = true;
    joint.before = {from.q - joint.last.q, from.qd - joint.last.qd, from.qdd - joint.last.qdd};
  }
}

/// Restarts the followed reference at the measured state; it then blends to the input reference.
void FollowedReference::restart_at_arm(const Cycle& cycle, const LawSetting& law,
                                       const FrictionFeedforward& friction,
                                       MeasuredArm& arm) noexcept {
  arm.update_inertia();
  const bool fades = law.takes_reference() && blend_time_ > 0;
  if (fades) estimate_braking(cycle.torque_before, friction, arm);
  for (std::size_t i = 0; i < remaining_.size(); ++i) {
    joints_[i].blending.stop();
    joints_[i].filtering = joints_[i].near = false;
    if (!fades) continue;
    const Blending::State& now = joints_[i].accepted;
    joints_[i].blending.begin({arm.q[i] - now.q, arm.qd[i] - now.qd, 0}, 1.5 / blend_time_);
    if (braking_[i] == 0) continue;
    joints_[i].blending.shift({0, 0, braking_[i] - given_.qdd[i]}, bounds(i, now.qd, law, arm));
  }
  if (governor_ && fades) governor_->begin(arm.q, arm.qd, braking_);
}

bool FollowedReference::starts_from_rest(const LawSetting& law,
                                         const MeasuredArm& arm) const noexcept {
  bool rests = law.takes_rates(), accelerates = false;
  for (std::size_t i = 0; i < remaining_.size(); ++i) {
    const double speed = std::abs(arm.qd[i]) + std::abs(given_.qd[i]);
    rests = rests && correction(i, {0, speed, 0}, law) <= kJump * max_acceleration(i, law, arm);
    accelerates = accelerates || given_.qdd[i] != 0;
  }
  return rests && accelerates;
}

double FollowedReference::blend_acceleration(std::size_t i, const MeasuredArm& arm,
                                             const LawSetting& law) const noexcept {
  return joints_[i].blending.acceleration(bounds(i, joints_[i].accepted.qd, law, arm));
}

/// Estimates the deceleration, at the torque before the change, of joints that brake ahead of a
/// position limit: a followed reference that starts without it would need more braking distance.
/// Elsewhere the estimate is zero. It is not needed there, and might be due to a payload or
/// friction that is not in the model.
void FollowedReference::estimate_braking(std::span<const double> torque,
                                         const FrictionFeedforward& friction,
                                         MeasuredArm& arm) noexcept {
  const std::size_t n = remaining_.size();
  std::fill(braking_.begin(), braking_.end(), 0.0);
  if (!governor_ || !all_finite(torque, n)) return;
  arm.dynamics.bias(arm.q, arm.qd, braking_);
  for (std::size_t i = 0; i < n; ++i) {
    braking_[i] = torque[i] - braking_[i] - friction.at(i, arm.qd[i]);
  }
  std::copy(arm.inertia.begin(), arm.inertia.end(), factor_.begin());
  ga_dynamics::cholesky_solve(static_cast<int>(n), factor_.data(), braking_.data());
  // A joint without inertia has no finite deceleration.
  if (!all_finite(braking_, n)) std::fill(braking_.begin(), braking_.end(), 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const double max_acceleration = arm.max_acceleration(i), ahead = std::copysign(1.0, arm.qd[i]);
    const double most =
        governor_->must_brake(i, arm.q[i], arm.qd[i], max_acceleration) ? max_acceleration / 2 : 0;
    braking_[i] = ahead * std::clamp(ahead * braking_[i], -most, 0.0);
  }
}

}  // namespace ga_controllers
