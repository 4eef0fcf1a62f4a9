// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__SIM_SYSTEM_HPP_
#define GA_HARDWARE__SIM_SYSTEM_HPP_

// ga_hardware/SimSystem: a simulated arm as ros2_control hardware. Any serial arm with an
// effort command per joint. doc/sim_system.md lists its parameters and faults, arm_interfaces.hpp
// its interfaces.
//
// Lifecycle: when configured, it measures and its brakes are closed. When active, the drives have
// power. The first command of a controller that has claimed the efforts opens the brakes. Releasing
// the efforts without a successor is a controlled stop; a successor in the same switch starts from
// the last torque (effort_commands.hpp). The brakes of an arm open together, so all efforts must be
// claimed at once.
//
// Faults: write() returns DEACTIVATE, so that the states continue to be read; the torque ramps down
// or is cut while the component is inactive. If the hardware does not respond, read() returns
// ERROR. on_activate() fails while a fault is latched or controllers claim the efforts. Effort
// commands are valid from the first one that a controller writes after its activation; earlier ones
// are erased.

#include <memory>

#include "ga_hardware/effort_system.hpp"

namespace ga_hardware {

class SimSystem : public EffortSystem {
 public:
  SimSystem();
  ~SimSystem() override;

  CallbackReturn on_init(
      const hardware_interface::HardwareComponentInterfaceParams& params) override;
  CallbackReturn on_configure(const rclcpp_lifecycle::State& previous) override;
  CallbackReturn on_activate(const rclcpp_lifecycle::State& previous) override;
  CallbackReturn on_deactivate(const rclcpp_lifecycle::State& previous) override;
  CallbackReturn on_cleanup(const rclcpp_lifecycle::State& previous) override;
  /// May be called more than once.
  CallbackReturn on_error(const rclcpp_lifecycle::State& previous) override;

  // Real-time safe:
  Return read(const rclcpp::Time& time, const rclcpp::Duration& period) override;
  Return write(const rclcpp::Time& time, const rclcpp::Duration& period) override;

 private:
  EffortCommands& efforts() override;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ga_hardware

#endif  // GA_HARDWARE__SIM_SYSTEM_HPP_
