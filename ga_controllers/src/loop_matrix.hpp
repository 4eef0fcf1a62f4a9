// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__LOOP_MATRIX_HPP_
#define GA_CONTROLLERS__LOOP_MATRIX_HPP_

// State matrix of the loop of stability.hpp, for one joint or for all joints of an arm in one
// posture. Time counts in cycles (velocities times dt, accelerations times dt²): then all numbers
// are of similar size, and dt is only in the gains.
//
// The matrix is that of the increments, A − I. Poles of slow loops are close to 1, and the distance
// to 1 decides; A − I holds it without cancellation.

#include <span>

#include "ga_controllers/stability.hpp"
#include "small_matrix.hpp"

namespace ga_controllers {

/// Gains of law and observer, per cycle.
struct CycleGains {
  explicit CycleGains(const LoopSettings& loop);

  double l1, l2, l3;  ///< observer: position, velocity, disturbance
  double f1, f2, f3;  ///< law: kp dt², kd dt, and 1 if it subtracts the disturbance
};

/// The real arm's motion for small deviations, time in cycles:
/// q̈ = ratio (u + model_stiffness q̂) − stiffness q, with the law's u and the observer's q̂.
struct LinearPlant {
  Matrix ratio;            ///< M_real⁻¹ M_model
  Matrix model_stiffness;  ///< dt² M_model⁻¹ ∂(torque of the model)/∂q
  Matrix stiffness;        ///< dt² M_real⁻¹ ∂(torque of the real arm)/∂q
};

/// Without gravity.
LinearPlant scalar_plant(double rho);

/// Throws std::invalid_argument naming the parameter.
void check_loop(const LoopSettings& loop);

/// Spectral radius with one loop per joint; the first one's delay counts for all. Positions of
/// joints with kp = 0 are left out; give no stiffness then. Infinity if it cannot be computed.
double spectral_radius(std::span<const LoopSettings> loops, const LinearPlant& plant);

/// Rounding errors of eigenvalues allow no distinction of less than this.
inline constexpr double kStableRadius = 1 - 1e-9;

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__LOOP_MATRIX_HPP_
