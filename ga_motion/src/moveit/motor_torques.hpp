// SPDX-License-Identifier: Apache-2.0
#ifndef MOVEIT__MOTOR_TORQUES_HPP_
#define MOVEIT__MOTOR_TORQUES_HPP_

// What the planning response adapters that know motor torques have in common: their parameters, the
// arm, and the joints of a MoveIt trajectory that belong to it.

#include <moveit/planning_interface/planning_response_adapter.hpp>
#include <optional>
#include <rclcpp/rclcpp.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "ga_motion/time_parameterization.hpp"

namespace ga_motion {

/// Parameters below `<pipeline>.torque_limits`; read at every plan.
struct TorqueSettings {
  ga_dynamics::Payload payload;
  std::string tip;
  double torque_reserve = 0, torque_ramp = 0, sample_period = 0;
  double path_tolerance = 0, repeat_tolerance = 0, check_tolerance = 0;
  bool use_acceleration_limits = false, warn_only = false;
  int intervals = 0;
};

/// A setting or description that nothing can be timed or checked with.
class SettingError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The joints of the arm in the waypoints of a trajectory.
struct ArmColumns {
  std::vector<int> variables;       ///< of the robot model, per joint of the arm
  std::vector<bool> in_group;       ///< per joint of the arm
  std::vector<std::string> others;  ///< active joints of the group that are not the arm's
  bool any() const;
};

/// Joint names for messages.
std::string listed(const std::vector<std::string>& names);
/// The active joints that a trajectory moves.
std::vector<std::string> joints_of(const robot_trajectory::RobotTrajectory& trajectory);

class TorqueAdapter : public planning_interface::PlanningResponseAdapter {
 public:
  void initialize(const rclcpp::Node::SharedPtr& node,
                  const std::string& parameter_namespace) override;
  /// Calls work() or work_without_arm(); whatever they throw becomes the response's error code, with
  /// its message.
  void adapt(const planning_scene::PlanningSceneConstPtr& planning_scene,
             const planning_interface::MotionPlanRequest& req,
             planning_interface::MotionPlanResponse& res) const final;

 protected:
  /// The response has a trajectory of one waypoint or more. `arm` carries the payload.
  virtual void work(const planning_scene::PlanningScene& scene,
                    const planning_interface::MotionPlanRequest& req,
                    planning_interface::MotionPlanResponse& res, const TorqueSettings& settings,
                    const ga_dynamics::Chain& arm) const = 0;
  /// No joint of the group belongs to an arm: those of a gripper.
  virtual void work_without_arm(const planning_interface::MotionPlanRequest& req,
                                planning_interface::MotionPlanResponse& res) const = 0;
  rclcpp::Logger logger() const;

 private:
  TorqueSettings settings() const;
  /// The arm that moves the trajectory's group, if one does. With the parameter `tip`, the chain to
  /// this link. Otherwise the chain from the root to the tip of the group that is a chain and has the
  /// most of its joints; other joints are loads, at rest where the trajectory begins. Grippers are no
  /// arms: groups of an end effector, and chains at the end of longer ones. In a model without groups
  /// that are chains, the longest chain of actuated joints.
  std::optional<ga_dynamics::Chain> arm_of(const robot_trajectory::RobotTrajectory& trajectory,
                                           const TorqueSettings& settings) const;

  rclcpp::Node::SharedPtr node_;
  std::string prefix_;
};

ArmColumns columns_of(const robot_trajectory::RobotTrajectory& trajectory,
                      const ga_dynamics::Chain& arm);
/// Positions of the arm's joints, one vector per waypoint.
std::vector<std::vector<double>> positions_of(const robot_trajectory::RobotTrajectory& trajectory,
                                              const ArmColumns& columns);
/// Throws SettingError, naming the joint, if a joint has no torque limit.
TimingLimits torque_limits_of(const ga_dynamics::Chain& arm);

}  // namespace ga_motion

#endif  // MOVEIT__MOTOR_TORQUES_HPP_
