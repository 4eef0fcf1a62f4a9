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
/// A controller that is activated within this time after its last update, with its torques still
/// commanded, was restarted because the chain of controllers changed.
constexpr std::chrono::duration<double> kRestart(0.1);
constexpr double kRestartDistance = 1e-3;  ///< rad or m, in addition to the motion at its velocity
/// Upper limit of the cycle time [s]: a longer cycle must not skip the torque blend.
constexpr double kLongestCycle = 0.1;
/// s, how far the law may be behind a preceding controller that slows its time, and the smallest
/// factor on the rate of that controller while the law is farther behind; the least rate.
constexpr double kLag = 0.1, kSlowest = 0.25, kLeastRate = 0.02;
/// s, the same for a law that the user slows down: what the trajectory controller demands is that much
/// ahead of the arm.
constexpr double kUserLag = 0.01;
/// Of the torque limit: a smaller difference comes from the resolution of the hardware. N m for
/// joints without a limit.
constexpr double kSameTorque = 0.005, kUnlimited = 1e3;
constexpr int kMaxCount = 1000000;  ///< counters stop here
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

/// The hardware keeps the torques of all joints while controllers are switched.
bool is_kept(const std::vector<double>& commands) noexcept {
  return std::all_of(commands.begin(), commands.end(), is_kept_torque);
}

}  // namespace

InterfaceConfiguration LawController::command_interface_configuration() const {
  return individual(model_ ? model_->joints : std::vector<std::string>{}, {"effort"});
}

InterfaceConfiguration LawController::state_interface_configuration() const {
  if (!model_) return individual({}, {});
  if (!model_->has_effort_state) return individual(model_->joints, {"position", "velocity"});
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
    model->fitted_kind = kind_;
    gains_.start(checked_gains(*model, parameters_, get_update_rate()));
    payload_.start(payload_of(parameters_));
    declared_ = uncertainty_declared();
    if (const auto check =
            checked_stability(*model, kind_, parameters_, get_update_rate(), declared_)) {
      log_stability(*check, true);
    }
    const LawParameters law_parameters = model->law(kind_, parameters_);
    auto law = std::make_unique<ControlLaw>(model->chain, law_parameters);
    auto monitor = std::make_unique<LawMonitor>(model->chain, law_parameters.torque_limit);
    for (const std::string& warning : model->chain.warnings()) {
      RCLCPP_WARN(logger, "robot description: %s", warning.c_str());
    }
    const std::lock_guard lock(model_mutex_);
    model_ = std::move(model);
    law_ = std::move(law);
    monitor_ = std::move(monitor);
  } catch (const std::exception& error) {
    RCLCPP_ERROR(logger, "cannot be configured: %s", error.what());
    return CallbackReturn::FAILURE;
  }
  const std::size_t n = model_->joints.size();
  for (auto* values : {&q_, &qd_, &q_before_, &qd_before_, &tau_, &written_, &started_with_}) {
    values->assign(n, kNan);
  }
  sender_clock_ = SenderClock(n);
  input_.configure(n, parameters_.reference_timeout, static_cast<int>(parameters_.error_cycles));
  last_update_ = {};
  notices_.clear();
  gains_check_ = get_node()->add_on_set_parameters_callback(
      [this](const std::vector<rclcpp::Parameter>& changes) {
        const auto result = check_gains(changes);
        return result.successful ? check_payload(changes) : result;
      });
  gains_change_ =
      get_node()->add_post_set_parameters_callback([this](const std::vector<rclcpp::Parameter>&) {
        update_gains();
        update_payload();
      });
  update_gains();  // gains that were set meanwhile
  update_payload();
  arm_payload_.reset();
  arm_payload_ = std::make_unique<ArmPayload>(get_node(), model_->chain);
  make_topics(parameters_.state_publish_rate);
  return CallbackReturn::SUCCESS;
}

