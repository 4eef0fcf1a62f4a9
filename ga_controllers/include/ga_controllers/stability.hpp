// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__STABILITY_HPP_
#define GA_CONTROLLERS__STABILITY_HPP_

// Stability of an arm under a law with an extended-state observer, over what its model may be wrong
// by: an unknown payload, masses and inertias, rotor inertias.
//
//   ga_controllers::ArmLoop loop;
//   loop.gains = {ga_controllers::gains_from_bandwidth(40, 1)};
//   loop.observer_bandwidth = {80};
//   loop.delay = 1;
//   const auto report = ga_controllers::check_stability(chain, loop, {.payload = 2.5});
//   std::puts(report.text.c_str());
//
// check_law() applies the rule of the controllers to a law and its gains.
//
// Assumptions: small motions about rest in any posture, no friction, no torque limits. If all joints
// have the same gains and observer, the result is exact without gravity: the arm decouples into
// scalar loops (below), and a heavier real arm has smaller rho in every posture, so two
// corners of the uncertainty bound all of it, also for independent errors of links and joints. With
// different gains or gravity there is no such bound: the exact matrix of the complete arm is
// computed in the worst postures found, with different gains at every corner.
//
// Units: SI; Hz for resonances. Nothing here is real-time safe: a check of six joints takes some
// milliseconds. Throws std::invalid_argument, naming the parameter, the value and the remedy.

#include <span>
#include <string>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"

