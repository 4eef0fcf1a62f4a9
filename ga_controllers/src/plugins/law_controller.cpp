// SPDX-License-Identifier: Apache-2.0
#include "law_controller.hpp"

#include <algorithm>
#include <cmath>
#include <lifecycle_msgs/msg/state.hpp>
#include <limits>
#include <utility>

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
constexpr double kMostDamping = 0.5;  ///< Kd times the cycle
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
    gains_ = next_gains_ = checked_gains(*model, parameters_);
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
  for (auto* values :
       {&q_, &qd_, &q_before_, &qd_before_, &tau_, &written_, &q_ref_, &qd_ref_, &qdd_ref_}) {
    values->assign(n, kNan);
  }
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
    publisher_->lock();
    publisher_->msg_ = state_message_;
    publisher_->unlock();
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
  missed_reads_ = missed_writes_ = bad_references_ = 0;
  q_before_.swap(q_);
  qd_before_.swap(qd_);
  std::fill(q_.begin(), q_.end(), kNan);
  std::fill(qd_.begin(), qd_.end(), kNan);
  bool located = read_state();
  // Nobody else has driven the arm since the last update, nor moved it.
  bool restarted = std::chrono::steady_clock::now() - last_update_ < kRestart;
  bool driven = false;
  for (std::size_t i = 0; i < tau_.size(); ++i) {
    tau_[i] = command_interfaces_[i].get_optional().value_or(restarted ? written_[i] : kNan);
    restarted = restarted && tau_[i] == written_[i];
    driven = driven || (std::isfinite(tau_[i]) && tau_[i] != 0);
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
                 model_->joints[noticed_joint_].c_str());
    return CallbackReturn::FAILURE;
  }
  // All torques zero is an arm that nothing drives, on its brakes or stops: the law's own torque
  // from the first cycle on, lest it sag.
  if (!driven) std::fill(tau_.begin(), tau_.end(), kNan);
  if (!restarted) law_->start(q_, qd_, tau_);

  forget_references();
  messages_before_activation_ = last_message_;
  has_reference_ = had_reference_ = false;
  unchanged_for_ = 0;
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
    std::ignore = checked_gains(*model_, candidate);
  } catch (const std::exception& error) {
    result.successful = false;
    result.reason = error.what();
  }
  return result;
}

std::vector<JointGains> LawController::checked_gains(
    const ArmModel& model, const law_controller::Params& parameters) const {
  std::vector<JointGains> gains = model.gains(parameters);
  const double most = kMostDamping * get_update_rate();
  for (std::size_t i = 0; i < gains.size(); ++i) {
    if (gains[i].kd <= most || get_update_rate() == 0) continue;
    throw std::invalid_argument(
        "joint '" + model.joints[i] + "': Kd " + std::to_string(gains[i].kd) +
        " 1/s is more than half of the update rate " + std::to_string(get_update_rate()) +
        " Hz, the loop would be unstable: lower gains.bandwidth, gains.damping or gains.kd");
  }
  return gains;
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
  if (notice != std::exchange(last_reported_, notice)) reports_.forget();
  const rclcpp::Logger logger = get_node()->get_logger();
  const std::lock_guard lock(model_mutex_);
  if (!model_ || !reports_.due()) return;
  const std::string text = to_string(notice, model_->joints[noticed_joint_]);
  if (is_error(notice)) {
    RCLCPP_ERROR(logger, "%s", text.c_str());
  } else {
    RCLCPP_WARN(logger, "%s", text.c_str());
  }
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
      noticed_joint_ = i;
    }
  }
  missed_reads_ = unread == n ? 0 : std::min(missed_reads_ + 1, kManyCycles);
  if (missed_reads_ >= parameters_.error_cycles) {
    q_[unread] = kNan;
    finite = false;
    noticed_joint_ = unread;
  }
  return finite;
}

LawController::ReturnType LawController::update_reference_from_subscribers(
    const rclcpp::Time&, const rclcpp::Duration& period) {
  set_point_age_ += std::max(period.seconds(), 0.0);
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

bool LawController::read_references(double dt) {
  const std::size_t n = q_ref_.size();
  const auto& references = ordered_exported_reference_interfaces_;
  has_reference_ = true;
  bool same = true, rests = true;
  for (std::size_t i = 0; i < n; ++i) {
    const auto read = [&](std::size_t k, double& value) {
      const double now = references[k * n + i]->get_optional().value_or(value);
      same = same && now == value;
      rests = rests && (k == 0 || now == 0);
      value = now;
      return std::isfinite(now);
    };
    const bool position = read(0, q_ref_[i]), velocity = read(1, qd_ref_[i]),
               acceleration = read(2, qdd_ref_[i]);
    if (position && velocity && acceleration) continue;
    has_reference_ = false;
    noticed_joint_ = i;
  }
  if (!has_reference_) {
    notice_ = Notice::kReferenceNotFinite;
    // A predecessor that has not said anything yet is no error.
    if (had_reference_) bad_references_ = std::min(bad_references_ + 1, kManyCycles);
    return bad_references_ < parameters_.error_cycles;
  }
  had_reference_ = true;
  bad_references_ = 0;
  unchanged_for_ = same && !rests ? unchanged_for_ + dt : 0;
  if (unchanged_for_ > parameters_.reference_timeout) {
    has_reference_ = false;
    notice_ = Notice::kReferenceStale;
  }
  return true;
}

void LawController::note(const Departure& departure) {
  // One that is being brought to rest is no one's wish.
  if (!has_reference_ || departure.reason == Departure::Reason::kNone) return;
  noticed_joint_ = departure.joint;
  notice_ = departure.reason == Departure::Reason::kOutside ? Notice::kReferenceOutsideLimits
                                                            : Notice::kReferenceTooFast;
}

void LawController::take_gains() {
  if (!gains_are_new_.exchange(false)) return;
  const bool taken = new_gains_.try_get([this](const std::vector<JointGains>& gains) {
    std::copy(gains.begin(), gains.end(), next_gains_.begin());
  });
  if (!taken) {
    gains_are_new_ = true;
  } else if (next_gains_ != gains_) {  // any parameter may have been set
    gains_.swap(next_gains_);
    law_->change_gains(gains_);
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
  missed_writes_ = written ? 0 : std::min(missed_writes_ + 1, kManyCycles);
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
  const bool referred =
      !is_in_chained_mode() || kind_ == LawKind::kGravityHold || read_references(dt);
  const bool finite = read_state();
  take_gains();
  const Reference reference = has_reference_ ? Reference{q_ref_, qd_ref_, qdd_ref_} : Reference{};
  const LawStatus status = law_->update(q_, qd_, reference, dt, tau_);
  note(law_->departure());
  const bool commanded = write_torque();
  last_update_ = std::chrono::steady_clock::now();
  publish(time, dt);
  if (!referred) notice_ = Notice::kReferenceLost;
  if (!finite || status == LawStatus::kError) notice_ = Notice::kStateNotFinite;
  if (!commanded) notice_ = Notice::kCommandRefused;
  const bool fails = status == LawStatus::kError || !commanded || !referred;
  return fails ? ReturnType::ERROR : ReturnType::OK;
}

}  // namespace ga_controllers
