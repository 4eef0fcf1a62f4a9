// SPDX-License-Identifier: Apache-2.0
#include "measured_arm.hpp"

#include <algorithm>
#include <utility>

#include "ga_dynamics/algorithm/cholesky.hpp"
#include "reference_governor.hpp"

namespace ga_controllers {

MeasuredArm::MeasuredArm(const ga_dynamics::Chain& chain, std::vector<double> given_torque_limit)
    : dynamics(chain, {.drives = ga_dynamics::Drives::kArmature}),
      torque_limit(std::move(given_torque_limit)),
      q(chain.joints().size()),
      qd(chain.joints().size()),
      inertia(chain.joints().size() * chain.joints().size()),
      found_inertia(inertia.size()) {
  for (const auto& joint : chain.joints()) {
    drives.push_back(joint.drive);
    limits.push_back(joint.limits);
    limits.back().lower = joint.limits.goal_lower();
    limits.back().upper = joint.limits.goal_upper();
    limits.back().velocity = speed_limit(joint.limits);
  }
}

void MeasuredArm::solve_inertia(std::span<double> vector, std::span<double> factor) const noexcept {
  constexpr double kRegular = 1e-9;  // of the largest inertia
  const std::size_t n = size();
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, own_inertia(i));
  std::copy(inertia.begin(), inertia.end(), factor.begin());
  for (std::size_t i = 0; i < n; ++i) factor[i * n + i] += kRegular * largest;
  ga_dynamics::cholesky_solve(static_cast<int>(n), factor.data(), vector.data());
}

}  // namespace ga_controllers
