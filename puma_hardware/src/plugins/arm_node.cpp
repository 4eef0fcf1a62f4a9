// SPDX-License-Identifier: Apache-2.0
#include "plugins/arm_node.hpp"

#include <chrono>
#include <stdexcept>
#include <utility>

#include "emulator/fault_text.hpp"

namespace puma_hardware {

using namespace ga_hardware;
namespace {

using namespace std::chrono_literals;
using diagnostic_msgs::msg::DiagnosticStatus;

/// The simulated arm's name for the loss of all cards; here it is the loss of one.
constexpr char kCardLost[] = "card-lost", kLostCard[] = "pcl818-lost";
/// Faults of the control loop, not of a card.
constexpr Fault kLoopFaults[] = {Fault::kDeadlineMissed, Fault::kEmergencyStop};

std::string fault_names() {
  std::string all = emulator::card_fault_names() + ", " + kCardLost;
  for (const Fault fault : kLoopFaults) all += std::string(", ") + to_string(fault);
  return all;
}

/// Throws std::invalid_argument naming the known faults.
void inject_by_name(ArmMailbox& mailbox, emulator::EmulatedCards& cards, const std::string& text,
                    const ArmSettings& settings) {
  for (const Fault fault : kLoopFaults) {
    if (text != to_string(fault)) continue;
    mailbox.injected = fault;
    return;
  }
  const std::string name = ", " + text.substr(0, text.find(':'));
  if (!text.empty() && (", " + fault_names()).find(name) == std::string::npos) {
    throw std::invalid_argument("fault '" + text + "' is unknown; give one of " + fault_names() +
                                ", or nothing for none");
  }
  emulator::inject_by_name(cards, text == kCardLost ? kLostCard : text, settings);
  if (text.empty()) mailbox.injected = Fault::kNone;
}

bool calibrated(SafetyState state) {
  return state == SafetyState::kCalibrated || state == SafetyState::kActive;
}

std::string hot_joints(std::uint8_t thermal, const ArmSettings& settings) {
  std::string names;
  for (std::size_t i = 0; i < 6; ++i) {
    if ((thermal >> i & 1) != 0) names += (names.empty() ? "" : ", ") + settings.joints[i].name;
  }
  return names.empty() ? "none" : names;
}

}  // namespace

ArmConnection ArmMailbox::connection() {
  const std::lock_guard lock(mutex_);
  return connection_;
}

void ArmMailbox::connect(ArmConnection connection) {
  const std::lock_guard lock(mutex_);
  connection_ = std::move(connection);
}

std::string explain_fault(const ArmStatus& status, const ArmSettings& settings) {
  std::string text = describe(status.cause, settings);
  if (status.tripped && status.cause.fault != Fault::kGuardCut)
    text += " (the guard has cut the outputs: the control loop stalled)";
  if (status.cause.fault == Fault::kCardLost) {
    return text +
           "; check the card and its cable, then set the component inactive, calibrate it and set it "
           "active";
  }
  text += "; remove the cause and call reset_fault";
  if (spoils_calibration(status.cause.fault)) text += ", then calibrate";
  return text + ", then set the component active";
}

ArmNode::ArmNode(const rclcpp::Node::SharedPtr& node, const ArmSettings& settings,
                 std::shared_ptr<ArmMailbox> mailbox)
    : logger_(node->get_logger()),
      settings_(settings),
      mailbox_(std::move(mailbox)),
      progress_(node->create_publisher<std_msgs::msg::Float64>("~/calibration_progress", 1)) {}

std::shared_ptr<ArmNode> ArmNode::make(const rclcpp::Node::SharedPtr& node,
                                       const ArmSettings& settings,
                                       std::shared_ptr<ArmMailbox> mailbox) {
  std::shared_ptr<ArmNode> made(new ArmNode(node, settings, std::move(mailbox)));
  made->offer_services(node);
  made->offer_action(node);
  return made;
}

void ArmNode::offer_services(const rclcpp::Node::SharedPtr& node) {
  const std::weak_ptr<ArmNode> weak = weak_from_this();
  calibrate_ = node->create_service<Trigger>(
      "~/calibrate",
      [weak](const Service::SharedPtr service, const std::shared_ptr<rmw_request_id_t> request,
             const Trigger::Request::SharedPtr) {
        const auto its = weak.lock();
        if (!its) return;
        its->start_calibration(
            [service, request](CalibrationRun::End end, const std::string& message) {
              Trigger::Response response;
              response.success = end == CalibrationRun::End::kDone;
              response.message = message;
              service->send_response(*request, response);
            });
      });
  cancel_ = node->create_service<Trigger>(
      "~/cancel_calibration",
      [weak](const Trigger::Request::SharedPtr, const Trigger::Response::SharedPtr response) {
        const auto its = weak.lock();
        response->success = its && its->run_;
        response->message = response->success ? "stopping" : "no calibration is in progress";
        if (response->success) its->run_->cancel();
      });
  brakes_ = node->create_service<Trigger>(
      "~/confirm_brakes",
      [weak](const Trigger::Request::SharedPtr, const Trigger::Response::SharedPtr response) {
        const auto its = weak.lock();
        const BrakeRequest request =
            its ? its->mailbox_->status.get().brake_request : BrakeRequest::kNone;
        response->success = request != BrakeRequest::kNone;
        response->message = request == BrakeRequest::kOpen    ? "the brakes are open"
                            : request == BrakeRequest::kClose ? "the brakes are closed"
                                                              : "nothing was asked for";
        if (response->success) its->mailbox_->brakes_confirmed = true;
      });
  timer_ = node->create_wall_timer(50ms, [weak] {
    const auto its = weak.lock();
    if (!its) return;
    its->watch_calibration();
    its->watch_brakes();
  });
}

void ArmNode::offer_action(const rclcpp::Node::SharedPtr& node) {
  const std::weak_ptr<ArmNode> weak = weak_from_this();
  // A goal that cannot start is accepted and aborted: a rejection has no message.
  action_ = rclcpp_action::create_server<Calibrate>(
      node, "~/calibrate",
      [](const rclcpp_action::GoalUUID&, const Calibrate::Goal::ConstSharedPtr&) {
        return rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE;
      },
      [weak](const std::shared_ptr<Goal>& goal) {
        const auto its = weak.lock();
        if (!its || its->goal_ != goal) return rclcpp_action::CancelResponse::REJECT;
        its->run_->cancel();
        return rclcpp_action::CancelResponse::ACCEPT;
      },
      [weak](const std::shared_ptr<Goal>& goal) {
        const auto its = weak.lock();
        if (!its) return;
        its->start_calibration([goal](CalibrationRun::End end, const std::string& message) {
          const auto result = std::make_shared<Calibrate::Result>();
          result->success = end == CalibrationRun::End::kDone;
          result->message = message;
          if (result->success) {
            goal->succeed(result);
          } else if (goal->is_canceling()) {
            goal->canceled(result);
          } else {
            goal->abort(result);
          }
        });
        if (its->run_ && !its->goal_ && goal->is_active()) its->goal_ = goal;
      });
}

std::string ArmNode::injection_help() {
  return "With emulated cards, the fault to inject: " + fault_names() + ", or nothing";
}

void ArmNode::inject(const std::string& fault) {
  const std::shared_ptr<Robot> robot = mailbox_->connection().robot;
  if (robot && robot->cards() != nullptr) {
    inject_by_name(*mailbox_, *robot->cards(), fault, settings_);
  } else if (!fault.empty()) {
    throw std::invalid_argument(
        "there are no emulated cards; configure the component with io emulated first");
  }
}

std::string ArmNode::begin_run() {
  if (run_) return "a calibration is in progress; wait, or call cancel_calibration";
  switch (mailbox_->life) {
    case ArmMailbox::Life::kUnconfigured:
      return "the component is not configured; set it inactive first";
    case ArmMailbox::Life::kActive:
      return "the component is active; set it inactive first";
    case ArmMailbox::Life::kInactive:
      break;
  }
  const ArmConnection connection = mailbox_->connection();
  if (!connection.table) return connection.no_table;
  if (!connection.no_power.empty()) return connection.no_power;
  const ArmStatus status = mailbox_->status.get();
  if (status.guarded && !status.guard_alive) {
    return "no guard is running; start `puma guard` first";
  }
  if (status.state == SafetyState::kFault) return explain_fault(status, settings_);
  const ga_dynamics::Chain& chain = connection.robot->chain();
  run_ = std::make_unique<CalibrationRun>(connection.robot->settings(), *connection.table, chain,
                                          calibration_law(chain));
  mailbox_->offered = run_.get();
  return "";
}

void ArmNode::start_calibration(
    std::function<void(CalibrationRun::End, const std::string&)> finish) {
  std::string refusal;
  try {
    refusal = begin_run();
  } catch (const std::exception& error) {
    refusal = error.what();
  }
  if (refusal.empty()) {
    finish_ = std::move(finish);
    goal_ = nullptr;
    RCLCPP_INFO(logger_, "calibration: every joint moves a few motor turns and back");
  } else {
    RCLCPP_ERROR(logger_, "calibration: %s", refusal.c_str());
    finish(CalibrationRun::End::kRefused, refusal);
  }
}

void ArmNode::watch_brakes() {
  const BrakeRequest request = mailbox_->status.get().brake_request;
  if (request == std::exchange(asked_, request)) return;
  if (request == BrakeRequest::kOpen) {
    RCLCPP_WARN(logger_, "the motors hold the arm: open the brakes, then call confirm_brakes");
  } else if (request == BrakeRequest::kClose) {
    RCLCPP_ERROR(logger_, "CLOSE THE BRAKES NOW, then call confirm_brakes; the torque ends in %g s",
                 mailbox_->connection().robot->settings().safety.manual_stop_time);
  }
}

void ArmNode::watch_calibration() {
  if (!run_) return;
  // Before the loop took the run, the component may have left the inactive state.
  CalibrationRun* mine = run_.get();
  if (mailbox_->life != ArmMailbox::Life::kInactive &&
      mailbox_->offered.compare_exchange_strong(mine, nullptr)) {
    run_->abandon();
  }
  std_msgs::msg::Float64 share;
  share.data = run_->progress();
  progress_->publish(share);
  if (goal_) {
    const auto feedback = std::make_shared<Calibrate::Feedback>();
    feedback->progress = share.data;
    goal_->publish_feedback(feedback);
  }
  if (run_->end() == CalibrationRun::End::kNone) return;
  const CalibrationRun::End end = run_->end();
  const bool done = end == CalibrationRun::End::kDone;
  const std::string message =
      done ? "calibrated; set the component active to continue" : run_->reason(settings_);
  if (done) {
    RCLCPP_INFO(logger_, "calibrated");
  } else {
    RCLCPP_ERROR(logger_, "calibration: %s", message.c_str());
  }
  run_.reset();
  goal_.reset();
  finish_(end, message);
  finish_ = nullptr;
}

void ArmNode::diagnose(diagnostic_updater::DiagnosticStatusWrapper& to) const {
  const ArmStatus status = mailbox_->status.get();
  if (status.cause.fault != Fault::kNone) {
    to.summary(DiagnosticStatus::ERROR, explain_fault(status, settings_));
  } else if (mailbox_->life == ArmMailbox::Life::kUnconfigured) {
    to.summary(DiagnosticStatus::STALE, "not connected");
  } else if (status.guarded && !status.guard_alive) {
    to.summary(DiagnosticStatus::WARN, "no guard is running; start `puma guard`");
  } else if (!calibrated(status.state) && status.state != SafetyState::kCalibrating) {
    to.summary(DiagnosticStatus::WARN, "not calibrated; call the service calibrate");
  } else {
    to.summary(DiagnosticStatus::OK, to_string(status.state));
  }
  to.add("state", to_string(status.state));
  to.add("reaction", to_string(status.reaction));
  to.add("fault", to_string(status.cause.fault));
  to.add("limits reached", status.limits_reached);
  to.add("power", status.powered ? "on" : "off");
  to.add("brakes", status.brakes_released ? "released" : "closed");
  to.add("hot motors", hot_joints(status.thermal, settings_));
  to.add("calibrated", calibrated(status.state) ? "yes" : "no");
  if (run_) to.addf("calibration", "%.0f %%", 100 * run_->progress());
  to.add("guard", !status.guarded ? "not used" : status.guard_alive ? "running" : "missing");
  to.add("guard has tripped", status.tripped ? "yes" : "no");
  to.add("cycles", status.cycles);
  to.add("late cycles", status.late_cycles);
  to.addf("cycle time, mean", "%.1f us", status.period_mean_us);
  to.addf("cycle time, longest", "%.1f us", status.period_max_us);
  to.addf("port accesses of a cycle, mean", "%.1f us", status.bus_mean_us);
  to.addf("port accesses of a cycle, longest", "%.1f us", status.bus_max_us);
}

}  // namespace puma_hardware
