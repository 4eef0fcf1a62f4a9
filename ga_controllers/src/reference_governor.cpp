// SPDX-License-Identifier: Apache-2.0
#include "reference_governor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ga_controllers {

namespace {

/// Share of a joint's torque that its governed reference accelerates and brakes with, and how much
/// of the torque it takes up per second. The rest is for gravity and for what the other joints do.
constexpr double kBrake = 0.5, kSlew = 8;
constexpr double kTimeToBrake = kBrake / kSlew;  ///< s, until the acceleration is there
/// A reference is left when it would take this share of kBrake to stop at the position limit; the
/// governed one plans its stops with the smaller share.
constexpr double kMargin = 0.7, kPlanned = 0.6;
constexpr double kFaster = 1.02;      ///< times the velocity limit is too fast
constexpr double kApproach = 10;      ///< 1/s, of the last bit of the way to a reference
constexpr double kSpeedUp = 40;       ///< 1/s, of the velocity to the wanted one
constexpr double kStep = 0.02;        ///< s; longer cycles are divided
constexpr int kSteps = 50;            ///< at most; the rest of a cycle does not count
constexpr double kJump = 0.02;        ///< rad or m; less is for the law to smooth
constexpr double kCaughtUp = 1e-4;    ///< rad or m
constexpr double kSameTorque = 0.01;  ///< of the torque, that the acceleration differs by then
constexpr double kNear = 0.02;  ///< rad or m; from here on the reference's acceleration counts
/// An unconfirmed acceleration: this share of the torque, and no more than this share [1/s] of the
/// velocity limit; the larger one if it is trusted.
constexpr double kUnconfirmed = 0.05, kUnconfirmedRate = 2, kTrustedRate = 6;

/// The speed from which a joint stops within a distance: with a constant deceleration, and
/// exponentially at the end.
double stopping_speed(double distance, double deceleration) {
  const double d = std::max(distance, 0.0), end = deceleration / (kApproach * kApproach);
  return d < end ? kApproach * d : std::sqrt(2 * deceleration * (d - end / 2));
}

}  // namespace

double speed_limit(const ga_dynamics::JointLimits& limits) noexcept {
  return limits.velocity > 0 ? limits.velocity : std::numeric_limits<double>::infinity();
}

double believed_acceleration(double acceleration, double change, double dt, double strength,
                             double unconfirmed) noexcept {
  // Twice: one that grows from zero shows half of itself.
  const double confirmed = dt > 0 ? std::clamp(2 * change / dt, -strength, strength) : 0;
  return std::clamp(acceleration, std::min(confirmed, 0.0) - unconfirmed,
                    std::max(confirmed, 0.0) + unconfirmed);
}

double continued_acceleration(double strength, double velocity_limit, double trust) noexcept {
  const double share = kUnconfirmed * strength;
  const double strict = std::min(share, kUnconfirmedRate * velocity_limit);
  return strict + trust * (std::min(share, kTrustedRate * velocity_limit) - strict);
}

ReferenceGovernor::ReferenceGovernor(const ga_dynamics::Chain& chain,
                                     std::vector<double> torque_limit)
    : dynamics_(chain, {.drives = ga_dynamics::Drives::kArmature}),
      torque_limit_(std::move(torque_limit)),
      inertia_(chain.joints().size() * chain.joints().size()) {
  for (const auto& joint : chain.joints()) {
    joints_.push_back({.limits = joint.limits});
    joints_.back().limits.velocity = speed_limit(joint.limits);
  }
}

LimitViolation::Reason ReferenceGovernor::judge(const Joint& joint, double q, double qd, double qdd,
                                                double strength, double reach) const {
  using Reason = LimitViolation::Reason;
  const auto& limits = joint.limits;
  if (q < limits.lower || q > limits.upper) return Reason::kOutside;
  // It will still gain speed until its acceleration could be taken back.
  const double braking = qd > 0 ? -qdd : qdd, brake = kBrake * strength;
  const double pushing = std::max(-braking, 0.0);
  const double speed = std::abs(qd) + pushing * pushing / (2 * kSlew * strength);
  if (speed > kFaster * limits.velocity || std::abs(qdd) > strength ||
      std::abs(q - joint.q) > reach) {
    return Reason::kTooFast;
  }
  // To stop at the limit, from the acceleration that there is now; a reference that brakes
  // moderately and enough itself is well.
  const double way = qd > 0 ? limits.upper - q : q - limits.lower;
  const double delay = kTimeToBrake * std::max(1 - braking / brake, 0.0);
  if (speed * speed <= 2 * kMargin * brake * (way - speed * delay)) return Reason::kNone;
  const bool stops = braking <= brake && qd * qd <= 1.05 * 2 * braking * way + 1e-12;
  return stops ? Reason::kNone : Reason::kTooFast;
}

