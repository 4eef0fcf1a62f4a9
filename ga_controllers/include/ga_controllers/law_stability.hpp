// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__LAW_STABILITY_HPP_
#define GA_CONTROLLERS__LAW_STABILITY_HPP_

// The stability check of a law before it drives an arm: what controllers, `ga sim`, `puma sim` and
// `puma run` ask for at configuration and at every change of gains, and the rule that they apply.
//
//   refused   unstable with an exact model; above the limit of a declared resonance of the drives;
//             unstable within an uncertainty that the user has declared
//   warned    a factor of less than 1.5 to the end of the stable range; unstable within the
//             uncertainty that is assumed if none is declared; no rotor inertia in the description
//
// Units: SI; Hz for resonances. Nothing here is real-time safe: a check of six joints takes some
// milliseconds. Throws std::invalid_argument, naming the parameter, the value and the remedy.

#include <span>
#include <string>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_controllers/stability.hpp"
#include "ga_dynamics/chain.hpp"

namespace ga_controllers {

/// The loop that a ControlLaw with these gains (one for all joints or one per joint) closes, with its
/// observer. `rate` [Hz]; `delay` [cycles]; `resonance` [Hz] as in ArmLoop. A joint without Ki in a
/// law with integral action is checked as if it had some.
ArmLoop loop_of(LawKind kind, std::span<const JointGains> gains, double rate, int delay = 0,
                std::vector<double> resonance = {});

/// True if the check applies: gravity compensation uses the measured velocity, not the observer.
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

#endif  // GA_CONTROLLERS__LAW_STABILITY_HPP_
