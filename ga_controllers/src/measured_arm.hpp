// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__MEASURED_ARM_HPP_
#define GA_CONTROLLERS__MEASURED_ARM_HPP_

// The arm as the law knows it: model data and the last measured state.

#include <span>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "ga_dynamics/dynamics.hpp"

namespace ga_controllers {

/// True if the first n values are finite. Real-time safe.
inline bool all_finite(std::span<const double> values, std::size_t n) noexcept {
  double sum = 0;  // infinity · 0 and NaN · 0 are NaN, which compares unequal to zero
  for (std::size_t i = 0; i < n; ++i) sum += values[i] * 0;
  return sum == 0;
}

/// Construction allocates. All else is real-time safe: no allocation, no lock, no exception. Units:
/// rad, s, N m (m, N for prismatic joints).
struct MeasuredArm {
  /// One torque limit per joint of the chain.
  MeasuredArm(const ga_dynamics::Chain& chain, std::vector<double> torque_limit);

  std::size_t size() const noexcept { return q.size(); }
  /// D at `q`, with `found_inertia`, into `inertia`.
  void update_inertia() noexcept {
    dynamics.inertia_matrix(q, inertia);
    for (std::size_t i = 0; i < inertia.size(); ++i) inertia[i] += found_inertia[i];
  }
  /// Solves D x = `vector` in place, with the last `inertia`. `factor`: scratch, like `inertia`. A
  /// joint without inertia does not make the others infinite.
  void solve_inertia(std::span<double> vector, std::span<double> factor) const noexcept;
  double own_inertia(std::size_t joint) const noexcept { return inertia[joint * size() + joint]; }
  /// The joint's acceleration [rad/s²] at its torque limit.
  double max_acceleration(std::size_t joint) const noexcept {
    return torque_limit[joint] / (own_inertia(joint) + 1e-12);
  }

  ga_dynamics::Dynamics dynamics;  ///< with rotor inertias, without friction
  std::vector<ga_dynamics::Drive> drives;
  std::vector<ga_dynamics::JointLimits>
      limits;                        ///< soft ones of the chain; velocity: speed_limit()
  std::vector<double> torque_limit;  ///< of the law
  std::vector<double> q, qd;         ///< last finite measurement
  /// n·n values at the last update_inertia(): after a change or a jump, and every few cycles.
  /// Accurate enough to judge jumps.
  std::vector<double> inertia;
  /// What the feedback takes into account beside the description (model_correction.hpp).
  std::vector<double> found_inertia;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__MEASURED_ARM_HPP_
