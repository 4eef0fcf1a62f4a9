// SPDX-License-Identifier: Apache-2.0
#include "cell.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <controller_manager_msgs/srv/switch_controller.hpp>
#include <fstream>
#include <future>
#include <hardware_interface/component_parser.hpp>
#include <lifecycle_msgs/msg/state.hpp>

namespace test {

using controller_interface::return_type;
using ga_dynamics::Chain;
using lifecycle_msgs::msg::State;
using namespace std::chrono_literals;

namespace {

/// The description with a <ros2_control> block for its joints, which replaces its own.
std::string with_hardware(std::string urdf, const std::string& block) {
  const std::size_t begin = urdf.find("<ros2_control");
  if (begin != std::string::npos) urdf.erase(begin, urdf.find("</robot>") - begin);
  return urdf.insert(urdf.find("</robot>"), block);
}

/// The arm with its drives, behind a hardware plugin. Without interfaces it only provides the
/// drives, and the arm itself is imported.
std::string system_block(const Chain& chain, const std::string& plugin, const Values& start,
                         bool interfaces) {
  std::string block = "<ros2_control name=\"" + std::string(interfaces ? "arm" : "drives") +
                      "\" type=\"system\"><hardware><plugin>" + plugin + "</plugin></hardware>";
  for (std::size_t i = 0; i < start.size(); ++i) {
    block += "<joint name=\"" + chain.joints()[i].name + "\">";
    if (interfaces) {
      block +=
          "<command_interface name=\"effort\"/><state_interface name=\"position\">"
          "<param name=\"initial_value\">" +
          std::to_string(start[i]) +
          "</param></state_interface><state_interface name=\"velocity\"/>";
    }
    for (const auto& [name, value] : chain.joints()[i].parameters) {
      block += "<param name=\"" + name + "\">" + value + "</param>";
    }
    block += "</joint>";
  }
  return block + "</ros2_control>";
}

rclcpp::NodeOptions manager_options() {
  return controller_manager::get_cm_node_options()
      .append_parameter_override("update_rate", 1000)
      .append_parameter_override("use_sim_time", true);
}

}  // namespace

Cell::Cell(const std::string& urdf, bool with_friction, bool mock)
    : chain(Chain::from_urdf_text(urdf)),
      friction(with_friction),
      start(Motion(chain, 0.3).q),
      watch(std::make_shared<ArmWatch>()),
      executor_(std::make_shared<rclcpp::executors::SingleThreadedExecutor>()) {
  const std::string stock = system_block(chain, "mock_components/GenericSystem", start, mock);
  manager = std::make_shared<Manager>(executor_, with_hardware(urdf, stock), true,
                                      "controller_manager", "", manager_options());
  if (!mock) {
    hardware_interface::HardwareComponentParams params;
    params.hardware_info = hardware_interface::parse_control_resources_from_urdf(
                               with_hardware(urdf, system_block(chain, "PlantSystem", start, true)))
                               .at(0);
    params.clock = manager->get_clock();
    params.executor = executor_;
    manager->resources().import_component(
        std::make_unique<PlantSystem>(chain, friction, start, watch), params);
    rclcpp_lifecycle::State active(State::PRIMARY_STATE_ACTIVE, "active");
    EXPECT_EQ(manager->resources().set_component_state("arm", active),
              hardware_interface::return_type::OK);
  }
  user = std::make_shared<rclcpp::Node>("user");
  executor_->add_node(manager);
  executor_->add_node(user);
  spinner_ = std::thread([this] { executor_->spin(); });
  pass(0.01);
}

Cell::~Cell() {
  // Stop the control loop first: it would use objects that are being destroyed.
  EXPECT_TRUE(manager->shutdown_controllers());
  executor_->cancel();
  spinner_.join();
}

bool Cell::load(const std::string& name, const std::string& type, const std::string& parameters,
                const Names& fallback) {
  if (!parameters.empty()) {
    const std::string path = ::testing::TempDir() + name_of(kLaw) + "_" + name + "_parameters.yaml";
    std::ofstream(path) << "/**:\n  ros__parameters:\n" << parameters;
    manager->set_parameter({name + ".params_file", path});
  }
  if (!fallback.empty()) manager->set_parameter({name + ".fallback_controllers", fallback});
  return succeeds([&] {
    if (manager->load_controller(name, type) == nullptr) return return_type::ERROR;
    return manager->configure_controller(name);
  });
}

bool Cell::load_law(const std::string& name, LawKind kind, const Names& fallback) {
  const bool feeds = friction && kind != LawKind::kGravityHold;
  const std::string parameters = !feeds ? ""
                                 : tracks(kind)
                                     ? "    friction: 1.0\n    friction_velocity: 0.0003\n"
                                     : "    friction: 0.7\n";
  return load(name, "ga_controllers/" + name_of(kind),
              parameters + (keep_path ? "    keep_path: true\n" : ""), fallback);
}

bool Cell::load_trajectory_controller(const std::string& name, const std::string& law,
                                      double tolerance, bool scales) {
  std::string joints, command_joints, constraints;
  for (const auto& joint : chain.joints()) {
    joints += joint.name + ", ";
    command_joints += law + "/" + joint.name + ", ";
    constraints += "      " + joint.name + ": {trajectory: " + std::to_string(tolerance) + "}\n";
  }
  return load(name, "joint_trajectory_controller/JointTrajectoryController",
              "    joints: [" + joints + "]\n    command_joints: [" + command_joints +
                  "]\n    command_interfaces: [position, velocity, acceleration]\n"
                  "    state_interfaces: [position, velocity]\n" +
                  (scales ? "    speed_scaling:\n      state_interface: " + law + "/speed_scaling\n"
                          : std::string()) +
                  "    constraints:\n" + constraints);
}

bool Cell::change(const Names& activate, const Names& deactivate) {
  return succeeds([&] {
    return manager->switch_controller(
        activate, deactivate, controller_manager_msgs::srv::SwitchController::Request::STRICT, true,
        rclcpp::Duration::from_seconds(5));
  });
}

bool Cell::succeeds(const std::function<return_type()>& service) {
  std::future<return_type> result = std::async(std::launch::async, service);
  while (result.wait_for(1ms) != std::future_status::ready) pass(0.001);
  return result.get() == return_type::OK;
}

void Cell::pass(double seconds) {
  for (int k = 0; k < static_cast<int>(std::round(seconds * 1000)); ++k) {
    const rclcpp::Duration period(1ms);
    time_ = time_ + period;
    {
      const std::lock_guard lock(manager->get_clock()->get_clock_mutex());
      EXPECT_EQ(
          rcl_set_ros_time_override(manager->get_clock()->get_clock_handle(), time_.nanoseconds()),
          RCL_RET_OK);
    }
    manager->read(time_, period);
    manager->update(time_, period);
    manager->write(time_, period);
  }
}

bool Cell::active(const std::string& name) {
  for (const auto& controller : manager->get_loaded_controllers()) {
    if (controller.info.name == name) {
      return controller.c->get_lifecycle_id() == State::PRIMARY_STATE_ACTIVE;
    }
  }
  return false;
}

void Cell::move(const std::string& trajectory_controller, double offset, double seconds) {
  auto publisher = user->create_publisher<trajectory_msgs::msg::JointTrajectory>(
      "/" + trajectory_controller + "/joint_trajectory", 1);
  for (int k = 0; k < 500 && publisher->get_subscription_count() == 0; ++k) {
    std::this_thread::sleep_for(10ms);
  }
  Values there = start;
  for (double& q : there) q += offset;
  const Values rest(start.size(), 0.0);
  auto goal = message(chain, there, rest, rest);
  goal.points[0].time_from_start = rclcpp::Duration::from_seconds(seconds);
  publisher->publish(goal);
  std::this_thread::sleep_for(20ms);
}

double Cell::distance(const Values& from) const {
  double distance = 0;
  const Values q = watch->position();
  for (std::size_t i = 0; i < q.size(); ++i)
    distance = std::max(distance, std::abs(q[i] - from[i]));
  return distance;
}

}  // namespace test
