// SPDX-License-Identifier: Apache-2.0
#ifndef CONTROL_LOOP_HPP_
#define CONTROL_LOOP_HPP_

// A real controller manager in this process with a PUMA, in simulated time that advances only in
// pass(). Everything except the control loop runs in other threads.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <controller_manager/controller_manager.hpp>
#include <controller_manager_msgs/srv/set_hardware_component_state.hpp>
#include <controller_manager_msgs/srv/switch_controller.hpp>
#include <fstream>
#include <functional>
#include <future>
#include <lifecycle_msgs/msg/state.hpp>
#include <memory>
#include <sstream>
#include <std_srvs/srv/trigger.hpp>
#include <string>
#include <thread>
#include <vector>

namespace test {

using Names = std::vector<std::string>;
using controller_interface::return_type;
using namespace std::chrono_literals;

/// Initial position, rad.
constexpr std::array<double, 6> kStart{0.3, -1.2, 1.9, 0.1, 0.4, -0.2};
constexpr char kComponent[] = "puma560";

/// The description with this hardware plugin, as in the launch file.
inline std::string described(const std::string& plugin) {
  std::ifstream file(PUMA_URDF);
  EXPECT_TRUE(file) << PUMA_URDF;
  std::ostringstream text;
  text << file.rdbuf();
  std::string urdf = text.str(), start;
  for (std::size_t i = 0; i < 6; ++i) {
    start +=
        (i == 0 ? "joint" : ",joint") + std::to_string(i + 1) + ":" + std::to_string(kStart[i]);
  }
  std::string tags = "puma_hardware/" + plugin + "</plugin><param name=\"initial_positions\">" +
                     start + "</param>";
  if (plugin == "PumaSystem") tags += "<param name=\"io\">emulated</param>";
  const std::string old = "puma_hardware/PumaSimSystem</plugin>";
  return urdf.replace(urdf.find(old), old.size(), tags);
}

class ControlLoop {
 public:
  explicit ControlLoop(const std::string& plugin)
      : executor_(std::make_shared<rclcpp::executors::MultiThreadedExecutor>(
            rclcpp::ExecutorOptions(), 2)),
        manager_(std::make_shared<controller_manager::ControllerManager>(
            executor_, described(plugin), true, "controller_manager", "", options())),
        user_(std::make_shared<rclcpp::Node>("user")) {
    executor_->add_node(manager_);
    executor_->add_node(user_);
    spinner_ = std::thread([this] { executor_->spin(); });
    pass(10);
  }
  ~ControlLoop() {
    EXPECT_TRUE(succeeds([this] {
      return manager_->shutdown_controllers() ? return_type::OK : return_type::ERROR;
    }));
    executor_->cancel();
    spinner_.join();
  }
  ControlLoop(const ControlLoop&) = delete;
  ControlLoop& operator=(const ControlLoop&) = delete;

  /// Activates the hardware; with cards it is calibrated first.
  bool start(const std::string& plugin) {
    if (plugin == "PumaSystem") {
      const auto found = call<std_srvs::srv::Trigger>(std::string("/") + kComponent + "/calibrate",
                                                      std_srvs::srv::Trigger::Request());
      if (!found || !found->success) return false;
    }
    controller_manager_msgs::srv::SetHardwareComponentState::Request request;
    request.name = kComponent;
    request.target_state.id = lifecycle_msgs::msg::State::PRIMARY_STATE_ACTIVE;
    request.target_state.label = "active";
    const auto answer = call<controller_manager_msgs::srv::SetHardwareComponentState>(
        "/controller_manager/set_hardware_component_state", request);
    return answer && answer->ok && answer->state.id == request.target_state.id;
  }
  bool load(const std::string& name, const std::string& type) {
    manager_->set_parameter({name + ".params_file", CONTROLLERS_FILE});
    return succeeds([&] {
      if (manager_->load_controller(name, type) == nullptr) return return_type::ERROR;
      return manager_->configure_controller(name);
    });
  }
  bool activate(const Names& names, const Names& others = {}) {
    return succeeds([&] {
      return manager_->switch_controller(
          names, others, controller_manager_msgs::srv::SwitchController::Request::STRICT, true,
          rclcpp::Duration::from_seconds(20));
    });
  }
  void pass(int cycles) {
    for (int k = 0; k < cycles; ++k) {
      const rclcpp::Duration period(1ms);
      time_ = time_ + period;
      {
        const std::lock_guard lock(manager_->get_clock()->get_clock_mutex());
        EXPECT_EQ(rcl_set_ros_time_override(manager_->get_clock()->get_clock_handle(),
                                            time_.nanoseconds()),
                  RCL_RET_OK);
      }
      manager_->read(time_, period);
      manager_->update(time_, period);
      manager_->write(time_, period);
      ++cycles_;
      std::this_thread::sleep_for(50us);  // for the other threads
    }
  }
  rclcpp::Node& user() { return *user_; }
  long cycles() const { return cycles_; }

 private:
  /// Runs a service of the controller manager in another thread while the control loop runs.
  bool succeeds(const std::function<return_type()>& service) {
    std::future<return_type> result = std::async(std::launch::async, service);
    while (result.wait_for(1ms) != std::future_status::ready) pass(1);
    return result.get() == return_type::OK;
  }
  /// Response of a service, or null after a minute.
  template <class Service>
  typename Service::Response::SharedPtr call(const std::string& name,
                                             const typename Service::Request& request) {
    const auto client = user_->create_client<Service>(name);
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (!client->service_is_ready() && std::chrono::steady_clock::now() < end) pass(1);
    auto answer = client->async_send_request(std::make_shared<typename Service::Request>(request));
    while (answer.wait_for(0s) != std::future_status::ready) {
      if (std::chrono::steady_clock::now() > end) return nullptr;
      pass(1);
    }
    return answer.get();
  }
  static rclcpp::NodeOptions options() {
    return controller_manager::get_cm_node_options()
        .append_parameter_override("update_rate", 1000)
        .append_parameter_override("use_sim_time", true)
        .append_parameter_override("hardware_components_initial_state.inactive", Names{kComponent});
  }

  std::shared_ptr<rclcpp::Executor> executor_;
  std::shared_ptr<controller_manager::ControllerManager> manager_;
  rclcpp::Node::SharedPtr user_;
  std::thread spinner_;
  rclcpp::Time time_{1, 0, RCL_ROS_TIME};
  long cycles_ = 0;
};

}  // namespace test

#endif  // CONTROL_LOOP_HPP_
