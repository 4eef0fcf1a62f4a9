// SPDX-License-Identifier: Apache-2.0
#ifndef GA_TOOLS__UNCERTAINTY_HPP_
#define GA_TOOLS__UNCERTAINTY_HPP_

// What `ga sim`, `puma sim` and `puma run` check the stability of a law with
// (ga_controllers/law_stability.hpp): options by the names of the controllers' parameters
// uncertainty.*. Allocates.

#include <optional>
#include <vector>

#include "ga_controllers/law_stability.hpp"

namespace ga_tools {

/// As given on the command line; what is not given is assumed.
struct UncertaintyArguments {
  std::optional<double> payload;         ///< kg
  std::optional<double> payload_radius;  ///< m
  std::optional<double> mass;            ///< part of 1
  std::optional<double> armature_low, armature_high;
  std::optional<int> delay;       ///< cycles
  std::vector<double> resonance;  ///< Hz; empty, one, or one per joint
  bool fit_resonance = false;     ///< lower the gains to what the resonance allows
};

/// With the defaults of ga_controllers::Uncertainty, except that `assumed` (what is simulated) widens
/// them. An option that is given takes precedence and makes the uncertainty a declared one.
ga_controllers::Uncertainty uncertainty_of(const UncertaintyArguments& arguments,
                                           const ga_controllers::Uncertainty& assumed = {});

/// Lowers the gains, one per joint, to what the resonance allows; true if one changed. Throws
/// std::runtime_error naming the option if there is no resonance or the wrong number of them.
bool fit_resonance(ga_controllers::LawKind kind, const ga_controllers::Uncertainty& uncertainty,
                   std::vector<ga_controllers::JointGains>& gains);

}  // namespace ga_tools

#endif  // GA_TOOLS__UNCERTAINTY_HPP_
