// SPDX-License-Identifier: Apache-2.0
#include "moveit/goal_state.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <moveit/robot_model/joint_model_group.hpp>
#include <moveit/utils/message_checks.hpp>
#include <set>
#include <string>
#include <tf2_eigen/tf2_eigen.hpp>

#include "join.hpp"
#include "moveit/closed_form_kinematics.hpp"

namespace ga_motion {

namespace {

using moveit::core::JointModelGroup;
using moveit::core::MoveItErrorCode;
using moveit::core::RobotState;
using moveit_msgs::msg::Constraints;

// A pose with more play than this may be reached although its center is not.
constexpr double kTightPosition = 0.01;    // m
constexpr double kTightOrientation = 0.1;  // rad

GoalState undecided() { return {MoveItErrorCode(MoveItErrorCode::UNDEFINED), std::nullopt}; }
GoalState refused(int code, const std::string& reason) {
  return {MoveItErrorCode(code, reason), std::nullopt};
}

std::string contacts_of(const planning_scene::PlanningScene& scene, const RobotState& state,
                        const std::string& group) {
  collision_detection::CollisionRequest request;
  request.contacts = true, request.max_contacts = 10;
  request.group_name = group;
  collision_detection::CollisionResult result;
  scene.checkCollision(request, result, state);
  std::set<std::string> pairs;
  for (const auto& [bodies, contacts] : result.contacts)
    pairs.insert(bodies.first + " with " + bodies.second);
  std::string text;
  for (const std::string& pair : pairs) text += (text.empty() ? "" : ", ") + pair;
  return text;
}

/// The state, if nothing speaks against it.
GoalState checked(const planning_scene::PlanningScene& scene, const Constraints& path_constraints,
                  const std::string& group, RobotState state, const std::string& what) {
  state.update();
  const std::string contacts = contacts_of(scene, state, group);
  if (!contacts.empty())
    return refused(MoveItErrorCode::GOAL_IN_COLLISION, what + " in collision: " + contacts);
  if (!scene.isStateConstrained(state, path_constraints)) {
    return refused(MoveItErrorCode::GOAL_VIOLATES_PATH_CONSTRAINTS,
                   what + " violates the path constraints");
  }
  if (!scene.isStateFeasible(state)) {
    return refused(MoveItErrorCode::GOAL_STATE_INVALID, what + " is not feasible");
  }
  return {MoveItErrorCode(MoveItErrorCode::SUCCESS), std::move(state)};
}

GoalState joint_goal(const planning_scene::PlanningScene& scene, const Constraints& goal,
                     const Constraints& path_constraints, const JointModelGroup& group,
                     RobotState state) {
  std::set<std::string> missing(group.getActiveJointModelNames().begin(),
                                group.getActiveJointModelNames().end());
  for (const auto& wanted : goal.joint_constraints) {
    const bool single = group.hasJointModel(wanted.joint_name) &&
                        group.getJointModel(wanted.joint_name)->getVariableCount() == 1;
    if (!single) return undecided();
    missing.erase(wanted.joint_name);
    const auto& bounds = state.getRobotModel()->getVariableBounds(wanted.joint_name);
    double position = wanted.position;
    if (!std::isfinite(position)) {
      return refused(MoveItErrorCode::GOAL_STATE_INVALID,
                     join("the goal of joint '", wanted.joint_name, "' is ", position));
    }
    if (bounds.position_bounded_) {
      if (position + wanted.tolerance_above < bounds.min_position_ ||
          position - wanted.tolerance_below > bounds.max_position_) {
        return refused(
            MoveItErrorCode::GOAL_STATE_INVALID,
            join("the goal of joint '", wanted.joint_name, "', ", position,
                 ", is beyond its limits ", bounds.min_position_, " to ", bounds.max_position_));
      }
      position = std::clamp(position, bounds.min_position_, bounds.max_position_);
    }
    state.setVariablePosition(wanted.joint_name, position);
  }
  if (!missing.empty()) return undecided();
  return checked(scene, path_constraints, group.getName(), std::move(state), "the goal is");
}

struct TipPose {
  std::string link;
  Eigen::Isometry3d pose;  // in the model frame
  bool tight = true;
};

/// Largest play of a position constraint's region.
double size_of(const shape_msgs::msg::SolidPrimitive& shape) {
  if (shape.dimensions.empty()) return 0;
  return *std::max_element(shape.dimensions.begin(), shape.dimensions.end());
}

std::optional<TipPose> pose_of(const planning_scene::PlanningScene& scene, const Constraints& goal,
                               const RobotState& start) {
  if (goal.position_constraints.size() != 1 || goal.orientation_constraints.size() != 1 ||
      !goal.joint_constraints.empty() || !goal.visibility_constraints.empty())
    return std::nullopt;
  const auto& position = goal.position_constraints[0];
  const auto& orientation = goal.orientation_constraints[0];
  const auto& region = position.constraint_region;
  if (position.link_name != orientation.link_name || region.primitives.size() != 1 ||
      region.primitive_poses.size() != 1 || !region.meshes.empty())
    return std::nullopt;
  if (!scene.knowsFrameTransform(start, position.header.frame_id) ||
      !scene.knowsFrameTransform(start, orientation.header.frame_id))
    return std::nullopt;
  Eigen::Quaterniond turned;
  tf2::fromMsg(orientation.orientation, turned);
  Eigen::Isometry3d center;
  tf2::fromMsg(region.primitive_poses[0], center);
  Eigen::Vector3d offset;
  tf2::fromMsg(position.target_point_offset, offset);
  TipPose tip{position.link_name, Eigen::Isometry3d::Identity()};
  tip.pose.linear() = scene.getFrameTransform(start, orientation.header.frame_id).linear() *
                      turned.normalized().toRotationMatrix();
  tip.pose.translation() =
      scene.getFrameTransform(start, position.header.frame_id) * center.translation() -
      tip.pose.linear() * offset;
  tip.tight =
      size_of(region.primitives[0]) <= kTightPosition &&
      std::max({orientation.absolute_x_axis_tolerance, orientation.absolute_y_axis_tolerance,
                orientation.absolute_z_axis_tolerance}) <= kTightOrientation;
  return tip;
}

/// What the closed formulas say of a pose that they cannot solve.
std::string reason_of(const JointModelGroup& group, const RobotState& start, const TipPose& tip) {
  const auto& solver = group.getSolverInstance();
  const auto* const closed = dynamic_cast<const ClosedFormKinematics*>(solver.get());
  if (closed == nullptr || solver->getTipFrame() != tip.link)
    return "out of reach or beyond the joint limits";
  RobotState state = start;
  Eigen::Isometry3d pose = tip.pose;
  if (!state.setToIKSolverFrame(pose, solver)) return "in an unknown frame";
  std::vector<double> seed;
  for (const std::string& name : closed->getJointNames())
    seed.push_back(state.getVariablePosition(name));
  return closed->reason(tf2::toMsg(pose), seed);
}

GoalState pose_goal(const planning_scene::PlanningScene& scene, const TipPose& tip,
                    const Constraints& path_constraints, const JointModelGroup& group,
                    const RobotState& start) {
  if (!group.getSolverInstance() || !start.getRobotModel()->hasLinkModel(tip.link))
    return undecided();
  const Eigen::Vector3d& p = tip.pose.translation();
  const std::string what =
      join("the pose of '", tip.link, "' at ", p.x(), ", ", p.y(), ", ", p.z(), " m ");
  // The nearest candidate's reason is the one to report.
  std::optional<GoalState> first;
  RobotState solved = start;
  const auto accept = [&](RobotState* state, const JointModelGroup* of, const double* values) {
    state->setJointGroupPositions(of, values);
    GoalState candidate = checked(scene, path_constraints, group.getName(), *state, what + "is");
    const bool good = static_cast<bool>(candidate.code);
    if (!first) first = std::move(candidate);
    return good;
  };
  if (solved.setFromIK(&group, tip.pose, tip.link, 0.0, accept)) {
    solved.update();
    return {MoveItErrorCode(MoveItErrorCode::SUCCESS), std::move(solved), true};
  }
  if (!tip.tight) return undecided();
  if (first) {
    first->code.message += "; so, or likewise, are all other joint values for this pose";
    return *first;
  }
  return refused(MoveItErrorCode::NO_IK_SOLUTION, what + "is " + reason_of(group, start, tip));
}

}  // namespace

GoalState goal_state(const planning_scene::PlanningScene& scene,
                     const planning_interface::MotionPlanRequest& request) {
  if (!scene.getRobotModel()->hasJointModelGroup(request.group_name)) return undecided();
  const JointModelGroup& group = *scene.getRobotModel()->getJointModelGroup(request.group_name);
  const auto start = moveit::core::isEmpty(request.start_state)
                         ? std::make_shared<RobotState>(scene.getCurrentState())
                         : scene.getCurrentStateUpdated(request.start_state);
  start->update();
  GoalState best = undecided();
  for (const Constraints& goal : request.goal_constraints) {
    GoalState found = undecided();
    const bool joints = !goal.joint_constraints.empty() && goal.position_constraints.empty() &&
                        goal.orientation_constraints.empty() && goal.visibility_constraints.empty();
    if (joints) {
      found = joint_goal(scene, goal, request.path_constraints, group, *start);
    } else if (const auto tip = pose_of(scene, goal, *start)) {
      found = pose_goal(scene, *tip, request.path_constraints, group, *start);
    }
    if (found.code == MoveItErrorCode::UNDEFINED) return found;
    const bool first = best.code == MoveItErrorCode::UNDEFINED;
    const bool nearer = found.state && (!best.state || start->distance(*found.state, &group) <
                                                           start->distance(*best.state, &group));
    if (first || nearer) best = std::move(found);
  }
  return best;
}

}  // namespace ga_motion
