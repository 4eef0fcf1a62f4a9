// SPDX-License-Identifier: Apache-2.0

// MoveIt's view of the chains of ros2_control: trajectory controllers in front of control laws. MoveIt
// uses the active chain. The user may change it while MoveIt runs.

#include <algorithm>
#include <chrono>
#include <control_msgs/action/follow_joint_trajectory.hpp>
#include <control_msgs/action/gripper_command.hpp>
#include <control_msgs/action/parallel_gripper_command.hpp>
#include <controller_manager_msgs/srv/list_controllers.hpp>
#include <controller_manager_msgs/srv/switch_controller.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <pluginlib/class_list_macros.hpp>
#include <set>
#include <string>
#include <vector>

#include "moveit/action_handle.hpp"
#include "moveit/controller_chains.hpp"

namespace ga_controllers {

namespace {

using control_msgs::action::FollowJointTrajectory;
using control_msgs::action::GripperCommand;
using control_msgs::action::ParallelGripperCommand;
using controller_manager_msgs::srv::ListControllers;
using controller_manager_msgs::srv::SwitchController;
using Names = std::vector<std::string>;
using Seconds = std::chrono::duration<double>;

constexpr const char* kPrefix = "ga_controllers.";
constexpr Seconds kFresh{0.2};      // MoveIt asks for the state of every controller, one by one
constexpr Seconds kDiscovery{1.0};  // for a service that has just been looked up

class TrajectoryHandle final : public ActionHandle<FollowJointTrajectory> {
 public:
  using ActionHandle::ActionHandle;

 private:
  std::string fill(const Trajectory& trajectory, Goal& goal) const override {
    if (trajectory.joint_trajectory.points.empty()) return "a trajectory without points";
    if (!trajectory.multi_dof_joint_trajectory.points.empty())
      return "a trajectory of joints with several degrees of freedom";
    goal.trajectory = trajectory.joint_trajectory;
    return "";
  }
};

/// The end of a gripper's trajectory.
struct GripperEnd {
  std::string joint, flaw;
  double position = 0;
};

GripperEnd end_of(const moveit_msgs::msg::RobotTrajectory& trajectory, const std::string& joint) {
  const auto& names = trajectory.joint_trajectory.joint_names;
  const auto& points = trajectory.joint_trajectory.points;
  const auto at = std::find(names.begin(), names.end(), joint);
  const auto index = static_cast<std::size_t>(at - names.begin());
  if (at == names.end() || points.empty() || points.back().positions.size() <= index)
    return {joint, "a trajectory without a position of joint '" + joint + "'"};
  return {joint, "", points.back().positions[index]};
}

class GripperHandle final : public ActionHandle<GripperCommand> {
 public:
  GripperHandle(const rclcpp::Node::SharedPtr& node, const std::string& name,
                const std::string& action, Seconds timeout, std::string joint, double max_effort)
      : ActionHandle(node, name, action, timeout), joint_(std::move(joint)), effort_(max_effort) {}

 private:
  std::string fill(const Trajectory& trajectory, Goal& goal) const override {
    const GripperEnd end = end_of(trajectory, joint_);
    goal.command.position = end.position, goal.command.max_effort = effort_;
    return end.flaw;
  }
  std::string joint_;
  double effort_;
};

class ParallelGripperHandle final : public ActionHandle<ParallelGripperCommand> {
 public:
  ParallelGripperHandle(const rclcpp::Node::SharedPtr& node, const std::string& name,
                        const std::string& action, Seconds timeout, std::string joint,
                        double max_effort)
      : ActionHandle(node, name, action, timeout), joint_(std::move(joint)), effort_(max_effort) {}

