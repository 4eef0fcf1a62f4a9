// SPDX-License-Identifier: Apache-2.0

// Planning response adapter: times planned paths by motor torque.
//
// Scaling. max_velocity_scaling_factor kappa scales the velocity limits. max_acceleration_scaling_factor
// alpha has the meaning it has for acceleration limits: the motion is timed with velocity limits
// kappa / sqrt(alpha) and then slowed down by sqrt(alpha). What of the torque accelerates the arm,
// with centrifugal and Coriolis torques, is alpha times that of the fastest motion; gravity and
// Coulomb friction stay. So the torque is between that of the fastest motion and that at rest.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <moveit/planning_scene/planning_scene.hpp>
#include <moveit/robot_state/robot_state.hpp>
#include <moveit/trajectory_processing/time_optimal_trajectory_generation.hpp>
#include <optional>
#include <pluginlib/class_list_macros.hpp>

#include "join.hpp"
#include "moveit/motor_torques.hpp"

namespace ga_motion {

namespace {

using moveit::core::MoveItErrorCode;
using Points = std::vector<std::vector<double>>;

constexpr double kPositionSlack = 1e-6;  // rad, m: of planners at position limits
constexpr double kAtRest = 1e-3;         // rad/s, m/s
constexpr double kCollisionStep = 0.02;  // rad, m: between collision checks along a path
constexpr double kMostPoints = 50000;    // of a trajectory
constexpr int kHalvings = 5;             // of the tolerance, until a path does not collide

/// The factor, or 1 if it is not given or not sensible, as MoveIt takes it.
double factor(double value, const char* name, const rclcpp::Logger& logger) {
  if (value > 0 && value <= 1) return value;
  if (value != 0) RCLCPP_WARN(logger, "%s is %g; 1 is taken", name, value);
  return 1;
}

class WayPoints {
 public:
  WayPoints(robot_trajectory::RobotTrajectory& trajectory, const ArmColumns& columns)
      : trajectory_(trajectory), columns_(columns), state_(trajectory.getFirstWayPoint()) {
    state_.dropDynamics();
    trajectory_.clear();
  }

  void add(const std::vector<double>& q, double step) {
    set_positions(q);
    trajectory_.addSuffixWayPoint(state_, step);
  }
  void add(const std::vector<double>& q, const std::vector<double>& qd,
           const std::vector<double>& qdd, double step) {
    state_.zeroVelocities();
    state_.zeroAccelerations();
    set_positions(q);
    for (std::size_t i = 0; i < columns_.variables.size(); ++i) {
      state_.setVariableVelocity(columns_.variables[i], qd[i]);
      state_.setVariableAcceleration(columns_.variables[i], qdd[i]);
    }
    trajectory_.addSuffixWayPoint(state_, step);
  }

 private:
  void set_positions(const std::vector<double>& q) {
    for (std::size_t i = 0; i < columns_.variables.size(); ++i)
      state_.setVariablePosition(columns_.variables[i], q[i]);
  }

  robot_trajectory::RobotTrajectory& trajectory_;
  const ArmColumns& columns_;
  moveit::core::RobotState state_;
};

/// Does the path keep clear of obstacles, and within the path constraints?
bool is_free(const planning_scene::PlanningScene& scene,
             const moveit_msgs::msg::Constraints& constraints,
             const robot_trajectory::RobotTrajectory& planned, const ArmColumns& columns,
             const Path& path) {
  const auto n = static_cast<std::size_t>(path.size());
  std::vector<double> q(n), last(n), unused(n);
  robot_trajectory::RobotTrajectory states(planned, false);
  WayPoints points(states, columns);
  path.sample(0, last, unused, unused);
  points.add(last, 0);
  constexpr int kFine = 20;  // steps of s per break
  const int steps = kFine * static_cast<int>(path.breaks().size());
  for (int k = 1; k <= steps; ++k) {
    path.sample(path.length() * k / steps, q, unused, unused);
    double moved = 0;
    for (std::size_t i = 0; i < n; ++i) moved = std::max(moved, std::abs(q[i] - last[i]));
    if (moved < kCollisionStep && k < steps) continue;
    points.add(q, 0);
    last = q;
  }
  return scene.isPathValid(states, constraints, planned.getGroupName());
}

}  // namespace

class TorqueLimitedTiming final : public TorqueAdapter {
 public:
  std::string getDescription() const override { return "TorqueLimitedTiming"; }

