// SPDX-License-Identifier: Apache-2.0
#ifndef GA_MOTION__POSITION_LINE_HPP_
#define GA_MOTION__POSITION_LINE_HPP_

// Straight lines of the tool whose orientation is free, for arms that cannot keep it.

#include <memory>
#include <span>

#include "ga_motion/numeric_kinematics.hpp"
#include "ga_motion/trajectory.hpp"

namespace ga_motion {

/// How well the tool can move in every direction at q: least over largest of the three singular
/// values of the tool's translational Jacobian; 0 where it cannot.
double position_dexterity(const InverseKinematics& kinematics, std::span<const double> q);

struct PositionLine {
  std::vector<double> middle;        ///< joint values half-way
  ga_dynamics::Vector3 direction{};  ///< unit vector, base link's frame
  double length = 0;                 ///< m
  double speed = 0, blend_time = 0;  ///< as of CartesianLine
};

/// The motion of least joint speed that moves the tool along the line, within 1 µm of it. Throws
/// KinematicsError where the line leaves the joints' position or velocity limits or
/// comes to a singularity.
std::unique_ptr<Trajectory> make_position_line(const InverseKinematics& kinematics,
                                               const PositionLine& line);

}  // namespace ga_motion

#endif  // GA_MOTION__POSITION_LINE_HPP_