void ReferenceGovernor::follow(Joint& joint, double q, double qd, double qdd, double strength,
                               double dt) const {
  const auto& limits = joint.limits;
  const double brake = kBrake * strength, planned = kPlanned * brake;
  const double shown = std::clamp(q, limits.lower, limits.upper);
  // Where the joint is, and how fast, when its acceleration is taken back and a new one is there.
  const double release = std::abs(joint.qdd) / (kSlew * strength);
  const double speed = joint.qd + joint.qdd * release / 2;
  const double ahead =
      joint.q + (joint.qd + joint.qdd * release / 3) * release + speed * kTimeToBrake;
  // And where the reference is; one that brakes may stop before.
  const double until = release + kTimeToBrake;
  const double bent = qd * qdd < 0 ? std::min(until, -qd / qdd) : 0;
  const double rate = shown == q ? qd + qdd * bent : 0;
  const double error = shown + rate * until - (shown == q ? qdd * bent * bent / 2 : 0) - ahead;
  const double up = std::min(limits.velocity, stopping_speed(limits.upper - ahead, planned));
  const double down = std::min(limits.velocity, stopping_speed(ahead - limits.lower, planned));
  const double wanted =
      std::clamp(rate + std::copysign(stopping_speed(std::abs(error), planned), error), -down, up);
  const double near = shown == q ? std::max(1 - std::abs(error) / kNear, 0.0) : 0;
  const double pull = std::clamp((wanted - speed) * kSpeedUp + near * qdd, -brake, brake);
  // To speed up and to turn round there is time, and all joints may do so at once.
  const bool brakes = (pull * joint.qd < 0 && std::abs(joint.qd) > brake * kTimeToBrake / 10) ||
                      (joint.qdd - pull) * joint.qdd > 0;
  const double step = (brakes ? kSlew : kSlew / 4) * strength * dt;
  joint.qdd = std::clamp(pull, joint.qdd - step, joint.qdd + step);
  joint.q += (joint.qd + joint.qdd * dt / 2) * dt;
  joint.qd += joint.qdd * dt;
}

void ReferenceGovernor::begin(std::span<const double> q, std::span<const double> qd,
                              std::span<const double> qdd) noexcept {
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    Joint& joint = joints_[i];
    joint = {joint.limits, q[i], qd[i], qdd[i], false};
  }
  begun_ = true;
}

LimitViolation ReferenceGovernor::keep(std::span<const double> q, double dt,
                                       const Values& reference) noexcept {
  const std::size_t n = joints_.size();
  if (!begun_) begin(reference.q, reference.qd, reference.qdd);
  dynamics_.inertia_matrix(q, inertia_);
  LimitViolation violation;
  for (std::size_t i = 0; i < n; ++i) {
    Joint& joint = joints_[i];
    const double strength = torque_limit_[i] / std::max(inertia_[i * n + i], 1e-9);
    double &q_ref = reference.q[i], &qd_ref = reference.qd[i], &qdd_ref = reference.qdd[i];
    const double reach = kJump + 2 * joint.limits.velocity * dt;
    const LimitViolation::Reason reason = judge(joint, q_ref, qd_ref, qdd_ref, strength, reach);
    const bool caught_up = std::abs(q_ref - joint.q) < kCaughtUp + std::abs(qd_ref) * dt &&
                           std::abs(qd_ref - joint.qd) <= 2 * kBrake * strength * dt &&
                           std::abs(qdd_ref - joint.qdd) <= kSameTorque * strength;
    joint.left = reason != LimitViolation::Reason::kNone || (joint.left && !caught_up);
    if (joint.left) {
      double left = dt;
      for (int k = 0; k < kSteps && (k == 0 || left > 0); ++k, left -= kStep) {
        follow(joint, q_ref, qd_ref, qdd_ref, strength, std::min(left, kStep));
      }
      q_ref = joint.q;
      qd_ref = joint.qd;
      qdd_ref = joint.qdd;
    } else {
      joint.q = q_ref;
      joint.qdd = believed_acceleration(qdd_ref, qd_ref - joint.qd, dt, strength,
                                        continued_acceleration(strength, joint.limits.velocity, 0));
      joint.qd = qd_ref;
    }
    if (reason != LimitViolation::Reason::kNone) violation = {reason, i};
  }
  return violation;
}

}  // namespace ga_controllers
