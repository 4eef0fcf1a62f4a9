// SPDX-License-Identifier: Apache-2.0
#ifndef MOVEIT__ACTION_HANDLE_HPP_
#define MOVEIT__ACTION_HANDLE_HPP_

// Executes MoveIt's trajectories through an action. Nothing here waits without limit for an action
// server that does not answer. A goal that is accepted after it was given up is canceled.

#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <moveit/controller_manager/controller_manager.hpp>
#include <mutex>
#include <optional>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_action/rclcpp_action.hpp>
#include <string>
#include <utility>

namespace ga_controllers {

template <class Action>
class ActionHandle : public moveit_controller_manager::MoveItControllerHandle {
 public:
  using Status = moveit_controller_manager::ExecutionStatus;
  using Trajectory = moveit_msgs::msg::RobotTrajectory;
  using Goal = typename Action::Goal;
  using Result = typename rclcpp_action::ClientGoalHandle<Action>::WrappedResult;
  using Seconds = std::chrono::duration<double>;

  /// The node is spun by someone else. `timeout`: for every answer of the action server.
  ActionHandle(const rclcpp::Node::SharedPtr& node, const std::string& name,
               const std::string& action, Seconds timeout)
      : MoveItControllerHandle(name),
        node_(node),
        client_(rclcpp_action::create_client<Action>(node, action)),
        action_(action),
        timeout_(timeout),
        shared_(std::make_shared<Shared>()) {}

  bool sendTrajectory(const Trajectory& trajectory) override {
    Goal goal;
    if (const std::string flaw = fill(trajectory, goal); !flaw.empty()) return refuse(flaw);
    if (!client_->wait_for_action_server(to_ns(timeout_)))
      return refuse("there is no action server " + action_ + "; is the controller active?");
    const auto run = std::make_shared<Run>();
    typename rclcpp_action::Client<Action>::SendGoalOptions options;
    options.result_callback = [shared = shared_, run, this_name = name_,
                               logger = logger()](const Result& result) {
      if (result.code == rclcpp_action::ResultCode::SUCCEEDED) {
        RCLCPP_INFO(logger, "%s: goal reached", this_name.c_str());
      } else if (result.code == rclcpp_action::ResultCode::CANCELED) {
        RCLCPP_INFO(logger, "%s: canceled", this_name.c_str());
      } else {
        RCLCPP_ERROR(logger, "%s: %s", this_name.c_str(), describe(result).c_str());
      }
      const std::lock_guard lock(shared->mutex);
      if (run->status == Status::RUNNING) run->status = status_of(result.code);
      shared->changed.notify_all();
    };
    options.goal_response_callback = [shared = shared_, run, this_name = name_, logger = logger(),
                                      client = std::weak_ptr(client_)](const GoalHandle& handle) {
      const auto sender = client.lock();
      {
        const std::lock_guard lock(shared->mutex);
        run->handle = handle;
        if (!handle || !sender || run->status == Status::RUNNING) return;
      }
      RCLCPP_WARN(logger, "%s: the goal was accepted too late and is canceled", this_name.c_str());
      cancel(*sender, handle);
    };
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->run = run;
    }
    auto future = client_->async_send_goal(goal, options);
    if (future.wait_for(timeout_) != std::future_status::ready)
      return refuse("the action server " + action_ + " does not answer");
    if (!future.get()) {
      return refuse(
          "the goal was refused; the controller's log has the reason, a wrong start or joint, or a "
          "controller that is not active");
    }
    const std::lock_guard lock(shared_->mutex);
    run->handle = future.get();
    return true;
  }

  bool cancelExecution() override {
    GoalHandle handle;
    {
      const std::lock_guard lock(shared_->mutex);
      const auto& run = shared_->run;
      if (!run || run->status != Status::RUNNING) return true;
      run->status = Status::PREEMPTED;
      shared_->changed.notify_all();
      handle = run->handle;
    }
    if (!handle) return true;  // not accepted yet: canceled when it is
    const auto answer = cancel(*client_, handle);
    if (!answer || answer->wait_for(timeout_) == std::future_status::ready) return true;
    RCLCPP_ERROR(logger(), "%s: no answer to the cancellation", name_.c_str());
    return false;
  }

