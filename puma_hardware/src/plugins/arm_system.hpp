// SPDX-License-Identifier: Apache-2.0
#ifndef PLUGINS__ARM_SYSTEM_HPP_
#define PLUGINS__ARM_SYSTEM_HPP_

// puma_hardware/PumaSystem: the arm on its four cards, real or emulated, as ros2_control hardware.
// Parameters: arm_setup.hpp; interfaces: arm_interfaces.hpp; services: arm_node.hpp.
//
// Lifecycle: on_configure() connects: the cards answer, outputs are 0 V, positions are NaN until the
// arm is calibrated. Calibration needs the inactive state. Activation is refused without calibration,
// without a guard, with a fault, and while controllers claim the efforts; it permits power. The first
// commanded effort switches on the power and releases the brakes. Releasing the efforts is a
// controlled stop; if another controller claims them in the same switch, it starts from the last
// torque (effort_commands.hpp). Efforts are claimed all together.
//
// Faults: write() returns DEACTIVATE. In the inactive state read() continues the cycle: the torque
// ramps down and the states are updated. Lost cards are an ERROR: the component becomes unconfigured
// and has to be configured again.

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
  /// Waits until the arm is at rest.
  CallbackReturn on_cleanup(const rclcpp_lifecycle::State& previous) override;
  /// Cuts the outputs. May be called more than once.
  CallbackReturn on_error(const rclcpp_lifecycle::State& previous) override;

  // Real-time safe:
  Return read(const rclcpp::Time& time, const rclcpp::Duration& period) override;
  Return write(const rclcpp::Time& time, const rclcpp::Duration& period) override;

  /// Null if the cards are real or not connected. For tests.
  emulator::EmulatedCards* emulated_cards() const noexcept;

 private:
  ga_hardware::EffortCommands& efforts() override;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace puma_hardware

#endif  // PLUGINS__ARM_SYSTEM_HPP_
