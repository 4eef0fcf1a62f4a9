// SPDX-License-Identifier: Apache-2.0
#ifndef HARDWARE_BENCH_HPP_
#define HARDWARE_BENCH_HPP_

// Test support: a hardware plugin, SimSystem by default, in hardware_interface's own component with
// a spinning ROS node; the test runs the cycles of the controller manager.

#include <rcutils/logging.h>

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "diagnostic_msgs/msg/diagnostic_array.hpp"
#include "ga_hardware/arm_system.hpp"
#include "hardware_interface/component_parser.hpp"
#include "hardware_interface/system.hpp"
#include "lifecycle_msgs/msg/state.hpp"
#include "rclcpp/rclcpp.hpp"
#include "std_srvs/srv/trigger.hpp"

namespace test {

using Parameters = std::map<std::string, std::string>;
using Return = hardware_interface::return_type;
using States = lifecycle_msgs::msg::State;

inline std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The description with these parameters of the hardware.
inline std::string with_parameters(std::string urdf, const Parameters& parameters) {
  std::string tags;
  for (const auto& [name, value] : parameters) {
    tags += "<param name=\"" + name + "\">" + value + "</param>";
  }
  const std::string end = "</plugin>";
  return urdf.insert(urdf.find(end) + end.size(), tags);
}

inline std::string puma(const Parameters& parameters = {}) {
  return with_parameters(read_file(PUMA_URDF), parameters);
}

/// The PUMA's links above each other: friction holds them, with or without torque.
constexpr char kUpright[] = "joint2:-1.5708,joint3:1.5708";

/// A description without <ros2_control>, with one added for these joints.
inline std::string with_control(std::string urdf, const std::vector<std::string>& joints,
                                const Parameters& parameters = {}) {
  std::string tag =
      "<ros2_control name=\"bench\" type=\"system\"><hardware>"
      "<plugin>ga_hardware/SimSystem</plugin></hardware>";
  for (const std::string& joint : joints) {
    tag += "<joint name=\"" + joint +
           "\"><command_interface name=\"effort\"/><state_interface name=\"position\"/>"
           "<state_interface name=\"velocity\"/><state_interface name=\"effort\"/></joint>";
  }
  return with_parameters(urdf.insert(urdf.rfind("</robot>"), tag + "</ros2_control>"), parameters);
}

/// The last error in this process's log since construction.
class LastError {
 public:
  LastError() {
    text().clear();
    before_ = rcutils_logging_get_output_handler();
    rcutils_logging_set_output_handler(take);
  }
  ~LastError() { rcutils_logging_set_output_handler(before_); }
  LastError(const LastError&) = delete;
  LastError& operator=(const LastError&) = delete;
  std::string operator()() const {
    const std::lock_guard lock(mutex());
    return text();
  }

 private:
  static std::string& text() {
    static std::string latest;
    return latest;
  }
  static std::mutex& mutex() {
    static std::mutex the_mutex;
    return the_mutex;
  }
  static void take(const rcutils_log_location_t*, int severity, const char*,
                   rcutils_time_point_value_t, const char* format, va_list* arguments) {
    if (severity < RCUTILS_LOG_SEVERITY_ERROR) return;
    char line[1000];
    std::vsnprintf(line, sizeof line, format, *arguments);
    const std::lock_guard lock(mutex());
    text() = line;
  }
  rcutils_logging_output_handler_t before_;
};

class Bench {
 public:
  explicit Bench(const std::string& urdf,
                 std::unique_ptr<hardware_interface::SystemInterface> plugin =
                     std::make_unique<ga_hardware::SimSystem>())
      : executor_(std::make_shared<rclcpp::executors::SingleThreadedExecutor>()),
        system_(std::move(plugin)) {
    hardware_interface::HardwareComponentParams params;
    params.hardware_info = hardware_interface::parse_control_resources_from_urdf(urdf).at(0);
    params.hardware_info.rw_rate = 1000;
    params.executor = executor_;
    name_ = params.hardware_info.name;
    for (const auto& joint : params.hardware_info.joints) joints_.push_back(joint.name);
    state_ = system_.initialize(params).id();
    if (state_ != States::PRIMARY_STATE_UNCONFIGURED) return;
    for (const auto& handle : system_.export_state_interfaces())
      states_[handle->get_name()] = handle;
    for (const auto& handle : system_.export_command_interfaces()) {
      commands_[handle->get_name()] = handle;
    }
    spinner_ = std::thread([this] { executor_->spin(); });
    while (!executor_->is_spinning()) std::this_thread::yield();  // or cancel() might come first
    client_ = std::make_shared<rclcpp::Node>("bench_client");
  }
  ~Bench() {
    if (!spinner_.joinable()) return;
    executor_->cancel();
    spinner_.join();
  }

  hardware_interface::System& system() { return system_; }
  std::uint8_t state() const { return system_.get_lifecycle_id(); }
  const std::vector<std::string>& joints() const { return joints_; }
  std::vector<std::string> efforts() const {
    std::vector<std::string> names;
    for (const std::string& joint : joints_) names.push_back(joint + "/effort");
    return names;
  }

