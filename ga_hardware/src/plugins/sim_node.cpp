// SPDX-License-Identifier: Apache-2.0
#include "plugins/sim_node.hpp"

#include <chrono>
#include <stdexcept>
#include <utility>

namespace ga_hardware {
namespace {

using namespace std::chrono_literals;
using diagnostic_msgs::msg::DiagnosticStatus;

constexpr char kInjection[] = "inject_fault";

void diagnose(diagnostic_updater::DiagnosticStatusWrapper& to, const SimStatus& status,
              const std::vector<std::string>& joints) {
  if (status.fault.fault == Fault::kNone) {
    to.summary(DiagnosticStatus::OK, to_string(status.state));
  } else {
    to.summary(DiagnosticStatus::ERROR, describe_fault(status.fault, status.diverged, joints));
  }
  to.add("drives", to_string(status.state));
  to.add("fault", to_string(status.fault.fault));
  to.add("cycles", status.cycles);
  to.add("late cycles", status.late_cycles);
  to.addf("read and write, mean", "%.1f us", status.mean_us);
  to.addf("read and write, longest", "%.1f us", status.max_us);
}

}  // namespace

std::uint32_t SimMailbox::pack(const Injection& injection) {
  return static_cast<std::uint32_t>(injection.fault) |
         static_cast<std::uint32_t>(injection.joint + 1) << 8;
}
Injection SimMailbox::unpack(std::uint32_t word) {
  return {static_cast<Fault>(word & 0xff), static_cast<int>(word >> 8) - 1};
}

std::string describe_fault(const FaultRecord& fault, bool diverged,
                           const std::vector<std::string>& joints) {
  if (diverged) {
    return "the integration has diverged: give the hardware a shorter sub_step, or look for "
           "implausible inertias and gains; then call reset_fault, which returns the arm to its "
           "initial position, and set the component inactive and active";
  }
  if (fault.fault == Fault::kCardLost) {
    return "card-lost: the cards do not respond; set inject_fault to nothing, call reset_fault, then set "
           "the component inactive and active";
  }
  const std::string joint =
      fault.joint >= 0 ? joints.at(static_cast<std::size_t>(fault.joint)) : "";
  return describe(fault, joint) +
         "; remove the cause, call reset_fault and set the component active again";
}

SimNode::SimNode(const rclcpp::Node::SharedPtr& node, const ga_dynamics::Chain& chain,
                 std::shared_ptr<SimMailbox> mailbox)
    : updater_(node, 1.0) {
  std::vector<std::string> joints;
  for (const auto& joint : chain.joints()) joints.push_back(joint.name);

  updater_.setHardwareID(node->get_fully_qualified_name());
  updater_.add("simulated arm", [mailbox, joints](diagnostic_updater::DiagnosticStatusWrapper& to) {
    diagnose(to, mailbox->status.get(), joints);
  });

  rcl_interfaces::msg::ParameterDescriptor about;
  about.description = "Fault to simulate: " + injection_names() + ", or nothing";
  on_parameter_ = node->add_on_set_parameters_callback(
      [mailbox, chain](const std::vector<rclcpp::Parameter>& parameters) {
        rcl_interfaces::msg::SetParametersResult result;
        result.successful = true;
        for (const rclcpp::Parameter& parameter : parameters) {
          if (parameter.get_name() != kInjection) continue;
          try {
            mailbox->injection = SimMailbox::pack(parse_injection(parameter.as_string(), chain));
            mailbox->injected = true;
          } catch (const std::invalid_argument& error) {
            result.successful = false;
            result.reason = error.what();
          }
        }
        return result;
      });
  node->declare_parameter(kInjection, "", about);

  log_timer_ = node->create_wall_timer(100ms, [mailbox, joints, logger = node->get_logger(),
                                               last = std::make_shared<FaultRecord>()] {
    const SimStatus status = mailbox->status.get();
    const FaultRecord& now = status.fault;
    if (now.fault != Fault::kNone && (now.fault != last->fault || now.cycle != last->cycle)) {
      RCLCPP_ERROR(logger, "%s", describe_fault(now, status.diverged, joints).c_str());
    }
    *last = now;
  });
}

}  // namespace ga_hardware
