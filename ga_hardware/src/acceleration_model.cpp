// SPDX-License-Identifier: Apache-2.0
#include "ga_hardware/acceleration_model.hpp"

#include <algorithm>

namespace ga_hardware {

namespace {

/// rad/s in which Coulomb friction comes up: an observed velocity is never exactly zero, and a
/// friction that changed its sign with the noise would be noise itself.
constexpr double kSmoothing = 0.01;

}  // namespace

AccelerationModel::AccelerationModel(const ga_dynamics::Chain& model, bool friction)
    : dynamics_(model,
                {.method = ga_dynamics::Method::kTensor, .drives = ga_dynamics::Drives::kArmature}),
      torque_(model.joints().size()),
      acceleration_(model.joints().size()) {
  for (const auto& joint : model.joints()) {
    drives_.push_back(friction ? joint.drive : ga_dynamics::Drive{});
  }
}

std::span<const double> AccelerationModel::predict(std::span<const double> q,
                                                   std::span<const double> qd,
                                                   std::span<const double> torque) noexcept {
  for (std::size_t i = 0; i < drives_.size(); ++i) {
    torque_[i] = torque[i] - drives_[i].friction(qd[i], kSmoothing);
  }
  if (!dynamics_.forward_dynamics(q, qd, torque_, acceleration_)) {
    std::fill(acceleration_.begin(), acceleration_.end(), 0.0);
  }
  return acceleration_;
}

}  // namespace ga_hardware
