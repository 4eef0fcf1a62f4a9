// SPDX-License-Identifier: Apache-2.0
#ifndef PLUGINS__SIM_NODE_HPP_
#define PLUGINS__SIM_NODE_HPP_

// Interface of the simulated arm on its component's ROS node, outside the control loop:
//
//   inject_fault      parameter: "thermal:joint2", … (parse_injection), "" for none
//   /diagnostics      drive state, fault, cycle times
//   log               one line per fault

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "diagnostic_updater/diagnostic_updater.hpp"
#include "ga_dynamics/chain.hpp"
#include "ga_hardware/arm_system.hpp"
#include "ga_hardware/simulated_arm.hpp"
#include "rclcpp/rclcpp.hpp"
#include "realtime_tools/realtime_thread_safe_box.hpp"

namespace ga_hardware {

/// Status of the control loop.
struct SimStatus {
  DriveState state = DriveState::kOff;
  FaultRecord fault;
  bool diverged = false;
  std::uint64_t cycles = 0, late_cycles = 0;
  double mean_us = 0, max_us = 0;  ///< of read() and write() together
};

struct SimMailbox : LoopMailbox {
  std::atomic<std::uint32_t> injection{0};  ///< packed; see pack()
  std::atomic<bool> injected{false};        ///< the loop has not read `injection` yet
  realtime_tools::RealtimeThreadSafeBox<SimStatus> status;

  static std::uint32_t pack(const Injection& injection);
  static Injection unpack(std::uint32_t word);
};

/// "joint2: thermal: …" with value, threshold and remedy. `diverged`: the integration failed.
/// Allocates.
std::string describe_fault(const FaultRecord& fault, bool diverged,
                           const std::vector<std::string>& joints);

/// Construction allocates; its callbacks run in the node's executor and share only the mailbox with
/// the loop.
class SimNode {
 public:
  SimNode(const rclcpp::Node::SharedPtr& node, const ga_dynamics::Chain& chain,
          std::shared_ptr<SimMailbox> mailbox);

 private:
  diagnostic_updater::Updater updater_;
  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr on_parameter_;
  rclcpp::TimerBase::SharedPtr log_timer_;
};

}  // namespace ga_hardware

#endif  // PLUGINS__SIM_NODE_HPP_
