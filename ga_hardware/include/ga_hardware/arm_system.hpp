// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__ARM_SYSTEM_HPP_
#define GA_HARDWARE__ARM_SYSTEM_HPP_

// ArmSystem: the ros2_control shell that real and simulated arms share. It has the lifecycle, the
// cycle, the interfaces, the effort commands and the fault resets; an ArmBackend is the arm.
// SimSystem: the simulated one.
//
// Lifecycle: when configured, the arm measures and its brakes are closed. When active, it may have
// power. The first command of a controller that has claimed the efforts opens the brakes. Releasing
// the efforts without a successor is a controlled stop; a successor in the same switch starts from
// the last torque. The brakes of an arm open together, so all efforts must be claimed at once.
// Effort commands are valid from the first one that a controller writes after its activation;
// earlier ones are erased. Activation is refused while controllers claim the efforts; clean-up forgets
// the claims, and what those controllers write does not count.
//
// Faults: write() returns DEACTIVATE. While the component is inactive, read() continues the cycle:
// the torque ramps down and the states are updated. If the hardware does not respond, the result is
// ERROR and the component becomes unconfigured.
//
// The interfaces of an arm are position, velocity and effort of every joint, an effort command, and
// the digital inputs and outputs that the description declares in <gpio> tags of any name:
//
//   state    output1 … output8   the tool's outputs, 0 or 1
//            power               1: the drives have power
//            brakes              1: closed
//            thermal             alarms, bit i for the i-th joint of the chain
//            fault_code          the number of the ga_hardware::Fault, 0: none
//   command  output1 … output8   the tool's outputs, 0 or 1
//            power               0: controlled stop, power off, the component becomes inactive
//            fault_reset         rising to 1: clears the record of reached limits and a fault; after
//                                a stop, however, no controller can claim it
//
// All values are doubles, as ros2_controllers' GPIO controller requires. The component's node has the
// service ~/reset_fault (std_srvs/Trigger), which clears a fault whose cause is gone once the arm
// stands, the parameter inject_fault, /diagnostics, and a log line per fault.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diagnostic_updater/diagnostic_status_wrapper.hpp"
#include "ga_dynamics/chain.hpp"
#include "ga_hardware/safety_machine.hpp"
#include "hardware_interface/system_interface.hpp"

namespace ga_hardware {

/// A fault-reset request, from the service to the control loop and back.
enum class ResetRequest : int {
  kNone,
  kAsked,
  kTried,         ///< cleared; the end of the cycle shows whether the cause persists
  kDone,          ///< the fault is cleared
  kUncalibrated,  ///< the fault is cleared, but the arm must be calibrated
  kStopping,      ///< refused while the arm is stopping
  kRefused        ///< the cause persists
};

/// Shared by the control loop and the component's node. The loop's side never waits.
struct LoopMailbox {
  enum class Life : int { kUnconfigured, kInactive, kActive };
  std::atomic<Life> life{Life::kUnconfigured};
  std::atomic<ResetRequest> reset{ResetRequest::kNone};
};

/// State of an arm after a measurement; the spans have one value per joint of the chain and are
/// valid until the next call of the arm.
struct ArmState {
  std::span<const double> position, velocity, torque;  ///< rad, rad/s, N m
  bool position_known = true;  ///< false: positions and velocities are shown as NaN
  bool powered = false, brakes_closed = true;
  std::uint64_t thermal = 0;  ///< alarms, bit per joint
};

/// Simulated time that the component publishes on /clock, one period per cycle.
struct SimulatedTime {
  double period = 0.001;        ///< s
  double real_time_factor = 1;  ///< upper limit; 0: unlimited
};

/// Of read() and write() together.
struct ExecutionTime {
  double mean_us = 0, max_us = 0;
};

/// The fault that stopped the arm.
struct ReportedFault {
  FaultRecord record;
  std::string text;  ///< with the remedy; empty if there is none
};

/// What differs between arms. One call at a time, from any thread, except for those of the node. A
/// cycle is measure(), then command() or idle() once.
class ArmBackend {
 public:
  virtual ~ArmBackend() = default;

  virtual const ga_dynamics::Chain& chain() const noexcept = 0;
  virtual std::shared_ptr<LoopMailbox> mailbox() const noexcept = 0;
  virtual std::optional<SimulatedTime> simulated_time() const noexcept = 0;

