// SPDX-License-Identifier: Apache-2.0

// The actions move_action and execute_trajectory of move_group, in place of
// move_group/MoveGroupMoveAction and move_group/MoveGroupExecuteTrajectoryAction, for clients that
// change their mind. There, a goal that arrives during a motion fails, ends the report of the first
// or crashes the process, and the cancellation of a trajectory is accepted without effect (MoveIt
// 2.12.4). Here one thread moves the arm: a new motion of either action ends the one before it, the
// arm comes to rest and moves on to the new one. Goals that only plan have a thread of their own and
// leave the arm alone.
//
// The result always has the reason, and the error code of the adapter or planner that refused; the
// stock action overwrites it with FAILURE if it only plans.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <moveit/kinematic_constraints/utils.hpp>
#include <moveit/move_group/capability_names.hpp>
#include <moveit/move_group/move_group_capability.hpp>
#include <moveit/moveit_cpp/moveit_cpp.hpp>
#include <moveit/plan_execution/plan_execution.hpp>
#include <moveit/planning_pipeline/planning_pipeline.hpp>
#include <moveit/utils/message_checks.hpp>
#include <moveit/utils/moveit_error_code.hpp>
#include <moveit_msgs/action/execute_trajectory.hpp>
#include <moveit_msgs/action/move_group.hpp>
#include <mutex>
#include <optional>
#include <pluginlib/class_list_macros.hpp>
#include <rclcpp_action/rclcpp_action.hpp>
#include <string>
#include <thread>
#include <utility>

#include "join.hpp"
#include "moveit/job_thread.hpp"

namespace ga_motion {
namespace {

using Move = moveit_msgs::action::MoveGroup;
using Execute = moveit_msgs::action::ExecuteTrajectory;
template <class Action>
using Goal = rclcpp_action::ServerGoalHandle<Action>;
template <class Action>
using ResultPtr = std::shared_ptr<typename Action::Result>;
using Code = moveit_msgs::msg::MoveItErrorCodes;
using Status = moveit_controller_manager::ExecutionStatus;
using moveit::core::MoveItErrorCode;
using State = move_group::MoveGroupState;

constexpr const char* kSource = "ga_motion/MoveAction";
/// rad or m in kStill [s] of the arm's time: it is at rest. It has kPatience [s] to come to rest.
constexpr double kMoves = 1e-3, kStill = 0.1;
constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::milliseconds kPeriod{10};  // of waiting

rclcpp::Logger logger() { return rclcpp::get_logger("ga_motion.move_action"); }

MoveItErrorCode preempted() {
  return {Code::PREEMPTED, "stopped, or replaced by a newer goal", kSource};
}

template <class Action>
ResultPtr<Action> result_of(const MoveItErrorCode& code) {
  auto result = std::make_shared<typename Action::Result>();
  result->error_code = code;
  return result;
}

template <class Action>
ResultPtr<Action> failed(std::int32_t code, const std::string& message) {
  return result_of<Action>({code, message, kSource});
}

/// Does not throw: while the process shuts down, a failure cannot be reported.
template <class Action>
void finish(Goal<Action>& goal, const ResultPtr<Action>& result) {
  try {
    if (result->error_code.val == Code::SUCCESS) {
      goal.succeed(result);
    } else if (goal.is_canceling()) {
      goal.canceled(result);
    } else {
      goal.abort(result);
    }
  } catch (const std::exception& error) {
    RCLCPP_WARN(logger(), "the result of a goal could not be sent: %s", error.what());
  }
}

template <class Action>
void report(Goal<Action>& goal, const std::string& state) {
  const auto feedback = std::make_shared<typename Action::Feedback>();
  feedback->state = state;
  goal.publish_feedback(feedback);
}

/// Planning that can be interrupted.
class Planning {
 public:
  /// Ends the plan that is being made.
  void interrupt() {
    const std::lock_guard lock(mutex_);
    if (!pipeline_) return;
    // A planner ends all its plans, those of other threads as well.
    ++interruptions();
    pipeline_->terminate();
  }

