// SPDX-License-Identifier: Apache-2.0
#include "ga_hardware/hardware_joints.hpp"

#include <algorithm>
#include <stdexcept>

namespace ga_hardware {

using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;
using hardware_interface::ComponentInfo;
using hardware_interface::HardwareInfo;

const ComponentInfo* find_joint(const HardwareInfo& info, const std::string& name) {
  const auto found = std::find_if(info.joints.begin(), info.joints.end(),
                                  [&](const ComponentInfo& joint) { return joint.name == name; });
  return found == info.joints.end() ? nullptr : &*found;
}

void check_joints(const std::string& where, const HardwareInfo& info, const Chain& chain) {
  for (const ChainJoint& joint : chain.joints()) {
    if (find_joint(info, joint.name) != nullptr) continue;
    throw std::runtime_error(where + ": joint '" + joint.name + "' of the chain from '" +
                             chain.base().name + "' to '" + chain.tip().name +
                             "' is not in the <ros2_control> tag; add it, or give other links with "
                             "the parameters base and tip, or fix it with freeze");
  }
  for (const ComponentInfo& joint : info.joints) {
    const auto same = [&](const ChainJoint& other) { return other.name == joint.name; };
    if (std::any_of(chain.joints().begin(), chain.joints().end(), same)) continue;
    throw std::runtime_error(where + ": joint '" + joint.name + "' is not on the chain from '" +
                             chain.base().name + "' to '" + chain.tip().name +
                             "'; take it out of the <ros2_control> tag or give the chain's links "
                             "with the parameters base and tip");
  }
}

}  // namespace ga_hardware
