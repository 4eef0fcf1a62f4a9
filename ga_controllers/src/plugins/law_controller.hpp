// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PLUGINS__LAW_CONTROLLER_HPP_
#define GA_CONTROLLERS__PLUGINS__LAW_CONTROLLER_HPP_

// A chainable ros2_control controller around a ControlLaw: references of position, velocity and
// acceleration in, effort commands out. doc/controllers.md describes each transition.
//
// update() and the functions it calls neither allocate, lock, throw nor log; they leave notices in
// atomics, which a timer logs. Activation and deactivation also run in the real-time loop.

#include <atomic>
#include <chrono>
#include <control_msgs/msg/speed_scaling_factor.hpp>
#include <controller_interface/chainable_controller_interface.hpp>
#include <memory>
#include <mutex>
#include <std_srvs/srv/trigger.hpp>
#include <string>
#include <vector>

#include "arm_model.hpp"
#include "arm_payload.hpp"
#include "ga_controllers/law_monitor.hpp"
#include "live_gains.hpp"
#include "live_payload.hpp"
#include "notice.hpp"
#include "reference_input.hpp"
#include "sender_clock.hpp"
#include "state_publisher.hpp"

namespace ga_controllers {

class LawController : public controller_interface::ChainableControllerInterface {
 public:
  explicit LawController(LawKind kind) : kind_(kind) {}

  using CallbackReturn = controller_interface::CallbackReturn;
  using ReturnType = controller_interface::return_type;
  using State = rclcpp_lifecycle::State;

  controller_interface::InterfaceConfiguration command_interface_configuration() const override;
  controller_interface::InterfaceConfiguration state_interface_configuration() const override;

  CallbackReturn on_init() override;
  CallbackReturn on_configure(const State& previous) override;
  CallbackReturn on_activate(const State& previous) override;
  CallbackReturn on_deactivate(const State& previous) override;
  CallbackReturn on_cleanup(const State& previous) override;

 protected:
  std::vector<hardware_interface::CommandInterface::SharedPtr> on_export_reference_interfaces_list()
      override;
  /// `<controller>/speed_scaling`, for the preceding controller.
  std::vector<hardware_interface::StateInterface::SharedPtr> on_export_state_interfaces_list()
      override;
  bool on_set_chained_mode(bool chained) override;
  ReturnType update_reference_from_subscribers(const rclcpp::Time& time,
                                               const rclcpp::Duration& period) override;
  ReturnType update_and_write_commands(const rclcpp::Time& time,
                                       const rclcpp::Duration& period) override;

 private:
  using SetPointMessage = trajectory_msgs::msg::JointTrajectory;
  using SpeedMessage = control_msgs::msg::SpeedScalingFactor;

  /// False for laws that hold the arm, or leave it to a person.
  bool takes_references() const {
    return kind_ != LawKind::kGravityHold && kind_ != LawKind::kHandGuiding;
  }
  void make_topics(double state_publish_rate);
  void on_set_point(const SetPointMessage& message);
  void on_speed(const SpeedMessage& message);
  rcl_interfaces::msg::SetParametersResult check_gains(
      const std::vector<rclcpp::Parameter>& parameters) const;
  void update_gains();
  rcl_interfaces::msg::SetParametersResult check_payload(
      const std::vector<rclcpp::Parameter>& parameters) const;
  void update_payload();
  /// True if the user has set an uncertainty.* parameter of the stability check.
  bool uncertainty_declared();
  void log_stability(const LawCheck& check, bool summary) const;

  bool read_state();
  bool read_effort();
  void refresh_start() noexcept;
  bool write_torque();
  void report_rate();

  const LawKind kind_;
  std::shared_ptr<law_controller::ParamListener> parameter_listener_;
  law_controller::Params parameters_;
  bool declared_ = false;  ///< the uncertainty of the stability check

  /// Guards the model, which on_configure replaces while messages and parameters may arrive.
  mutable std::mutex model_mutex_;
  std::unique_ptr<ArmModel> model_;
  std::unique_ptr<ControlLaw> law_;
  std::unique_ptr<LawMonitor> monitor_;  ///< used by the control loop
  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr gains_check_;
  rclcpp::node_interfaces::PostSetParametersCallbackHandle::SharedPtr gains_change_;
  LiveGains gains_;
  LivePayload payload_;

  rclcpp::Subscription<SetPointMessage>::SharedPtr subscription_;
  rclcpp::Service<std_srvs::srv::Trigger>::SharedPtr
      reset_adaptation_;                                              ///< null without adaptation
  rclcpp::Subscription<SpeedMessage>::SharedPtr speed_subscription_;  ///< null without keep_path
  std::atomic<double> speed_{1};                                      ///< share, set by the user
  std::atomic<bool> forget_{false};  ///< the adapted model, in the next cycle
  std::atomic<bool> chained_{false};
  Throttle rejections_{std::chrono::seconds(1)};
  ReferenceInput input_;
  std::unique_ptr<StatePublisher> publisher_;  ///< null: state_publish_rate is 0
  rclcpp::TimerBase::SharedPtr reporter_;
  Notices notices_;

  // Used by the control loop; one value per joint in the order of the chain.
  std::vector<double> q_, qd_, q_before_, qd_before_, tau_, written_;
  std::vector<double> started_with_;  ///< N m
  bool first_cycle_ = false;          ///< since the activation
  int missed_reads_ = 0, missed_writes_ = 0;
  SenderClock sender_clock_;
  double reported_rate_ = 1;  ///< in the last cycle
  std::chrono::steady_clock::time_point last_update_;

  std::unique_ptr<ArmPayload> arm_payload_;  ///< last: leaves its arm before all else is destroyed
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PLUGINS__LAW_CONTROLLER_HPP_