 private:
  void work(const planning_scene::PlanningScene& scene,
            const planning_interface::MotionPlanRequest& req,
            planning_interface::MotionPlanResponse& res, const TorqueSettings& settings,
            const ga_dynamics::Chain& arm) const override {
    const auto began = std::chrono::steady_clock::now();
    robot_trajectory::RobotTrajectory& trajectory = *res.trajectory;
    const double velocity_factor =
        factor(req.max_velocity_scaling_factor, "max_velocity_scaling_factor", logger());
    const double acceleration_factor =
        factor(req.max_acceleration_scaling_factor, "max_acceleration_scaling_factor", logger());
    const ArmColumns columns = columns_of(trajectory, arm);
    if (!columns.any()) return work_without_arm(req, res);
    check_others(trajectory, columns);
    warn_of_motion(trajectory.getFirstWayPoint(), columns, arm);
    trajectory.unwind();
    const Points planned = positions_of(trajectory, columns);
    check_values(planned, arm);
    const Points points = without_repeats(planned, settings.repeat_tolerance);
    if (points.size() < 2) {
      RCLCPP_INFO(logger(), "no motion: the goal is where the arm is");
      WayPoints result(trajectory, columns);
      const std::vector<double> zero(arm.joints().size());
      result.add(planned.back(), zero, zero, 0);
      res.error_code = MoveItErrorCode::SUCCESS;
      return;
    }
    // Timed faster by `slow`, then slowed down by it.
    const double slow = std::sqrt(acceleration_factor);
    const TimingLimits limits =
        scaled_limits(arm, *trajectory.getRobotModel(), settings, velocity_factor / slow, slow);
    const robot_trajectory::RobotTrajectory way_points(trajectory, false);
    double tolerance = settings.path_tolerance;
    const double least = std::ldexp(tolerance, -kHalvings);
    for (;; tolerance /= 2) {
      const auto path =
          path_through(points, scene, req.path_constraints, way_points, columns, tolerance, least);
      check_count(arm, limits, path, settings.sample_period, slow);
      const SampledTiming timed = time_and_sample(arm, limits, {.intervals = settings.intervals},
                                                  path, 1 / (settings.sample_period * slow));
      write(timed.samples, slow, columns, trajectory);
      // The samples are closer than the states checked before: contacts that just graze.
      if (tolerance <= least) break;
      if (scene.isPathValid(trajectory, req.path_constraints, trajectory.getGroupName())) break;
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
    RCLCPP_INFO(logger(), "%zu way-points timed in %.0f ms: %.3f s, %zu points", planned.size(),
                1e3 * taken.count(), trajectory.getDuration(), trajectory.getWayPointCount());
    res.error_code = MoveItErrorCode::SUCCESS;
  }

  /// Joints without motor torques, such as a gripper's.
  void work_without_arm(const planning_interface::MotionPlanRequest& req,
                        planning_interface::MotionPlanResponse& res) const override {
    const std::string names = listed(joints_of(*res.trajectory));
    RCLCPP_INFO(logger(), "%s: not of an arm, timed by the acceleration limits", names.c_str());
    const trajectory_processing::TimeOptimalTrajectoryGeneration by_acceleration;
    if (by_acceleration.computeTimeStamps(
            *res.trajectory,
            factor(req.max_velocity_scaling_factor, "max_velocity_scaling_factor", logger()),
            factor(req.max_acceleration_scaling_factor, "max_acceleration_scaling_factor",
                   logger()))) {
      res.error_code = MoveItErrorCode::SUCCESS;
      return;
    }
    throw std::invalid_argument(
        join("group '", res.trajectory->getGroupName(),
             "' has no joint of an arm, and MoveIt's timing by acceleration limits failed (joints ",
             names, ")"));
  }

  /// A slow motion may have more points than there is memory for.
  static void check_count(const ga_dynamics::Chain& arm, const TimingLimits& limits,
                          const std::shared_ptr<const Path>& path, double sample_period,
                          double slow) {
    TimingLimits simple = limits;  // without the bound of the torque rate: fast, and not slower
    simple.torque_rate.assign(simple.torque_rate.size(), std::numeric_limits<double>::infinity());
    const double seconds =
        PathTimer(arm, simple, {.intervals = 100}).time(path).trajectory->duration() / slow;
    if (seconds <= kMostPoints * sample_period) return;
    throw std::invalid_argument(join(
        "the motion takes ", seconds, " s or more: ", std::ceil(seconds / sample_period),
        " points, more than ", kMostPoints,
        "; raise max_velocity_scaling_factor, or the parameter torque_limits.sample_period (now ",
        sample_period, " s)"));
  }

  /// Joints of the group that are not the arm's may not move meanwhile.
  static void check_others(const robot_trajectory::RobotTrajectory& trajectory,
                           const ArmColumns& columns) {
    for (const std::string& name : columns.others) {
      const auto* const joint = trajectory.getRobotModel()->getJointModel(name);
      for (std::size_t k = 1; k < trajectory.getWayPointCount(); ++k) {
        if (trajectory.getWayPoint(k).distance(trajectory.getFirstWayPoint(), joint) <=
            kPositionSlack)
          continue;
        throw SettingError(join("joint '", name,
                                "' moves with the arm, but is not part of it; plan "
                                "its motion in a group of its own"));
      }
    }
  }

  void warn_of_motion(const moveit::core::RobotState& start, const ArmColumns& columns,
                      const ga_dynamics::Chain& arm) const {
    if (!start.hasVelocities()) return;
    for (std::size_t i = 0; i < columns.variables.size(); ++i) {
      const double velocity = start.getVariableVelocity(columns.variables[i]);
      if (std::abs(velocity) <= kAtRest) continue;
      RCLCPP_WARN(logger(),
                  "joint '%s' moves at %.3g in the start state; the motion is timed from rest",
                  arm.joints()[i].name.c_str(), velocity);
      return;
    }
  }

  static void check_values(const Points& points, const ga_dynamics::Chain& arm) {
    for (std::size_t k = 0; k < points.size(); ++k) {
      for (std::size_t i = 0; i < points[k].size(); ++i) {
        if (std::isfinite(points[k][i])) continue;
        throw std::invalid_argument(join("joint '", arm.joints()[i].name, "' is ", points[k][i],
                                         " at way-point ", k + 1, " of ", points.size()));
      }
    }
  }

  /// Lowers the tolerance, down to `least`, until the path is free: at `least` ValidateSolution has the
  /// last word, and says what collides.
  std::shared_ptr<const Path> path_through(const Points& points,
                                           const planning_scene::PlanningScene& scene,
                                           const moveit_msgs::msg::Constraints& constraints,
                                           const robot_trajectory::RobotTrajectory& planned,
                                           const ArmColumns& columns, double& tolerance,
                                           double least) const {
    if (tolerance == 0) return make_spline_path(points);
    for (;; tolerance /= 2) {
      const auto path = make_blended_path(points, tolerance);
      if (tolerance <= least || is_free(scene, constraints, planned, columns, *path)) return path;
      RCLCPP_DEBUG(logger(), "corners rounded within %g rad collide", tolerance);
    }
  }

  static TimingLimits scaled_limits(const ga_dynamics::Chain& arm,
                                    const moveit::core::RobotModel& model,
                                    const TorqueSettings& settings, double velocity, double slow) {
    TimingLimits limits = torque_limits_of(arm);
    for (std::size_t i = 0; i < limits.torque.size(); ++i) {
      limits.lower[i] -= kPositionSlack, limits.upper[i] += kPositionSlack;
      limits.torque[i] *= 1 - settings.torque_reserve;
      limits.velocity[i] *= velocity;
      if (settings.torque_ramp > 0)
        limits.torque_rate[i] = limits.torque[i] / (settings.torque_ramp * slow);
      const auto& bounds = model.getVariableBounds(arm.joints()[i].name);
      if (settings.use_acceleration_limits && bounds.acceleration_bounded_)
        limits.acceleration[i] = std::min(bounds.max_acceleration_, -bounds.min_acceleration_);
    }
    return limits;
  }

  static void write(const MotionSamples& samples, double slow, const ArmColumns& columns,
                    robot_trajectory::RobotTrajectory& trajectory) {
    WayPoints result(trajectory, columns);
    for (std::size_t k = 0; k < samples.times.size(); ++k) {
      std::vector<double> qd = samples.qd[k], qdd = samples.qdd[k];
      for (double& value : qd) value *= slow;
      for (double& value : qdd) value *= slow * slow;
      const double step = k == 0 ? 0 : (samples.times[k] - samples.times[k - 1]) / slow;
      result.add(samples.q[k], qd, qdd, step);
    }
  }
};

}  // namespace ga_motion

PLUGINLIB_EXPORT_CLASS(ga_motion::TorqueLimitedTiming, planning_interface::PlanningResponseAdapter)
