// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PLUGINS__ARM_PAYLOAD_HPP_
#define GA_CONTROLLERS__PLUGINS__ARM_PAYLOAD_HPP_

// One payload for all laws of an arm. The controllers of an arm run in one process, that of the
// controller manager: each joins its arm when it is configured. The service ~/set_payload of any of
// them sets the parameters of all. A controller that joins later gets the arm's present payload.
//
// Not real-time safe. Thread-safe.

#include <ga_msgs/srv/set_payload.hpp>
#include <memory>
#include <rclcpp_lifecycle/lifecycle_node.hpp>
#include <string>

#include "ga_dynamics/chain.hpp"

namespace ga_controllers {

/// A controller's membership in its arm, from construction to destruction.
class ArmPayload {
 public:
  using Service = ga_msgs::srv::SetPayload;
  using Node = rclcpp_lifecycle::LifecycleNode;

  /// Joins the arm and offers the service. The arm is known by the namespace of the node, which is
  /// that of the controller manager, and by the chain's joints and tip link, in whose frame payloads
  /// are given. If the service has set a payload of the arm before, sets the node's parameters.
  ArmPayload(const Node::SharedPtr& node, const ga_dynamics::Chain& chain);
  ~ArmPayload();
  ArmPayload(const ArmPayload&) = delete;
  ArmPayload& operator=(const ArmPayload&) = delete;

 private:
  static void set(const std::string& arm, const Service::Request& request,
                  Service::Response& response);

  const std::weak_ptr<Node> node_;
  const std::string arm_;
  rclcpp::Service<Service>::SharedPtr service_;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PLUGINS__ARM_PAYLOAD_HPP_
