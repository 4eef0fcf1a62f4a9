// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PLUGINS__STATE_PUBLISHER_HPP_
#define GA_CONTROLLERS__PLUGINS__STATE_PUBLISHER_HPP_

// Publishes ~/controller_state (state_message.hpp) from the control loop, at its own rate and in
// its own thread.

#include <rclcpp_lifecycle/lifecycle_node.hpp>
#include <realtime_tools/realtime_publisher.hpp>
#include <span>
#include <vector>

#include "arm_model.hpp"
#include "state_message.hpp"

namespace ga_controllers {

/// Construction allocates. All else is real-time safe: no allocation, no waiting, no logging.
class StatePublisher {
 public:
  /// `rate`: positive, Hz; limited by the update rate.
  StatePublisher(rclcpp_lifecycle::LifecycleNode& node, const ArmModel& model, double rate);

  /// The next message is due one period from now.
  void restart() noexcept { since_last_ = 0; }
  /// Call after each update of the law; `dt`: cycle time [s]; q, qd: measured state.
  void publish(const rclcpp::Time& time, double dt, std::span<const double> q,
               std::span<const double> qd, ControlLaw& law, const LawMonitor& monitor);

 private:
  using Message = control_msgs::msg::DynamicJointState;

  std::vector<std::size_t> listed_;
  Message message_;
  realtime_tools::RealtimePublisher<Message> publisher_;
  double period_, since_last_ = 0;  ///< s
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PLUGINS__STATE_PUBLISHER_HPP_