  double state(const std::string& name) const { return states_.at(name)->get_optional().value(); }
  double position(std::size_t i) const { return state(joints_[i] + "/position"); }
  std::vector<double> positions() const {
    std::vector<double> q;
    for (std::size_t i = 0; i < joints_.size(); ++i) q.push_back(position(i));
    return q;
  }
  double effort(std::size_t i) const { return state(joints_[i] + "/effort"); }
  void set(const std::string& name, double value) {
    while (!commands_.at(name)->set_value(value)) std::this_thread::yield();
  }
  double command(const std::string& name) const {
    return commands_.at(name)->get_optional().value();
  }
  void set_efforts(const std::vector<double>& torques) {
    for (std::size_t i = 0; i < joints_.size(); ++i) set(joints_[i] + "/effort", torques[i]);
  }

  bool start() { return switch_mode(efforts(), {}); }
  bool stop() { return switch_mode({}, efforts()); }
  bool switch_mode(const std::vector<std::string>& to, const std::vector<std::string>& from) {
    return system_.prepare_command_mode_switch(to, from) == Return::OK &&
           system_.perform_command_mode_switch(to, from) == Return::OK;
  }

  Return read() { return system_.read(now_, period_); }
  Return write() { return system_.write(now_, period_); }
  /// One cycle as in the controller manager; the worse of both results. DEACTIVATE makes the
  /// component inactive, as there.
  Return cycle() {
    const Return result = read_next();
    return result == Return::OK ? write_or_deactivate() : result;
  }
  Return read_next() {
    now_ = now_ + period_;
    return read();
  }
  /// DEACTIVATE: the component becomes inactive, then controllers that hold its commands are
  /// deactivated.
  Return write_or_deactivate() {
    const Return result = write();
    if (result == Return::DEACTIVATE) {
      system_.deactivate();
      stop();
    }
    return result;
  }
  Return cycles(int count) {
    for (int i = 0; i < count; ++i) {
      if (const Return result = cycle(); result != Return::OK) return result;
    }
    return Return::OK;
  }

  /// Sets the parameter inject_fault as a user does; returns the reason if it is rejected.
  std::string inject(const std::string& fault) {
    rclcpp::SyncParametersClient parameters(client_, name_);
    if (!parameters.wait_for_service(std::chrono::seconds(20))) return "no parameter service";
    const auto answer = parameters.set_parameters({rclcpp::Parameter("inject_fault", fault)},
                                                  std::chrono::seconds(20));
    if (answer.empty()) return "no answer";
    return answer[0].successful ? "" : answer[0].reason;
  }
  std::string reset_fault() { return call("reset_fault"); }
  /// Calls a Trigger service of the component as a user does while the cycles continue, this many
  /// between two polls of the answer; returns its message with "+" (success) or "-" before it.
  std::string call(const std::string& name, int cycles_between = 1) {
    using Trigger = std_srvs::srv::Trigger;
    const auto service = client_->create_client<Trigger>("/" + name_ + "/" + name);
    if (!service->wait_for_service(std::chrono::seconds(20))) return "no service";
    auto answer = service->async_send_request(std::make_shared<Trigger::Request>());
    for (int i = 0; i < 20000; ++i) {
      if (rclcpp::spin_until_future_complete(client_, answer, std::chrono::milliseconds(1)) ==
          rclcpp::FutureReturnCode::SUCCESS) {
        const auto response = answer.get();
        return (response->success ? "+" : "-") + response->message;
      }
      for (int k = 0; k < cycles_between; ++k) cycle();
    }
    return "no answer";
  }
  rclcpp::Node::SharedPtr client() { return client_; }
  /// Runs cycles until the component's /diagnostics have this level and a summary with this part, for
  /// at most 20000 cycles; returns the last summary of that level, or "".
  std::string diagnosis(int wanted, const std::string& part) {
    using diagnostic_msgs::msg::DiagnosticArray;
    std::string message;
    const auto subscription = client_->create_subscription<DiagnosticArray>(
        "/diagnostics", 10, [&](const DiagnosticArray::SharedPtr array) {
          for (const auto& status : array->status) {
            if (status.hardware_id == "/" + name_ && status.level == wanted) {
              message = status.message;
            }
          }
        });
    for (int i = 0; i < 20000 && message.find(part) == std::string::npos; ++i) {
      cycle();
      rclcpp::spin_some(client_);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return message;
  }

 private:
  std::shared_ptr<rclcpp::executors::SingleThreadedExecutor> executor_;
  hardware_interface::System system_;
  std::string name_;
  std::vector<std::string> joints_;
  std::uint8_t state_ = 0;
  std::map<std::string, hardware_interface::StateInterface::ConstSharedPtr> states_;
  std::map<std::string, hardware_interface::CommandInterface::SharedPtr> commands_;
  std::thread spinner_;
  rclcpp::Node::SharedPtr client_;
  rclcpp::Duration period_ = rclcpp::Duration::from_seconds(1e-3);
  rclcpp::Time now_{0, 0, RCL_SYSTEM_TIME};
};

/// Why the plugin fails to initialize with a description; "" if it does not.
template <class Plugin>
std::string refusal(const std::string& urdf) {
  const LastError error;
  const Bench bench(urdf, std::make_unique<Plugin>());
  return bench.state() == States::PRIMARY_STATE_UNCONFIGURED ? "" : error();
}

}  // namespace test

#endif  // HARDWARE_BENCH_HPP_
