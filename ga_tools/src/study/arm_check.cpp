// SPDX-License-Identifier: Apache-2.0
#include "study/arm_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "ga_dynamics/dynamics.hpp"

namespace ga_tools {

using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;

namespace {

/// Relative to the largest inertia of the arm: less is rounding error. Real wrists have 1e-6.
constexpr double kNothing = 1e-13;

}  // namespace

void check_inertia(const Chain& arm, const Chain& names, std::span<const double> q) {
  const auto n = static_cast<std::size_t>(arm.size());
  ga_dynamics::Dynamics dynamics(arm, {.drives = ga_dynamics::Drives::kArmature});
  std::vector<double> d(n * n);
  dynamics.inertia_matrix(q, d);
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(d[i * n + i]));
  // Elimination from the tip to the base: each pivot is the inertia seen by a joint's torque while
  // all distal joints are free to move.
  for (std::size_t i = n; i-- > 0;) {
    const double pivot = d[i * n + i];
    if (!(pivot > kNothing * largest)) {
      const ChainJoint& joint = names.joints()[i];
      char value[64];
      std::snprintf(value, sizeof value, "%.3g %s", pivot, joint.revolute() ? "kg m^2" : "kg");
      throw std::runtime_error(
          "joint '" + joint.name + "': link '" + joint.link +
          "' and the links it carries have no inertia about it (" + value +
          "), so it cannot be simulated; give the link a mass and an inertia tensor, or the "
          "joint a rotor inertia (armature)");
    }
    for (std::size_t a = 0; a < i; ++a) {
      for (std::size_t b = 0; b < i; ++b) d[a * n + b] -= d[a * n + i] * d[i * n + b] / pivot;
    }
  }
}

}  // namespace ga_tools
