// SPDX-License-Identifier: Apache-2.0
#ifndef MOVEIT__CLOSED_FORM_KINEMATICS_HPP_
#define MOVEIT__CLOSED_FORM_KINEMATICS_HPP_

// Kinematics plugin of MoveIt around the closed-form inverse kinematics.

#include <moveit/kinematics_base/kinematics_base.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ga_motion/kinematics.hpp"

namespace ga_motion {

/// Solves the chains that PumaKinematics solves; initialize() refuses others with the reason. All
/// branches and whole turns within the bounds of the robot model are candidates, the one nearest to
/// the seed first; the solution callback rejects candidates one by one. There is no search: poses
/// without solution fail at once, timeouts do not matter. Any number of threads may solve.
class ClosedFormKinematics final : public kinematics::KinematicsBase {
 public:
  using Poses = std::vector<geometry_msgs::msg::Pose>;
  using Pose = geometry_msgs::msg::Pose;
  using Joints = std::vector<double>;
  using ErrorCode = moveit_msgs::msg::MoveItErrorCodes;
  using Options = kinematics::KinematicsQueryOptions;

  bool initialize(const rclcpp::Node::SharedPtr& node, const moveit::core::RobotModel& robot_model,
                  const std::string& group_name, const std::string& base_frame,
                  const std::vector<std::string>& tip_frames,
                  double search_discretization) override;

  bool getPositionIK(const Pose& ik_pose, const Joints& ik_seed_state, Joints& solution,
                     ErrorCode& error_code, const Options& options) const override;
  /// All solutions of one pose, nearest to the seed first.
  bool getPositionIK(const Poses& ik_poses, const Joints& ik_seed_state,
                     std::vector<Joints>& solutions, kinematics::KinematicsResult& result,
                     const Options& options) const override;
  using KinematicsBase::searchPositionIK;
  bool searchPositionIK(const Pose& ik_pose, const Joints& ik_seed_state, double timeout,
                        Joints& solution, ErrorCode& error_code,
                        const Options& options) const override;
  bool searchPositionIK(const Pose& ik_pose, const Joints& ik_seed_state, double timeout,
                        const Joints& consistency_limits, Joints& solution, ErrorCode& error_code,
                        const Options& options) const override;
  bool searchPositionIK(const Pose& ik_pose, const Joints& ik_seed_state, double timeout,
                        Joints& solution, const IKCallbackFn& solution_callback,
                        ErrorCode& error_code, const Options& options) const override;
  bool searchPositionIK(const Pose& ik_pose, const Joints& ik_seed_state, double timeout,
                        const Joints& consistency_limits, Joints& solution,
                        const IKCallbackFn& solution_callback, ErrorCode& error_code,
                        const Options& options) const override;
  /// Of any links of the chain, in the base frame.
  bool getPositionFK(const std::vector<std::string>& link_names, const Joints& joint_angles,
                     Poses& poses) const override;

  const std::vector<std::string>& getJointNames() const override { return joints_; }
  const std::vector<std::string>& getLinkNames() const override { return tip_frames_; }

  /// Why the pose has no solution, in words.
  std::string reason(const Pose& pose, const Joints& seed) const;

 private:
  /// The candidates; empty also if there is no chain or an argument is wrong, which is logged.
  std::vector<std::array<double, 6>> candidates(const Pose& pose, const Joints& seed) const;

  std::optional<PumaKinematics> kinematics_;
  std::optional<ga_dynamics::Dynamics> dynamics_;  // its const functions
  std::vector<std::string> joints_;
};

}  // namespace ga_motion

#endif  // MOVEIT__CLOSED_FORM_KINEMATICS_HPP_
