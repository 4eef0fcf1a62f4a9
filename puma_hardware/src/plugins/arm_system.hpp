// SPDX-License-Identifier: Apache-2.0
#ifndef PLUGINS__ARM_SYSTEM_HPP_
#define PLUGINS__ARM_SYSTEM_HPP_

// puma_hardware/PumaSystem: the arm over its four cards, real or emulated, as ros2_control
// hardware. arm_setup.hpp tells its parameters, arm_interfaces.hpp its interfaces, arm_node.hpp its
// services.
//
// Lifecycle: configured, it is connected: the cards answer, outputs are 0 V, positions are NaN
// until the arm is calibrated. Calibration is done while inactive. Activation is refused without
// calibration, without a guard, with a fault, and while controllers hold the efforts; active, the
// arm may be powered. Power and open brakes come with the first effort that a controller commands;
// giving the efforts up without a successor is a controlled stop, a successor in the same switch
// goes on from the last torque (effort_commands.hpp). Efforts are claimed all at once or not at
// all.
//
// Faults: write() returns DEACTIVATE, so that the states go on, and so does the arm's cycle, in
// read(): the torque fades while the component is inactive. Lost cards are ERROR: the component
// becomes unconfigured, and a new configuration connects anew.

#include <memory>

#include "emulator/emulated_cards.hpp"
#include "ga_hardware/effort_system.hpp"

namespace puma_hardware {

class PumaSystem : public ga_hardware::EffortSystem {
 public:
  PumaSystem();
  ~PumaSystem() override;

  CallbackReturn on_init(
      const hardware_interface::HardwareComponentInterfaceParams& params) override;
  CallbackReturn on_configure(const rclcpp_lifecycle::State& previous) override;
  CallbackReturn on_activate(const rclcpp_lifecycle::State& previous) override;
  CallbackReturn on_deactivate(const rclcpp_lifecycle::State& previous) override;
  /// Waits for the arm to stand.
  CallbackReturn on_cleanup(const rclcpp_lifecycle::State& previous) override;
  /// Cuts the outputs. May be called more than once.
  CallbackReturn on_error(const rclcpp_lifecycle::State& previous) override;

  // Real-time safe:
  Return read(const rclcpp::Time& time, const rclcpp::Duration& period) override;
  Return write(const rclcpp::Time& time, const rclcpp::Duration& period) override;

  /// Of the present connection; null where the cards are real, or none was ever connected. For
  /// tests.
  emulator::EmulatedCards* emulated_cards() const noexcept;

 private:
  ga_hardware::EffortCommands& efforts() override;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace puma_hardware

#endif  // PLUGINS__ARM_SYSTEM_HPP_
