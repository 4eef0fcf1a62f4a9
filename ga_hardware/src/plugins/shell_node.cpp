// SPDX-License-Identifier: Apache-2.0
#include "plugins/shell_node.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ga_hardware {
namespace {

using namespace std::chrono_literals;
using std_srvs::srv::Trigger;

constexpr char kInjection[] = "inject_fault";

/// Makes a request and waits up to 0.5 s for the loop's answer. Without a loop the request stays
/// pending.
void answer_reset(LoopMailbox& mailbox, Trigger::Response& response) {
  mailbox.reset = ResetRequest::kAsked;
  response.success = true;
  if (mailbox.life == LoopMailbox::Life::kUnconfigured) {
    response.message =
        "the component is not configured: the fault is cleared when it is configured";
    return;
  }
  const auto answered = [&] { return mailbox.reset.load() > ResetRequest::kTried; };
  for (int i = 0; i < 100 && !answered(); ++i) std::this_thread::sleep_for(5ms);
  switch (mailbox.reset.exchange(ResetRequest::kNone)) {
    case ResetRequest::kDone:
      response.message = "cleared; set the component active again to continue";
      return;
    case ResetRequest::kUncalibrated:
      response.message = "cleared; call calibrate, then set the component active to continue";
      return;
    case ResetRequest::kStopping:
      response.message = "the arm is still stopping; call again when it has stopped";
      break;
    case ResetRequest::kRefused:
      response.message = "the cause of the fault persists; remove it first";
      break;
    default:
      response.message =
          "no control cycle handled the request within 0.5 s; is the control loop running?";
  }
  response.success = false;
}

rcl_interfaces::msg::SetParametersResult inject(ArmBackend& arm,
                                                const std::vector<rclcpp::Parameter>& parameters) {
  rcl_interfaces::msg::SetParametersResult result;
  result.successful = true;
  for (const rclcpp::Parameter& parameter : parameters) {
    if (parameter.get_name() != kInjection) continue;
    try {
      arm.inject(parameter.as_string());
    } catch (const std::invalid_argument& error) {
      result.successful = false;
      result.reason = error.what();
    }
  }
  return result;
}

}  // namespace

ShellNode::ShellNode(const rclcpp::Node::SharedPtr& node, const std::shared_ptr<ArmBackend>& arm)
    : updater_(node, 1.0) {
  // One of these callbacks may run while the component is destroyed.
  const std::weak_ptr<ArmBackend> weak = arm;
  updater_.setHardwareID(node->get_fully_qualified_name());
  updater_.add(arm->title(), [weak](diagnostic_updater::DiagnosticStatusWrapper& to) {
    if (const auto its = weak.lock()) its->diagnose(to);
  });
  reset_ = node->create_service<Trigger>(
      "~/reset_fault", [mailbox = arm->mailbox()](const Trigger::Request::SharedPtr,
                                                  const Trigger::Response::SharedPtr response) {
        answer_reset(*mailbox, *response);
      });
  on_parameter_ = node->add_on_set_parameters_callback(
      [weak](const std::vector<rclcpp::Parameter>& parameters) {
        const auto its = weak.lock();
        return its ? inject(*its, parameters) : rcl_interfaces::msg::SetParametersResult();
      });
  rcl_interfaces::msg::ParameterDescriptor about;
  about.description = arm->injection_help();
  node->declare_parameter(kInjection, "", about);
  log_timer_ = node->create_wall_timer(
      50ms, [weak, logger = node->get_logger(), last = std::make_shared<FaultRecord>()] {
        const auto its = weak.lock();
        if (!its) return;
        const auto [now, text] = its->reported_fault();
        if (now.fault != Fault::kNone && (now.fault != last->fault || now.cycle != last->cycle)) {
          RCLCPP_ERROR(logger, "%s", text.c_str());
        }
        *last = now;
      });
}

}  // namespace ga_hardware
