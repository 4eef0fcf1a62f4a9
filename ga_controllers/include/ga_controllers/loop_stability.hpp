// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__LOOP_STABILITY_HPP_
#define GA_CONTROLLERS__LOOP_STABILITY_HPP_

// Stability of the control loop of one joint: law, extended-state observer (ESO), delay, update rate
// and a wrong inertia.
//
// Each cycle of dt with the measured position y, and with b = exp(−wo dt):
//   e = y − q̂,  q̂ += (1 − b³) e,  v̂ += 1.5 (1 − b)² (1 + b)/dt e,  d̂ += (1 − b)³/dt² e
//   u = −Kd v̂ − Kp q̂ − d̂    (point to point, tracking and gravity hold do not subtract d̂)
//   q̂ += dt v̂ + dt² (u + d̂)/2,  v̂ += dt (u + d̂)
// The plant is q̈ = rho u, with u held for a cycle and delayed by a whole number of cycles.
//
// rho is an eigenvalue of M_real⁻¹ M_model. With the same gains and observer for all joints, in a
// fixed posture and without gravity and friction, an arm decouples into such loops, one per
// eigenvalue: it is stable if all of them are. rho = 1 is an exact model, rho < 1 a real arm that is
// heavier than its model. arm_stability.hpp checks complete arms.
//
// The torque limits are not part of the analysis, and Ki is not: d̂ takes the place of the integral.
//
// Units: rad, s (m for prismatic joints). Nothing here is real-time safe. Every function throws
// std::invalid_argument, naming the parameter, for values that are not finite or out of range.

#include "ga_controllers/control_law.hpp"

namespace ga_controllers {

struct LoopSettings {
  JointGains gains = {};              ///< kp ≥ 0, kd ≥ 0; ki is ignored
  bool subtracts_disturbance = true;  ///< true for the integral law only
  double observer_bandwidth = 0;      ///< wo, rad/s, positive
  double period = 0.001;              ///< dt, s, positive
  int delay = 0;                      ///< cycles between measurement and torque, 0 … 10
};

/// Largest magnitude of the loop's poles; the loop is stable if it is less than 1. With kp = 0 the
/// position has no equilibrium (gravity hold) and its pole at 1 is left out.
double spectral_radius(const LoopSettings& loop, double rho);

/// Range of rho, without its ends.
struct StableRange {
  double lower = 0, upper = 0;
  bool empty() const noexcept { return !(lower < upper); }
  bool operator==(const StableRange&) const = default;
};

/// The largest interval around rho = 1 in which the loop is stable; empty if it is unstable with an
/// exact model. `upper` is infinity if there is no upper end.
StableRange stable_range(const LoopSettings& loop);

/// Frequency [rad/s] at which the complementary sensitivity (noise of the measured position to
/// position) of the loop with an exact model falls to −3 dB; 0 if that loop is unstable.
double closed_loop_bandwidth(const LoopSettings& loop);

/// w [rad/s] of gains from gains_from_bandwidth(): √kp, or kd/2 if kp = 0.
double design_bandwidth(const JointGains& gains) noexcept;

// --- choice of the observer's bandwidth ---

/// What the observer sees, and how much of it reaches the motor.
struct MeasurementNoise {
  double resolution = 0;    ///< one encoder count, rad
  double noise = 0;         ///< further noise of the measured position, rad RMS
  double inertia = 0;       ///< diagonal element of the inertia matrix, kg m², positive
  double torque_limit = 0;  ///< N m, positive
};

/// RMS change of the torque from cycle to cycle that measurement noise causes, relative to the
/// torque limit.
double chatter(const LoopSettings& loop, const MeasurementNoise& noise);

/// Recommended limit of (w + wo)/ω_r on elastic drives, and the largest one that is accepted, for
/// an encoder on the motor and the resonance ω_r with the link free.
inline constexpr double kElasticRecommended = 0.25, kElasticLimit = 0.3;

/// The largest observer bandwidth [rad/s] with at most `allowed` chatter, at most 4 w and, for a
/// `resonance` [Hz] > 0 of the drive, within kElasticRecommended. 0 if w alone exceeds the latter.
/// The bandwidth in `loop` is ignored.
double recommended_observer_bandwidth(const LoopSettings& loop, const MeasurementNoise& noise,
                                      double resonance = 0, double allowed = 0.005);

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__LOOP_STABILITY_HPP_
