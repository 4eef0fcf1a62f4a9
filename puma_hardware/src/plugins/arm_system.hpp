// SPDX-License-Identifier: Apache-2.0
#ifndef PLUGINS__ARM_SYSTEM_HPP_
#define PLUGINS__ARM_SYSTEM_HPP_

// puma_hardware/PumaSystem: the arm over its four cards, real or emulated, as ros2_control
// hardware. arm_setup.hpp tells its parameters, arm_interfaces.hpp its interfaces, arm_node.hpp its
// services.
//
// Lifecycle: configured, it is connected: the cards answer, outputs are 0 V, positions are NaN
// until the arm is calibrated. Calibration is done while inactive. Activation is refused without
// calibration, without a guard, and with a fault; active, the arm may be powered. Power and open
// brakes come with the first effort that a controller commands; giving the efforts up without a
// successor is a controlled stop, a successor in the same switch changes nothing. Efforts are
// claimed all at once or not at all.
//
// Faults: write() returns DEACTIVATE, so that the states go on, and so does the arm's cycle, in
// read(): the torque fades while the component is inactive. Lost cards are ERROR: the component
// becomes unconfigured, and a new configuration connects anew.

#include <memory>
#include <string>
#include <vector>

#include "hardware_interface/system_interface.hpp"

namespace puma_hardware {

class PumaSystem : public hardware_interface::SystemInterface {
 public:
  using CallbackReturn = hardware_interface::CallbackReturn;
  using Return = hardware_interface::return_type;

  PumaSystem();
  ~PumaSystem() override;

  CallbackReturn on_init(
      const hardware_interface::HardwareComponentInterfaceParams& params) override;
  CallbackReturn on_configure(const rclcpp_lifecycle::State& previous) override;
  CallbackReturn on_activate(const rclcpp_lifecycle::State& previous) override;
  CallbackReturn on_deactivate(const rclcpp_lifecycle::State& previous) override;
  /// Waits for the arm to stand.
  CallbackReturn on_cleanup(const rclcpp_lifecycle::State& previous) override;
  CallbackReturn on_shutdown(const rclcpp_lifecycle::State& previous) override;
  /// Cuts the outputs. May be called more than once.
  CallbackReturn on_error(const rclcpp_lifecycle::State& previous) override;

  Return prepare_command_mode_switch(const std::vector<std::string>& start,
                                     const std::vector<std::string>& stop) override;
  // Real-time safe:
  Return perform_command_mode_switch(const std::vector<std::string>& start,
                                     const std::vector<std::string>& stop) override;
  Return read(const rclcpp::Time& time, const rclcpp::Duration& period) override;
  Return write(const rclcpp::Time& time, const rclcpp::Duration& period) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace puma_hardware

#endif  // PLUGINS__ARM_SYSTEM_HPP_
