// SPDX-License-Identifier: Apache-2.0
#include "hand_guiding.hpp"

#include <algorithm>
#include <cmath>

namespace ga_controllers {

namespace {

/// The compensation rises within this many dead zones beyond the first.
constexpr double kRise = 2;
/// Torque limits per second: each part of the torque changes by less than 0.8 % of the limit per
/// millisecond. Compensation rises more slowly than it falls.
constexpr double kSlew = 5, kRelease = 6, kFeedbackSlew = 7;
/// 1/s, damping above the speed limit; it takes at most kBrake of the torque limit.
constexpr double kSpeedGain = 50, kBrake = 0.5;
/// rad/s, largest natural frequency of a joint in its push-back. A joint that is released there returns
/// at up to the speed limit over kReturn.
constexpr double kStiffest = 20, kReturn = 4;
/// rad/s or m/s, for the speed limit of joints without a velocity limit.
constexpr double kFreeSpeed = 2;
/// N m, bound of the push-back of joints without a torque limit.
constexpr double kFreeTorque = 20;

/// Moves a torque towards another one with this slew rate; without a limit, at once.
double slewed(double last, double wanted, double slew, double torque_limit, double dt) noexcept {
  if (!std::isfinite(torque_limit)) return wanted;
  const double reach = slew * torque_limit * dt;
  return std::clamp(wanted, last - reach, last + reach);
}

double bound(double torque_limit, double share) noexcept {
  return std::isfinite(torque_limit) ? share * torque_limit : kFreeTorque;
}

}  // namespace

HandGuiding::HandGuiding(const LawParameters& parameters, const MeasuredArm& arm)
    : parameters_(parameters.hand_guiding),
      share_(std::min(parameters.friction, 1 - parameters.hand_guiding.friction_uncertainty)),
      certain_(1 - parameters.hand_guiding.friction_uncertainty),
      joints_(arm.size()),
      friction_(arm.size()),
      feedback_(arm.size()) {
  for (std::size_t i = 0; i < arm.size(); ++i) {
    const auto& limits = arm.limits[i];
    // Zones of a joint with a short range do not overlap.
    const double zone = std::min(parameters_.limit_zone, (limits.upper - limits.lower) / 4);
    Joint& joint = joints_[i];
    joint.lower = limits.lower + zone;
    joint.upper = limits.upper - zone;
    joint.speed = parameters_.speed * std::min(limits.velocity, kFreeSpeed / parameters_.speed);
    joint.largest_tank = bound(arm.torque_limit[i], parameters_.limit_torque) * zone;
  }
}

void HandGuiding::restart(const MeasuredArm& arm) noexcept {
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    Joint& joint = joints_[i];
    joint.zone_lower = std::min(joint.lower, arm.q[i]);
    joint.zone_upper = std::max(joint.upper, arm.q[i]);
    joint.tank = joint.compensation = joint.push = joint.resistance = 0;
  }
}

double HandGuiding::sliding(std::size_t i, double qd, const MeasuredArm& arm) const noexcept {
  return arm.drives[i].coulomb(qd) + arm.drives[i].viscous * std::abs(qd);
}

double HandGuiding::compensation(std::size_t i, double dt, const MeasuredArm& arm) const noexcept {
  const double qd = arm.qd[i], zone = parameters_.dead_zone;
  const double rise = std::clamp((std::abs(qd) - zone) / (kRise * zone), 0.0, 1.0);
  const double wanted = std::copysign(share_ * rise * sliding(i, qd, arm), qd);
  const double last = joints_[i].compensation;
  const bool more = wanted * last >= 0 && std::abs(wanted) > std::abs(last);
  return slewed(last, wanted, more ? kSlew : kRelease, arm.torque_limit[i], dt);
}

double HandGuiding::resistance(std::size_t i, double dt, const MeasuredArm& arm) const noexcept {
  const double qd = arm.qd[i], inertia = arm.own_inertia(i);
  const double excess = std::max(std::abs(qd) - joints_[i].speed, 0.0);
  const double brake = std::min(kSpeedGain * inertia * excess, kBrake * arm.torque_limit[i]);
  const double wanted = -parameters_.damping * inertia * qd - std::copysign(brake, qd);
  return slewed(joints_[i].resistance, wanted, kFeedbackSlew, arm.torque_limit[i], dt);
}

double HandGuiding::push_back(std::size_t i, double dt, const MeasuredArm& arm) noexcept {
  Joint& joint = joints_[i];
  const double q = arm.q[i], qd = arm.qd[i];
  // Back to its full width as the arm moves inward.
  joint.zone_lower = std::min(joint.lower, std::max(joint.zone_lower, q));
  joint.zone_upper = std::max(joint.upper, std::min(joint.zone_upper, q));
  const double most = bound(arm.torque_limit[i], parameters_.limit_torque);
  // Half of the bound is reached at the soft limit, the rest beyond it.
  const double stiffness =
      std::min(most / (2 * parameters_.limit_zone), kStiffest * kStiffest * arm.own_inertia(i));
  const auto push = [&](double depth, double rate) {
    return depth > 0 ? std::clamp(stiffness * depth * (1 + kReturn * rate / joint.speed), 0.0, most)
                     : 0.0;
  };
  const double wanted = push(joint.zone_lower - q, -qd) - push(q - joint.zone_upper, qd);
  return slewed(joint.push, wanted, kFeedbackSlew, arm.torque_limit[i], dt);
}

void HandGuiding::torque(const Cycle& cycle, MeasuredArm& arm, std::span<double> tau) noexcept {
  if (cycle.changed) {
    arm.update_inertia();
    restart(arm);
  }
  arm.dynamics.gravity(arm.q, tau);
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    Joint& joint = joints_[i];
    const double qd = arm.qd[i], way = qd * cycle.dt;
    const double resisted = resistance(i, cycle.dt, arm);
    const double push = push_back(i, cycle.dt, arm);
    const double wanted = compensation(i, cycle.dt, arm);
    // Within the dead zone the velocity may be noise: it does not prove that friction takes energy.
    const bool moves = std::abs(qd) > parameters_.dead_zone;
    const double taken = (moves ? certain_ * sliding(i, qd, arm) * std::abs(way) : 0) -
                         std::min(resisted * way, 0.0) - std::min(push * way, 0.0);
    const double supplied =
        std::max(resisted * way, 0.0) + std::max(push * way, 0.0) + std::max(wanted * way, 0.0);
    const double available = joint.tank + taken;
    const double allowed = supplied > available ? available / supplied : 1;
    // What opposes the motion is always allowed.
    const auto passive = [&](double torque) {
      return torque * way > 0 ? allowed * torque : torque;
    };
    joint.resistance = passive(resisted);
    joint.push = passive(push);
    joint.compensation = passive(wanted);
    joint.tank = std::clamp(available - allowed * supplied, 0.0, joint.largest_tank);
    friction_[i] = joint.compensation;
    feedback_[i] = joint.resistance + joint.push;
    tau[i] += friction_[i] + feedback_[i];
  }
}

}  // namespace ga_controllers
