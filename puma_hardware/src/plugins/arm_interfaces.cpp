// SPDX-License-Identifier: Apache-2.0
#include "plugins/arm_interfaces.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <stdexcept>

namespace puma_hardware {
namespace {

using hardware_interface::ComponentInfo;
using hardware_interface::InterfaceInfo;

std::vector<std::string> with_outputs(std::initializer_list<const char*> names) {
  std::vector<std::string> all(names.begin(), names.end());
  for (std::size_t i = 1; i <= kMostToolOutputs; ++i) all.push_back("output" + std::to_string(i));
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

void ArmInterfaces::check(const hardware_interface::HardwareInfo& info) {
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
    check_each(name, "command", gpio.command_interfaces, with_outputs({"power", "fault_reset"}));
    check_each(name, "state", gpio.state_interfaces,
               with_outputs({"power", "brakes", "thermal", "fault_code"}));
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

std::uint64_t effort_bits(const std::vector<std::string>& names, const ArmInterfaces& interfaces) {
  std::uint64_t bits = 0;
  for (const std::string& name : names) {
    const auto found =
        std::find(interfaces.effort_names.begin(), interfaces.effort_names.end(), name);
    if (found == interfaces.effort_names.end()) continue;
    bits |= std::uint64_t{1} << (found - interfaces.effort_names.begin());
  }
  return bits;
}

std::string refuse_partial_claim(std::uint64_t claimed, const std::vector<std::string>& start,
                                 const std::vector<std::string>& stop,
                                 const ArmInterfaces& interfaces) {
  const std::size_t joints = interfaces.effort_names.size();
  const std::uint64_t started = effort_bits(start, interfaces);
  const std::uint64_t after = (claimed & ~effort_bits(stop, interfaces)) | started;
  if (started == 0 || after == (std::uint64_t{1} << joints) - 1) return "";
  std::string missing;
  for (std::size_t i = 0; i < joints; ++i) {
    if ((after >> i & 1) == 0) {
      missing += (missing.empty() ? "" : ", ") + interfaces.effort_names[i];
    }
  }
  return std::to_string(std::popcount(after)) + " of " + std::to_string(joints) +
         " efforts asked for, not " + missing +
         ": the brakes open together, so claim all joints in one controller or one switch";
}

}  // namespace puma_hardware
