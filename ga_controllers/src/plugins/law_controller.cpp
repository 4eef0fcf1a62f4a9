// SPDX-License-Identifier: Apache-2.0
#include "law_controller.hpp"

#include <algorithm>
#include <cmath>
#include <lifecycle_msgs/msg/state.hpp>
#include <limits>
#include <utility>

#include "parameter_names.hpp"

namespace ga_controllers {

using controller_interface::InterfaceConfiguration;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
/// A controller that is activated within this time of its last update, with its torques still
/// commanded, was restarted by a change of the chain.
constexpr std::chrono::duration<double> kRestart(0.1);
constexpr double kRestartDistance = 1e-3;  ///< rad or m, besides what its velocity explains
/// A longer cycle than this [s] counts as this long: the fading of torques must not be skipped.
constexpr double kLongestCycle = 0.1;
constexpr int kManyCycles = 1000000;  ///< counted no further
constexpr const char* kReferences[] = {"position", "velocity", "acceleration"};

InterfaceConfiguration individual(const std::vector<std::string>& joints,
                                  std::initializer_list<const char*> interfaces) {
  InterfaceConfiguration configuration;
  configuration.type = controller_interface::interface_configuration_type::INDIVIDUAL;
  for (const char* interface : interfaces) {
    for (const std::string& joint : joints) {
      configuration.names.push_back(joint + "/" + interface);
    }
  }
  return configuration;
}

}  // namespace

InterfaceConfiguration LawController::command_interface_configuration() const {
  return individual(model_ ? model_->joints : std::vector<std::string>{}, {"effort"});
}

InterfaceConfiguration LawController::state_interface_configuration() const {
  if (!model_) return individual({}, {});
  if (!model_->tells_effort) return individual(model_->joints, {"position", "velocity"});
  return individual(model_->joints, {"position", "velocity", "effort"});
}

LawController::CallbackReturn LawController::on_init() {
  try {
    parameter_listener_ = std::make_shared<law_controller::ParamListener>(get_node());
  } catch (const std::exception& error) {
    const std::string why = explain_failure(
        error.what(), [this](const std::string& name) { return get_node()->has_parameter(name); });
    RCLCPP_ERROR(get_node()->get_logger(), "cannot be initialized: %s", why.c_str());
    return CallbackReturn::ERROR;
  }
  return CallbackReturn::SUCCESS;
}

LawController::CallbackReturn LawController::on_configure(const State&) {
  const rclcpp::Logger logger = get_node()->get_logger();
  try {
    parameters_ = parameter_listener_->get_params();
    auto model = std::make_unique<ArmModel>(get_robot_description(), parameters_);
    gains_.start(checked_gains(*model, parameters_, get_update_rate()));
    auto law = std::make_unique<ControlLaw>(model->chain, model->law(kind_, parameters_));
    for (const std::string& warning : model->chain.warnings()) {
      RCLCPP_WARN(logger, "robot description: %s", warning.c_str());
    }
    const std::lock_guard lock(model_mutex_);
    model_ = std::move(model);
    law_ = std::move(law);
  } catch (const std::exception& error) {
    RCLCPP_ERROR(logger, "cannot be configured: %s", error.what());
    return CallbackReturn::FAILURE;
  }
  const std::size_t n = model_->joints.size();
  for (auto* values : {&q_, &qd_, &q_before_, &qd_before_, &tau_, &written_}) {
    values->assign(n, kNan);
  }
  input_.configure(n, parameters_.reference_timeout, static_cast<int>(parameters_.error_cycles));
  last_update_ = {};
  notices_.clear();
  gains_check_ = get_node()->add_on_set_parameters_callback(
      [this](const std::vector<rclcpp::Parameter>& changes) { return check_gains(changes); });
  gains_change_ = get_node()->add_post_set_parameters_callback(
      [this](const std::vector<rclcpp::Parameter>&) { hand_over_gains(); });
  hand_over_gains();  // what was set meanwhile
  make_topics(parameters_.state_publish_rate);
  return CallbackReturn::SUCCESS;
}

void LawController::make_topics(double state_publish_rate) {
  if (kind_ != LawKind::kGravityHold) {
    subscription_ = get_node()->create_subscription<SetPointMessage>(
        "~/reference", rclcpp::SystemDefaultsQoS().keep_last(1),
        [this](const SetPointMessage& message) { take_message(message); });
  }
  publisher_.reset();
  if (state_publish_rate > 0) {
    publisher_ = std::make_unique<StatePublisher>(*get_node(), *model_, state_publish_rate);
  }
  reporter_ = get_node()->create_wall_timer(std::chrono::milliseconds(100), [this] {
    const std::lock_guard lock(model_mutex_);
    if (model_) notices_.report(get_node()->get_logger(), model_->joints);
  });
}

