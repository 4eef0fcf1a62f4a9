// SPDX-License-Identifier: Apache-2.0
#include "decoupled_saturation.hpp"

#include <cmath>

namespace ga_controllers {

namespace {

/// Relative excess that marks a torque as saturated that was within its limit before the
/// projection.
constexpr double kBeyond = 1e-9;

}  // namespace

void DecoupledSaturation::apply(MeasuredArm& arm, std::span<double> tau) noexcept {
  const std::size_t n = arm.size();
  bool any = false;
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite(tau[i])) return;
    any = any || std::abs(tau[i]) > arm.torque_limit[i];
  }
  if (!any) return;
  arm.update_inertia();
  if (!projection_.project(arm.inertia, tau, arm.torque_limit)) return;
  for (std::size_t i = 0; i < n; ++i) {
    const int side = projection_.side()[i];
    const double limit = arm.torque_limit[i];
    if (side == 0) {
      tau[i] = projection_.result()[i];
    } else if (side * tau[i] <= limit) {
      tau[i] = side * limit * (1 + kBeyond);
    }
  }
}

}  // namespace ga_controllers
