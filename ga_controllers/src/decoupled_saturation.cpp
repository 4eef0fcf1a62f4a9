// SPDX-License-Identifier: Apache-2.0
#include "decoupled_saturation.hpp"

#include <cmath>

#include "ga_dynamics/algorithm/cholesky.hpp"

namespace ga_controllers {

DecoupledSaturation::DecoupledSaturation(std::size_t joints)
    : is_saturated_(joints),
      saturated_(joints),
      change_(joints),
      factor_(joints * joints),
      adjusted_(joints) {}

/// The changes of the accelerations of the first `count` joints in saturated_.
void DecoupledSaturation::solve(const ArmState& arm, std::span<const double> tau,
                                std::size_t count) noexcept {
  const std::size_t n = arm.size();
  for (std::size_t a = 0; a < count; ++a) {
    const std::size_t i = saturated_[a];
    const double limit = arm.torque_limit[i];
    // A joint that saturates only by the adjustment may do so at either limit.
    const double beyond = std::abs(tau[i]) > limit ? tau[i] : adjusted_[i];
    change_[a] = std::copysign(limit, beyond) - tau[i];
    for (std::size_t b = 0; b < count; ++b) {
      factor_[a * count + b] = arm.inertia[i * n + saturated_[b]];
    }
  }
  ga_dynamics::cholesky_solve(static_cast<int>(count), factor_.data(), change_.data());
}

void DecoupledSaturation::apply(ArmState& arm, std::span<double> tau) noexcept {
  const std::size_t n = arm.size();
  bool any = false;
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite(tau[i])) return;
    is_saturated_[i] = std::abs(tau[i]) > arm.torque_limit[i];
    any = any || is_saturated_[i];
  }
  if (!any) return;
  arm.update_inertia();
  // Each further round has at least one more saturated joint.
  for (bool grows = true; grows;) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (is_saturated_[i]) saturated_[count++] = i;
    }
    solve(arm, tau, count);
    grows = false;
    for (std::size_t i = 0; i < n; ++i) {
      if (is_saturated_[i]) continue;
      adjusted_[i] = tau[i];
      for (std::size_t a = 0; a < count; ++a) {
        adjusted_[i] += arm.inertia[i * n + saturated_[a]] * change_[a];
      }
      if (std::abs(adjusted_[i]) > arm.torque_limit[i]) is_saturated_[i] = grows = true;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    const bool was_saturated = std::abs(tau[i]) > arm.torque_limit[i];
    if (!was_saturated && std::isfinite(adjusted_[i])) tau[i] = adjusted_[i];
  }
}

}  // namespace ga_controllers
