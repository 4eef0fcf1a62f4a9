// SPDX-License-Identifier: Apache-2.0
#include "friction_feedforward.hpp"

#include <algorithm>

namespace ga_controllers {

namespace {

/// While the reference begins or blends over, what is fed changes by no more than this share of the
/// torque limit per second.
constexpr double kSlew = 2;

}  // namespace

FrictionFeedforward::FrictionFeedforward(const LawParameters& parameters, const MeasuredArm& arm)
    : share_(parameters.friction),
      velocity_(parameters.friction_velocity),
      blends_(parameters.blend_time > 0),
      drives_(arm.drives),
      torque_limit_(arm.torque_limit),
      blends_over_(arm.size()),
      slews_(arm.size()),
      fed_(arm.size()),
      torque_(arm.size()) {}

/// True if blending over to the given reference would change friction faster than it may.
bool FrictionFeedforward::turns(std::size_t i, double acceleration) const noexcept {
  const double coulomb = std::max(drives_[i].coulomb_positive, drives_[i].coulomb_negative);
  return share_ * coulomb * acceleration > kSlew * torque_limit_[i] * velocity_;
}

void FrictionFeedforward::begin(std::size_t i, double acceleration) noexcept {
  slews_[i] = false;
  blends_over_[i] = turns(i, acceleration);
}

void FrictionFeedforward::blend(std::size_t i, double acceleration) noexcept {
  blends_over_[i] = blends_over_[i] || turns(i, acceleration);
}

void FrictionFeedforward::add(const Cycle& cycle, std::span<const double> velocities,
                              std::span<double> tau) noexcept {
  for (std::size_t i = 0; i < fed_.size(); ++i) {
    const double wanted = at(i, velocities[i]), before = cycle.torque_before[i];
    if (cycle.changed && blends_ && !std::isnan(before)) {
      fed_[i] = std::clamp(before - tau[i], std::min(wanted, 0.0), std::max(wanted, 0.0));
      slews_[i] = fed_[i] != wanted;
    } else if ((slews_[i] || blends_over_[i]) && !cycle.changed) {
      const double reach = kSlew * torque_limit_[i] * cycle.dt;
      fed_[i] = std::clamp(wanted, fed_[i] - reach, fed_[i] + reach);
      slews_[i] = fed_[i] != wanted;
    } else {
      fed_[i] = wanted;
    }
    torque_[i] = fed_[i];
    tau[i] += fed_[i];
  }
}

}  // namespace ga_controllers
