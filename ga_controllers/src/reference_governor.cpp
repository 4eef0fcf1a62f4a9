// SPDX-License-Identifier: Apache-2.0
#include "reference_governor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ga_controllers {

namespace {

/// Share of the torque that the governed reference uses to accelerate and brake, and its largest
/// rate of change, in torque limits per second. The rest is left for gravity and coupling.
constexpr double kBrake = 0.5, kSlew = 8;
constexpr double kTimeToBrake = kBrake / kSlew;  ///< s, until the full deceleration is reached
/// A reference is overridden if stopping at the position limit would take more than the share
/// kMargin of kBrake. The governed reference plans its stops with the share kPlanned.
constexpr double kMargin = 0.7, kPlanned = 0.6;
constexpr double kVelocityMargin = 1.02;  ///< of the velocity limit; more is too fast
constexpr double kApproachGain = 10;      ///< 1/s, for the final approach to the reference
constexpr double kVelocityGain = 40;      ///< 1/s, of the velocity loop
constexpr double kStep = 0.02;            ///< s; longer cycles are divided into such steps
constexpr int kSteps = 50;                ///< per cycle at most; the rest is ignored
constexpr double kJump = 0.02;            ///< rad or m; smaller jumps are left to the law
constexpr double kCaughtUp = 1e-4;        ///< rad or m, largest position difference at the handback
constexpr double kSameTorque = 0.01;      ///< of the torque, largest difference at the handback
constexpr double kNear = 0.02;  ///< rad or m; within it the reference's acceleration is fed forward
/// Limit of an unconfirmed acceleration: this share of the torque, and this multiple [1/s] of the
/// velocity limit, which is larger for a trusted reference.
constexpr double kUnconfirmed = 0.05, kUnconfirmedRate = 2, kTrustedRate = 6;

/// The inertia matrix, which costs more than all else in a cycle of the governor, is computed again when
/// a joint has moved by kInertiaWay [rad or m], and every kInertiaCycles while the payload changes.
constexpr double kInertiaWay = 0.01;
constexpr int kInertiaCycles = 10;

/// Largest speed from which a joint can stop within a distance: constant deceleration, then an
/// exponential approach.
double stopping_speed(double distance, double deceleration) {
  const double d = std::max(distance, 0.0), end = deceleration / (kApproachGain * kApproachGain);
  return d < end ? kApproachGain * d : std::sqrt(2 * deceleration * (d - end / 2));
}

}  // namespace

double speed_limit(const ga_dynamics::JointLimits& limits) noexcept {
  return limits.velocity > 0 ? limits.velocity : std::numeric_limits<double>::infinity();
}

double plausible_acceleration(double acceleration, double change, double dt,
                              double max_acceleration, double unconfirmed) noexcept {
  // Doubled: an acceleration that rises from zero has changed the velocity by half of its value.
  const double confirmed =
      dt > 0 ? std::clamp(2 * change / dt, -max_acceleration, max_acceleration) : 0;
  return std::clamp(acceleration, std::min(confirmed, 0.0) - unconfirmed,
                    std::max(confirmed, 0.0) + unconfirmed);
}

double unconfirmed_limit(double max_acceleration, double velocity_limit, double trust) noexcept {
  const double share = kUnconfirmed * max_acceleration;
  const double strict = std::min(share, kUnconfirmedRate * velocity_limit);
  return strict + trust * (std::min(share, kTrustedRate * velocity_limit) - strict);
}

ReferenceGovernor::ReferenceGovernor(const ga_dynamics::Chain& chain,
                                     std::vector<double> torque_limit)
    : dynamics_(chain, {.drives = ga_dynamics::Drives::kArmature}),
      torque_limit_(std::move(torque_limit)),
      inertia_(chain.joints().size() * chain.joints().size()),
      inertia_q_(chain.joints().size(), std::numeric_limits<double>::quiet_NaN()) {
  for (const auto& joint : chain.joints()) {
    joints_.push_back({.limits = joint.limits});
    auto& limits = joints_.back().limits;
    joints_.back().hard_lower = limits.lower;
    joints_.back().hard_upper = limits.upper;
    limits.lower = limits.soft_lower = joint.limits.goal_lower();
    limits.upper = limits.soft_upper = joint.limits.goal_upper();
    limits.velocity = speed_limit(joint.limits);
  }
}

