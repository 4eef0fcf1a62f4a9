// SPDX-License-Identifier: Apache-2.0
#include "reference_guard.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ga_controllers {

namespace {

/// Share of a joint's torque that its guarded reference accelerates and brakes with, and how much
/// of the torque it takes up per second. The rest is for gravity and for what the other joints do.
constexpr double kBrake = 0.5, kSlew = 8;
constexpr double kTimeToBrake = kBrake / kSlew;  ///< s, until the acceleration is there
/// A reference is left when it would take this share of kBrake to stop at the position limit; the
/// guarded one plans its stops with the smaller share.
constexpr double kMargin = 0.7, kPlanned = 0.6;
constexpr double kFaster = 1.02;    ///< times the velocity limit is too fast
constexpr double kApproach = 10;    ///< 1/s, of the last bit of the way to a reference
constexpr double kSpeedUp = 40;     ///< 1/s, of the velocity to the wanted one
constexpr double kJump = 0.02;      ///< rad or m; less is for the law to smooth
constexpr double kCaughtUp = 1e-4;  ///< rad or m

/// The speed from which a joint stops within a distance: with a constant deceleration, and
/// exponentially at the end.
double stopping_speed(double distance, double deceleration) {
  const double d = std::max(distance, 0.0), end = deceleration / (kApproach * kApproach);
  return d < end ? kApproach * d : std::sqrt(2 * deceleration * (d - end / 2));
}

}  // namespace

ReferenceGuard::ReferenceGuard(const ga_dynamics::Chain& chain, std::vector<double> torque_limit)
    : dynamics_(chain, {.drives = ga_dynamics::Drives::kArmature}),
      torque_limit_(std::move(torque_limit)),
      inertia_(chain.joints().size() * chain.joints().size()) {
  for (const auto& joint : chain.joints()) {
    joints_.push_back({.limits = joint.limits});
    // Descriptions that know no limit say zero.
    double& velocity = joints_.back().limits.velocity;
    if (!(velocity > 0)) velocity = std::numeric_limits<double>::infinity();
  }
}

ReferenceGuard::Verdict ReferenceGuard::judge(const Joint& joint, double q, double qd, double qdd,
                                              double strength, double reach) const {
  const auto& limits = joint.limits;
  if (q < limits.lower || q > limits.upper) return Verdict::kOutside;
  if (std::abs(qd) > kFaster * limits.velocity || std::abs(qdd) > strength ||
      std::abs(q - joint.q) > reach) {
    return Verdict::kTooFast;
  }
  // To stop at the limit, from the acceleration that there is now; a reference that brakes
  // moderately and enough itself is well.
  const double way = qd > 0 ? limits.upper - q : q - limits.lower;
  const double braking = qd > 0 ? -qdd : qdd, brake = kBrake * strength;
  const double pushing = std::clamp(-braking, 0.0, brake);
  const double speed = std::abs(qd) + pushing * pushing / (2 * kSlew * strength);
  const double delay = kTimeToBrake * std::max(1 - braking / brake, 0.0);
  if (speed * speed <= 2 * kMargin * brake * (way - speed * delay)) return Verdict::kFollowed;
  const bool stops = braking <= brake && qd * qd <= 1.05 * 2 * braking * way + 1e-12;
  return stops ? Verdict::kFollowed : Verdict::kTooFast;
}

void ReferenceGuard::follow(Joint& joint, double q, double qd, double strength, double dt) const {
  const auto& limits = joint.limits;
  const double brake = kBrake * strength, planned = kPlanned * brake;
  const double shown = std::clamp(q, limits.lower, limits.upper), rate = shown == q ? qd : 0;
  const double ahead = joint.q + joint.qd * kTimeToBrake;
  const double error = shown + rate * kTimeToBrake - ahead;
  const double up = std::min(limits.velocity, stopping_speed(limits.upper - ahead, planned));
  const double down = std::min(limits.velocity, stopping_speed(ahead - limits.lower, planned));
  const double wanted =
      std::clamp(rate + std::copysign(stopping_speed(std::abs(error), planned), error), -down, up);
  const double pull = std::clamp((wanted - joint.qd) * kSpeedUp, -brake, brake);
  // To speed up and to turn round there is time, and all joints may do so at once.
  const bool brakes = pull * joint.qd < 0 && std::abs(joint.qd) > brake * kTimeToBrake / 10;
  const double slew = brakes ? kSlew : kSlew / 4;
  const double step = slew * strength * dt, before = std::clamp(joint.qdd, -brake, brake);
  joint.qdd = std::clamp(pull, before - step, before + step);
  joint.q += (joint.qd + joint.qdd * dt / 2) * dt;
  joint.qd += joint.qdd * dt;
}

void ReferenceGuard::go_on_from(const Reference& followed) noexcept {
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    Joint& joint = joints_[i];
    joint = {joint.limits, followed.q[i], followed.qd[i], followed.qdd[i], false};
  }
  known_ = true;
}

ReferenceGuard::Result ReferenceGuard::keep(std::span<const double> q, std::span<const double> qd,
                                            double dt, bool may_jump,
                                            const Values& reference) noexcept {
  const std::size_t n = joints_.size();
  dynamics_.inertia_matrix(q, inertia_);
  Result result;
  for (std::size_t i = 0; i < n; ++i) {
    Joint& joint = joints_[i];
    if (!known_) joint = {joint.limits, q[i], qd[i], 0, false};
    const double strength = torque_limit_[i] / std::max(inertia_[i * n + i], 1e-9);
    double &q_ref = reference.q[i], &qd_ref = reference.qd[i], &qdd_ref = reference.qdd[i];
    const double reach =
        may_jump ? std::numeric_limits<double>::infinity() : kJump + 2 * joint.limits.velocity * dt;
    const Verdict verdict = judge(joint, q_ref, qd_ref, qdd_ref, strength, reach);
    const bool caught_up = std::abs(q_ref - joint.q) < kCaughtUp + std::abs(qd_ref) * dt &&
                           std::abs(qd_ref - joint.qd) <= 2 * kBrake * strength * dt;
    joint.left = verdict != Verdict::kFollowed || (joint.left && !caught_up);
    if (joint.left) {
      follow(joint, q_ref, qd_ref, strength, dt);
      q_ref = joint.q;
      qd_ref = joint.qd;
      qdd_ref = joint.qdd;
    } else {
      joint.q = q_ref;
      joint.qd = qd_ref;
      joint.qdd = qdd_ref;
    }
    if (verdict != Verdict::kFollowed) result = {verdict, i};
  }
  known_ = true;
  return result;
}

}  // namespace ga_controllers
