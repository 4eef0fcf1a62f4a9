// SPDX-License-Identifier: Apache-2.0
#include "friction_feedforward.hpp"

#include <algorithm>

namespace ga_controllers {

namespace {

/// While the reference starts or blends, the friction feed-forward changes by at most this many
/// torque limits per second.
constexpr double kSlew = 2;
/// At other times: at the velocity of a reference, and at the measured one, which may reverse at any
/// time.
constexpr double kFastSlew = 20, kMeasuredSlew = 5;
/// At a reversal, where the reference accelerates most.
constexpr double kTurnSlew = 18;
/// The friction of a reference that reverses is removed so early that none is left at the reversal.
/// That goes on while the reversal is expected within kExpected times this and kLater [s].
constexpr double kExpected = 2, kLater = 0.005;
/// s, time constant of the jerk of the reference. A reference with a velocity v, an acceleration a and a
/// jerk j comes to rest if a² = 2 v j; it reverses if a² is larger than kStops v j.
constexpr double kJerkTime = 0.004, kStops = 3;

}  // namespace

FrictionFeedforward::FrictionFeedforward(const LawParameters& parameters, const MeasuredArm& arm)
    : share_(parameters.friction),
      velocity_(parameters.friction_velocity),
      blend_enabled_(parameters.blend_time > 0),
      drives_(arm.drives),
      torque_limit_(arm.torque_limit),
      blending_(arm.size()),
      slewing_(arm.size()),
      reversing_(arm.size()),
      turning_(arm.size()),
      recent_acceleration_(arm.size()),
      output_(arm.size()),
      torque_(arm.size()),
      missing_(arm.size()) {}

/// True if blending to the input reference would exceed the slew rate of the friction.
bool FrictionFeedforward::exceeds_slew_rate(std::size_t i, double acceleration) const noexcept {
  const double coulomb = std::max(drives_[i].coulomb_positive, drives_[i].coulomb_negative);
  return share_ * coulomb * acceleration > kSlew * torque_limit_[i] * velocity_;
}

void FrictionFeedforward::begin(std::size_t i, double acceleration) noexcept {
  missing_[i] = 0;
  slewing_[i] = false;
  blending_[i] = exceeds_slew_rate(i, acceleration);
}

void FrictionFeedforward::blend(std::size_t i, double acceleration) noexcept {
  blending_[i] = blending_[i] || exceeds_slew_rate(i, acceleration);
}

void FrictionFeedforward::set_drive(std::size_t i, const ga_dynamics::Drive& drive,
                                    double rate) noexcept {
  output_[i] += next_change(i, drive, rate);
  drives_[i] = drive;
}

bool FrictionFeedforward::reverses(std::size_t i, double v, double a, const Cycle& cycle) noexcept {
  if (cycle.changed) recent_acceleration_[i] = a;
  // Where it comes to rest, the acceleration vanishes with the velocity: v = j t²/2, a = −j t.
  const double jerk = (a - recent_acceleration_[i]) / kJerkTime;
  recent_acceleration_[i] += (a - recent_acceleration_[i]) * std::min(cycle.dt / kJerkTime, 1.0);
  if (a * a < kStops * v * jerk) return false;
  double time = std::abs(output_[i]) / (kTurnSlew * torque_limit_[i]);
  if (reversing_[i]) time = kExpected * time + kLater;
  return v * (v + a * time) < 0;
}

void FrictionFeedforward::add(const Cycle& cycle, std::span<const double> velocities,
                              std::span<const double> accelerations,
                              std::span<double> tau) noexcept {
  const bool measured = accelerations.empty();
  for (std::size_t i = 0; i < output_.size(); ++i) {
    const double now = at(i, velocities[i]), before = cycle.torque_before[i];
    reversing_[i] = !measured && reverses(i, velocities[i], accelerations[i], cycle);
    const double target = reversing_[i] ? 0 : now;
    missing_[i] = 0;
    if (cycle.changed && blend_enabled_ && !std::isnan(before)) {
      output_[i] = std::clamp(before - tau[i], std::min(target, 0.0), std::max(target, 0.0));
      slewing_[i] = output_[i] != target;
    } else if (cycle.changed) {
      output_[i] = target;
    } else {
      const bool slow = slewing_[i] || blending_[i];
      turning_[i] = !measured && (reversing_[i] || (turning_[i] && output_[i] != target));
      const double fast = turning_[i] ? kTurnSlew : measured ? kMeasuredSlew : kFastSlew;
      const double rate = slow ? kSlew : fast;
      const double reach = rate * torque_limit_[i] * cycle.dt;
      output_[i] = std::clamp(target, output_[i] - reach, output_[i] + reach);
      slewing_[i] = slow && output_[i] != target;
      if (!slow && !measured) missing_[i] = now - output_[i];
    }
    torque_[i] = output_[i];
    tau[i] += output_[i];
  }
}

}  // namespace ga_controllers
