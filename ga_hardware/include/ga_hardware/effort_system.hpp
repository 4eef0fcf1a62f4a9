// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__EFFORT_SYSTEM_HPP_
#define GA_HARDWARE__EFFORT_SYSTEM_HPP_

// What the arm over the cards and the simulated arm have in common as ros2_control hardware: the
// way that controllers claim the efforts (effort_commands.hpp), and that both take part in the
// controller manager's own cycle.

#include <string>
#include <vector>

#include "ga_hardware/effort_commands.hpp"
#include "hardware_interface/system_interface.hpp"

namespace ga_hardware {

class EffortSystem : public hardware_interface::SystemInterface {
 public:
  using CallbackReturn = hardware_interface::CallbackReturn;
  using Return = hardware_interface::return_type;

  /// The same as on_cleanup().
  CallbackReturn on_shutdown(const rclcpp_lifecycle::State& previous) override;

  Return prepare_command_mode_switch(const std::vector<std::string>& start,
                                     const std::vector<std::string>& stop) override;
  /// Real-time safe.
  Return perform_command_mode_switch(const std::vector<std::string>& start,
                                     const std::vector<std::string>& stop) override;

 protected:
  virtual EffortCommands& efforts() = 0;
  /// Throws std::runtime_error naming what of the description an arm cannot be, and the remedy.
  /// `tool_outputs`: how many it has.
  void check_description(std::size_t tool_outputs) const;
  /// Why the component must not become active, empty if it may: controllers that ran on while it
  /// was inactive would open the brakes with whatever they command. Allocates.
  std::string refuse_running_controllers();
};

}  // namespace ga_hardware

#endif  // GA_HARDWARE__EFFORT_SYSTEM_HPP_
