// SPDX-License-Identifier: Apache-2.0

// The action move_action of move_group, in place of move_group/MoveGroupMoveAction, for clients that
// change their mind: there, every goal has a thread of its own and all share one variable, and a goal
// that arrives during a motion fails, ends the report of the first or crashes the process (MoveIt
// 2.12.4). Here one thread serves all goals: a new one ends the motion before it, the arm comes to
// rest and moves on to the new one.
//
// The result always has the reason, and the error code of the adapter or planner that refused; the
// stock action overwrites it with FAILURE if it only plans.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <moveit/kinematic_constraints/utils.hpp>
#include <moveit/move_group/capability_names.hpp>
#include <moveit/move_group/move_group_capability.hpp>
#include <moveit/moveit_cpp/moveit_cpp.hpp>
#include <moveit/plan_execution/plan_execution.hpp>
#include <moveit/planning_pipeline/planning_pipeline.hpp>
#include <moveit/utils/message_checks.hpp>
#include <moveit/utils/moveit_error_code.hpp>
#include <moveit_msgs/action/move_group.hpp>
#include <mutex>
#include <pluginlib/class_list_macros.hpp>
#include <rclcpp_action/rclcpp_action.hpp>
#include <string>
#include <thread>
#include <utility>

namespace ga_motion {
namespace {

using Action = moveit_msgs::action::MoveGroup;
using Goal = rclcpp_action::ServerGoalHandle<Action>;
using GoalPtr = std::shared_ptr<Goal>;
using Code = moveit_msgs::msg::MoveItErrorCodes;
using moveit::core::MoveItErrorCode;
using State = move_group::MoveGroupState;

constexpr const char* kSource = "ga_motion/MoveAction";
/// rad or m in kStill [s] of the arm's time: it is at rest. It has kPatience [s] to come to rest.
constexpr double kMoves = 1e-3, kStill = 0.1;
constexpr std::chrono::seconds kPatience{10};

class MoveAction : public move_group::MoveGroupCapability {
 public:
  MoveAction() : MoveGroupCapability("move_action") {}

  ~MoveAction() override {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
      stop_running();
    }
    changed_.notify_all();
    if (worker_.joinable()) worker_.join();
  }

  void initialize() override {
    server_ = rclcpp_action::create_server<Action>(
        context_->moveit_cpp_->getNode(), move_group::MOVE_ACTION,
        [](const rclcpp_action::GoalUUID&, const std::shared_ptr<const Action::Goal>&) {
          return rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE;
        },
        [this](const GoalPtr& goal) { return cancel(goal); },
        [this](const GoalPtr& goal) { take(goal); });
    worker_ = std::thread([this] { serve(); });
  }

 private:
  // --- called by the node's executor

  rclcpp_action::CancelResponse cancel(const GoalPtr& goal) {
    const std::lock_guard lock(mutex_);
    if (goal == running_) stop_running();
    return rclcpp_action::CancelResponse::ACCEPT;
  }

  void take(const GoalPtr& goal) {
    GoalPtr replaced;
    {
      const std::lock_guard lock(mutex_);
      replaced = std::exchange(waiting_, goal);
      stop_running();
    }
    changed_.notify_all();
    if (replaced) finish(replaced, preempted_result());
  }

  /// With the lock.
  void stop_running() {
    if (!running_) return;
    stops_ = true;
    if (context_->plan_execution_) context_->plan_execution_->stop();
    if (planning_) planning_->terminate();
  }

  // --- the worker