  // Lifecycle; may allocate, block, and throw std::exception that says why it fails.

  virtual void connect() = 0;
  /// If not, connect() is the only function of the lifecycle and the cycle that is called.
  virtual bool connected() const noexcept = 0;
  virtual std::string refuse_activation() = 0;  ///< why the arm must not become active, or ""
  /// Allows power; why it does not, or "". Called after refuse_activation().
  virtual std::string power_on() = 0;
  virtual void power_off() = 0;  ///< begins a controlled stop, after which there is no power
  virtual void halt() = 0;       ///< returns when the arm is at rest without power
  virtual void disconnect() {}   ///< after halt()
  virtual void cut() = 0;        ///< no torque, no power, brakes closed; may be called repeatedly

  // Cycle; real-time safe.

  /// Begins a cycle `period` [s] after the last one by the controller manager's clock; returns the
  /// true elapsed time [s]. Throws if the calling thread has no access to the hardware.
  virtual double measure(double period, bool active) = 0;
  /// N m, s; `handover`: torque of a predecessor, whose successor has not commanded yet.
  virtual void command(std::span<const double> torque, double age, bool handover) noexcept = 0;
  virtual void idle() noexcept = 0;  ///< continues stops and holds
  virtual void stop() noexcept = 0;  ///< begins a controlled stop
  /// kTried, kStopping or kRefused.
  virtual ResetRequest reset_fault() noexcept = 0;
  virtual void set_tool(std::size_t output, bool on) noexcept = 0;
  virtual ArmState state() const noexcept = 0;
  virtual const SafetyMachine& safety() const noexcept = 0;
  virtual bool lost() const noexcept = 0;  ///< the hardware does not respond
  /// Passes its status to the node, after each measurement and output.
  virtual void report(const ExecutionTime& time) noexcept = 0;

  // For the component's node, in its thread beside the cycle; not real-time safe.

  virtual const char* title() const noexcept = 0;  ///< of the diagnostics
  virtual void diagnose(diagnostic_updater::DiagnosticStatusWrapper& to) const = 0;
  virtual ReportedFault reported_fault() const = 0;
  virtual std::string injection_help() const = 0;  ///< of the parameter inject_fault
  /// Simulates the named fault; "": none. Throws std::invalid_argument that lists the known names.
  virtual void inject(const std::string& fault) = 0;
};

class ArmSystem : public hardware_interface::SystemInterface {
 public:
  using CallbackReturn = hardware_interface::CallbackReturn;
  using Return = hardware_interface::return_type;

  ~ArmSystem() override;

  CallbackReturn on_init(
      const hardware_interface::HardwareComponentInterfaceParams& params) override;
  CallbackReturn on_configure(const rclcpp_lifecycle::State& previous) override;
  CallbackReturn on_activate(const rclcpp_lifecycle::State& previous) override;
  CallbackReturn on_deactivate(const rclcpp_lifecycle::State& previous) override;
  /// Returns when the arm is at rest.
  CallbackReturn on_cleanup(const rclcpp_lifecycle::State& previous) override;
  /// The same as on_cleanup().
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

 protected:
  /// `tool_outputs`: how many the arm has, at most 8.
  explicit ArmSystem(std::size_t tool_outputs);

  /// The arm of the description, not connected. Called once, in on_init(). Throws std::exception
  /// naming the element of the description and the remedy.
  virtual std::unique_ptr<ArmBackend> make_arm() = 0;

 private:
  struct Impl;
  std::size_t tool_outputs_;
  std::unique_ptr<Impl> impl_;
};

/// ga_hardware/SimSystem: a simulated arm. Any serial arm with an effort command per joint.
/// doc/sim_system.md describes parameters and faults. When active, the drives have power.
class SimSystem : public ArmSystem {
 public:
  SimSystem();

 private:
  std::unique_ptr<ArmBackend> make_arm() override;
};

/// Checks that the hardware has exactly the chain's joints. Throws std::runtime_error that begins
/// with `where` and names the missing or surplus joint and the remedy.
void check_joints(const std::string& where, const hardware_interface::HardwareInfo& info,
                  const ga_dynamics::Chain& chain);

}  // namespace ga_hardware

#endif  // GA_HARDWARE__ARM_SYSTEM_HPP_
