// SPDX-License-Identifier: Apache-2.0
#include "moveit/closed_form_kinematics.hpp"

#include <algorithm>
#include <cmath>
#include <moveit/robot_model/joint_model_group.hpp>
#include <moveit/robot_model/robot_model.hpp>
#include <pluginlib/class_list_macros.hpp>

#include "moveit/arm_of_model.hpp"

namespace ga_motion {

namespace {

using moveit_msgs::msg::MoveItErrorCodes;

rclcpp::Logger logger() { return rclcpp::get_logger("ga_motion.closed_form_kinematics"); }

/// Not a rotation, which is_pose() notices, if the quaternion is zero or not finite.
ga_dynamics::Pose to_pose(const geometry_msgs::msg::Pose& pose) {
  const auto& o = pose.orientation;
  const double norm = o.x * o.x + o.y * o.y + o.z * o.z + o.w * o.w, s = 2 / norm;
  ga_dynamics::Pose result;
  result.translation = {pose.position.x, pose.position.y, pose.position.z};
  result.rotation = {1 - s * (o.y * o.y + o.z * o.z), s * (o.x * o.y - o.z * o.w),
                     s * (o.x * o.z + o.y * o.w),     s * (o.x * o.y + o.z * o.w),
                     1 - s * (o.x * o.x + o.z * o.z), s * (o.y * o.z - o.x * o.w),
                     s * (o.x * o.z - o.y * o.w),     s * (o.y * o.z + o.x * o.w),
                     1 - s * (o.x * o.x + o.y * o.y)};
  return result;
}

geometry_msgs::msg::Pose to_message(const ga_dynamics::Pose& pose) {
  geometry_msgs::msg::Pose result;
  result.position.x = pose.translation[0];
  result.position.y = pose.translation[1];
  result.position.z = pose.translation[2];
  const auto q = ga_dynamics::quaternion_of(pose.rotation);
  result.orientation.x = q[0], result.orientation.y = q[1];
  result.orientation.z = q[2], result.orientation.w = q[3];
  return result;
}

/// The frame's link: the model frame of a model that is fixed to the world is its root link.
std::string link_of(const moveit::core::RobotModel& model, const std::string& frame) {
  const bool fixed = model.getRootJoint()->getType() == moveit::core::JointModel::FIXED;
  if (!model.hasLinkModel(frame) && frame == model.getModelFrame() && fixed)
    return model.getRootLinkName();
  return frame;
}

ga_dynamics::Chain chain_of(const moveit::core::RobotModel& model,
                            const moveit::core::JointModelGroup& group, const std::string& base,
                            const std::string& tip) {
  const ga_dynamics::UrdfModel description = description_of(model, "");
  ga_dynamics::ChainOptions options{.base = link_of(model, base),
                                    .tip = tip,
                                    .allow_missing_inertia = true,
                                    .spelling = ga_dynamics::OptionSpelling::kParameters};
  // What the group does not move does not matter to it, wherever it stands.
  for (const ga_dynamics::UrdfJoint& joint : description.joints) {
    if (joint.type != ga_dynamics::UrdfJointType::kFixed && !group.hasJointModel(joint.name))
      options.freeze[joint.name] = 0;
  }
  return ga_dynamics::Chain::from_model(description, options);
}

/// Messages of PumaKinematics end with a remedy for programs.
std::string without_remedy(const std::string& message) {
  return message.substr(0, message.rfind("; use NumericKinematics"));
}

bool consistent(const std::array<double, 6>& q, const std::vector<double>& seed,
                const std::vector<double>& limits) {
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (!(std::abs(q[i] - seed[i]) <= limits[i])) return false;
  }
  return true;
}

}  // namespace

bool ClosedFormKinematics::initialize(const rclcpp::Node::SharedPtr& node,
                                      const moveit::core::RobotModel& robot_model,
                                      const std::string& group_name, const std::string& base_frame,
                                      const std::vector<std::string>& tip_frames,
                                      double search_discretization) {
  node_ = node;
  storeValues(robot_model, group_name, base_frame, tip_frames, search_discretization);
  const auto refuse = [&](const std::string& reason) {
    RCLCPP_ERROR(logger(),
                 "group '%s': %s; set its kinematics_solver to "
                 "kdl_kinematics_plugin/KDLKinematicsPlugin",
                 group_name.c_str(), reason.c_str());
    return false;
  };
  const moveit::core::JointModelGroup* const group = robot_model.getJointModelGroup(group_name);
  if (group == nullptr) return refuse("the robot model has no such group");
  if (!group->isChain()) return refuse("not a chain");
  if (tip_frames_.size() != 1)
    return refuse(std::to_string(tip_frames_.size()) + " tip frames instead of 1");
  try {
    const ga_dynamics::Chain chain = chain_of(robot_model, *group, base_frame_, tip_frames_[0]);
    kinematics_.emplace(chain);
    dynamics_.emplace(chain);
  } catch (const std::exception& error) {
    kinematics_.reset();
    return refuse(without_remedy(error.what()));
  }
  joints_.clear();
  for (const ga_dynamics::ChainJoint& joint : kinematics_->chain().joints())
    joints_.push_back(joint.name);
  if (group->getVariableCount() != joints_.size()) {
    kinematics_.reset();
    return refuse(std::to_string(group->getVariableCount()) + " variables for a chain of 6 joints");
  }
  return true;
}

