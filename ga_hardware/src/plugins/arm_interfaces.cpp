// SPDX-License-Identifier: Apache-2.0
#include "plugins/arm_interfaces.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <stdexcept>

#include "ga_hardware/arm_system.hpp"

namespace ga_hardware {
namespace {

using hardware_interface::ComponentInfo;
using hardware_interface::InterfaceInfo;

std::vector<std::string> with_outputs(std::initializer_list<const char*> names,
                                      std::size_t outputs) {
  std::vector<std::string> all(names.begin(), names.end());
  for (std::size_t i = 1; i <= outputs; ++i) all.push_back("output" + std::to_string(i));
  return all;
}

void check_each(const std::string& where, const char* kind, const std::vector<InterfaceInfo>& given,
                const std::vector<std::string>& known) {
  for (const InterfaceInfo& interface : given) {
    if (std::find(known.begin(), known.end(), interface.name) == known.end()) {
      std::string all;
      for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
      throw std::runtime_error(where + ": " + kind + " interface '" + interface.name +
                               "' is unknown; known are " + all);
    }
    if (!interface.data_type.empty() && interface.data_type != "double") {
      throw std::runtime_error(where + ": " + kind + " interface '" + interface.name + "' is a " +
                               interface.data_type + "; make it a double");
    }
  }
}

}  // namespace

void ArmInterfaces::check(const hardware_interface::HardwareInfo& info, std::size_t tool_outputs) {
  const std::string where = "hardware '" + info.name + "', ";
  for (const ComponentInfo& joint : info.joints) {
    const std::string name = where + "joint '" + joint.name + "'";
    check_each(name, "command", joint.command_interfaces, {"effort"});
    check_each(name, "state", joint.state_interfaces, {"position", "velocity", "effort"});
    if (joint.command_interfaces.size() != 1) {
      throw std::runtime_error(name + ": has no effort command interface; add one");
    }
  }
  for (const ComponentInfo& gpio : info.gpios) {
    const std::string name = where + "gpio '" + gpio.name + "'";
    check_each(name, "command", gpio.command_interfaces,
               with_outputs({"power", "fault_reset"}, tool_outputs));
    check_each(name, "state", gpio.state_interfaces,
               with_outputs({"power", "brakes", "thermal", "fault_code"}, tool_outputs));
  }
}

ArmInterfaces ArmInterfaces::find(const hardware_interface::HardwareComponentInterface& component,
                                  const std::vector<std::string>& joints) {
  const auto state = [&](const std::string& name) {
    return component.has_state(name) ? component.get_state_interface_handle(name) : nullptr;
  };
  const auto command = [&](const std::string& name) {
    return component.has_command(name) ? component.get_command_interface_handle(name) : nullptr;
  };
  ArmInterfaces found;
  for (const std::string& joint : joints) {
    found.position.push_back(state(joint + "/position"));
    found.velocity.push_back(state(joint + "/velocity"));
    found.effort.push_back(state(joint + "/effort"));
    found.effort_command.push_back(command(joint + "/effort"));
    found.effort_names.push_back(joint + "/effort");
  }
  const auto keep = [](auto& handle, auto candidate) {
    if (candidate) handle = candidate;
  };
  for (const ComponentInfo& gpio : component.get_hardware_info().gpios) {
    for (std::size_t i = 0; i < kMostToolOutputs; ++i) {
      const std::string name = gpio.name + "/output" + std::to_string(i + 1);
      keep(found.output[i], state(name));
      keep(found.output_command[i], command(name));
    }
    keep(found.power, state(gpio.name + "/power"));
    keep(found.brakes, state(gpio.name + "/brakes"));
    keep(found.thermal, state(gpio.name + "/thermal"));
    keep(found.fault_code, state(gpio.name + "/fault_code"));
    keep(found.power_command, command(gpio.name + "/power"));
    keep(found.fault_reset, command(gpio.name + "/fault_reset"));
  }
  return found;
}

void put(const ArmInterfaces::State& handle, double value) {
  if (handle) static_cast<void>(handle->set_value(value, false));
}
void put(const ArmInterfaces::Command& handle, double value) {
  // A stale command must not survive because a reader held the handle for an instant.
  for (int tries = 0; handle && tries < 1000; ++tries) {
    if (handle->set_value(value, false)) return;
  }
}
double take(const ArmInterfaces::Command& handle, double otherwise) {
  double value = otherwise;
  if (!handle || !handle->get_value(value, false) || !std::isfinite(value)) return otherwise;
  return value;
}

const hardware_interface::ComponentInfo* find_joint(const hardware_interface::HardwareInfo& info,
                                                    const std::string& name) {
  const auto found = std::find_if(
      info.joints.begin(), info.joints.end(),
      [&](const hardware_interface::ComponentInfo& joint) { return joint.name == name; });
  return found == info.joints.end() ? nullptr : &*found;
}

void check_joints(const std::string& where, const hardware_interface::HardwareInfo& info,
                  const ga_dynamics::Chain& chain) {
  for (const ga_dynamics::ChainJoint& joint : chain.joints()) {
    if (find_joint(info, joint.name) != nullptr) continue;
    throw std::runtime_error(where + ": joint '" + joint.name + "' of the chain from '" +
                             chain.base().name + "' to '" + chain.tip().name +
                             "' is not in the <ros2_control> tag; add it, or give other links with "
                             "the parameters base and tip, or fix it with freeze");
  }
  for (const hardware_interface::ComponentInfo& joint : info.joints) {
    const auto same = [&](const ga_dynamics::ChainJoint& other) {
      return other.name == joint.name;
    };
    if (std::any_of(chain.joints().begin(), chain.joints().end(), same)) continue;
    throw std::runtime_error(where + ": joint '" + joint.name + "' is not on the chain from '" +
                             chain.base().name + "' to '" + chain.tip().name +
                             "'; remove it from the <ros2_control> tag or give the chain's links "
                             "with the parameters base and tip");
  }
}

}  // namespace ga_hardware