 private:
  std::string fill(const Trajectory& trajectory, Goal& goal) const override {
    const GripperEnd end = end_of(trajectory, joint_);
    goal.command.name = {end.joint}, goal.command.position = {end.position};
    if (effort_ > 0) goal.command.effort = {effort_};
    return end.flaw;
  }
  std::string joint_;
  double effort_;
};

Names sorted(Names names) {
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

class ChainedControllerManager final : public moveit_controller_manager::MoveItControllerManager {
 public:
  using Handle = moveit_controller_manager::MoveItControllerHandlePtr;

  /// The node is spun in another thread, from now on. Nothing is asked of it here.
  void initialize(const rclcpp::Node::SharedPtr& node) override {
    node_ = node;
    const auto manager = parameter<std::string>("controller_manager", "controller_manager");
    defaults_ = parameter<Names>("default_controllers", {});
    head_types_ = parameter<Names>("trajectory_controller_types",
                                   {"joint_trajectory_controller/JointTrajectoryController"});
    protected_types_ =
        parameter<Names>("protected_types", {"ga_controllers/HandGuidingController"});
    timeout_ = Seconds(parameter<double>("service_timeout", 3.0));
    if (!(timeout_.count() > 0)) {
      RCLCPP_ERROR(logger(),
                   "parameter %sservice_timeout is %g s; 3 s is taken: give more than zero",
                   kPrefix, timeout_.count());
      timeout_ = Seconds(3.0);
    }
    // Actions of controllers are beside their manager.
    namespace_ = manager.substr(0, manager.rfind('/') + 1);
    list_ = node_->create_client<ListControllers>(manager + "/list_controllers");
    switch_ = node_->create_client<SwitchController>(manager + "/switch_controller");
    for (const std::string& name : parameter<Names>("grippers", {})) add_gripper(name);
  }

  Handle getControllerHandle(const std::string& name) override {
    const std::lock_guard lock(mutex_);
    const auto gripper = grippers_.find(name);
    if (gripper != grippers_.end()) return gripper->second.handle;
    if (find(name) == nullptr) {
      RCLCPP_ERROR(logger(), "'%s' is not a trajectory controller of the controller manager",
                   name.c_str());
      return nullptr;
    }
    Handle& handle = handles_[name];
    if (!handle) {
      handle = std::make_shared<TrajectoryHandle>(
          node_, name, namespace_ + name + "/follow_joint_trajectory", timeout_);
    }
    return handle;
  }

  void getControllersList(Names& names) override {
    const std::lock_guard lock(mutex_);
    refresh(Seconds(0));
    for (const ControllerChain& chain : chains_) names.push_back(chain.head());
    for (const auto& [name, gripper] : grippers_) names.push_back(name);
  }

  void getActiveControllers(Names& names) override {
    const std::lock_guard lock(mutex_);
    refresh(kFresh);
    for (const ControllerChain& chain : chains_) {
      if (chain.active) names.push_back(chain.head());
    }
    for (const auto& [name, gripper] : grippers_) names.push_back(name);
  }

  void getControllerJoints(const std::string& name, Names& joints) override {
    const std::lock_guard lock(mutex_);
    refresh(kFresh);
    const auto gripper = grippers_.find(name);
    const ControllerChain* const chain = find(name);
    joints = gripper != grippers_.end() ? gripper->second.joints
             : chain != nullptr         ? chain->joints
                                        : Names{};
  }

  ControllerState getControllerState(const std::string& name) override {
    const std::lock_guard lock(mutex_);
    refresh(kFresh);
    ControllerState state;
    if (grippers_.count(name) > 0) state.active_ = state.default_ = true;
    if (const ControllerChain* const chain = find(name)) {
      state.active_ = chain->active;
      state.default_ = is_preferred(*chain, chains_, defaults_);
    }
    return state;
  }

  bool switchControllers(const Names& activate, const Names& deactivate) override {
    const std::lock_guard lock(mutex_);
    if (!refresh(Seconds(0))) return false;
    try {
      check_choice(activate);
      return request(plan_switch(controllers_, chains_, activate, deactivate, protected_types_));
    } catch (const SwitchError& error) {
      RCLCPP_ERROR(logger(), "%s", error.what());
      return false;
    }
  }

 private:
  struct Gripper {
    Names joints;
    Handle handle;
  };

  rclcpp::Logger logger() const { return node_->get_logger().get_child("controllers"); }

  template <class Value>
  Value parameter(const std::string& name, const Value& fallback) {
    const std::string full = kPrefix + name;
    if (!node_->has_parameter(full)) node_->declare_parameter(full, fallback);
    try {
      return node_->get_parameter(full).get_value<Value>();
    } catch (const rclcpp::exceptions::InvalidParameterTypeException& error) {
      // An empty list in a file has no type.
      if (node_->get_parameter(full).get_type() != rclcpp::ParameterType::PARAMETER_NOT_SET)
        RCLCPP_ERROR(logger(), "parameter %s; its default is taken", error.what());
      return fallback;
    }
  }

  void add_gripper(const std::string& name) {
    const auto type = parameter<std::string>(name + ".type", "GripperCommand");
    const auto action = parameter<std::string>(name + ".action", name + "/gripper_cmd");
    const auto joints = parameter<Names>(name + ".joints", {});
    const auto effort = parameter<double>(name + ".max_effort", 0.0);
    if (joints.empty()) {
      RCLCPP_ERROR(logger(), "gripper '%s': parameter %s%s.joints is empty; name its joint",
                   name.c_str(), kPrefix, name.c_str());
    } else if (type == "GripperCommand") {
      grippers_[name] = {joints, std::make_shared<GripperHandle>(node_, name, action, timeout_,
                                                                 joints[0], effort)};
    } else if (type == "ParallelGripperCommand") {
      grippers_[name] = {joints, std::make_shared<ParallelGripperHandle>(
                                     node_, name, action, timeout_, joints[0], effort)};
    } else {
      RCLCPP_ERROR(logger(),
                   "gripper '%s': its type is %s; give GripperCommand or ParallelGripperCommand",
                   name.c_str(), type.c_str());
    }
  }

  const ControllerChain* find(const std::string& head) const {
    const auto found = std::find_if(chains_.begin(), chains_.end(),
                                    [&](const auto& chain) { return chain.head() == head; });
    return found == chains_.end() ? nullptr : &*found;
  }

  /// Reads the controllers again if what is known is older than `age`; false if that is not possible.
  bool refresh(Seconds age) {
    const auto now = std::chrono::steady_clock::now();
    if (known_ && now - *known_ < age) return true;
    if (!list_->wait_for_service(kDiscovery)) {
      RCLCPP_WARN(logger(), "there is no service %s; is the controller manager running?",
                  list_->get_service_name());
      return forget();
    }
    auto future = list_->async_send_request(std::make_shared<ListControllers::Request>());
    if (future.wait_for(timeout_) != std::future_status::ready) {
      list_->remove_pending_request(future);
      RCLCPP_WARN(logger(), "no answer of %s within %g s", list_->get_service_name(),
                  timeout_.count());
      return forget();
    }
    controllers_.clear();
    const auto answer = future.get();
    for (const auto& state : answer->controller) {
      controllers_.push_back({state.name, state.type, state.state,
                              state.required_command_interfaces, state.claimed_interfaces});
    }
    chains_ = find_chains(controllers_, head_types_);
    known_ = std::chrono::steady_clock::now();
    return true;
  }

  bool forget() {
    controllers_.clear(), chains_.clear();
    known_ = std::chrono::steady_clock::now();
    return false;
  }

  /// MoveIt takes any controller if none is preferred.
  void check_choice(const Names& heads) const {
    for (const std::string& head : heads) {
      const ControllerChain* const chain = find(head);
      if (chain == nullptr) continue;
      Names choice;
      bool chosen = false;
      for (const ControllerChain& other : chains_) {
        if (!other.overlaps(*chain)) continue;
        choice.push_back(other.head());
        chosen = chosen || is_preferred(other, chains_, defaults_);
      }
      if (chosen) continue;
      std::string names;
      for (const std::string& name : sorted(choice)) names += (names.empty() ? "" : ", ") + name;
      throw SwitchError("none of " + names +
                        " is active; activate one with its control law, or name "
                        "one in the parameter " +
                        kPrefix + "default_controllers");
    }
  }

  bool request(const ControllerSwitch& wanted) {
    if (wanted.activate.empty() && wanted.deactivate.empty()) return true;
    const auto listed = [](const Names& names) {
      std::string text;
      for (const std::string& name : names) text += " " + name;
      return text.empty() ? std::string(" nothing") : text;
    };
    RCLCPP_INFO(logger(), "activating%s, deactivating%s", listed(wanted.activate).c_str(),
                listed(wanted.deactivate).c_str());
    const auto message = std::make_shared<SwitchController::Request>();
    message->activate_controllers = wanted.activate;
    message->deactivate_controllers = wanted.deactivate;
    message->strictness = SwitchController::Request::STRICT;
    message->timeout = rclcpp::Duration::from_seconds(timeout_.count());
    if (!switch_->wait_for_service(kDiscovery)) {
      RCLCPP_ERROR(logger(), "there is no service %s", switch_->get_service_name());
      return false;
    }
    auto future = switch_->async_send_request(message);
    if (future.wait_for(timeout_ + Seconds(1)) != std::future_status::ready) {
      switch_->remove_pending_request(future);
      RCLCPP_ERROR(logger(), "no answer of %s", switch_->get_service_name());
      known_.reset();
      return false;
    }
    const auto answer = future.get();
    if (!answer->ok) {
      RCLCPP_ERROR(logger(), "the controllers could not be switched: %s", answer->message.c_str());
    }
    known_.reset();
    return answer->ok;
  }

  rclcpp::Node::SharedPtr node_;
  rclcpp::Client<ListControllers>::SharedPtr list_;
  rclcpp::Client<SwitchController>::SharedPtr switch_;
  std::string namespace_;
  Names defaults_, head_types_, protected_types_;
  Seconds timeout_{3.0};
  std::map<std::string, Gripper> grippers_;

  std::mutex mutex_;  // of what follows
  std::vector<ControllerInfo> controllers_;
  std::vector<ControllerChain> chains_;
  std::map<std::string, Handle> handles_;
  std::optional<std::chrono::steady_clock::time_point> known_;
};

}  // namespace ga_controllers

PLUGINLIB_EXPORT_CLASS(ga_controllers::ChainedControllerManager,
                       moveit_controller_manager::MoveItControllerManager)
