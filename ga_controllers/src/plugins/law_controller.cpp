// SPDX-License-Identifier: Apache-2.0
#include "law_controller.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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
  return individual(model_ ? model_->joints : std::vector<std::string>{}, {"position", "velocity"});
}

LawController::CallbackReturn LawController::on_init() {
  try {
    parameter_listener_ = std::make_shared<law_controller::ParamListener>(get_node());
  } catch (const std::exception& error) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
    return CallbackReturn::ERROR;
  }
  return CallbackReturn::SUCCESS;
}

LawController::CallbackReturn LawController::on_configure(const State&) {
  const rclcpp::Logger logger = get_node()->get_logger();
  try {
    parameters_ = parameter_listener_->get_params();
    auto model = std::make_unique<ArmModel>(get_robot_description(), parameters_);
    const LawParameters of_law = model->law(kind_, parameters_);
    auto law = std::make_unique<ControlLaw>(model->chain, of_law);
    auto guard = std::make_unique<ReferenceGuard>(model->chain, of_law.torque_limit);
    for (const std::string& warning : model->chain.warnings()) {
      RCLCPP_WARN(logger, "robot description: %s", warning.c_str());
    }
    const std::lock_guard lock(model_mutex_);
    model_ = std::move(model);
    law_ = std::move(law);
    guard_ = std::move(guard);
  } catch (const std::exception& error) {
    RCLCPP_ERROR(logger, "cannot be configured: %s", error.what());
    return CallbackReturn::FAILURE;
  }
  const std::size_t n = model_->joints.size();
  for (auto* values : {&q_, &qd_, &tau_, &written_, &q_before_, &q_ref_, &qd_ref_, &qdd_ref_}) {
    values->assign(n, kNan);
  }
  gains_.assign(n, {});
  set_point_ = SetPoint(n);
  messages_.set(set_point_);
  last_message_ = 0;
  last_update_ = {};
  gains_are_new_ = false;
  notice_ = Notice::kNone;
  gains_check_ = get_node()->add_on_set_parameters_callback(
      [this](const std::vector<rclcpp::Parameter>& changes) { return check_gains(changes); });
  gains_change_ = get_node()->add_post_set_parameters_callback(
      [this](const std::vector<rclcpp::Parameter>&) { hand_over_gains(); });
  make_topics(parameters_.state_publish_rate);
  return CallbackReturn::SUCCESS;
}

void LawController::make_topics(double state_publish_rate) {
  if (kind_ != LawKind::kGravityHold) {
    subscription_ = get_node()->create_subscription<SetPointMessage>(
        "~/reference", rclcpp::SystemDefaultsQoS().keep_last(1),
        [this](const SetPointMessage& message) { take_message(message); });
  }
  state_message_ = make_state_message(model_->joints, model_->listed);
  publishing_period_ = state_publish_rate > 0 ? 1 / state_publish_rate : 0;
  publisher_.reset();
  if (publishing_period_ > 0) {
    publisher_ = std::make_unique<realtime_tools::RealtimePublisher<StateMessage>>(
        get_node()->create_publisher<StateMessage>("~/controller_state",
                                                   rclcpp::SystemDefaultsQoS()));
    // The publisher's own copy gets its memory here, not in the control loop.
    publisher_->try_publish(state_message_);
  }
  reporter_ = get_node()->create_wall_timer(std::chrono::milliseconds(100), [this] { report(); });
}

LawController::CallbackReturn LawController::on_cleanup(const State&) {
  subscription_.reset();
  publisher_.reset();
  reporter_.reset();
  gains_check_.reset();
  gains_change_.reset();
  const std::lock_guard lock(model_mutex_);
  law_.reset();
  guard_.reset();
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
  std::fill(q_.begin(), q_.end(), kNan);
  std::fill(qd_.begin(), qd_.end(), kNan);
  const bool located = read_state();
  // Neither has anyone else driven the arm since the last update nor moved it.
  bool restarted = std::chrono::steady_clock::now() - last_update_ < kRestart;
  bool driven = false;
  for (std::size_t i = 0; i < tau_.size(); ++i) {
    tau_[i] = command_interfaces_[i].get_optional().value_or(kNan);
    const double reach = kRestartDistance + 2 * std::abs(qd_[i]) * kRestart.count();
    restarted = restarted && tau_[i] == written_[i] && std::abs(q_[i] - q_before_[i]) < reach;
    driven = driven || (std::isfinite(tau_[i]) && tau_[i] != 0);
  }
  // The gravity hold is what the others fall back to: it may keep a torque blindly for a few
  // cycles. Nobody may start one.
  if (!located && !(driven && kind_ == LawKind::kGravityHold)) {
    RCLCPP_ERROR(get_node()->get_logger(),
                 "not activated: position or velocity of joint '%s' is not finite; torque needs to "
                 "know where the arm is",
                 model_->joints[noticed_joint_].c_str());
    return CallbackReturn::FAILURE;
  }
  // All torques zero is an arm that nothing drives, on its brakes or stops: the law's own torque
  // from the first cycle on, lest it sag.
  if (!driven) std::fill(tau_.begin(), tau_.end(), kNan);
  if (!restarted) law_->start(q_, qd_, tau_);

  forget_references();
  guard_->forget();
  messages_before_activation_ = last_message_;
  has_reference_ = false;
  since_publishing_ = 0;
  return CallbackReturn::SUCCESS;
}

