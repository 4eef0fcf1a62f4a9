// SPDX-License-Identifier: Apache-2.0
#ifndef PLUGINS__SIM_NODE_HPP_
#define PLUGINS__SIM_NODE_HPP_

// What the simulated arm offers on its component's ROS node, outside of the control loop:
//
//   ~/reset_fault     std_srvs/Trigger: clears a fault whose cause is gone, once the arm stands
//   inject_fault      parameter: "thermal:joint2", … (parse_injection), "" for none
//   /diagnostics      drive state, fault, cycle times
// and one line in the log for every fault.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "diagnostic_updater/diagnostic_updater.hpp"
#include "ga_dynamics/chain.hpp"
#include "ga_hardware/effort_system.hpp"
#include "ga_hardware/simulated_arm.hpp"
#include "rclcpp/rclcpp.hpp"
#include "realtime_tools/realtime_thread_safe_box.hpp"
#include "std_srvs/srv/trigger.hpp"

namespace ga_hardware {

/// What the control loop tells of itself.
struct SimStatus {
  DriveState state = DriveState::kOff;
  FaultRecord fault;
  bool diverged = false;
  std::uint64_t cycles = 0, late_cycles = 0;
  double mean_us = 0, max_us = 0;  ///< of read() and write() together
};

/// Between the control loop and everything else. The loop's side never waits.
struct SimMailbox {
  std::atomic<ResetRequest> reset{ResetRequest::kNone};
  std::atomic<std::uint32_t> injection{0};  ///< packed; see pack()
  std::atomic<bool> injected{false};        ///< the loop has not yet seen `injection`
  std::atomic<bool> cycling{false};         ///< the component is at least inactive: the loop runs
  realtime_tools::RealtimeThreadSafeBox<SimStatus> status;

  static std::uint32_t pack(const Injection& injection);
  static Injection unpack(std::uint32_t word);
};

/// "joint2: thermal; …" with what was seen, what is allowed and what to do. `diverged`: what failed
/// is the integration. Allocates.
std::string describe_fault(const FaultRecord& fault, bool diverged,
                           const std::vector<std::string>& joints);

/// Construction allocates; its callbacks run in the node's executor and share nothing but the
/// mailbox with the loop.
class SimNode {
 public:
  SimNode(const rclcpp::Node::SharedPtr& node, const ga_dynamics::Chain& chain,
          std::shared_ptr<SimMailbox> mailbox);

 private:
  diagnostic_updater::Updater updater_;
  rclcpp::Service<std_srvs::srv::Trigger>::SharedPtr reset_;
  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr on_parameter_;
  rclcpp::TimerBase::SharedPtr log_timer_;
};

}  // namespace ga_hardware

#endif  // PLUGINS__SIM_NODE_HPP_