namespace ga_controllers {

// --- one joint ---

// Stability of the control loop of one joint: law, extended-state observer (ESO), delay, update rate
// and a wrong inertia.
//
// Each cycle of dt with the measured position y, and with b = exp(−wo dt):
//   e = y − q̂,  q̂ += (1 − b³) e,  v̂ += 1.5 (1 − b)² (1 + b)/dt e,  d̂ += (1 − b)³/dt² e
//   u = −Kd v̂ − Kp q̂ − d̂    (point to point, tracking and gravity compensation do not subtract d̂)
//   q̂ += dt v̂ + dt² (u + d̂)/2,  v̂ += dt (u + d̂)
// The plant is q̈ = rho u, with u held for a cycle and delayed by a whole number of cycles.
//
// rho is an eigenvalue of M_real⁻¹ M_model. With the same gains and observer for all joints, in a
// fixed posture and without gravity and friction, an arm decouples into such loops, one per
// eigenvalue: it is stable if all of them are. rho = 1 is an exact model, rho < 1 a real arm that is
// heavier than its model. check_stability() checks complete arms.
//
// The torque limits are not part of the analysis, and Ki is not: d̂ takes the place of the integral.
//
// Units: rad, s (m for prismatic joints). Nothing here is real-time safe. Every function throws
// std::invalid_argument, naming the parameter, for values that are not finite or out of range.

struct LoopSettings {
  JointGains gains = {};              ///< kp ≥ 0, kd ≥ 0; ki is ignored
  bool subtracts_disturbance = true;  ///< true for integral law and gravity hold
  double observer_bandwidth = 0;      ///< wo, rad/s, positive
  double period = 0.001;              ///< dt, s, positive
  int delay = 0;                      ///< cycles between measurement and torque, 0 … 10
};

/// Largest magnitude of the loop's poles; the loop is stable if it is less than 1. With kp = 0 the
/// position has no equilibrium (gravity compensation) and its pole at 1 is left out.
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

// --- the complete arm ---

/// The loops of all joints. Lists have one value per joint, or a single one for all.
struct ArmLoop {
  std::vector<JointGains> gains = {};
  bool subtracts_disturbance = true;            ///< true for integral law and gravity hold
  std::vector<double> observer_bandwidth = {};  ///< rad/s
  double period = 0.001;                        ///< s
  int delay = 0;                                ///< cycles, 0 … 10
  /// Resonance of each elastic drive with its link free, Hz; 0 is a rigid drive, empty all rigid.
  std::vector<double> resonance = {};
};

/// The real arm relative to the model.
struct ModelUncertainty {
  double payload = 0;  ///< largest unknown mass at the tip, kg
  /// Radius of gyration of the payload about the origin of the tip link, m: its size and the offset
  /// of its center of mass together.
  double payload_radius = 0.05;
  double mass = 0.2;  ///< relative error of masses and inertias, 0 ≤ mass < 1
  double armature_low = 0.5, armature_high = 2;  ///< real rotor inertia over that of the model
};

enum class StabilityVerdict {
  kStable,
  kMarginal,  ///< a factor of less than 1.5 in rho to either end; accept with a warning
  kUnstable   ///< unstable within the declared uncertainty, or above the elastic limit; refuse
};
std::string to_string(StabilityVerdict verdict);

struct StabilityReport {
  StabilityVerdict verdict = StabilityVerdict::kStable;
  StableRange stable;    ///< of rho, common to the loops of all joints; a guide if they differ
  double rho_low = 1;    ///< smallest rho within the uncertainty
  double rho_high = 1;   ///< largest one
  double bandwidth = 0;  ///< closed-loop bandwidth of the slowest joint at rho = 1, rad/s
  double radius = 0;     ///< largest spectral radius of the complete arm in the postures computed
  std::vector<double> posture_low, posture_high;  ///< of rho_low and rho_high
  std::string joint_low, joint_high;              ///< that moves most there
  /// Recommended factor on the bandwidths of law and observer; 1 if they may stay, 0 if no lower
  /// bandwidth is stable with a margin.
  double bandwidth_factor = 1;
  std::vector<std::string> warnings;  ///< one each, with remedy; further to the verdict
  std::string text;  ///< verdict, numbers, worst case, remedy and warnings, one line each
};

/// Checks the loops of an arm; `postures` [rad, m] are checked in addition to a fixed set within the
/// position limits. Takes some milliseconds; longer for different gains and long delays.
StabilityReport check_stability(const ga_dynamics::Chain& model, const ArmLoop& loop,
                                const ModelUncertainty& uncertainty,
                                const std::vector<std::vector<double>>& postures = {});

/// Largest magnitude of the poles of the complete arm at rest at q, with the law's torques computed
/// from `model` and the real arm `real`. Exact for small motions, with gravity and different gains.
/// If a joint has kp = 0, gravity is left out and the free positions are.
double spectral_radius(const ArmLoop& loop, const ga_dynamics::Chain& model,
                       const ga_dynamics::Chain& real, std::span<const double> q);

// --- the check of a law ---

// What controllers, `ga sim`, `puma sim` and `puma run` ask for at configuration and at every change
// of gains, before a law drives an arm, and the rule that they apply:
//
//   refused   unstable with an exact model; above the limit of a declared resonance of the drives;
//             unstable within an uncertainty that the user has declared
//   warned    a factor of less than 1.5 to the end of the stable range; unstable within the
//             uncertainty that is assumed if none is declared; no rotor inertia in the description

/// The loop that a ControlLaw with these gains (one for all joints or one per joint) closes, with its
/// observer. `rate` [Hz]; `delay` [cycles]; `resonance` [Hz] as in ArmLoop. A joint without Ki in a
/// law with integral action is checked as if it had some.
ArmLoop loop_of(LawKind kind, std::span<const JointGains> gains, double rate, int delay = 0,
                std::vector<double> resonance = {});

/// True if the check applies: gravity compensation uses the measured velocity, not the observer, and
/// hand guiding does not use the gains.
bool is_checked(LawKind kind) noexcept;

/// What is known about the real arm.
struct Uncertainty {
  ModelUncertainty model = {};
  int delay = 0;                       ///< cycles between measurement and torque, 0 … 10
  std::vector<double> resonance = {};  ///< Hz, as in ArmLoop
  bool declared = false;  ///< by the user: an arm that is unstable within it is refused
};

struct LawCheck {
  StabilityReport report;
  std::string refusal;                ///< empty: accepted; else one line with range and remedy
  std::vector<std::string> warnings;  ///< one line each
  std::string summary;                ///< one line: stable range of rho, range assumed, bandwidth

  bool accepted() const noexcept { return refusal.empty(); }
};

/// Applies the rule above.
LawCheck check_law(const ga_dynamics::Chain& model, LawKind kind, std::span<const JointGains> gains,
                   double rate, const Uncertainty& uncertainty,
                   const std::vector<std::vector<double>>& postures = {});

/// Gains for an elastic drive with this resonance [Hz; 0: rigid, no change]: as given if bandwidth
/// and observer bandwidth together are within kElasticFit of it. Otherwise Ki is reduced, so that the
/// observer is slower, down to the bandwidth of the law times kSlowestObserver; if that does not
/// suffice, Kp and Kd are reduced as well, with the damping ratio kept. The observer of laws without
/// integral action follows Kp and Kd: they are reduced at once.
///
/// kElasticFit is below kElasticRecommended, because the resonance is that of one posture. The loop
/// gain beyond the resonance is the whole inertia over that of the motor: it grows when the arm
/// stretches, 1.6-fold in joint 1 of a PUMA in a mid-range motion, and the limit falls with it.
inline constexpr double kElasticFit = 0.23, kSlowestObserver = 1.1;
JointGains gains_for_resonance(LawKind kind, const JointGains& gains, double resonance);

/// Ki for which the observer has this bandwidth [rad/s].
double integral_gain(const JointGains& gains, double observer_bandwidth) noexcept;

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__STABILITY_HPP_
