// SPDX-License-Identifier: Apache-2.0
#ifndef STUDY__ARM_CHECK_HPP_
#define STUDY__ARM_CHECK_HPP_

#include <span>

#include "ga_dynamics/chain.hpp"

namespace ga_tools {

/// Throws std::runtime_error, naming the joint and its link, if a joint of `arm` at q moves no
/// inertia: its acceleration would be infinite. `names`: a chain of the same joints that has the
/// names of joints and links.
void check_inertia(const ga_dynamics::Chain& arm, const ga_dynamics::Chain& names,
                   std::span<const double> q);

}  // namespace ga_tools

#endif  // STUDY__ARM_CHECK_HPP_
