// SPDX-License-Identifier: Apache-2.0
#include "runtime/acceleration_model.hpp"

#include <cmath>

namespace puma_hardware {

namespace {

/// rad/s in which Coulomb friction comes up: an observed velocity is never exactly zero, and a
/// friction that changed its sign with the noise would be noise itself.
constexpr double kSmoothing = 0.01;

}  // namespace

AccelerationModel::AccelerationModel(const ga_dynamics::Chain& model)
    : dynamics_(model, {.method = ga_dynamics::Method::kTensor,
                        .drives = ga_dynamics::Drives::kArmature}) {
  for (const auto& joint : model.joints()) drives_.push_back(joint.drive);
}

std::span<const double> AccelerationModel::predict(const ArmReading& reading) noexcept {
  for (std::size_t i = 0; i < 6; ++i) {
    const ga_dynamics::Drive& drive = drives_[i];
    const double qd = reading.qd[i];
    const double coulomb = qd > 0 ? drive.coulomb_positive : drive.coulomb_negative;
    torque_[i] = reading.torque[i] - drive.viscous * qd - coulomb * std::tanh(qd / kSmoothing);
  }
  if (!dynamics_.forward_dynamics(reading.q, reading.qd, torque_, acceleration_)) {
    acceleration_ = {};
  }
  return acceleration_;
}

}  // namespace puma_hardware
