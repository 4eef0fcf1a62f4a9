// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__EFFORT_SYSTEM_HPP_
#define GA_HARDWARE__EFFORT_SYSTEM_HPP_

// What the arm over the cards and the simulated arm have in common as ros2_control hardware: how
// controllers claim the efforts (effort_commands.hpp) and how a fault is reset.

#include <atomic>
#include <string>
#include <vector>

#include "ga_hardware/effort_commands.hpp"
#include "hardware_interface/system_interface.hpp"
#include "std_srvs/srv/trigger.hpp"

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

/// A fault-reset request, from a service to the control loop and back. The loop's side is real-time safe: it takes kAsked, and leaves one of the last four.
enum class ResetRequest : int {
  kNone,
  kAsked,
  kTried,         ///< cleared; the next cycle shows whether the cause lasts
  kDone,          ///< the fault is gone
  kUncalibrated,  ///< the same, but the arm has to be calibrated
  kStopping,      ///< not while a stop is under way
  kRefused        ///< the cause lasts
};

/// Asks and waits up to 0.5 s for the answer of the loop. Without a loop (`cycling` false) the
/// request stays until there is one.
void answer_reset(std::atomic<ResetRequest>& request, bool cycling,
                  std_srvs::srv::Trigger::Response& response);

}  // namespace ga_hardware

#endif  // GA_HARDWARE__EFFORT_SYSTEM_HPP_
