// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__ARM_INTERFACES_HPP_
#define GA_HARDWARE__ARM_INTERFACES_HPP_

// The interfaces of an arm, looked up by name once: position, velocity and effort of every joint,
// an effort command, and the digital inputs and outputs that the description declares in <gpio>
// tags of any name:
//
//   state    output1 … output8   the tool's outputs, 0 or 1; the cards have two
//            power               1: the drives have power
//            brakes              1: closed
//            thermal             alarms, bit i for the i-th joint of the chain
//            fault_code          the number of the ga_hardware::Fault, 0: none
//   command  output1 … output8   the tool's outputs, 0 or 1
//            power               0: controlled stop, power off, the component becomes inactive
//            fault_reset         rising to 1: clears the record of reached limits and a fault; after
//                                a stop, however, no controller can claim it
//
// All values are doubles, as ros2_controllers' GPIO controller requires.

#include <array>
#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"
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

/// Checks that the hardware has exactly the chain's joints. Throws std::runtime_error that begins
/// with `where` and names the missing or surplus joint and the remedy.
void check_joints(const std::string& where, const hardware_interface::HardwareInfo& info,
                  const ga_dynamics::Chain& chain);

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

#endif  // GA_HARDWARE__ARM_INTERFACES_HPP_
