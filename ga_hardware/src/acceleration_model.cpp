// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ga_hardware/arm_model.hpp"

namespace ga_hardware {

namespace {

/// rad/s, smooths the sign of the Coulomb friction: an observed velocity is never exactly zero, and
/// a sign that changes with the noise would add noise.
constexpr double kSmoothing = 0.005;

}  // namespace

AccelerationModel::AccelerationModel(const ga_dynamics::Chain& model, bool friction)
    : dynamics_(model,
                {.method = ga_dynamics::Method::kTensor, .drives = ga_dynamics::Drives::kArmature}),
      torque_(model.joints().size()),
      bias_(model.joints().size()),
      acceleration_(model.joints().size()) {
  for (const auto& joint : model.joints()) {
    drives_.push_back(friction ? joint.drive : ga_dynamics::Drive{});
  }
}

std::span<const double> AccelerationModel::predict(std::span<const double> q,
                                                   std::span<const double> qd,
                                                   std::span<const double> torque) noexcept {
  dynamics_.bias(q, qd, bias_);
  for (std::size_t i = 0; i < drives_.size(); ++i) {
    const ga_dynamics::Drive& drive = drives_[i];
    // At rest, friction balances the motor torque beyond the bias, up to the Coulomb friction.
    const double still = std::max(0.0, 1 - std::abs(qd[i]) / kSmoothing);
    const double held =
        std::clamp(torque[i] - bias_[i], -drive.coulomb_negative, drive.coulomb_positive);
    torque_[i] = torque[i] - drive.friction(qd[i], kSmoothing) - still * held;
  }
  if (!dynamics_.forward_dynamics(q, qd, torque_, acceleration_)) {
    std::fill(acceleration_.begin(), acceleration_.end(), 0.0);
  }
  return acceleration_;
}

}  // namespace ga_hardware