LawController::CallbackReturn LawController::on_cleanup(const State&) {
  subscription_.reset();
  publisher_.reset();
  reporter_.reset();
  gains_check_.reset();
  gains_change_.reset();
  const std::lock_guard lock(model_mutex_);
  law_.reset();
  model_.reset();
  return CallbackReturn::SUCCESS;
}

std::vector<hardware_interface::CommandInterface::SharedPtr>
LawController::on_export_reference_interfaces_list() {
  std::vector<hardware_interface::CommandInterface::SharedPtr> references;
  for (const char* kind : kReferences) {
    for (const std::string& joint : model_->joints) {
      references.push_back(std::make_shared<hardware_interface::CommandInterface>(
          std::string(get_node()->get_name()) + "/" + joint, kind));
      std::ignore = references.back()->set_value(kNan);
    }
  }
  return references;
}

bool LawController::on_set_chained_mode(bool chained) {
  chained_ = chained;
  return true;
}

LawController::CallbackReturn LawController::on_activate(const State&) {
  missed_reads_ = missed_writes_ = 0;
  q_before_.swap(q_);
  qd_before_.swap(qd_);
  std::fill(q_.begin(), q_.end(), kNan);
  std::fill(qd_.begin(), qd_.end(), kNan);
  bool located = read_state();
  // Nobody else has driven the arm since the last update, nor moved it.
  bool restarted = std::chrono::steady_clock::now() - last_update_ < kRestart;
  bool driven = false, zeroed = true;
  for (std::size_t i = 0; i < tau_.size(); ++i) {
    tau_[i] = command_interfaces_[i].get_optional().value_or(restarted ? written_[i] : kNan);
    restarted = restarted && tau_[i] == written_[i];
    driven = driven || (std::isfinite(tau_[i]) && tau_[i] != 0);
    zeroed = zeroed && tau_[i] == 0;
  }
  if (restarted && !located) {
    // A sample that is missing now is an error after error_cycles, as in any other cycle.
    located = true;
    for (std::size_t i = 0; i < tau_.size(); ++i) {
      if (!std::isfinite(q_[i])) q_[i] = q_before_[i];
      if (!std::isfinite(qd_[i])) qd_[i] = qd_before_[i];
      located = located && std::isfinite(q_[i]) && std::isfinite(qd_[i]);
    }
  }
  for (std::size_t i = 0; i < tau_.size(); ++i) {
    const double reach = kRestartDistance + 2 * std::abs(qd_[i]) * kRestart.count();
    restarted = restarted && std::abs(q_[i] - q_before_[i]) < reach;
  }
  // The gravity hold is what the others fall back to: it may keep a torque blindly for a few
  // cycles. Nobody may start one.
  if (!located && !(driven && kind_ == LawKind::kGravityHold)) {
    RCLCPP_ERROR(get_node()->get_logger(),
                 "not activated: position or velocity of joint '%s' is not finite; torque needs to "
                 "know where the arm is",
                 model_->joints[notices_.joint()].c_str());
    return CallbackReturn::FAILURE;
  }
  // The stock effort controllers zero their torques at their end; the arm has those of the cycle
  // before.
  if (zeroed) driven = read_effort();
  // An arm that nothing drives is on its brakes or stops: the law's own torque from the first cycle
  // on, lest it sag.
  if (!driven) std::fill(tau_.begin(), tau_.end(), kNan);
  if (!restarted) law_->start(q_, qd_, tau_);

  input_.activate(ordered_exported_reference_interfaces_);
  if (publisher_) publisher_->restart();
  return CallbackReturn::SUCCESS;
}

LawController::CallbackReturn LawController::on_deactivate(const State&) {
  // The torques stay commanded: the next controller goes on from them, and whether the arm is to
  // stop the hardware knows from its command-mode switch. A reference that no one follows must not
  // be there for a predecessor to start from.
  input_.forget(ordered_exported_reference_interfaces_);
  return CallbackReturn::SUCCESS;
}

// ---- outside of the control loop

void LawController::take_message(const SetPointMessage& message) {
  const std::lock_guard lock(model_mutex_);
  if (!model_) return;
  SetPoint set_point(model_->joints.size());
  std::string refusal;
  if (get_lifecycle_id() != lifecycle_msgs::msg::State::PRIMARY_STATE_ACTIVE) {
    refusal = "the controller is not active";
  }
  if (refusal.empty() && chained_) refusal = "another controller precedes this one";
  if (refusal.empty()) refusal = read_set_point(message, model_->chain, set_point);
  const rclcpp::Time stamp(message.header.stamp, get_node()->get_clock()->get_clock_type());
  if (refusal.empty() && stamp.nanoseconds() != 0 && !set_point.rests()) {
    const double age = (get_node()->now() - stamp).seconds();
    if (age > parameters_.reference_timeout) {
      refusal = "it moves and its header.stamp is " + std::to_string(age) +
                " s old, more than reference_timeout (are the clocks, and use_sim_time, the same?)";
    }
  }
  if (!refusal.empty()) {
    if (refusals_.due()) {
      RCLCPP_WARN(get_node()->get_logger(), "set-point refused: %s", refusal.c_str());
    }
    return;
  }
  input_.offer(std::move(set_point));
}

