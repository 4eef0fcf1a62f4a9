// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__ARM_INTERFACES_HPP_
#define GA_HARDWARE__ARM_INTERFACES_HPP_

// The interfaces of an arm, found by name once and then used without a search: position, velocity
// and effort of every joint, an effort command, and the digital inputs and outputs that the
// description declares in <gpio> tags, whatever those are called:
//
//   state    output1 … output8   what the tool's outputs are, 0 or 1; the cards have two
//            power               1: the drives have power
//            brakes              1: closed
//            thermal             alarms, bit i for the i-th joint of the chain
//            fault_code          a number of ga_hardware::Fault, 0: none
//   command  output1 … output8   the tool's outputs, 0 or 1
//            power               0: controlled stop, power off, the component becomes inactive
//            fault_reset         rising to 1: forgets limits that were reached; clears a fault, but
//                                after a stop the controller manager lets no controller hold it
//
// All values are doubles, as ros2_controllers' GPIO controller wants them.

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
  /// Null for all of so many joints.
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

  /// Throws std::runtime_error naming an interface that an arm with so many tool outputs does not
  /// have, or that is no double.
  static void check(const hardware_interface::HardwareInfo& info, std::size_t tool_outputs);
  /// After the interfaces are exported. Allocates.
  static ArmInterfaces find(const hardware_interface::HardwareComponentInterface& component,
                            const std::vector<std::string>& joints);
};

/// The hardware has to have exactly the chain's joints. Throws std::runtime_error that begins with
/// `where` and names the joint that is missing or too many, and the remedy.
void check_joints(const std::string& where, const hardware_interface::HardwareInfo& info,
                  const ga_dynamics::Chain& chain);

/// Null if the hardware has no such joint.
const hardware_interface::ComponentInfo* find_joint(const hardware_interface::HardwareInfo& info,
                                                    const std::string& name);

// Real-time safe; do nothing where the handle is null. A state that another thread holds at the
// moment keeps its value; a command is tried again.
void put(const ArmInterfaces::State& handle, double value);
void put(const ArmInterfaces::Command& handle, double value);
/// `otherwise` where the handle is null, held, or not finite.
double take(const ArmInterfaces::Command& handle, double otherwise);

}  // namespace ga_hardware

#endif  // GA_HARDWARE__ARM_INTERFACES_HPP_
