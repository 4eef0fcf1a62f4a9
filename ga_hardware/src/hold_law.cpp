// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "ga_hardware/arm_model.hpp"

namespace ga_hardware {

namespace {

/// Damping [1/s].
constexpr double kDamping = 20;
/// rad/s, with stiffness: slow enough for any loop rate and for elastic drives.
constexpr double kBandwidth = 20;

ga_controllers::LawParameters holding() {
  ga_controllers::LawParameters law;
  law.kind = ga_controllers::LawKind::kGravityCompensation;
  law.gains = {{0, kDamping, 0}};
  return law;
}

ga_controllers::LawParameters keeping() {
  ga_controllers::LawParameters law;
  law.kind = ga_controllers::LawKind::kGravityHold;
  law.gains = {ga_controllers::gains_from_bandwidth(kBandwidth, 1)};
  return law;
}

}  // namespace

HoldLaw::HoldLaw(const ga_dynamics::Chain& model)
    : gravity_(model),
      law_(model, holding()),
      position_law_(model, keeping()),
      torque_(model.joints().size()),
      rest_(model.joints().size()) {}

std::span<const double> HoldLaw::start(std::span<const double> q) noexcept {
  gravity_.gravity(q, torque_);
  law_.start(q, rest_, torque_);
  keeping_ = false;
  return torque_;
}

std::span<const double> HoldLaw::update(std::span<const double> q, std::span<const double> qd,
                                        double dt) noexcept {
  keeping_ = false;
  law_.update(q, qd, {}, dt, torque_);
  return torque_;
}

std::span<const double> HoldLaw::keep_position(std::span<const double> q,
                                               std::span<const double> qd,
                                               std::span<const double> applied,
                                               double dt) noexcept {
  if (!std::exchange(keeping_, true)) position_law_.start(q, qd, applied);
  position_law_.update(q, qd, {}, dt, torque_);
  return torque_;
}

}  // namespace ga_hardware
