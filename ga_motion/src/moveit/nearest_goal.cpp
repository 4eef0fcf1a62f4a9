// SPDX-License-Identifier: Apache-2.0

// Planning request adapter: asks for the joint values of a pose goal that are nearest to the start
// state and free of collision. Sampling planners draw joint values of a pose at random otherwise, and
// move the arm to whichever branch they reach first.

#include <exception>
#include <moveit/kinematic_constraints/utils.hpp>
#include <moveit/planning_interface/planning_request_adapter.hpp>
#include <pluginlib/class_list_macros.hpp>
#include <rclcpp/logging.hpp>

#include "moveit/goal_state.hpp"

namespace ga_motion {

class NearestGoal final : public planning_interface::PlanningRequestAdapter {
 public:
  std::string getDescription() const override { return "NearestGoal"; }

  moveit::core::MoveItErrorCode adapt(const planning_scene::PlanningSceneConstPtr& planning_scene,
                                      planning_interface::MotionPlanRequest& req) const override {
    constexpr double kTolerance = 1e-6;  // rad, m
    // What is wrong with a goal is for CheckGoal to say: a request adapter's message gets lost.
    try {
      const GoalState goal = goal_state(*planning_scene, req);
      if (goal.state && goal.from_pose) {
        const auto* const group = goal.state->getJointModelGroup(req.group_name);
        req.goal_constraints = {
            kinematic_constraints::constructGoalConstraints(*goal.state, group, kTolerance)};
      }
    } catch (const std::exception& error) {
      RCLCPP_WARN(rclcpp::get_logger("ga_motion.nearest_goal"),
                  "the goal is left to the planner as it is: %s", error.what());
    }
    return moveit::core::MoveItErrorCode(moveit::core::MoveItErrorCode::SUCCESS, "",
                                         getDescription());
  }
};

}  // namespace ga_motion

PLUGINLIB_EXPORT_CLASS(ga_motion::NearestGoal, planning_interface::PlanningRequestAdapter)
