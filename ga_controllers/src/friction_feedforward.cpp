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

}  // namespace

FrictionFeedforward::FrictionFeedforward(const LawParameters& parameters, const MeasuredArm& arm)
    : share_(parameters.friction),
      velocity_(parameters.friction_velocity),
      blend_enabled_(parameters.blend_time > 0),
      drives_(arm.drives),
      torque_limit_(arm.torque_limit),
      blending_(arm.size()),
      slewing_(arm.size()),
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

void FrictionFeedforward::add(const Cycle& cycle, std::span<const double> velocities, bool measured,
                              std::span<double> tau) noexcept {
  for (std::size_t i = 0; i < output_.size(); ++i) {
    const double target = at(i, velocities[i]), before = cycle.torque_before[i];
    missing_[i] = 0;
    if (cycle.changed && blend_enabled_ && !std::isnan(before)) {
      output_[i] = std::clamp(before - tau[i], std::min(target, 0.0), std::max(target, 0.0));
      slewing_[i] = output_[i] != target;
    } else if (cycle.changed) {
      output_[i] = target;
    } else {
      const bool slow = slewing_[i] || blending_[i];
      const double rate = slow ? kSlew : measured ? kMeasuredSlew : kFastSlew;
      const double reach = rate * torque_limit_[i] * cycle.dt;
      output_[i] = std::clamp(target, output_[i] - reach, output_[i] + reach);
      slewing_[i] = slow && output_[i] != target;
      if (!slow && !measured) missing_[i] = target - output_[i];
    }
    torque_[i] = output_[i];
    tau[i] += output_[i];
  }
}

}  // namespace ga_controllers