void ReferenceGovernor::widen(Joint& joint, double q) noexcept {
  auto& limits = joint.limits;
  limits.lower = std::clamp(q, joint.hard_lower, limits.soft_lower);
  limits.upper = std::clamp(q, limits.soft_upper, joint.hard_upper);
}

void ReferenceGovernor::narrow(Joint& joint) noexcept {
  auto& limits = joint.limits;
  limits.lower = std::min(limits.soft_lower, std::max(limits.lower, joint.q));
  limits.upper = std::max(limits.soft_upper, std::min(limits.upper, joint.q));
}

LimitViolation::Reason ReferenceGovernor::check(const Joint& joint, double q, double qd, double qdd,
                                                double max_acceleration, double reach) const {
  using Reason = LimitViolation::Reason;
  const auto& limits = joint.limits;
  if (q < limits.lower || q > limits.upper) return Reason::kOutside;
  // The speed still rises until the present acceleration is removed.
  const double braking = qd > 0 ? -qdd : qdd, brake = kBrake * max_acceleration;
  const double pushing = scaled_ ? 0 : std::max(-braking, 0.0);
  const double speed = std::abs(qd) + pushing * pushing / (2 * kSlew * max_acceleration);
  if (speed > kVelocityMargin * limits.velocity || (std::abs(qdd) > max_acceleration && !scaled_) ||
      std::abs(q - joint.q) > reach) {
    return Reason::kTooFast;
  }
  // Stopping distance from the present acceleration. A reference that already brakes moderately and
  // in time passes.
  const double distance = qd > 0 ? limits.upper - q : q - limits.lower;
  const double delay = kTimeToBrake * std::max(1 - braking / brake, 0.0);
  if (speed * speed <= 2 * kMargin * brake * (distance - speed * delay)) return Reason::kNone;
  const bool stops = braking <= brake && qd * qd <= 1.05 * 2 * braking * distance + 1e-12;
  return stops ? Reason::kNone : Reason::kTooFast;
}

void ReferenceGovernor::follow(Joint& joint, double q, double qd, double qdd,
                               double max_acceleration, double dt) const {
  const auto& limits = joint.limits;
  const double brake = kBrake * max_acceleration, planned = kPlanned * brake;
  const double goal = std::clamp(q, limits.lower, limits.upper);
  // State of the joint when its present acceleration is removed and a new one is reached.
  const double release = std::abs(joint.qdd) / (kSlew * max_acceleration);
  const double speed = joint.qd + joint.qdd * release / 2;
  const double ahead =
      joint.q + (joint.qd + joint.qdd * release / 3) * release + speed * kTimeToBrake;
  // State of the reference at that time; a braking reference may have stopped before.
  const double until = release + kTimeToBrake;
  const double bent = qd * qdd < 0 ? std::min(until, -qd / qdd) : 0;
  const double rate = goal == q ? qd + qdd * bent : 0;
  const double error = goal + rate * until - (goal == q ? qdd * bent * bent / 2 : 0) - ahead;
  const double up = std::min(limits.velocity, stopping_speed(limits.upper - ahead, planned));
  const double down = std::min(limits.velocity, stopping_speed(ahead - limits.lower, planned));
  const double wanted =
      std::clamp(rate + std::copysign(stopping_speed(std::abs(error), planned), error), -down, up);
  const double near = goal == q ? std::max(1 - std::abs(error) / kNear, 0.0) : 0;
  const double pull = std::clamp((wanted - speed) * kVelocityGain + near * qdd, -brake, brake);
  // Speeding up and reversing are slower than braking, since all joints may do so at once.
  const bool brakes = (pull * joint.qd < 0 && std::abs(joint.qd) > brake * kTimeToBrake / 10) ||
                      (joint.qdd - pull) * joint.qdd > 0;
  const double step = (brakes ? kSlew : kSlew / 4) * max_acceleration * dt;
  joint.qdd = std::clamp(pull, joint.qdd - step, joint.qdd + step);
  joint.q += (joint.qd + joint.qdd * dt / 2) * dt;
  joint.qd += joint.qdd * dt;
}

