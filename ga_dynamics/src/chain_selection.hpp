// SPDX-License-Identifier: Apache-2.0
#ifndef CHAIN_SELECTION_HPP_
#define CHAIN_SELECTION_HPP_

// Which joints of a description form the chain.

#include <vector>

#include "ga_dynamics/chain.hpp"

namespace ga_dynamics {

struct ChainSelection {
  int base = 0, tip = 0;    ///< link indices
  std::vector<int> joints;  ///< moving joints from base to tip, indices
};

/// Throws DescriptionError: unknown or unconnected base or tip, an ambiguous default, joints that
/// are not of one degree of freedom, moving joints off the chain that nobody froze.
ChainSelection select_chain(const UrdfModel& model, const ChainOptions& options);

}  // namespace ga_dynamics

#endif  // CHAIN_SELECTION_HPP_