  void serve() {
    while (true) {
      GoalPtr goal;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return ends_ || waiting_; });
        if (ends_) return;
        goal = running_ = std::exchange(waiting_, nullptr);
        stops_ = false;
      }
      std::shared_ptr<Action::Result> result;
      try {
        result = run(*goal);
      } catch (const std::exception& error) {
        result = failed(Code::FAILURE, error.what());
      }
      {
        const std::lock_guard lock(mutex_);
        running_.reset();
        interrupted_ = stops_;
      }
      finish(goal, result);
    }
  }

  std::shared_ptr<Action::Result> run(Goal& goal) {
    if (goal.is_canceling()) return preempted_result();
    report(goal, State::PLANNING);
    if (interrupted_) wait_for_rest();
    auto& monitor = context_->planning_scene_monitor_;
    monitor->waitForCurrentRobotState(context_->moveit_cpp_->getNode()->get_clock()->now());
    monitor->updateFrameTransforms();
    const auto& asked = *goal.get_goal();
    if (asked.planning_options.plan_only) return plan_only(asked);
    if (!context_->allow_trajectory_execution_) {
      return failed(Code::FAILURE,
                    "move_group may not move the arm: set allow_trajectory_execution, or plan_only "
                    "in the goal");
    }
    if (is_there(asked)) return failed(Code::SUCCESS, "the arm is already there");
    return plan_and_move(goal, asked);
  }

  std::shared_ptr<Action::Result> plan_only(const Action::Goal& asked) {
    const auto scene = context_->planning_scene_monitor_->copyPlanningScene(
        asked.planning_options.planning_scene_diff);
    planning_interface::MotionPlanResponse response;
    auto result = std::make_shared<Action::Result>();
    plan(scene, asked.request, response);
    convertToMsg(response.trajectory, result->trajectory_start, result->planned_trajectory);
    result->error_code = stops_ ? preempted() : response.error_code;
    result->planning_time = response.planning_time;
    return result;
  }

  std::shared_ptr<Action::Result> plan_and_move(Goal& goal, const Action::Goal& asked) {
    const auto& options = asked.planning_options;
    const auto request = moveit::core::isEmpty(asked.request.start_state)
                             ? asked.request
                             : clearRequestStartState(asked.request);
    const auto difference = moveit::core::isEmpty(options.planning_scene_diff.robot_state)
                                ? options.planning_scene_diff
                                : clearSceneRobotState(options.planning_scene_diff);
    auto result = std::make_shared<Action::Result>();
    plan_execution::PlanExecution::Options steps;
    steps.replan = options.replan;
    steps.replan_attemps = static_cast<unsigned>(std::max(options.replan_attempts, 0));
    steps.replan_delay = options.replan_delay;
    steps.plan_callback = [&](plan_execution::ExecutableMotionPlan& to) {
      planning_interface::MotionPlanResponse response;
      const bool found = plan(to.copyPlanningScene(), request, response);
      result->planning_time += response.planning_time;
      if (response.trajectory) {
        to.plan_components.resize(1);
        to.plan_components[0].trajectory = response.trajectory;
        to.plan_components[0].description = "plan";
      }
      to.error_code = response.error_code;
      // A request to stop that came before the execution has begun would be forgotten.
      if (stops_) context_->plan_execution_->stop();
      return found;
    };
    steps.before_execution_callback_ = [&] {
      report(goal, State::MONITOR);
      if (stops_) context_->plan_execution_->stop();
    };
    plan_execution::ExecutableMotionPlan motion;
    context_->plan_execution_->planAndExecute(motion, difference, steps);
    convertToMsg(motion.plan_components, result->trajectory_start, result->planned_trajectory);
    if (motion.executed_trajectory) {
      motion.executed_trajectory->getRobotTrajectoryMsg(result->executed_trajectory);
    }
    result->error_code = motion.error_code;
    // The event `stop` is no error of the arm.
    const bool stopped = result->error_code.val == Code::CONTROL_FAILED && was_stopped();
    if (stopped || result->error_code.val == Code::PREEMPTED) result->error_code = preempted();
    return result;
  }

  bool was_stopped() const {
    return context_->trajectory_execution_manager_ &&
           context_->trajectory_execution_manager_->getLastExecutionStatus() ==
               moveit_controller_manager::ExecutionStatus::PREEMPTED;
  }

  /// False with a reason in the response.
  bool plan(const planning_scene::PlanningSceneConstPtr& scene,
            const planning_interface::MotionPlanRequest& request,
            planning_interface::MotionPlanResponse& response) {
    const auto pipeline = resolvePlanningPipeline(request.pipeline_id);
    if (!pipeline) {
      response.error_code = MoveItErrorCode(
          Code::FAILURE, "no planning pipeline '" + request.pipeline_id + "'", kSource);
      return false;
    }
    {
      const std::lock_guard lock(mutex_);
      if (stops_) {
        response.error_code = preempted();
        return false;
      }
      planning_ = pipeline;
    }
    const auto began = std::chrono::steady_clock::now();
    bool found = false;
    std::string thrown;
    try {
      found = pipeline->generatePlan(scene, request, response, context_->debug_);
    } catch (const std::exception& error) {
      thrown = error.what();
    }
    {
      const std::lock_guard lock(mutex_);
      planning_.reset();
    }
    response.planning_time =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    const bool said =
        response.error_code.val != Code::SUCCESS && response.error_code.val != Code::UNDEFINED;
    if (!found && !said) {
      response.error_code = MoveItErrorCode(
          Code::FAILURE, thrown.empty() ? "no motion found; see the log" : thrown, kSource);
    }
    return found;
  }

  bool is_there(const Action::Goal& asked) {
    if (!moveit::core::isEmpty(asked.planning_options.planning_scene_diff)) return false;
    const planning_scene_monitor::LockedPlanningSceneRO scene(context_->planning_scene_monitor_);
    const auto& request = asked.request;
    for (const auto& constraints : request.goal_constraints) {
      const auto all =
          kinematic_constraints::mergeConstraints(constraints, request.path_constraints);
      if (scene->isStateConstrained(scene->getCurrentState(), all)) return true;
    }
    return false;
  }

  /// After a motion that was ended early the controllers still decelerate the arm.
  void wait_for_rest() const {
    const auto states = context_->planning_scene_monitor_->getStateMonitor();
    if (!states) return;
    const auto end = std::chrono::steady_clock::now() + kPatience;
    auto [before, since] = states->getCurrentStateAndTime();
    while (std::chrono::steady_clock::now() < end && !stops_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      auto [state, now] = states->getCurrentStateAndTime();
      if (before->distance(*state) > kMoves) {
        before = state;
        since = now;
      }
      if ((now - since).seconds() > kStill) return;
    }
  }

  // --- results

  void report(Goal& goal, State state) const {
    const auto feedback = std::make_shared<Action::Feedback>();
    feedback->state = stateToStr(state);
    goal.publish_feedback(feedback);
  }

  static MoveItErrorCode preempted() {
    return {Code::PREEMPTED, "stopped, or replaced by a newer goal", kSource};
  }
  static std::shared_ptr<Action::Result> preempted_result() {
    return failed(preempted().val, preempted().message);
  }
  static std::shared_ptr<Action::Result> failed(std::int32_t code, const std::string& message) {
    auto result = std::make_shared<Action::Result>();
    result->error_code = MoveItErrorCode(code, message, kSource);
    return result;
  }

  static void finish(const GoalPtr& goal, const std::shared_ptr<Action::Result>& result) {
    if (result->error_code.val == Code::SUCCESS) {
      goal->succeed(result);
    } else if (goal->is_canceling()) {
      goal->canceled(result);
    } else {
      goal->abort(result);
    }
  }

  std::mutex mutex_;  ///< guards what follows
  std::condition_variable changed_;
  GoalPtr waiting_, running_;
  planning_pipeline::PlanningPipelinePtr planning_;
  bool ends_ = false;
  std::atomic<bool> stops_{false};  ///< the running goal
  bool interrupted_ = false;        ///< the last goal; used by the worker alone

  rclcpp_action::Server<Action>::SharedPtr server_;
  std::thread worker_;
};

}  // namespace
}  // namespace ga_motion

PLUGINLIB_EXPORT_CLASS(ga_motion::MoveAction, move_group::MoveGroupCapability)
