// SPDX-License-Identifier: Apache-2.0
#ifndef PLUGINS__ARM_NODE_HPP_
#define PLUGINS__ARM_NODE_HPP_

// What the arm adds to the shell's ROS node, outside of the control loop:
//
//   ~/calibrate             action ga_msgs/Calibrate: finds the position by small motions while the
//                           component is inactive; canceling it stops them
//   ~/calibrate             std_srvs/Trigger: the same as a service, which responds at their end
//   ~/cancel_calibration    std_srvs/Trigger: stops them, however they were started
//   ~/calibration_progress  std_msgs/Float64, 0 … 1, during the motions and at their end
//   ~/confirm_brakes        std_srvs/Trigger, with manual_power: a person has opened, or closed, the
//                           brakes as the log asked
//   inject_fault            emulated cards only: "thermal:joint2", …; "": none
//   /diagnostics            arm, cards, guard

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "arm/puma_arm.hpp"
#include "diagnostic_updater/diagnostic_status_wrapper.hpp"
#include "ga_dynamics/chain.hpp"
#include "ga_hardware/arm_system.hpp"
#include "ga_msgs/action/calibrate.hpp"
#include "rclcpp/rclcpp.hpp"
#include "rclcpp_action/rclcpp_action.hpp"
#include "realtime_tools/realtime_thread_safe_box.hpp"
#include "runtime/calibration_run.hpp"
#include "runtime/robot.hpp"
#include "std_msgs/msg/float64.hpp"
#include "std_srvs/srv/trigger.hpp"

namespace puma_hardware {

/// Status published by the control loop.
struct ArmStatus {
  SafetyState state = SafetyState::kOff;
  Reaction reaction = Reaction::kNone;
  FaultRecord cause;
  int limits_reached = 0;  ///< faults that did not stop the arm
  bool powered = false, brakes_released = false;
  BrakeRequest brake_request = BrakeRequest::kNone;
  std::uint8_t thermal = 0;
  bool guarded = false, guard_alive = false, tripped = false;
  std::uint64_t cycles = 0, late_cycles = 0;
  double bus_mean_us = 0, bus_max_us = 0, period_mean_us = 0, period_max_us = 0;
};

/// The connected robot; changes when the component is configured.
struct ArmConnection {
  std::shared_ptr<Robot> robot;
  std::shared_ptr<const CalibrationTable> table;  ///< null if there is none; `no_table` says why
  std::string no_table;
  std::string no_power;  ///< why no torque may flow; empty if it may
};

struct ArmMailbox : ga_hardware::LoopMailbox {
  /// A calibration for the loop to run; null once taken. The node owns it.
  std::atomic<CalibrationRun*> offered{nullptr};
  /// Injected fault of the loop: kDeadlineMissed, kEmergencyStop, or kNone.
  std::atomic<Fault> injected{Fault::kNone};
  std::atomic<bool> brakes_confirmed{false};
  realtime_tools::RealtimeThreadSafeBox<ArmStatus> status;

  // Block; not for the loop.
  ArmConnection connection();
  void connect(ArmConnection connection);

 private:
  std::mutex mutex_;
  ArmConnection connection_;
};

/// "joint2: thermal…" and the remedy. Allocates.
std::string explain_fault(const ArmStatus& status, const ArmSettings& settings);

/// Callbacks run in the node's executor, perhaps while the component is destroyed. They share with
/// the loop the mailbox and, for injected faults, the emulated cards.
class ArmNode : public std::enable_shared_from_this<ArmNode> {
 public:
  static std::shared_ptr<ArmNode> make(const rclcpp::Node::SharedPtr& node,
                                       const ArmSettings& settings,
                                       std::shared_ptr<ArmMailbox> mailbox);

  void diagnose(diagnostic_updater::DiagnosticStatusWrapper& to) const;
  static std::string injection_help();
  /// Throws std::invalid_argument naming the known faults.
  void inject(const std::string& fault);

 private:
  using Trigger = std_srvs::srv::Trigger;
  using Service = rclcpp::Service<Trigger>;
  using Calibrate = ga_msgs::action::Calibrate;
  using Goal = rclcpp_action::ServerGoalHandle<Calibrate>;

  ArmNode(const rclcpp::Node::SharedPtr& node, const ArmSettings& settings,
          std::shared_ptr<ArmMailbox> mailbox);
  void offer_services(const rclcpp::Node::SharedPtr& node);
  void offer_action(const rclcpp::Node::SharedPtr& node);
  /// Starts a run, or calls `finish` at once with the reason why not.
  void start_calibration(std::function<void(CalibrationRun::End, const std::string&)> finish);
  std::string begin_run();
  void watch_calibration();
  void watch_brakes();

  rclcpp::Logger logger_;
  ArmSettings settings_;
  std::shared_ptr<ArmMailbox> mailbox_;
  rclcpp::Publisher<std_msgs::msg::Float64>::SharedPtr progress_;
  Service::SharedPtr calibrate_, cancel_, brakes_;
  BrakeRequest asked_ = BrakeRequest::kNone;
  rclcpp_action::Server<Calibrate>::SharedPtr action_;
  rclcpp::TimerBase::SharedPtr timer_;
  std::unique_ptr<CalibrationRun> run_;
  std::function<void(CalibrationRun::End, const std::string&)> finish_;  ///< at the end of run_
  std::shared_ptr<Goal> goal_;  ///< of the action; null if a service started run_
};

}  // namespace puma_hardware

#endif  // PLUGINS__ARM_NODE_HPP_
