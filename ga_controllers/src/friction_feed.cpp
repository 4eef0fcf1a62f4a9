// SPDX-License-Identifier: Apache-2.0
#include "friction_feed.hpp"

#include <algorithm>

namespace ga_controllers {

namespace {

/// While the reference begins or swings over, what is fed changes by no more than this share of the
/// torque limit per second. The end of that, in units of 1/decay, is where no velocity is left that
/// friction would show.
constexpr double kSlew = 2, kEnd = 15;

}  // namespace

FrictionFeed::FrictionFeed(const LawParameters& parameters, const ArmState& arm)
    : share_(parameters.friction),
      velocity_(parameters.friction_velocity),
      blends_(parameters.blend_time > 0),
      drives_(arm.drives),
      torque_limit_(arm.torque_limit),
      swings_(arm.size()),
      slews_(arm.size()),
      fed_(arm.size()),
      torque_(arm.size()) {}

/// Is the way to the given reference so lively that friction would change faster than it may?
bool FrictionFeed::turns(std::size_t i, const Fading& way) const noexcept {
  const double acceleration =
      way.decay * std::max(0.23 * way.decay * std::abs(way.error), 0.8 * std::abs(way.rate));
  const double coulomb = std::max(drives_[i].coulomb_positive, drives_[i].coulomb_negative);
  return share_ * coulomb * acceleration > kSlew * torque_limit_[i] * velocity_;
}

void FrictionFeed::begin(const Fadings& way) noexcept {
  for (std::size_t i = 0; i < fed_.size(); ++i) {
    slews_[i] = false;
    swings_[i] = turns(i, way.joints[i]);
  }
}

void FrictionFeed::swing(const Fadings& way) noexcept {
  for (std::size_t i = 0; i < fed_.size(); ++i) {
    swings_[i] = swings_[i] || turns(i, way.joints[i]);
  }
}

void FrictionFeed::add(const Cycle& cycle, std::span<const double> velocities, const Fadings& way,
                       std::span<double> tau) noexcept {
  for (std::size_t i = 0; i < fed_.size(); ++i) {
    const double wanted = at(i, velocities[i]), before = cycle.torque_before[i];
    if (cycle.changed && blends_ && !std::isnan(before)) {
      fed_[i] = std::clamp(before - tau[i], std::min(wanted, 0.0), std::max(wanted, 0.0));
      slews_[i] = fed_[i] != wanted;
    } else if ((slews_[i] || swings_[i]) && !cycle.changed) {
      const double reach = kSlew * torque_limit_[i] * cycle.dt;
      fed_[i] = std::clamp(wanted, fed_[i] - reach, fed_[i] + reach);
      slews_[i] = fed_[i] != wanted;
      swings_[i] = swings_[i] && way.joints[i].decay * way.time < kEnd;
    } else {
      fed_[i] = wanted;
    }
    torque_[i] = fed_[i];
    tau[i] += fed_[i];
  }
}

}  // namespace ga_controllers
