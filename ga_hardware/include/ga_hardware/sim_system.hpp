// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__SIM_SYSTEM_HPP_
#define GA_HARDWARE__SIM_SYSTEM_HPP_

// ga_hardware/SimSystem: a simulated arm as ros2_control hardware. Any serial arm with an
// effort command per joint. doc/sim_system.md lists its parameters and faults, arm_interfaces.hpp
// its interfaces.
//
// Lifecycle: configured, it measures and its brakes hold. Active, its drives have power. Claiming
// the effort commands releases the brakes, giving them up without a successor is a controlled stop;
// a successor in the same switch goes on from the last torque (effort_commands.hpp). The brakes of
// an arm open together, so the efforts are claimed all at once or not at all.
//
// Faults: write() returns DEACTIVATE, so that the states go on; the torque fades or is cut while
// the component is inactive. Where nothing answers any more read() returns ERROR. on_activate()
// refuses as long as a fault is latched or controllers hold the efforts. A commanded effort counts
// only from the first one that a controller has written after its activation; what was there before
// is erased.

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
