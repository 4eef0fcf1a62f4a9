// SPDX-License-Identifier: Apache-2.0

// Planning response adapter: refuses trajectories that take more than the motors have, however they
// were timed; beyond the velocity and position limits as well, and with values that are not finite.

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
constexpr double kMostSteps = 1e6;
constexpr double kPositionSlack = 1e-3;  // rad, m: interpolations overshoot

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
      if (!(step >= kShortest && std::isfinite(step))) {
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

/// Throws if a value is not finite: comparisons with it would look fine.
void check_values(const MotionSamples& samples, const ga_dynamics::Chain& arm) {
  const auto check = [&](const std::vector<std::vector<double>>& points, const char* what) {
    for (std::size_t k = 0; k < points.size(); ++k) {
      for (std::size_t i = 0; i < points[k].size(); ++i) {
        if (std::isfinite(points[k][i])) continue;
        throw std::invalid_argument(join("joint '", arm.joints()[i].name, "': its ", what, " is ",
                                         points[k][i], " at ", samples.times[k], " s, point ",
                                         k + 1, " of ", points.size()));
      }
    }
  };
  check(samples.q, "position");
  check(samples.qd, "velocity");
  check(samples.qdd, "acceleration");
}

const char* unit_of(const ga_dynamics::ChainJoint& joint) { return joint.revolute() ? "rad" : "m"; }

std::string torque_excess(const ga_dynamics::ChainJoint& joint, const PeakUse& torque,
                          double limit) {
  char text[200];
  std::snprintf(text, sizeof text,
                "%.4g %s at %.3f s, %.1f %% of its limit %.4g, beyond it for %.3g s", torque.value,
                joint.revolute() ? "N m" : "N", torque.time, 100 * torque.share, limit,
                torque.time_over);
  return join("joint '", joint.name, "': ", text,
              "; move slower, or time the path by torque (ga_motion/TorqueLimitedTiming)");
}

/// The joint that exceeds its torque limit most; empty if none does.
std::string torque_excess(const LimitUse& use, const ga_dynamics::Chain& arm,
                          const TimingLimits& limits, double tolerance) {
  std::string found;
  double worst = 1 + tolerance;
  for (std::size_t i = 0; i < use.joints.size(); ++i) {
    const PeakUse& torque = use.joints[i].torque;
    if (!std::isfinite(torque.value)) {
      throw std::invalid_argument(join("joint '", arm.joints()[i].name, "': its torque is ",
                                       torque.value, " at ", torque.time, " s"));
    }
    if (torque.share > worst)
      worst = torque.share, found = torque_excess(arm.joints()[i], torque, limits.torque[i]);
  }
  return found;
}

/// Likewise its velocity limit, at the points: between them interpolations overshoot.
std::string velocity_excess(const MotionSamples& samples, const Trajectory& motion,
                            const ga_dynamics::Chain& arm, const TimingLimits& limits,
                            double tolerance) {
  std::string found;
  double worst = 1 + tolerance;
  const std::size_t n = arm.joints().size();
  std::vector<double> q(n), qd(n), qdd(n);
  for (const double time : samples.times) {
    motion.sample(time, q, qd, qdd);
    for (std::size_t i = 0; i < n; ++i) {
      const double share = std::abs(qd[i]) / limits.velocity[i];
      if (!(share > worst)) continue;
      worst = share;
      const ga_dynamics::ChainJoint& joint = arm.joints()[i];
      found = join("joint '", joint.name, "': ", qd[i], " ", unit_of(joint), "/s at ", time,
                   " s, beyond its velocity limit ", limits.velocity[i], "; move slower");
    }
  }
  return found;
}

/// Likewise its position limits.
std::string position_excess(const LimitUse& use, const ga_dynamics::Chain& arm,
                            const TimingLimits& limits) {
  std::string found;
  double worst = kPositionSlack;
  for (std::size_t i = 0; i < use.joints.size(); ++i) {
    const PeakUse& position = use.joints[i].position;
    const double beyond =
        std::max(limits.lower[i] - position.value, position.value - limits.upper[i]);
    if (!(beyond > worst)) continue;
    worst = beyond;
    const ga_dynamics::ChainJoint& joint = arm.joints()[i];
    found = join("joint '", joint.name, "': ", position.value, " ", unit_of(joint), " at ",
                 position.time, " s, beyond its limits ", limits.lower[i], " to ", limits.upper[i],
                 "; plan within them");
  }
  return found;
}

}  // namespace

class CheckTorques final : public TorqueAdapter {
 public:
  std::string getDescription() const override { return "CheckTorques"; }

 private:
  void work(const planning_scene::PlanningScene& /*scene*/,
            const planning_interface::MotionPlanRequest& req,
            planning_interface::MotionPlanResponse& res, const TorqueSettings& settings,
            const ga_dynamics::Chain& arm) const override {
    const ArmColumns columns = columns_of(*res.trajectory, arm);
    res.error_code = MoveItErrorCode::SUCCESS;
    if (!columns.any()) return work_without_arm(req, res);
    if (!columns.others.empty()) {
      RCLCPP_INFO(logger(), "%s: not of the arm, not checked", listed(columns.others).c_str());
    }
    if (res.trajectory->getWayPointCount() < 2) return;
    const TimingLimits limits = torque_limits_of(arm);
    const MotionSamples samples = samples_of(*res.trajectory, columns);
    check_values(samples, arm);
    const auto motion = samples.interpolated();
    const double step = std::max(kStep, motion->duration() / kMostSteps);
    const LimitUse use = limit_use(arm, limits, *motion, step, samples.times);
    std::string shares, found;
    for (std::size_t i = 0; i < use.joints.size(); ++i) {
      shares += join(i == 0 ? "" : ", ", arm.joints()[i].name, " ",
                     std::round(1000 * use.joints[i].torque.share) / 10, " %");
    }
    for (const std::string& excess :
         {torque_excess(use, arm, limits, settings.check_tolerance),
          velocity_excess(samples, *motion, arm, limits, settings.check_tolerance),
          position_excess(use, arm, limits)}) {
      if (!excess.empty()) found += (found.empty() ? "" : "; ") + excess;
    }
    RCLCPP_INFO(logger(), "largest torques: %s of the limits", shares.c_str());
    if (found.empty()) return;
    if (settings.warn_only) {
      RCLCPP_WARN(logger(), "%s", found.c_str());
      return;
    }
    throw std::invalid_argument(found);
  }

  void work_without_arm(const planning_interface::MotionPlanRequest& /*req*/,
                        planning_interface::MotionPlanResponse& res) const override {
    const std::string names = listed(joints_of(*res.trajectory));
    RCLCPP_INFO(logger(), "%s: not of an arm, not checked", names.c_str());
    res.error_code = MoveItErrorCode::SUCCESS;
  }
};

}  // namespace ga_motion

PLUGINLIB_EXPORT_CLASS(ga_motion::CheckTorques, planning_interface::PlanningResponseAdapter)
