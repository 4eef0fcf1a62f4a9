// SPDX-License-Identifier: Apache-2.0
#ifndef PLUGINS__SHELL_NODE_HPP_
#define PLUGINS__SHELL_NODE_HPP_

// The shell's interface on its component's ROS node, outside the control loop:
//
//   ~/reset_fault     std_srvs/Trigger: clears a fault whose cause is gone, once the arm stands
//   inject_fault      parameter: the fault to simulate, "" for none
//   /diagnostics      state, fault, cycle times
//   log               one line per fault

#include <memory>

#include "diagnostic_updater/diagnostic_updater.hpp"
#include "ga_hardware/arm_system.hpp"
#include "rclcpp/rclcpp.hpp"
#include "std_srvs/srv/trigger.hpp"

namespace ga_hardware {

/// Construction allocates; its callbacks run in the node's executor.
class ShellNode {
 public:
  ShellNode(const rclcpp::Node::SharedPtr& node, const std::shared_ptr<ArmBackend>& arm);

 private:
  diagnostic_updater::Updater updater_;
  rclcpp::Service<std_srvs::srv::Trigger>::SharedPtr reset_;
  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr on_parameter_;
  rclcpp::TimerBase::SharedPtr log_timer_;
};

}  // namespace ga_hardware

#endif  // PLUGINS__SHELL_NODE_HPP_
