// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__POSTURE_SEARCH_HPP_
#define GA_CONTROLLERS__POSTURE_SEARCH_HPP_

// The posture of an arm in which a quantity is largest. Deterministic; allocates; throws what the
// quantity throws.

#include <functional>
#include <span>
#include <vector>

#include "ga_dynamics/chain.hpp"

namespace ga_controllers {

using Posture = std::vector<double>;  ///< rad, m

/// Postures within the position limits, evenly spread (R-sequence of M. Roberts, an additive
/// recurrence with low discrepancy), the middle first. Joints without limits: ±π or ±1 m.
std::vector<Posture> spread_postures(const ga_dynamics::Chain& chain, int count);

/// Largest quantity among the postures, improved by a pattern search within the position limits.
struct LargestAt {
  double value = 0;
  Posture posture;
};
LargestAt largest(const ga_dynamics::Chain& chain, const std::vector<Posture>& postures,
                  const std::function<double(std::span<const double>)>& quantity);

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__POSTURE_SEARCH_HPP_