std::vector<std::array<double, 6>> ClosedFormKinematics::candidates(const Pose& pose,
                                                                    const Joints& seed) const {
  if (!kinematics_) {
    RCLCPP_ERROR(logger(), "not initialized");
    return {};
  }
  if (seed.size() != joints_.size()) {
    RCLCPP_ERROR(logger(), "group '%s': a seed of %zu joints instead of %zu", group_name_.c_str(),
                 seed.size(), joints_.size());
    return {};
  }
  if (!std::all_of(seed.begin(), seed.end(), [](double q) { return std::isfinite(q); })) {
    RCLCPP_ERROR(logger(), "group '%s': a seed that is not finite", group_name_.c_str());
    return {};
  }
  return kinematics_->solve_all(to_pose(pose), seed);
}

std::string ClosedFormKinematics::reason(const Pose& pose, const Joints& seed) const {
  if (!kinematics_ || seed.size() != joints_.size()) return "not initialized";
  std::array<double, 6> q;
  return describe(kinematics_->nearest(to_pose(pose), seed, q), kinematics_->chain());
}

bool ClosedFormKinematics::searchPositionIK(const Pose& ik_pose, const Joints& ik_seed_state,
                                            double /*timeout*/, const Joints& consistency_limits,
                                            Joints& solution, const IKCallbackFn& solution_callback,
                                            ErrorCode& error_code,
                                            const Options& /*options*/) const {
  error_code.val = MoveItErrorCodes::NO_IK_SOLUTION;
  if (!consistency_limits.empty() && consistency_limits.size() != joints_.size()) {
    RCLCPP_ERROR(logger(), "group '%s': %zu consistency limits instead of %zu or none",
                 group_name_.c_str(), consistency_limits.size(), joints_.size());
    return false;
  }
  for (const std::array<double, 6>& q : candidates(ik_pose, ik_seed_state)) {
    if (!consistent(q, ik_seed_state, consistency_limits)) continue;
    solution.assign(q.begin(), q.end());
    error_code.val = MoveItErrorCodes::SUCCESS;
    if (solution_callback) solution_callback(ik_pose, solution, error_code);
    if (error_code.val == MoveItErrorCodes::SUCCESS) return true;
  }
  error_code.val = MoveItErrorCodes::NO_IK_SOLUTION;
  return false;
}

bool ClosedFormKinematics::getPositionIK(const Pose& ik_pose, const Joints& ik_seed_state,
                                         Joints& solution, ErrorCode& error_code,
                                         const Options& options) const {
  return searchPositionIK(ik_pose, ik_seed_state, 0, {}, solution, {}, error_code, options);
}

bool ClosedFormKinematics::searchPositionIK(const Pose& ik_pose, const Joints& ik_seed_state,
                                            double timeout, Joints& solution, ErrorCode& error_code,
                                            const Options& options) const {
  return searchPositionIK(ik_pose, ik_seed_state, timeout, {}, solution, {}, error_code, options);
}

bool ClosedFormKinematics::searchPositionIK(const Pose& ik_pose, const Joints& ik_seed_state,
                                            double timeout, const Joints& consistency_limits,
                                            Joints& solution, ErrorCode& error_code,
                                            const Options& options) const {
  return searchPositionIK(ik_pose, ik_seed_state, timeout, consistency_limits, solution, {},
                          error_code, options);
}

bool ClosedFormKinematics::searchPositionIK(const Pose& ik_pose, const Joints& ik_seed_state,
                                            double timeout, Joints& solution,
                                            const IKCallbackFn& solution_callback,
                                            ErrorCode& error_code, const Options& options) const {
  return searchPositionIK(ik_pose, ik_seed_state, timeout, {}, solution, solution_callback,
                          error_code, options);
}

bool ClosedFormKinematics::getPositionIK(const Poses& ik_poses, const Joints& ik_seed_state,
                                         std::vector<Joints>& solutions,
                                         kinematics::KinematicsResult& result,
                                         const Options& options) const {
  using namespace kinematics;
  solutions.clear();
  result.solution_percentage = 0;
  if (options.discretization_method != DiscretizationMethods::NO_DISCRETIZATION) {
    result.kinematic_error = KinematicErrors::UNSUPORTED_DISCRETIZATION_REQUESTED;
    return false;
  }
  if (ik_poses.size() != 1) {
    result.kinematic_error = ik_poses.empty() ? KinematicErrors::EMPTY_TIP_POSES
                                              : KinematicErrors::MULTIPLE_TIPS_NOT_SUPPORTED;
    return false;
  }
  for (const auto& q : candidates(ik_poses[0], ik_seed_state))
    solutions.emplace_back(q.begin(), q.end());
  result.kinematic_error = solutions.empty() ? KinematicErrors::NO_SOLUTION : KinematicErrors::OK;
  result.solution_percentage = solutions.empty() ? 0 : 1;
  return !solutions.empty();
}

bool ClosedFormKinematics::getPositionFK(const std::vector<std::string>& link_names,
                                         const Joints& joint_angles, Poses& poses) const {
  if (!kinematics_ || joint_angles.size() != joints_.size()) {
    RCLCPP_ERROR(logger(), "group '%s': forward kinematics of %zu joints instead of %zu",
                 group_name_.c_str(), joint_angles.size(), joints_.size());
    return false;
  }
  poses.resize(link_names.size());
  for (std::size_t i = 0; i < link_names.size(); ++i) {
    try {
      ga_dynamics::Pose pose;
      dynamics_->link_pose(joint_angles, kinematics_->chain().link_index(link_names[i]), pose);
      poses[i] = to_message(pose);
    } catch (const std::exception& error) {
      RCLCPP_ERROR(logger(), "group '%s': %s", group_name_.c_str(), error.what());
      return false;
    }
  }
  return true;
}

}  // namespace ga_motion

PLUGINLIB_EXPORT_CLASS(ga_motion::ClosedFormKinematics, kinematics::KinematicsBase)
