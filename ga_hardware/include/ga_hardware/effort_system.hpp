// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__EFFORT_SYSTEM_HPP_
#define GA_HARDWARE__EFFORT_SYSTEM_HPP_

// Common part of real and simulated arms as ros2_control hardware: claiming of the efforts
// (effort_commands.hpp) and fault resets.

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
  /// Throws std::runtime_error naming the unsupported element of the description and the remedy.
  /// `tool_outputs`: how many the arm has.
  void check_description(std::size_t tool_outputs) const;
  /// Why the component must not become active, empty if it may: controllers that kept running while
  /// it was inactive would open the brakes with any command. Allocates.
  std::string refuse_running_controllers();
};

/// A fault-reset request, from a service to the control loop and back. The loop's side is real-time
/// safe: it takes kAsked and leaves one of the values after it.
enum class ResetRequest : int {
  kNone,
  kAsked,
  kTried,         ///< cleared; the next cycle shows whether the cause persists
  kDone,          ///< the fault is cleared
  kUncalibrated,  ///< the fault is cleared, but the arm must be calibrated
  kStopping,      ///< refused while the arm is stopping
  kRefused        ///< the cause persists
};

/// Makes a request and waits up to 0.5 s for the loop's answer. Without a loop (`cycling` false)
/// the request stays pending.
void answer_reset(std::atomic<ResetRequest>& request, bool cycling,
                  std_srvs::srv::Trigger::Response& response);

}  // namespace ga_hardware

#endif  // GA_HARDWARE__EFFORT_SYSTEM_HPP_