LawController::CallbackReturn LawController::on_deactivate(const State&) {
  // The torques stay commanded: the next controller goes on from them, and whether the arm is to
  // stop the hardware knows from its command-mode switch. A reference that no one follows must not
  // be there for a predecessor to start from.
  forget_references();
  return CallbackReturn::SUCCESS;
}

void LawController::forget_references() {
  const std::size_t n = q_.size();
  for (std::size_t k = 0; k < ordered_exported_reference_interfaces_.size(); ++k) {
    std::ignore = ordered_exported_reference_interfaces_[k]->set_value(k < n ? kNan : 0.0);
  }
  std::fill(q_ref_.begin(), q_ref_.end(), kNan);
  std::fill(qd_ref_.begin(), qd_ref_.end(), 0.0);
  std::fill(qdd_ref_.begin(), qdd_ref_.end(), 0.0);
}

// ---- outside of the control loop

void LawController::take_message(const SetPointMessage& message) {
  const rclcpp::Logger logger = get_node()->get_logger();
  rclcpp::Clock& clock = *get_node()->get_clock();
  const std::lock_guard lock(model_mutex_);
  if (!model_) return;
  SetPoint set_point(model_->joints.size());
  std::string refusal;
  if (chained_) refusal = "another controller precedes this one";
  if (refusal.empty()) refusal = read_set_point(message, model_->chain, set_point);
  if (!refusal.empty()) {
    RCLCPP_WARN_THROTTLE(logger, clock, 1000, "set-point refused: %s", refusal.c_str());
    return;
  }
  set_point.sequence = last_message_ + 1;
  messages_.set(set_point);
  ++last_message_;
}

rcl_interfaces::msg::SetParametersResult LawController::check_gains(
    const std::vector<rclcpp::Parameter>& changes) const {
  rcl_interfaces::msg::SetParametersResult result;
  result.successful = true;
  const std::lock_guard lock(model_mutex_);
  if (!model_) return result;
  try {
    law_controller::Params candidate = parameter_listener_->get_params();
    auto& gains = candidate.gains;
    for (const rclcpp::Parameter& change : changes) {
      for (const auto& [name, values] :
           {std::pair("gains.bandwidth", &gains.bandwidth),
            std::pair("gains.damping", &gains.damping), std::pair("gains.kp", &gains.kp),
            std::pair("gains.kd", &gains.kd), std::pair("gains.ki", &gains.ki)}) {
        if (change.get_name() != name) continue;
        *values = change.as_double_array();
        for (const double value : *values) {
          if (!std::isfinite(value)) {
            throw std::invalid_argument("parameter " + std::string(name) + " is not finite");
          }
        }
      }
    }
    std::ignore = model_->gains(candidate);
  } catch (const std::exception& error) {
    result.successful = false;
    result.reason = error.what();
  }
  return result;
}

void LawController::hand_over_gains() {
  const std::lock_guard lock(model_mutex_);
  if (!model_) return;
  new_gains_.set(model_->gains(parameter_listener_->get_params()));
  gains_are_new_ = true;
}

void LawController::report() {
  const Notice notice = notice_.exchange(Notice::kNone);  // what lasts is noted again
  if (notice == Notice::kNone) return;
  const rclcpp::Logger logger = get_node()->get_logger();
  rclcpp::Clock& clock = *get_node()->get_clock();
  const std::lock_guard lock(model_mutex_);
  if (!model_) return;
  const std::string text = to_string(notice, model_->joints[noticed_joint_]);
  if (is_error(notice)) {
    RCLCPP_ERROR_THROTTLE(logger, clock, 5000, "%s", text.c_str());
  } else {
    RCLCPP_WARN_THROTTLE(logger, clock, 5000, "%s", text.c_str());
  }
}

// ---- the control loop

bool LawController::read_state() {
  const std::size_t n = q_.size();
  bool read = true, finite = true;
  for (std::size_t i = 0; i < n; ++i) {
    const auto q = state_interfaces_[i].get_optional(),
               qd = state_interfaces_[n + i].get_optional();
    // A value that is locked this very moment is the last one's successor: for a few cycles that
    // one will do.
    read = read && q && qd;
    if (q) q_[i] = *q;
    if (qd) qd_[i] = *qd;
    if (!std::isfinite(q_[i]) || !std::isfinite(qd_[i])) {
      finite = false;
      noticed_joint_ = i;
    }
  }
  missed_reads_ = read ? 0 : missed_reads_ + 1;
  if (missed_reads_ >= parameters_.error_cycles) q_[0] = kNan;
  return finite;
}