rcl_interfaces::msg::SetParametersResult LawController::check_gains(
    const std::vector<rclcpp::Parameter>& changes) const {
  rcl_interfaces::msg::SetParametersResult result;
  result.successful = true;
  const std::lock_guard lock(model_mutex_);
  if (!model_) return result;
  try {
    const auto candidate = with_gains(parameter_listener_->get_params(), changes);
    std::ignore = checked_gains(*model_, candidate, get_update_rate());
  } catch (const std::exception& error) {
    result.successful = false;
    result.reason = error.what();
  }
  return result;
}

void LawController::hand_over_gains() {
  const std::lock_guard lock(model_mutex_);
  if (model_) gains_.offer(model_->gains(parameter_listener_->get_params()));
}

// ---- the control loop

bool LawController::read_state() {
  const std::size_t n = q_.size();
  std::size_t unread = n;
  bool finite = true;
  for (std::size_t i = 0; i < n; ++i) {
    const auto q = state_interfaces_[i].get_optional(),
               qd = state_interfaces_[n + i].get_optional();
    // A value that is locked this very moment is the last one's successor: for a few cycles that
    // one will do.
    if (!q || !qd) unread = i;
    if (q) q_[i] = *q;
    if (qd) qd_[i] = *qd;
    if (!std::isfinite(q_[i]) || !std::isfinite(qd_[i])) {
      finite = false;
      notices_.blame(i);
    }
  }
  missed_reads_ = unread == n ? 0 : std::min(missed_reads_ + 1, kManyCycles);
  if (missed_reads_ >= parameters_.error_cycles) {
    q_[unread] = kNan;
    finite = false;
    notices_.blame(unread);
  }
  return finite;
}

/// The torques that the hardware tells, if it tells any.
bool LawController::read_effort() {
  const std::size_t n = tau_.size();
  if (state_interfaces_.size() < 3 * n) return false;
  bool driven = false;
  for (std::size_t i = 0; i < n; ++i) {
    tau_[i] = state_interfaces_[2 * n + i].get_optional().value_or(kNan);
    if (!std::isfinite(tau_[i])) return false;
    driven = driven || tau_[i] != 0;
  }
  return driven;
}

LawController::ReturnType LawController::update_reference_from_subscribers(
    const rclcpp::Time&, const rclcpp::Duration& period) {
  input_.follow_set_point(period.seconds(), notices_);
  return ReturnType::OK;
}

bool LawController::write_torque() {
  bool written = true;
  for (std::size_t i = 0; i < tau_.size(); ++i) {
    if (command_interfaces_[i].set_value(tau_[i])) {
      written_[i] = tau_[i];
    } else {
      written = false;
      notices_.blame(i);
    }
  }
  missed_writes_ = written ? 0 : std::min(missed_writes_ + 1, kManyCycles);
  return missed_writes_ < parameters_.error_cycles;
}

LawController::ReturnType LawController::update_and_write_commands(const rclcpp::Time& time,
                                                                   const rclcpp::Duration& period) {
  const double dt = std::clamp(period.seconds(), 0.0, kLongestCycle);
  const bool referred = !is_in_chained_mode() || kind_ == LawKind::kGravityHold ||
                        input_.read(ordered_exported_reference_interfaces_, dt, notices_);
  const bool finite = read_state();
  if (const auto* gains = gains_.take()) law_->change_gains(*gains);
  const LawStatus status = law_->update(q_, qd_, input_.reference(), dt, tau_);
  // A reference that is being brought to rest is no one's wish.
  if (input_.has_reference()) notices_.note(law_->limit_violation());
  const bool commanded = write_torque();
  last_update_ = std::chrono::steady_clock::now();
  if (publisher_) publisher_->publish(time, dt, q_, qd_, *law_);
  if (!referred) notices_.note(Notice::kReferenceLost);
  if (!finite || status == LawStatus::kError) notices_.note(Notice::kStateNotFinite);
  if (!commanded) notices_.note(Notice::kCommandRefused);
  const bool fails = status == LawStatus::kError || !commanded || !referred;
  return fails ? ReturnType::ERROR : ReturnType::OK;
}

}  // namespace ga_controllers
