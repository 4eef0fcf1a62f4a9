// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__HARDWARE_JOINTS_HPP_
#define GA_HARDWARE__HARDWARE_JOINTS_HPP_

// The joints of a hardware component and those of the chain that it drives.

#include <string>

#include "ga_dynamics/chain.hpp"
#include "hardware_interface/hardware_info.hpp"

namespace ga_hardware {

/// The hardware has to have exactly the chain's joints. Throws std::runtime_error that begins with
/// `where` and names the joint that is missing or too many, and the remedy.
void check_joints(const std::string& where, const hardware_interface::HardwareInfo& info,
                  const ga_dynamics::Chain& chain);

/// Null if the hardware has no such joint.
const hardware_interface::ComponentInfo* find_joint(const hardware_interface::HardwareInfo& info,
                                                    const std::string& name);

}  // namespace ga_hardware

#endif  // GA_HARDWARE__HARDWARE_JOINTS_HPP_