LawController::ReturnType LawController::update_reference_from_subscribers(
    const rclcpp::Time&, const rclcpp::Duration& period) {
  set_point_age_ += period.seconds();
  messages_.try_get([this](const SetPoint& message) {
    if (message.sequence <= std::max(messages_before_activation_, set_point_.sequence)) return;
    set_point_ = message;
    set_point_age_ = 0;
  });
  has_reference_ = set_point_.sequence > messages_before_activation_;
  if (!has_reference_) return ReturnType::OK;
  if (set_point_age_ > parameters_.reference_timeout && !set_point_.rests()) {
    has_reference_ = false;
    notice_ = Notice::kReferenceStale;
    return ReturnType::OK;
  }
  // Messages come slower than cycles: in between the motion goes on.
  const double t = set_point_age_;
  for (std::size_t i = 0; i < q_ref_.size(); ++i) {
    q_ref_[i] = set_point_.q[i] + (set_point_.qd[i] + set_point_.qdd[i] * t / 2) * t;
    qd_ref_[i] = set_point_.qd[i] + set_point_.qdd[i] * t;
    qdd_ref_[i] = set_point_.qdd[i];
  }
  return ReturnType::OK;
}

void LawController::read_references() {
  const std::size_t n = q_ref_.size();
  const auto& references = ordered_exported_reference_interfaces_;
  has_reference_ = true;
  for (std::size_t i = 0; i < n; ++i) {
    q_ref_[i] = references[i]->get_optional().value_or(q_ref_[i]);
    qd_ref_[i] = references[n + i]->get_optional().value_or(qd_ref_[i]);
    qdd_ref_[i] = references[2 * n + i]->get_optional().value_or(qdd_ref_[i]);
    if (std::isfinite(q_ref_[i]) && std::isfinite(qd_ref_[i]) && std::isfinite(qdd_ref_[i])) {
      continue;
    }
    has_reference_ = false;
    noticed_joint_ = i;
  }
  if (!has_reference_) notice_ = Notice::kReferenceNotFinite;
}

void LawController::keep_within_limits(double dt) noexcept {
  using Verdict = ReferenceGuard::Verdict;
  const auto [verdict, joint] =
      guard_->keep(q_, qd_, dt, !is_in_chained_mode(), {q_ref_, qd_ref_, qdd_ref_});
  if (verdict == Verdict::kFollowed) return;
  noticed_joint_ = joint;
  notice_ =
      verdict == Verdict::kOutside ? Notice::kReferenceOutsideLimits : Notice::kReferenceTooFast;
}

void LawController::take_gains() {
  if (!gains_are_new_.exchange(false)) return;
  const bool taken = new_gains_.try_get([this](const std::vector<JointGains>& gains) {
    std::copy(gains.begin(), gains.end(), gains_.begin());
  });
  if (taken) {
    law_->change_gains(gains_);
  } else {
    gains_are_new_ = true;
  }
}

bool LawController::write_torque() {
  bool written = true;
  for (std::size_t i = 0; i < tau_.size(); ++i) {
    if (command_interfaces_[i].set_value(tau_[i])) {
      written_[i] = tau_[i];
    } else {
      written = false;
      noticed_joint_ = i;
    }
  }
  missed_writes_ = written ? 0 : missed_writes_ + 1;
  return missed_writes_ < parameters_.error_cycles;
}

void LawController::publish(const rclcpp::Time& time, double dt) {
  since_publishing_ += dt;
  // Half a cycle of tolerance, or a rate that divides the update rate would skip beats.
  if (!publisher_ || since_publishing_ + dt / 2 < publishing_period_) return;
  since_publishing_ = 0;
  state_message_.header.stamp = time;
  fill_state_message(state_message_, model_->listed, q_, qd_, *law_);
  publisher_->try_publish(state_message_);
}

LawController::ReturnType LawController::update_and_write_commands(const rclcpp::Time& time,
                                                                   const rclcpp::Duration& period) {
  const double dt = std::clamp(period.seconds(), 0.0, kLongestCycle);
  if (is_in_chained_mode() && kind_ != LawKind::kGravityHold) read_references();
  const bool finite = read_state();
  if (has_reference_ && finite) keep_within_limits(dt);
  take_gains();
  const Reference reference = has_reference_ ? Reference{q_ref_, qd_ref_, qdd_ref_} : Reference{};
  const LawStatus status = law_->update(q_, qd_, reference, dt, tau_);
  if (!has_reference_ && finite) guard_->go_on_from(law_->followed());
  const bool commanded = write_torque();
  last_update_ = std::chrono::steady_clock::now();
  publish(time, dt);
  if (!finite || status == LawStatus::kError) notice_ = Notice::kStateNotFinite;
  if (!commanded) notice_ = Notice::kCommandRefused;
  return status == LawStatus::kError || !commanded ? ReturnType::ERROR : ReturnType::OK;
}

}  // namespace ga_controllers
