// SPDX-License-Identifier: Apache-2.0
#include "ga_hardware/arm_model.hpp"

namespace ga_hardware {

namespace {

/// Damping [1/s].
constexpr double kDamping = 20;

ga_controllers::LawParameters holding() {
  ga_controllers::LawParameters law;
  law.kind = ga_controllers::LawKind::kGravityCompensation;
  law.gains = {{0, kDamping, 0}};
  return law;
}

}  // namespace

HoldLaw::HoldLaw(const ga_dynamics::Chain& model)
    : gravity_(model),
      law_(model, holding()),
      torque_(model.joints().size()),
      rest_(model.joints().size()) {}

std::span<const double> HoldLaw::start(std::span<const double> q) noexcept {
  gravity_.gravity(q, torque_);
  law_.start(q, rest_, torque_);
  return torque_;
}

std::span<const double> HoldLaw::update(std::span<const double> q, std::span<const double> qd,
                                        double dt) noexcept {
  law_.update(q, qd, {}, dt, torque_);
  return torque_;
}

}  // namespace ga_hardware