void ReferenceGovernor::begin(std::span<const double> q, std::span<const double> qd,
                              std::span<const double> qdd) noexcept {
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    Joint& joint = joints_[i];
    joint.q = q[i];
    joint.qd = qd[i];
    joint.qdd = qdd[i];
    joint.overridden = false;
    widen(joint, q[i]);
  }
  begun_ = true;
}

void ReferenceGovernor::update_inertia(std::span<const double> q) noexcept {
  inertia_age_ = std::min(inertia_age_ + 1, kInertiaCycles);
  bool valid = !model_changed_ || inertia_age_ < kInertiaCycles;
  for (std::size_t i = 0; i < inertia_q_.size(); ++i) {
    valid = valid && std::abs(q[i] - inertia_q_[i]) <= kInertiaWay;  // false at first: not a number
  }
  if (valid) return;
  dynamics_.inertia_matrix(q, inertia_);
  std::copy_n(q.begin(), inertia_q_.size(), inertia_q_.begin());
  inertia_age_ = 0;
  model_changed_ = false;
}

LimitViolation ReferenceGovernor::govern(std::span<const double> q, double dt,
                                         const Values& reference, bool scaled) noexcept {
  const std::size_t n = joints_.size();
  scaled_ = scaled;
  if (!begun_) {
    begin(reference.q, reference.qd, reference.qdd);
    for (std::size_t i = 0; i < n; ++i) widen(joints_[i], q[i]);
  }
  update_inertia(q);
  LimitViolation violation;
  for (std::size_t i = 0; i < n; ++i) {
    Joint& joint = joints_[i];
    const double max_acceleration = torque_limit_[i] / std::max(inertia_[i * n + i], 1e-9);
    double &q_ref = reference.q[i], &qd_ref = reference.qd[i], &qdd_ref = reference.qdd[i];
    // Of a diverged loop: nothing would bring it back.
    if (!std::isfinite(joint.q + joint.qd + joint.qdd)) joint.q = q[i], joint.qd = joint.qdd = 0;
    const double reach = kJump + 2 * joint.limits.velocity * dt;
    const LimitViolation::Reason reason =
        check(joint, q_ref, qd_ref, qdd_ref, max_acceleration, reach);
    const bool caught_up = std::abs(q_ref - joint.q) < kCaughtUp + std::abs(qd_ref) * dt &&
                           std::abs(qd_ref - joint.qd) <= 2 * kBrake * max_acceleration * dt &&
                           std::abs(qdd_ref - joint.qdd) <= kSameTorque * max_acceleration;
    joint.overridden = reason != LimitViolation::Reason::kNone || (joint.overridden && !caught_up);
    if (joint.overridden) {
      double remaining = dt;
      for (int k = 0; k < kSteps && (k == 0 || remaining > 0); ++k, remaining -= kStep) {
        follow(joint, q_ref, qd_ref, qdd_ref, max_acceleration, std::min(remaining, kStep));
      }
      q_ref = joint.q;
      qd_ref = joint.qd;
      qdd_ref = joint.qdd;
    } else {
      joint.q = q_ref;
      joint.qdd =
          plausible_acceleration(qdd_ref, qd_ref - joint.qd, dt, max_acceleration,
                                 unconfirmed_limit(max_acceleration, joint.limits.velocity, 0));
      joint.qd = qd_ref;
    }
    narrow(joint);
    if (reason != LimitViolation::Reason::kNone) violation = {reason, i};
  }
  return violation;
}

}  // namespace ga_controllers
