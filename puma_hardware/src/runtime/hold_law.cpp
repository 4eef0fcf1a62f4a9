// SPDX-License-Identifier: Apache-2.0
#include "runtime/hold_law.hpp"

namespace puma_hardware {

namespace {

/// Damping [1/s].
constexpr double kDamping = 20;

ga_controllers::LawParameters holding() {
  ga_controllers::LawParameters law;
  law.kind = ga_controllers::LawKind::kGravityHold;
  law.gains = {{0, kDamping, 0}};
  return law;
}

}  // namespace

HoldLaw::HoldLaw(const ga_dynamics::Chain& model) : gravity_(model), law_(model, holding()) {}

std::span<const double> HoldLaw::start(const ArmReading& reading) noexcept {
  const std::array<double, 6> rest{};
  gravity_.gravity(reading.q, torque_);
  law_.start(reading.q, rest, torque_);
  return torque_;
}

std::span<const double> HoldLaw::update(const ArmReading& reading, double dt) noexcept {
  law_.update(reading.q, reading.qd, {}, dt, torque_);
  return torque_;
}

}  // namespace puma_hardware
