// SPDX-License-Identifier: Apache-2.0

// Controllers loaded by a real controller manager, at 1 kHz of simulated time, behind the stock
// joint_trajectory_controller: chains that change, switches in mid-motion, aborts, fallbacks.

#include <gtest/gtest.h>

#include <chrono>
#include <controller_manager/controller_manager.hpp>
#include <controller_manager_msgs/srv/switch_controller.hpp>
#include <fstream>
#include <future>
#include <hardware_interface/component_parser.hpp>
#include <lifecycle_msgs/msg/state.hpp>
#include <thread>
#include <trajectory_msgs/msg/joint_trajectory.hpp>

#include "plant_system.hpp"
#include "robots.hpp"

namespace test {
namespace {

using controller_interface::return_type;
using ga_dynamics::Chain;
using lifecycle_msgs::msg::State;
using namespace std::chrono_literals;
using Names = std::vector<std::string>;

const LawKind kLaw = law_under_test();
const bool kTakesReferences = kLaw != LawKind::kGravityHold;

/// The description with a <ros2_control> block for its joints instead of its own.
std::string with_hardware(std::string urdf, const std::string& block) {
  const std::size_t begin = urdf.find("<ros2_control");
  if (begin != std::string::npos) urdf.erase(begin, urdf.find("</robot>") - begin);
  return urdf.insert(urdf.find("</robot>"), block);
}

/// The arm with its drives, behind a hardware plugin. Without interfaces it is there for its drives
/// alone, the arm itself is imported.
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

class Manager : public controller_manager::ControllerManager {
 public:
  using ControllerManager::ControllerManager;
  hardware_interface::ResourceManager& resources() { return *resource_manager_; }
};

rclcpp::NodeOptions manager_options() {
  return controller_manager::get_cm_node_options()
      .append_parameter_override("update_rate", 1000)
      .append_parameter_override("use_sim_time", true);
}

/// A controller manager with an arm. Its time passes in pass() alone: how busy the computer is does
/// not show in the torques.
class Cell {
 public:
  explicit Cell(const std::string& urdf, bool with_friction, bool mock = false)
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
      params.hardware_info =
          hardware_interface::parse_control_resources_from_urdf(
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
  ~Cell() {
    // With the control loop at rest: it would go on with what is being taken apart.
    EXPECT_TRUE(manager->shutdown_controllers());
    executor_->cancel();
    spinner_.join();
  }

  /// Loads and configures it; false if either fails.
  bool load(const std::string& name, const std::string& type, const std::string& parameters = {},
            const Names& fallback = {}) {
    if (!parameters.empty()) {
      const std::string path =
          ::testing::TempDir() + name_of(kLaw) + "_" + name + "_parameters.yaml";
      std::ofstream(path) << "/**:\n  ros__parameters:\n" << parameters;
      manager->set_parameter({name + ".params_file", path});
    }
    if (!fallback.empty()) manager->set_parameter({name + ".fallback_controllers", fallback});
    return succeeds([&] {
      if (manager->load_controller(name, type) == nullptr) return return_type::ERROR;
      return manager->configure_controller(name);
    });
  }
  /// Against friction, all of it is fed forward where the velocity is a reference's.
  bool load_law(const std::string& name, LawKind kind, const Names& fallback = {}) {
    const bool feeds = friction && kind != LawKind::kGravityHold;
    const std::string parameters = !feeds ? ""
                                   : tracks(kind)
                                       ? "    friction: 1.0\n    friction_velocity: 0.0003\n"
                                       : "    friction: 0.7\n";
    return load(name, "ga_controllers/" + name_of(kind), parameters, fallback);
  }
  /// The stock trajectory controller before `law`.
  bool load_trajectory_controller(const std::string& name, const std::string& law,
                                  double tolerance = 0) {
    std::string joints, command_joints, constraints;
    for (const auto& joint : chain.joints()) {
      joints += joint.name + ", ";
      command_joints += law + "/" + joint.name + ", ";
      constraints += "      " + joint.name + ": {trajectory: " + std::to_string(tolerance) + "}\n";
    }
    return load(name, "joint_trajectory_controller/JointTrajectoryController",
                "    joints: [" + joints + "]\n    command_joints: [" + command_joints +
                    "]\n    command_interfaces: [position, velocity, acceleration]\n"
                    "    state_interfaces: [position, velocity]\n    constraints:\n" +
                    constraints);
  }
  bool change(const Names& activate, const Names& deactivate) {
    return succeeds([&] {
      return manager->switch_controller(
          activate, deactivate, controller_manager_msgs::srv::SwitchController::Request::STRICT,
          true, rclcpp::Duration::from_seconds(5));
    });
  }
  /// What a service of the controller manager does in its own thread while the control loop goes
  /// on.
  bool succeeds(const std::function<return_type()>& service) {
    std::future<return_type> result = std::async(std::launch::async, service);
    while (result.wait_for(1ms) != std::future_status::ready) pass(0.001);
    return result.get() == return_type::OK;
  }
  /// Lets so many seconds of the control loop pass.
  void pass(double seconds) {
    for (int k = 0; k < static_cast<int>(std::round(seconds * 1000)); ++k) {
      const rclcpp::Duration period(1ms);
      time_ = time_ + period;
      {
        const std::lock_guard lock(manager->get_clock()->get_clock_mutex());
        EXPECT_EQ(rcl_set_ros_time_override(manager->get_clock()->get_clock_handle(),
                                            time_.nanoseconds()),
                  RCL_RET_OK);
      }
      manager->read(time_, period);
      manager->update(time_, period);
      manager->write(time_, period);
    }
  }
  bool active(const std::string& name) {
    for (const auto& controller : manager->get_loaded_controllers()) {
      if (controller.info.name == name) {
        return controller.c->get_lifecycle_id() == State::PRIMARY_STATE_ACTIVE;
      }
    }
    return false;
  }
  /// Sends the arm on its way to start + offset, to be there after `seconds`.
  void move(const std::string& trajectory_controller, double offset, double seconds) {
    auto publisher = user->create_publisher<trajectory_msgs::msg::JointTrajectory>(
        "/" + trajectory_controller + "/joint_trajectory", 1);
    for (int k = 0; k < 500 && publisher->get_subscription_count() == 0; ++k) {
      std::this_thread::sleep_for(10ms);
    }
    trajectory_msgs::msg::JointTrajectory message;
    for (const auto& joint : chain.joints()) message.joint_names.push_back(joint.name);
    message.points.resize(1);
    for (const double q : start) message.points[0].positions.push_back(q + offset);
    message.points[0].velocities = message.points[0].accelerations = Values(start.size(), 0.0);
    message.points[0].time_from_start = rclcpp::Duration::from_seconds(seconds);
    publisher->publish(message);
    std::this_thread::sleep_for(20ms);
  }
  double distance(const Values& from) const {
    double distance = 0;
    const Values q = watch->position();
    for (std::size_t i = 0; i < q.size(); ++i)
      distance = std::max(distance, std::abs(q[i] - from[i]));
    return distance;
  }

  Chain chain;
  bool friction;
  Values start;
  std::shared_ptr<ArmWatch> watch;
  std::shared_ptr<Manager> manager;
  rclcpp::Node::SharedPtr user;

 private:
  rclcpp::Executor::SharedPtr executor_;
  std::thread spinner_;
  rclcpp::Time time_{1, 0, RCL_ROS_TIME};
};

TEST(Loaded, ByItsNameOnAStockHardwarePlugin) {
  Cell cell(scara(), true, true);
  ASSERT_TRUE(cell.load_law("law", kLaw));
  ASSERT_TRUE(cell.change({"law"}, {}));
  cell.pass(0.1);
  ASSERT_TRUE(cell.active("law"));
  ASSERT_TRUE(cell.change({}, {"law"}));
  // The mock arm does not move; what is left commanded is its weight.
  Values gravity(4);
  ga_dynamics::Dynamics(cell.chain).gravity(cell.start, gravity);
  auto quill = cell.manager->resources().claim_command_interface("quill/effort");
  EXPECT_NEAR(quill.get_optional().value(), gravity[2], 0.05);
  EXPECT_TRUE(cell.succeeds([&] { return cell.manager->unload_controller("law"); }));
}

// With friction the torque steps by itself where a joint stops or turns round; the 20 cycles after
// a switch are those of the switch.

TEST(Loaded, TheChainChangesInMidMotionWithoutABump) {
  for (const bool friction : {false, true}) {
    Cell cell(puma(), friction);
    ASSERT_TRUE(cell.load_law("law", kLaw));
    ASSERT_TRUE(cell.load_trajectory_controller("trajectory", "law"));
    ASSERT_TRUE(cell.change({"law"}, {}));
    cell.pass(0.3);
    EXPECT_LT(cell.distance(cell.start), 2e-3) << "the arm sagged when the brakes opened";
    cell.watch->take_steps();
    Steps steps;
    double furthest = 0;
    for (int k = 0; k < 3; ++k) {
      ASSERT_TRUE(cell.change({"trajectory"}, {}));
      const Values attached = cell.watch->position();
      cell.pass(0.2);
      if (k == 0) {
        EXPECT_LT(cell.distance(attached), 2e-3);
      }
      steps.add(cell.watch->take_steps());
      cell.move("trajectory", k % 2 == 0 ? 0.3 : 0.0, 1.2);
      cell.pass(0.5);
      cell.watch->take_steps();
      const Values at = cell.watch->position();
      ASSERT_TRUE(cell.change({}, {"trajectory"}));
      cell.pass(0.3);
      steps.add(cell.watch->take_steps());
      cell.pass(1);
      furthest = std::max(furthest, cell.distance(at));
      EXPECT_TRUE(cell.active("law"));
      EXPECT_LT(cell.watch->speed(), 0.02);
    }
    const std::string suffix = friction ? "_with_friction" : "";
    RecordProperty("switch_step" + suffix, std::to_string(steps.at_switch));
    RecordProperty("any_step" + suffix, std::to_string(steps.any));
    RecordProperty("furthest" + suffix, std::to_string(furthest));
    EXPECT_LT(steps.at_switch, 0.01);
    EXPECT_LT(steps.any, friction ? 0.1 : 0.01);
    EXPECT_LT(furthest, 0.2);
  }
}

TEST(Loaded, SwitchesToEveryOtherControllerAndBackInMidMotion) {
  for (const bool friction : {false, true}) {
    Cell cell(puma(), friction);
    ASSERT_TRUE(cell.load_law("law", kLaw));
    ASSERT_TRUE(cell.load_trajectory_controller("trajectory", "law"));
    std::vector<std::string> others;
    for (const LawKind kind : kAllLaws) {
      if (kind == kLaw) continue;
      others.push_back(name_of(kind));
      ASSERT_TRUE(cell.load_law(others.back(), kind));
    }
    ASSERT_TRUE(cell.change({"law", "trajectory"}, {}));
    cell.pass(0.3);
    Steps steps;
    double furthest = 0;
    bool there = false;
    for (const std::string& other : others) {
      cell.move("trajectory", there ? 0.0 : 0.3, 1.2);
      there = !there;
      cell.pass(0.5);
      cell.watch->take_steps();
      const Values at = cell.watch->position();
      ASSERT_TRUE(cell.change({other}, {"trajectory", "law"}));
      cell.pass(0.1);
      ASSERT_TRUE(cell.change({"law"}, {other}));
      cell.pass(0.1);
      ASSERT_TRUE(cell.change({"trajectory"}, {}));
      cell.pass(0.5);
      steps.add(cell.watch->take_steps());
      furthest = std::max(furthest, cell.distance(at));
    }
    const std::string suffix = friction ? "_with_friction" : "";
    RecordProperty("switch_step" + suffix, std::to_string(steps.at_switch));
    RecordProperty("any_step" + suffix, std::to_string(steps.any));
    RecordProperty("furthest" + suffix, std::to_string(furthest));
    EXPECT_LT(steps.at_switch, 0.01);
    EXPECT_LT(steps.any, friction ? 0.1 : 0.01);
    EXPECT_LT(furthest, 0.25);
  }
}

TEST(Loaded, AnAbortedTrajectoryLeavesAStandingArm) {
  if (!kTakesReferences) GTEST_SKIP() << "this law takes no reference";
  Cell cell(puma(), true);
  ASSERT_TRUE(cell.load_law("law", kLaw));
  ASSERT_TRUE(cell.load_trajectory_controller("trajectory", "law", 2e-4));
  ASSERT_TRUE(cell.change({"law", "trajectory"}, {}));
  cell.pass(0.3);
  cell.watch->take_steps();
  cell.move("trajectory", 0.5, 1.0);  // friction alone makes a larger error than is tolerated
  cell.pass(1.5);
  RecordProperty("any_step", std::to_string(cell.watch->take_steps().any));
  EXPECT_LT(cell.watch->speed(), 0.02);
  EXPECT_LT(cell.distance(cell.start), 0.4) << "it was not aborted";
  EXPECT_TRUE(cell.active("law"));
}

TEST(Loaded, TheGravityHoldTakesOverFromAnErrorInMidMotion) {
  if (kLaw == LawKind::kGravityHold) GTEST_SKIP() << "not of the gravity hold";
  for (const bool with_friction : {false, true}) {
    Cell cell(puma(), with_friction);
    ASSERT_TRUE(cell.load_law("fallback", LawKind::kGravityHold));
    ASSERT_TRUE(cell.load_law("law", kLaw, {"fallback"}));
    ASSERT_TRUE(cell.load_trajectory_controller("trajectory", "law"));
    ASSERT_TRUE(cell.change({"law", "trajectory"}, {}));
    cell.pass(0.5);
    cell.move("trajectory", 0.3, 1.2);
    cell.pass(0.5);
    const Values at = cell.watch->position();
    EXPECT_GT(cell.watch->speed(), 0.1);
    cell.watch->take_steps();
    cell.watch->blind = true;
    for (int k = 0; k < 200 && cell.active("law"); ++k) cell.pass(0.001);
    cell.watch->blind = false;
    cell.pass(0.02);
    const Steps steps = cell.watch->take_steps();
    cell.pass(1);
    RecordProperty(with_friction ? "step_with_friction" : "step", std::to_string(steps.any));
    EXPECT_LT(steps.any, 0.01);
    EXPECT_FALSE(cell.active("law"));
    EXPECT_FALSE(cell.active("trajectory"));
    EXPECT_TRUE(cell.active("fallback"));
    EXPECT_FALSE(cell.watch->braked);
    EXPECT_LT(cell.distance(at), 0.2);
    EXPECT_LT(cell.watch->speed(), 0.01);
  }
}

TEST(Loaded, AnArmThatStaysBlindIsLeftToItsBrakes) {
  Cell cell(puma(), true);
  const bool falls_back = kLaw != LawKind::kGravityHold;
  if (falls_back) {
    ASSERT_TRUE(cell.load_law("fallback", LawKind::kGravityHold));
  }
  ASSERT_TRUE(cell.load_law("law", kLaw, falls_back ? Names{"fallback"} : Names{}));
  ASSERT_TRUE(cell.change({"law"}, {}));
  cell.pass(0.3);
  const Values at = cell.watch->position();
  cell.watch->blind = true;
  cell.pass(0.5);
  EXPECT_FALSE(cell.active("law"));
  EXPECT_FALSE(cell.active("fallback"));
  EXPECT_TRUE(cell.watch->braked);
  EXPECT_LT(cell.distance(at), 0.01);
  EXPECT_FALSE(cell.change({"law"}, {})) << "blind it must not start";
}

}  // namespace
}  // namespace test