  /// False with a reason in the response.
  bool plan(const planning_pipeline::PlanningPipelinePtr& pipeline,
            const planning_scene::PlanningSceneConstPtr& scene,
            const planning_interface::MotionPlanRequest& request,
            planning_interface::MotionPlanResponse& response, bool debug,
            const std::function<bool()>& stopped) {
    const auto began = std::chrono::steady_clock::now();
    bool found = false;
    std::string thrown;
    for (bool again = true; again;) {
      {
        const std::lock_guard lock(mutex_);
        if (stopped()) {
          response.error_code = preempted();
          return false;
        }
        pipeline_ = pipeline;
      }
      const unsigned before = interruptions();
      response = planning_interface::MotionPlanResponse();
      thrown.clear();
      try {
        found = pipeline->generatePlan(scene, request, response, debug);
      } catch (const std::exception& error) {
        thrown = error.what();
      }
      const std::lock_guard lock(mutex_);
      pipeline_.reset();
      again = !found && before != interruptions();
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

 private:
  static std::atomic<unsigned>& interruptions() {
    static std::atomic<unsigned> count{0};
    return count;
  }

  std::mutex mutex_;
  planning_pipeline::PlanningPipelinePtr pipeline_;
};

class MoveAction : public move_group::MoveGroupCapability {
 public:
  MoveAction() : MoveGroupCapability("move_action") {}

  void initialize() override {
    motions_.emplace(JobThread::Order::kNewest, [this] {
      if (context_->plan_execution_) context_->plan_execution_->stop();
      planning_of_motions_.interrupt();
    });
    plans_.emplace(JobThread::Order::kAll, [this] { planning_of_plans_.interrupt(); });
    move_server_ = serve<Move>(move_group::MOVE_ACTION, [this](const Move::Goal& asked) {
      return asked.planning_options.plan_only ? Service<Move>{*plans_, &MoveAction::plan_only}
                                              : Service<Move>{*motions_, &MoveAction::move};
    });
    execute_server_ = serve<Execute>(move_group::EXECUTE_ACTION_NAME, [this](const Execute::Goal&) {
      return Service<Execute>{*motions_, &MoveAction::execute};
    });
  }

 private:
  // --- called by the node's executor

  /// Who serves a goal, and how.
  template <class Action>
  struct Service {
    JobThread& thread;
    ResultPtr<Action> (MoveAction::*work)(Goal<Action>&);
  };

  template <class Action>
  std::shared_ptr<rclcpp_action::Server<Action>> serve(
      const std::string& name,
      std::function<Service<Action>(const typename Action::Goal&)> service) {
    using GoalPtr = std::shared_ptr<Goal<Action>>;
    return rclcpp_action::create_server<Action>(
        context_->moveit_cpp_->getNode(), name,
        [](const rclcpp_action::GoalUUID&, const std::shared_ptr<const typename Action::Goal>&) {
          return rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE;
        },
        [service](const GoalPtr& goal) {
          service(*goal->get_goal()).thread.cancel(goal.get());
          return rclcpp_action::CancelResponse::ACCEPT;
        },
        [this, service](const GoalPtr& goal) {
          const Service<Action> chosen = service(*goal->get_goal());
          chosen.thread.add({goal.get(),
                             [this, goal, work = chosen.work] { carry_out(*goal, work); },
                             [goal] { finish<Action>(*goal, result_of<Action>(preempted())); }});
        });
  }

  template <class Action>
  void carry_out(Goal<Action>& goal, ResultPtr<Action> (MoveAction::*work)(Goal<Action>&)) {
    ResultPtr<Action> result = result_of<Action>(preempted());
    try {
      if (!goal.is_canceling()) result = (this->*work)(goal);
    } catch (const std::exception& error) {
      result = failed<Action>(Code::FAILURE, error.what());
    }
    finish<Action>(goal, result);
  }

  // --- goals that only plan

  ResultPtr<Move> plan_only(Goal<Move>& goal) {
    report(goal, stateToStr(State::PLANNING));
    await_state();
    const auto& asked = *goal.get_goal();
    const auto scene = context_->planning_scene_monitor_->copyPlanningScene(
        asked.planning_options.planning_scene_diff);
    planning_interface::MotionPlanResponse response;
    plan(*plans_, planning_of_plans_, scene, asked.request, response);
    auto result = std::make_shared<Move::Result>();
    convertToMsg(response.trajectory, result->trajectory_start, result->planned_trajectory);
    result->error_code = plans_->interrupted() ? preempted() : response.error_code;
    result->planning_time = response.planning_time;
    return result;
  }

  // --- goals that move the arm

  ResultPtr<Move> move(Goal<Move>& goal) {
    report(goal, stateToStr(State::PLANNING));
    if (!context_->allow_trajectory_execution_) {
      return failed<Move>(Code::FAILURE,
                          "move_group may not move the arm: set allow_trajectory_execution, or "
                          "plan_only in the goal");
    }
    end_other_motions();
    await_state();
    const auto& asked = *goal.get_goal();
    if (is_there(asked)) return failed<Move>(Code::SUCCESS, "the arm is already there");
    return plan_and_move(goal, asked);
  }

  ResultPtr<Move> plan_and_move(Goal<Move>& goal, const Move::Goal& asked) {
    const auto& options = asked.planning_options;
    const auto request = moveit::core::isEmpty(asked.request.start_state)
                             ? asked.request
                             : clearRequestStartState(asked.request);
    const auto difference = moveit::core::isEmpty(options.planning_scene_diff.robot_state)
                                ? options.planning_scene_diff
                                : clearSceneRobotState(options.planning_scene_diff);
    auto result = std::make_shared<Move::Result>();
    plan_execution::PlanExecution::Options steps;
    steps.replan = options.replan;
    steps.replan_attemps = static_cast<unsigned>(std::max(options.replan_attempts, 0));
    steps.replan_delay = options.replan_delay;
    steps.plan_callback = [&](plan_execution::ExecutableMotionPlan& to) {
      planning_interface::MotionPlanResponse response;
      const bool found =
          plan(*motions_, planning_of_motions_, to.copyPlanningScene(), request, response);
      result->planning_time += response.planning_time;
      if (response.trajectory) {
        to.plan_components.resize(1);
        to.plan_components[0].trajectory = response.trajectory;
        to.plan_components[0].description = "plan";
      }
      to.error_code = response.error_code;
      // A request to stop that came before the execution has begun would be forgotten.
      if (motions_->interrupted()) context_->plan_execution_->stop();
      return found;
    };
    steps.before_execution_callback_ = [&] {
      report(goal, stateToStr(State::MONITOR));
      if (motions_->interrupted()) context_->plan_execution_->stop();
    };
    plan_execution::ExecutableMotionPlan motion;
    context_->plan_execution_->planAndExecute(motion, difference, steps);
    convertToMsg(motion.plan_components, result->trajectory_start, result->planned_trajectory);
    if (motion.executed_trajectory) {
      motion.executed_trajectory->getRobotTrajectoryMsg(result->executed_trajectory);
    }
    result->error_code = motion.error_code;
    // The event `stop` is no error of the arm.
    const bool stopped =
        result->error_code.val == Code::CONTROL_FAILED && context_->trajectory_execution_manager_ &&
        context_->trajectory_execution_manager_->getLastExecutionStatus() == Status::PREEMPTED;
    if (stopped || result->error_code.val == Code::PREEMPTED) result->error_code = preempted();
    unsettled_ = result->error_code.val == Code::PREEMPTED;
    return result;
  }

  ResultPtr<Execute> execute(Goal<Execute>& goal) {
    const auto& manager = context_->trajectory_execution_manager_;
    if (!manager) {
      return failed<Execute>(Code::CONTROL_FAILED,
                             "move_group may not move the arm: set allow_trajectory_execution");
    }
    end_other_motions();
    if (motions_->interrupted()) return result_of<Execute>(preempted());
    const auto& asked = *goal.get_goal();
    const std::string elsewhere = start_elsewhere(asked.trajectory);
    if (!manager->push(asked.trajectory, asked.controller_names)) {
      return failed<Execute>(Code::CONTROL_FAILED,
                             "no controllers can execute this trajectory; the log of move_group "
                             "says why");
    }
    report(goal, stateToStr(State::MONITOR));
    const auto ended = std::make_shared<std::atomic<bool>>(false);
    manager->execute([ended](const Status&) { *ended = true; });
    while (rclcpp::ok() && !*ended && !motions_->interrupted())
      std::this_thread::sleep_for(kPeriod);
    const bool stopped = !*ended;
    manager->stopExecution();  // if it has ended, this cleans up
    report(goal, stateToStr(State::IDLE));
    const Status status = manager->getLastExecutionStatus();
    if (status == Status::SUCCEEDED) return failed<Execute>(Code::SUCCESS, "");
    unsettled_ = stopped || status == Status::PREEMPTED;
    if (unsettled_) return result_of<Execute>(preempted());
    if (status == Status::TIMED_OUT) {
      return failed<Execute>(Code::TIMED_OUT, "the motion took longer than allowed");
    }
    return failed<Execute>(Code::CONTROL_FAILED, !elsewhere.empty()
                                                     ? elsewhere
                                                     : "the controllers have ended the motion; "
                                                       "their log says why");
  }

  /// Which joint is not where the trajectory begins; empty if all are.
  std::string start_elsewhere(const moveit_msgs::msg::RobotTrajectory& trajectory) const {
    const double allowed = context_->trajectory_execution_manager_->allowedStartTolerance();
    const auto states = context_->planning_scene_monitor_->getStateMonitor();
    const auto& motion = trajectory.joint_trajectory;
    if (!(allowed > 0) || !states || motion.points.empty()) return "";
    const auto state = states->getCurrentState();
    const auto& begins = motion.points.front().positions;
    for (std::size_t i = 0; i < std::min(begins.size(), motion.joint_names.size()); ++i) {
      const std::string& name = motion.joint_names[i];
      if (!state->getRobotModel()->hasJointModel(name)) continue;
      const auto* const joint = state->getJointModel(name);
      if (joint->getVariableCount() != 1) continue;
      const double is = state->getVariablePosition(name);
      if (joint->distance(&is, &begins[i]) <= allowed) continue;
      return join("the trajectory begins with joint '", name, "' at ", begins[i], ", but it is at ",
                  is, "; plan again from where the arm is");
    }
    return "";
  }

  /// Motions that other capabilities or programs have begun, and what is left of the last one: the
  /// controllers decelerate the arm after its end.
  void end_other_motions() {
    const auto& manager = context_->trajectory_execution_manager_;
    bool moving = std::exchange(unsettled_, false);
    if (manager) {
      moving = moving || manager->getCurrentExpectedTrajectoryIndex().first >= 0;
      manager->stopExecution();
    }
    if (moving) wait_for_rest();
  }

  void wait_for_rest() {
    const auto states = context_->planning_scene_monitor_->getStateMonitor();
    if (!states) return;
    const auto end = std::chrono::steady_clock::now() + kPatience;
    auto [before, since] = states->getCurrentStateAndTime();
    while (std::chrono::steady_clock::now() < end) {
      if (motions_->interrupted()) {
        unsettled_ = true;
        return;
      }
      std::this_thread::sleep_for(kPeriod);
      auto [state, now] = states->getCurrentStateAndTime();
      if (before->distance(*state) > kMoves) {
        before = state;
        since = now;
      }
      if ((now - since).seconds() > kStill) return;
    }
  }

  // --- both

  void await_state() {
    auto& monitor = context_->planning_scene_monitor_;
    monitor->waitForCurrentRobotState(context_->moveit_cpp_->getNode()->get_clock()->now());
    monitor->updateFrameTransforms();
  }

  /// False with a reason in the response.
  bool plan(const JobThread& thread, Planning& planning,
            const planning_scene::PlanningSceneConstPtr& scene,
            const planning_interface::MotionPlanRequest& request,
            planning_interface::MotionPlanResponse& response) {
    const auto pipeline = resolvePlanningPipeline(request.pipeline_id);
    if (!pipeline) {
      response.error_code = MoveItErrorCode(
          Code::FAILURE, "no planning pipeline '" + request.pipeline_id + "'", kSource);
      return false;
    }
    return planning.plan(pipeline, scene, request, response, context_->debug_,
                         [&thread] { return thread.interrupted(); });
  }

  bool is_there(const Move::Goal& asked) {
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

  bool unsettled_ = false;  ///< the last motion was ended early; used by motions_ alone
  Planning planning_of_motions_, planning_of_plans_;
  /// The threads end first, then the servers.
  rclcpp_action::Server<Move>::SharedPtr move_server_;
  rclcpp_action::Server<Execute>::SharedPtr execute_server_;
  std::optional<JobThread> motions_, plans_;
};

}  // namespace
}  // namespace ga_motion

PLUGINLIB_EXPORT_CLASS(ga_motion::MoveAction, move_group::MoveGroupCapability)
