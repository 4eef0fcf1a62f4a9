// SPDX-License-Identifier: Apache-2.0
#ifndef PLUGINS__ARM_INTERFACES_HPP_
#define PLUGINS__ARM_INTERFACES_HPP_

// The interfaces of an arm (ga_hardware/arm_system.hpp), looked up by name once.

#include <array>
#include <string>
#include <vector>

#include "hardware_interface/hardware_info.hpp"
#include "hardware_interface/system_interface.hpp"

namespace ga_hardware {

constexpr std::size_t kMostToolOutputs = 8;

struct ArmInterfaces {
  using State = hardware_interface::StateInterface::SharedPtr;
  using Command = hardware_interface::CommandInterface::SharedPtr;

  ArmInterfaces() = default;
  /// Null handles for this many joints.
  explicit ArmInterfaces(std::size_t joints)
      : position(joints), velocity(joints), effort(joints), effort_command(joints) {}

  /// Per joint, in the order given to find(); null where the description has none.
  std::vector<State> position, velocity, effort;
  std::vector<Command> effort_command;
  std::vector<std::string> effort_names;  ///< "joint1/effort"
  std::array<State, kMostToolOutputs> output;
  std::array<Command, kMostToolOutputs> output_command;
  State power, brakes, thermal, fault_code;
  Command power_command, fault_reset;

  /// Throws std::runtime_error naming an interface that is unknown for an arm with this many tool
  /// outputs, or that is not a double.
  static void check(const hardware_interface::HardwareInfo& info, std::size_t tool_outputs);
  /// Call after the interfaces are exported. Allocates.
  static ArmInterfaces find(const hardware_interface::HardwareComponentInterface& component,
                            const std::vector<std::string>& joints);
};

/// Null if the hardware has no such joint.
const hardware_interface::ComponentInfo* find_joint(const hardware_interface::HardwareInfo& info,
                                                    const std::string& name);

// Real-time safe; no effect if the handle is null. If another thread holds the handle, a state
// keeps its value; a command is retried.
void put(const ArmInterfaces::State& handle, double value);
void put(const ArmInterfaces::Command& handle, double value);
/// `otherwise` if the handle is null, locked, or not finite.
double take(const ArmInterfaces::Command& handle, double otherwise);

}  // namespace ga_hardware

#endif  // PLUGINS__ARM_INTERFACES_HPP_
