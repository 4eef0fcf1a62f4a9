// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__DESCRIBED_CHAIN_HPP_
#define GA_HARDWARE__DESCRIBED_CHAIN_HPP_

// Selects the chain of the robot description that a hardware component drives. If the description
// has several arms or a gripper, these hardware parameters select it:
//   base, tip           links of the chain; default: the root and the end of the longest actuated
//                       chain, before its gripper
//   freeze              joints on the path that do not move, JOINT:POSITION,…
//   freeze_off_chain    true: every joint off the chain is fixed at zero; false (default): that is
//                       an error, unless the joint belongs to a gripper or the base carries it
//   gravity             x,y,z [m/s²] in the root link's frame (0,0,-9.81)
// The rules of the selection are in ga_dynamics/chain_selection.hpp.

#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "ga_hardware/parameter_text.hpp"

namespace ga_hardware {

/// Allocates. Throws ga_dynamics::DescriptionError, or std::runtime_error naming the parameter.
ga_dynamics::Chain chain_of(const std::string& urdf_text, ParameterText& parameters);

/// Three numbers.
ga_dynamics::Vector3 vector_of(const std::vector<double>& numbers);

}  // namespace ga_hardware

#endif  // GA_HARDWARE__DESCRIBED_CHAIN_HPP_
