// SPDX-License-Identifier: Apache-2.0

// Planning response adapter: refuses trajectories that take more than the motors have, however they
// were timed.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <moveit/robot_state/robot_state.hpp>
#include <pluginlib/class_list_macros.hpp>

#include "join.hpp"
#include "moveit/motor_torques.hpp"

namespace ga_motion {

namespace {

using moveit::core::MoveItErrorCode;

constexpr double kShortest = 1e-9;  // s: between two points
constexpr double kStep = 1e-3;      // s: between two torques

/// The trajectory of the arm's joints, with the velocities and accelerations it has.
MotionSamples samples_of(const robot_trajectory::RobotTrajectory& trajectory,
                         const ArmColumns& columns) {
  const std::size_t count = trajectory.getWayPointCount();
  bool velocities = true, accelerations = true;
  for (std::size_t k = 0; k < count; ++k) {
    velocities = velocities && trajectory.getWayPoint(k).hasVelocities();
    accelerations = accelerations && trajectory.getWayPoint(k).hasAccelerations();
  }
  MotionSamples samples;
  double time = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const moveit::core::RobotState& state = trajectory.getWayPoint(k);
    if (k > 0) {
      const double step = trajectory.getWayPointDurationFromPrevious(k);
      if (!(step >= kShortest)) {
        throw std::invalid_argument(join("point ", k + 1, " of the trajectory is ", step,
                                         " s after the one before; CheckTorques needs a trajectory "
                                         "that is timed"));
      }
      time += step;
    }
    samples.times.push_back(time);
    std::vector<double> q, qd, qdd;
    for (const int variable : columns.variables) {
      q.push_back(state.getVariablePosition(variable));
      if (velocities) qd.push_back(state.getVariableVelocity(variable));
      if (accelerations) qdd.push_back(state.getVariableAcceleration(variable));
    }
    samples.q.push_back(q);
    if (velocities) samples.qd.push_back(qd);
    if (velocities && accelerations) samples.qdd.push_back(qdd);
  }
  return samples;
}

std::string excess(const ga_dynamics::ChainJoint& joint, const PeakUse& torque, double limit) {
  char text[200];
  std::snprintf(text, sizeof text,
                "joint '%s': %.4g %s at %.3f s, %.1f %% of its limit %.4g, beyond it for %.3g s",
                joint.name.c_str(), torque.value, joint.revolute() ? "N m" : "N", torque.time,
                100 * torque.share, limit, torque.time_over);
  return text;
}

}  // namespace

class CheckTorques final : public TorqueAdapter {
 public:
  std::string getDescription() const override { return "CheckTorques"; }

 private:
  void work(const planning_scene::PlanningScene& /*scene*/,
            const planning_interface::MotionPlanRequest& /*req*/,
            planning_interface::MotionPlanResponse& res, const TorqueSettings& settings,
            const ga_dynamics::Chain& arm) const override {
    const ArmColumns columns = columns_of(*res.trajectory, arm);
    res.error_code = MoveItErrorCode::SUCCESS;
    if (!columns.any() || res.trajectory->getWayPointCount() < 2) return;
    const TimingLimits limits = torque_limits_of(arm);
    const MotionSamples samples = samples_of(*res.trajectory, columns);
    const LimitUse use = limit_use(arm, limits, *samples.interpolated(), kStep, samples.times);
    std::string found, shares;
    double worst = 1 + settings.check_tolerance;
    for (std::size_t i = 0; i < use.joints.size(); ++i) {
      const PeakUse& torque = use.joints[i].torque;
      const std::string& name = arm.joints()[i].name;
      shares += join(i == 0 ? "" : ", ", name, " ", std::round(1000 * torque.share) / 10, " %");
      if (!std::isfinite(torque.value))
        throw std::invalid_argument(join("joint '", name, "': its torque is not finite"));
      if (torque.share > worst)
        worst = torque.share, found = excess(arm.joints()[i], torque, limits.torque[i]);
    }
    RCLCPP_INFO(logger(), "largest torques: %s of the limits", shares.c_str());
    if (found.empty()) return;
    if (settings.warn_only) {
      RCLCPP_WARN(logger(), "%s", found.c_str());
      return;
    }
    throw std::invalid_argument(found +
                                "; move slower, or time the path by torque "
                                "(ga_motion/TorqueLimitedTiming)");
  }
};

}  // namespace ga_motion

PLUGINLIB_EXPORT_CLASS(ga_motion::CheckTorques, planning_interface::PlanningResponseAdapter)
