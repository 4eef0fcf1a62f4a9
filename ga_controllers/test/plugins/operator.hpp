// SPDX-License-Identifier: Apache-2.0
#ifndef OPERATOR_HPP_
#define OPERATOR_HPP_

// Commands a controller through its topic and receives its state.

#include <functional>
#include <rclcpp/rclcpp.hpp>
#include <string>
#include <vector>

#include "bench.hpp"

namespace test {

using StateMessage = control_msgs::msg::DynamicJointState;
using trajectory_msgs::msg::JointTrajectory;

/// A node beside the controller's.
class Operator {
 public:
  explicit Operator(Bench& bench);

  /// Configures the controller, connects to its topic and lets it hold the arm for ten cycles.
  bool start(Arm& arm);
  /// Waits for the controller's subscription, if its law takes references; false after ten seconds.
  bool connect();
  /// Waits until `done`; false after ten seconds.
  bool wait(const std::function<bool()>& done);
  /// Sends the message and spins the controller's node.
  void send(const JointTrajectory& what);

  std::vector<StateMessage> states;

 private:
  Bench& bench_;
  rclcpp::Node::SharedPtr node_;
  rclcpp::Publisher<JointTrajectory>::SharedPtr publisher_;
  rclcpp::Subscription<StateMessage>::SharedPtr subscription_;
  rclcpp::executors::SingleThreadedExecutor executor_;
};

/// Fails the test if the state has no value of that name.
double value(const StateMessage& state, std::size_t joint, const std::string& name);

}  // namespace test

#endif  // OPERATOR_HPP_
