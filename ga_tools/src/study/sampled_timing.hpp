// SPDX-License-Identifier: Apache-2.0
#ifndef STUDY__SAMPLED_TIMING_HPP_
#define STUDY__SAMPLED_TIMING_HPP_

// Timed paths as trajectory controllers get them: samples, with an interpolation in between that
// keeps the limits as well.

#include <memory>
#include <string>
#include <vector>

#include "ga_motion/time_parameterization.hpp"

namespace ga_tools {

/// Points of a motion, one joint vector each.
struct Samples {
  std::vector<double> times;  ///< s
  std::vector<std::vector<double>> q, qd, qdd;
  std::string note;  ///< which columns of a file are not read, for people

  /// The interpolation of ros2_control's joint_trajectory_controller: of fifth order with
  /// accelerations, of third with velocities. Positions alone: cubic spline, at rest at both ends.
  std::unique_ptr<ga_motion::Trajectory> interpolated() const;
};

/// At equal distances in time, of 1 / rate [s] or a little less, both ends included.
Samples sample_motion(const ga_motion::Trajectory& motion, double rate);

/// A table of t, positions and, if it has them, velocities and accelerations of all joints; columns as
/// in `ga motion`. Throws std::runtime_error, naming the file and the line.
Samples read_samples(const std::string& file, const std::vector<std::string>& joints);

/// A table of joint positions. Throws std::runtime_error, naming the file and the line.
Samples read_way_points(const std::string& file, const std::vector<std::string>& joints);

struct SampledTiming {
  ga_motion::Timing timing;
  std::vector<ga_motion::ActiveLimit> active;
  Samples samples;
  /// Of the interpolated samples, with regard to the given limits.
  ga_motion::LimitUse use;
  /// Torque and velocity limits with which the path was timed, over the given ones: the smallest.
  double torque_share = 1, velocity_share = 1;
};

/// Excess of the torque that passes; velocities must not exceed their limits at all.
inline constexpr double kTorqueTolerance = 0.005;

/// Times the path and samples it, with limits lowered until the interpolated samples keep the given
/// ones; `fit` = false: without lowering them.
SampledTiming time_and_sample(const ga_dynamics::Chain& chain,
                              const ga_motion::TimingLimits& limits,
                              const ga_motion::TimingOptions& options,
                              const std::shared_ptr<const ga_motion::Path>& path, double rate,
                              bool fit = true);

}  // namespace ga_tools

#endif  // STUDY__SAMPLED_TIMING_HPP_