  bool waitForExecution(const rclcpp::Duration& timeout) override {
    // The node's clock: the trajectory takes simulated time.
    const rclcpp::Time start = node_->now();
    auto last_seen = std::chrono::steady_clock::now();
    std::unique_lock lock(shared_->mutex);
    const std::shared_ptr<Run> run = shared_->run;
    while (run && run->status == Status::RUNNING) {
      shared_->changed.wait_for(lock, std::chrono::milliseconds(20));
      if (run->status != Status::RUNNING) break;
      if (timeout.nanoseconds() >= 0 && node_->now() - start > timeout) return false;
      const auto now = std::chrono::steady_clock::now();
      if (client_->action_server_is_ready()) {
        last_seen = now;
      } else if (now - last_seen > timeout_) {
        RCLCPP_ERROR(logger(), "%s: the action server %s is gone", name_.c_str(), action_.c_str());
        run->status = Status::FAILED;
      }
    }
    return true;
  }

  Status getLastExecutionStatus() override {
    const std::lock_guard lock(shared_->mutex);
    return shared_->run ? shared_->run->status : Status(Status::SUCCEEDED);
  }

 protected:
  /// The goal of the trajectory; returns what is wrong with it, or nothing.
  virtual std::string fill(const Trajectory& trajectory, Goal& goal) const = 0;

 private:
  using GoalHandle = typename rclcpp_action::ClientGoalHandle<Action>::SharedPtr;
  using CancelAnswer =
      std::shared_future<typename rclcpp_action::Client<Action>::CancelResponse::SharedPtr>;

  struct Run {
    Status status = Status::RUNNING;
    GoalHandle handle;  ///< null: not accepted yet
  };
  /// Outlives the handle: the node may still call back.
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::shared_ptr<Run> run;
  };

  /// None if the goal has just ended.
  static std::optional<CancelAnswer> cancel(rclcpp_action::Client<Action>& client,
                                            const GoalHandle& handle) {
    try {
      return client.async_cancel_goal(handle);
    } catch (const rclcpp_action::exceptions::UnknownGoalHandleError&) {
      return std::nullopt;
    }
  }

  static std::chrono::nanoseconds to_ns(Seconds seconds) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(seconds);
  }

  static Status status_of(rclcpp_action::ResultCode code) {
    switch (code) {
      case rclcpp_action::ResultCode::SUCCEEDED:
        return Status::SUCCEEDED;
      case rclcpp_action::ResultCode::CANCELED:
        return Status::PREEMPTED;
      case rclcpp_action::ResultCode::ABORTED:
        return Status::ABORTED;
      default:
        return Status::FAILED;
    }
  }

  /// The end of a goal in words, with the action's own reason if it has one.
  static std::string describe(const Result& result) {
    std::string text =
        result.code == rclcpp_action::ResultCode::ABORTED ? "aborted" : "ended without result";
    if constexpr (requires { result.result->error_string; }) {
      if (result.result && !result.result->error_string.empty()) {
        text += ", error " + std::to_string(result.result->error_code) + ": " +
                result.result->error_string;
      }
    }
    return text;
  }

  bool refuse(const std::string& reason) {
    RCLCPP_ERROR(logger(), "%s: %s", name_.c_str(), reason.c_str());
    const std::lock_guard lock(shared_->mutex);
    if (!shared_->run) shared_->run = std::make_shared<Run>();
    shared_->run->status = Status::FAILED;
    return false;
  }

  rclcpp::Logger logger() const { return node_->get_logger().get_child("controllers"); }

  rclcpp::Node::SharedPtr node_;
  typename rclcpp_action::Client<Action>::SharedPtr client_;
  std::string action_;
  Seconds timeout_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace ga_controllers

#endif  // MOVEIT__ACTION_HANDLE_HPP_