void LawController::make_topics(double state_publish_rate) {
  if (takes_references()) {
    subscription_ = get_node()->create_subscription<SetPointMessage>(
        "~/reference", rclcpp::SystemDefaultsQoS().keep_last(1),
        [this](const SetPointMessage& message) { on_set_point(message); });
  }
  speed_ = 1;
  speed_subscription_.reset();
  if (takes_references() && parameters_.keep_path) {
    speed_subscription_ = get_node()->create_subscription<SpeedMessage>(
        "~/speed_scaling_input", rclcpp::SystemDefaultsQoS().keep_last(1),
        [this](const SpeedMessage& message) { on_speed(message); });
  }
  reset_adaptation_.reset();
  forget_ = false;
  if (parameters_.adaptation.enabled) {
    using Trigger = std_srvs::srv::Trigger;
    reset_adaptation_ = get_node()->create_service<Trigger>(
        "~/reset_adaptation",
        [this](const Trigger::Request::SharedPtr, const Trigger::Response::SharedPtr response) {
          forget_ = true;
          response->success = true;
          response->message = "the model goes back to the robot description";
        });
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

void LawController::on_speed(const SpeedMessage& message) {
  if (message.factor >= 0 && message.factor <= 1) {
    speed_ = message.factor;
    return;
  }
  RCLCPP_WARN(get_node()->get_logger(),
              "speed scaling factor %g rejected: give a number from 0, a pause, to 1",
              message.factor);
}

LawController::CallbackReturn LawController::on_cleanup(const State&) {
  speed_subscription_.reset();
  arm_payload_.reset();
  reset_adaptation_.reset();
  subscription_.reset();
  publisher_.reset();
  reporter_.reset();
  gains_check_.reset();
  gains_change_.reset();
  const std::lock_guard lock(model_mutex_);
  law_.reset();
  monitor_.reset();
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

std::vector<hardware_interface::StateInterface::SharedPtr>
LawController::on_export_state_interfaces_list() {
  auto rate =
      std::make_shared<hardware_interface::StateInterface>(get_node()->get_name(), "speed_scaling");
  std::ignore = rate->set_value(1.0);
  return {rate};
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
  bool state_valid = read_state();
  // A restart: no other controller has driven or moved the arm since the last update.
  bool restarted = std::chrono::steady_clock::now() - last_update_ < kRestart;
  bool driven = false, zeroed = true;
  for (std::size_t i = 0; i < tau_.size(); ++i) {
    tau_[i] = command_interfaces_[i].get_optional().value_or(restarted ? written_[i] : kNan);
    restarted = restarted && tau_[i] == written_[i];
    driven = driven || (std::isfinite(tau_[i]) && tau_[i] != 0);
    zeroed = zeroed && tau_[i] == 0;
  }
  const bool kept = is_kept(tau_);
  if (restarted && !state_valid) {
    // A missing sample is an error only after error_cycles, as in any other cycle.
    state_valid = true;
    for (std::size_t i = 0; i < tau_.size(); ++i) {
      if (!std::isfinite(q_[i])) q_[i] = q_before_[i];
      if (!std::isfinite(qd_[i])) qd_[i] = qd_before_[i];
      state_valid = state_valid && std::isfinite(q_[i]) && std::isfinite(qd_[i]);
    }
  }
  for (std::size_t i = 0; i < tau_.size(); ++i) {
    const double reach = kRestartDistance + 2 * std::abs(qd_[i]) * kRestart.count();
    restarted = restarted && std::abs(q_[i] - q_before_[i]) < reach;
  }
  // Gravity hold is the fallback of the other controllers: it may keep a torque without a measured
  // state for a few cycles. No controller may start one without it.
  if (!state_valid && !(driven && kind_ == LawKind::kGravityHold)) {
    RCLCPP_ERROR(get_node()->get_logger(),
                 "not activated: position or velocity of joint '%s' is not finite; torque control "
                 "needs a valid state",
                 model_->joints[notices_.joint()].c_str());
    return CallbackReturn::FAILURE;
  }
  // The stock effort controllers zero their commands on deactivation, and the hardware erases them
  // if the controller manager switches beside the cycles. The effort states still show the torques.
  if (zeroed || kept) driven = read_effort();
  // An arm that is not driven rests on its brakes or stops: start with the law's own torque, or the
  // arm would sag.
  if (!driven) std::fill(tau_.begin(), tau_.end(), kNan);
  if (const auto* payload = payload_.take()) law_->set_payload(*payload);
  if (!restarted) {
    law_->start(q_, qd_, tau_);
    monitor_->start();
  }
  started_with_ = tau_;
  first_cycle_ = true;
  sender_clock_.reset();
  report_rate();

  input_.activate(ordered_exported_reference_interfaces_);
  if (publisher_) publisher_->restart();
  return CallbackReturn::SUCCESS;
}

LawController::CallbackReturn LawController::on_deactivate(const State&) {
  // Leave the torques commanded: the next controller starts from them, and the hardware sees in its
  // command-mode switch whether to stop the arm. Clear the references, so that no predecessor
  // starts from an old one.
  input_.invalidate(ordered_exported_reference_interfaces_);
  return CallbackReturn::SUCCESS;
}

// ---- outside the control loop

void LawController::on_set_point(const SetPointMessage& message) {
  const std::lock_guard lock(model_mutex_);
  if (!model_) return;
  SetPoint set_point(model_->joints.size());
  std::string reason;
  if (get_lifecycle_id() != lifecycle_msgs::msg::State::PRIMARY_STATE_ACTIVE) {
    reason = "the controller is not active";
  }
  if (reason.empty() && chained_) reason = "another controller precedes this one";
  if (reason.empty()) reason = read_set_point(message, model_->chain, set_point);
  const rclcpp::Time stamp(message.header.stamp, get_node()->get_clock()->get_clock_type());
  if (reason.empty() && stamp.nanoseconds() != 0 && !set_point.rests()) {
    const double age = (get_node()->now() - stamp).seconds();
    if (age > parameters_.reference_timeout) {
      reason = "it has a velocity and its header.stamp is " + std::to_string(age) +
               " s old, more than reference_timeout (check the clocks and use_sim_time)";
    }
  }
  if (!reason.empty()) {
    if (rejections_.due()) {
      RCLCPP_WARN(get_node()->get_logger(), "set-point rejected: %s", reason.c_str());
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
    const std::vector<JointGains> gains = checked_gains(*model_, candidate, get_update_rate());
    if (gains != model_->gains(parameter_listener_->get_params())) {
      if (const auto check =
              checked_stability(*model_, kind_, candidate, get_update_rate(), declared_)) {
        log_stability(*check, false);
      }
    }
  } catch (const std::exception& error) {
    result.successful = false;
    result.reason = error.what();
  }
  return result;
}

bool LawController::uncertainty_declared() {
  const auto& overrides = get_node()->get_node_parameters_interface()->get_parameter_overrides();
  return std::any_of(overrides.begin(), overrides.end(), [](const auto& parameter) {
    return parameter.first.starts_with("uncertainty.") &&
           parameter.first != "uncertainty.resonance" && parameter.first != "uncertainty.fit_gains";
  });
}

void LawController::log_stability(const LawCheck& check, bool summary) const {
  const rclcpp::Logger logger = get_node()->get_logger();
  if (summary) RCLCPP_INFO(logger, "%s", check.summary.c_str());
  for (const std::string& warning : check.warnings) {
    RCLCPP_WARN(logger, "stability: %s", warning.c_str());
  }
}

void LawController::update_gains() {
  const std::lock_guard lock(model_mutex_);
  if (model_) gains_.offer(model_->gains(parameter_listener_->get_params()));
}

rcl_interfaces::msg::SetParametersResult LawController::check_payload(
    const std::vector<rclcpp::Parameter>& changes) const {
  rcl_interfaces::msg::SetParametersResult result;
  result.successful = true;
  try {
    std::ignore = payload_of(with_payload(parameter_listener_->get_params(), changes));
  } catch (const std::exception& error) {
    result.successful = false;
    result.reason = error.what();
  }
  return result;
}

void LawController::update_payload() {
  const std::lock_guard lock(model_mutex_);
  if (model_) payload_.offer(payload_of(parameter_listener_->get_params()));
}

// ---- the control loop

bool LawController::read_state() {
  const std::size_t n = q_.size();
  std::size_t unread = n;
  bool finite = true;
  for (std::size_t i = 0; i < n; ++i) {
    const auto q = state_interfaces_[i].get_optional(),
               qd = state_interfaces_[n + i].get_optional();
    // If another thread holds the handle, use the previous value for a few cycles.
    if (!q || !qd) unread = i;
    if (q) q_[i] = *q;
    if (qd) qd_[i] = *qd;
    if (!std::isfinite(q_[i]) || !std::isfinite(qd_[i])) {
      finite = false;
      notices_.set_joint(i);
    }
  }
  missed_reads_ = unread == n ? 0 : std::min(missed_reads_ + 1, kMaxCount);
  if (missed_reads_ >= parameters_.error_cycles) {
    q_[unread] = kNan;
    finite = false;
    notices_.set_joint(unread);
  }
  return finite;
}

/// Reads the effort states, if there are any. True if the arm is driven.
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

/// Beside the cycles, the controller manager may take long between the activation and the first
/// cycle. The hardware holds the arm meanwhile, by another torque: the law starts again with that.
void LawController::refresh_start() noexcept {
  first_cycle_ = false;
  bool kept = true, differs = false;
  for (const auto& command : command_interfaces_) {
    const auto value = command.get_optional();
    kept = kept && value && is_kept_torque(*value);
  }
  if (!kept || !read_effort()) return;
  for (std::size_t i = 0; i < tau_.size(); ++i) {
    const double limit = std::min(model_->chain.joints()[i].limits.effort, kUnlimited);
    differs = differs || !(std::abs(tau_[i] - started_with_[i]) <= kSameTorque * limit);
  }
  if (!differs) return;
  law_->start(q_, qd_, tau_);
  monitor_->start();
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
      notices_.set_joint(i);
    }
  }
  missed_writes_ = written ? 0 : std::min(missed_writes_ + 1, kMaxCount);
  return missed_writes_ < parameters_.error_cycles;
}

/// Reports the rate of the time scaling to the preceding controller: more until the law is kLag
/// behind, which is its look-ahead, and less beyond.
void LawController::report_rate() {
  const TimeScale scale = law_->time_scale();
  const double speed = speed_.load(std::memory_order_relaxed);
  const double lag = speed < 1 || scale.by_user ? kUserLag : kLag;
  // Zero only in a pause: a sender that stands still could not leave a blocked path.
  const double least = std::min(kLeastRate, speed);
  const double rate = std::clamp(scale.rate * std::max(2 - scale.lag / lag, kSlowest), least, 1.0);
  for (const auto& interface : ordered_exported_state_interfaces_) {
    if (interface->set_value(rate)) reported_rate_ = rate;
  }
}

LawController::ReturnType LawController::update_and_write_commands(const rclcpp::Time& time,
                                                                   const rclcpp::Duration& period) {
  const double dt = std::clamp(period.seconds(), 0.0, kLongestCycle);
  const bool reference_ok =
      !is_in_chained_mode() || !takes_references() ||
      input_.read(ordered_exported_reference_interfaces_, dt * reported_rate_, notices_);
  const bool finite = read_state();
  if (first_cycle_ && finite) refresh_start();
  if (const auto* gains = gains_.take()) law_->change_gains(*gains);
  if (const auto* payload = payload_.take()) law_->set_payload(*payload);
  if (forget_.exchange(false)) law_->reset_adaptation();
  law_->set_speed(speed_.load(std::memory_order_relaxed));
  Reference reference = input_.reference();
  reference.time_scale = sender_clock_.time_scale(reference.q, reference.qd, dt, reported_rate_);
  const LawStatus status = law_->update(q_, qd_, reference, dt, tau_);
  report_rate();
  // While a lost reference is brought to rest, its limit violations are not the user's.
  if (input_.has_reference()) notices_.note(law_->limit_violation());
  const Reference followed = law_->followed();
  monitor_->update({q_, followed.q, followed.qd, tau_, law_->disturbance_torque()}, dt);
  notices_.note(*monitor_);
  const bool write_ok = write_torque();
  last_update_ = std::chrono::steady_clock::now();
  if (publisher_) publisher_->publish(time, dt, q_, qd_, *law_, *monitor_);
  if (!reference_ok) notices_.note(Notice::kReferenceLost);
  if (!finite || status == LawStatus::kError) notices_.note(Notice::kStateNotFinite);
  if (!write_ok) notices_.note(Notice::kCommandRefused);
  const bool fails = status == LawStatus::kError || !write_ok || !reference_ok;
  return fails ? ReturnType::ERROR : ReturnType::OK;
}

}  // namespace ga_controllers
