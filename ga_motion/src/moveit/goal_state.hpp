// SPDX-License-Identifier: Apache-2.0
#ifndef MOVEIT__GOAL_STATE_HPP_
#define MOVEIT__GOAL_STATE_HPP_

// The robot state that a planning request asks for, or why there is none: before any planner samples.

#include <moveit/planning_interface/planning_request.hpp>
#include <moveit/planning_scene/planning_scene.hpp>
#include <moveit/robot_state/robot_state.hpp>
#include <moveit/utils/moveit_error_code.hpp>
#include <optional>

namespace ga_motion {

struct GoalState {
  /// SUCCESS: `state` is the goal, within the bounds and free of collision. UNDEFINED: the goal is
  /// not one state or one pose of the group's tip; left to the planner. Otherwise the reason.
  moveit::core::MoveItErrorCode code;
  std::optional<moveit::core::RobotState> state;
  bool from_pose = false;
};

/// Of several goals the state that is nearest to the start state; an error only if none is left. A
/// pose is solved by the group's kinematics plugin, from the start state on.
GoalState goal_state(const planning_scene::PlanningScene& scene,
                     const planning_interface::MotionPlanRequest& request);

}  // namespace ga_motion

#endif  // MOVEIT__GOAL_STATE_HPP_
