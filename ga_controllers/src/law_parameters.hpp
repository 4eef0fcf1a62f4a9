// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__LAW_PARAMETERS_HPP_
#define GA_CONTROLLERS__LAW_PARAMETERS_HPP_

// Expands the parameters of a law to one value per joint. Not real-time safe unless noted.

#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"

namespace ga_controllers {

/// Throws std::invalid_argument naming the invalid parameter. The functions below expect checked
/// parameters.
void check(const ga_dynamics::Chain& chain, const LawParameters& parameters);

/// True for gains that are finite, not negative and not above those of the fastest loop. Real-time safe.
bool usable(const JointGains& gains) noexcept;

/// N m; infinity where the description has no effort limit (or zero).
double effort_limit(const ga_dynamics::JointLimits& limits) noexcept;

/// N m; from the parameters, else the chain's effort limits.
std::vector<double> torque_limits(const ga_dynamics::Chain& chain, const LawParameters& parameters);
/// N m; largest torque that a law inherits from its predecessor and fades, at least its own limit.
std::vector<double> handover_limits(const ga_dynamics::Chain& chain,
                                    const LawParameters& parameters);
/// N m/s; infinity for none.
std::vector<double> torque_rate_limits(const ga_dynamics::Chain& chain,
                                       const LawParameters& parameters);

/// The parameters that may change in mid-motion.
struct LawSetting {
  LawSetting(const ga_dynamics::Chain& chain, const LawParameters& parameters);

  LawKind kind;
  std::vector<JointGains> gains;  ///< one per joint

  /// Real-time safe, like the next ones. True if the law follows a reference: the given one, or that
  /// of the position that it holds.
  bool takes_reference() const noexcept {
    return kind != LawKind::kGravityCompensation && !hand_guided();
  }
  /// 1/s, what brakes a joint that a disturbance moves. In hand guiding only the speed limit does: with
  /// half of its damping, at twice its speed.
  double damping(std::size_t joint) const noexcept { return hand_guided() ? 25 : gains[joint].kd; }
  bool hand_guided() const noexcept { return kind == LawKind::kHandGuiding; }
  /// True if the law also uses the reference's velocity and acceleration.
  bool takes_rates() const noexcept { return kind == LawKind::kTracking || integrates(); }
  /// True if the law subtracts the disturbance estimate.
  bool integrates() const noexcept {
    return kind == LawKind::kTrackingIntegral || kind == LawKind::kGravityHold;
  }
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__LAW_PARAMETERS_HPP_
