// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__LAW_PARAMETERS_HPP_
#define GA_CONTROLLERS__LAW_PARAMETERS_HPP_

// From the parameters of a law as they are given to one value per joint. Not real-time safe but
// where it is said.

#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"

namespace ga_controllers {

/// Throws std::invalid_argument naming the parameter that a law for this chain cannot be built of.
/// What is below expects parameters that have passed.
void check(const ga_dynamics::Chain& chain, const LawParameters& parameters);

/// N m; descriptions that know no limit of a joint's effort say zero: infinity then.
double effort_limit(const ga_dynamics::JointLimits& limits) noexcept;

/// N m; those of the chain where the parameters have none, and infinity where it has none either.
std::vector<double> torque_limits(const ga_dynamics::Chain& chain, const LawParameters& parameters);
/// N m, at least the torque limits: what a law may take over from the one before and fade.
std::vector<double> bearable_torques(const ga_dynamics::Chain& chain,
                                     const LawParameters& parameters);
/// N m/s; infinity where there is none.
std::vector<double> torque_rate_limits(const ga_dynamics::Chain& chain,
                                       const LawParameters& parameters);

/// What of the parameters may change in mid-motion.
struct LawSetting {
  LawSetting(const ga_dynamics::Chain& chain, const LawParameters& parameters);

  LawKind kind;
  std::vector<JointGains> gains;  ///< one per joint

  /// Real-time safe, as the next one.
  bool takes_reference() const noexcept { return kind != LawKind::kGravityHold; }
  /// Does the law follow the reference's velocity and acceleration too?
  bool takes_rates() const noexcept {
    return kind == LawKind::kTracking || kind == LawKind::kTrackingIntegral;
  }
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__LAW_PARAMETERS_HPP_
