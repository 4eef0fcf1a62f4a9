// SPDX-License-Identifier: Apache-2.0
#ifndef GA_MOTION__CARTESIAN_LINE_HPP_
#define GA_MOTION__CARTESIAN_LINE_HPP_

// Straight lines of the tool at constant speed and constant orientation, as in the PUMA experiments
// of Mata et al. 2002 §5.2, Provenzano et al., and Mata, Valera et al.
//
//   const ga_dynamics::Matrix3 hand = ga_dynamics::rotation_zyz(0.785, 1.047, 1.571);
//   const ga_motion::CartesianLine line({hand, {0.6, 0.175, 0.25}}, {hand, {0.018, 0.757, 0}},
//                                         0.1, 0.25);
//   const auto motion = ga_motion::make_cartesian_line(puma, line, q_now);
//
// Units: m, rad, s. Construction allocates and throws; sampling is real-time safe.

#include <memory>
#include <span>
#include <vector>

#include "ga_motion/kinematics.hpp"
#include "ga_motion/trajectory.hpp"

namespace ga_motion {

using ga_dynamics::Matrix3;
using ga_dynamics::Pose;
using ga_dynamics::Vector3;

/// The tool's motion from one pose to another of the same orientation, in the base link's frame.
/// The speed rises from rest as a fifth-order polynomial of time, is exactly constant, and falls
/// again: position, velocity, acceleration and jerk are continuous.
class CartesianLine {
 public:
  /// speed [m/s] in between; blend_time [s] of the start, and of the stop. Blend time 0 is the
  /// papers' motion: full speed from the first instant to the last, with an impulse of acceleration
  /// at both. Throws KinematicsError if the poses are not poses, their orientations differ (by more
  /// than 1e-6 rad), they coincide, or the line is too short to reach the speed.
  CartesianLine(const Pose& start, const Pose& end, double speed, double blend_time);

  double length() const noexcept { return length_; }      ///< m
  double duration() const noexcept { return duration_; }  ///< s: length / speed + blend_time
  double speed() const noexcept { return speed_; }        ///< m/s

  struct Travel {
    double way = 0, rate = 0, acceleration = 0;  ///< m, m/s, m/s² along the line
  };
  /// Time in s, clamped as by Trajectory::sample(). Real-time safe.
  Travel travel(double t) const noexcept;
  /// The pose after this way [m]. Real-time safe.
  Pose pose(double way) const noexcept;
  /// Unit vector.
  const Vector3& direction() const noexcept { return direction_; }

 private:
  Pose start_;
  Vector3 direction_;
  double length_, speed_, blend_, duration_;
};

struct LineOptions {
  /// Nearer to a singularity (Singularity::measure) the line is refused.
  double singularity_margin = 0.02;
  /// rad, m: largest joint error of the spline that stands in for inverse kinematics without closed
  /// form. Finer than 1e-9 asks for better solutions than the kinematics' own accuracy.
  double joint_tolerance = 1e-8;
};

/// The joints' motion that moves the tool (the chain's tip link) along the line, from the joint
/// values nearest to the seed. qd and qdd are exact: qd = J⁻¹[v; 0], qdd = J⁻¹([a; 0] − J̇q̇).
/// Sampling solves the inverse kinematics where it has a closed form. Otherwise a cubic spline over
/// the way, through points close enough for `joint_tolerance`, checked half-way between them, gives
/// q, qd and qdd.
///
/// The whole line is examined beforehand, at points not more than 1 mm and 0.02 rad apart. Throws
/// KinematicsError with the place on the line, the joint, the value and the remedy, if the line
/// leaves the arm's reach, a joint's position or velocity limits, comes too near to a singularity
/// (shoulder, elbow, wrist), or cannot be followed without a jump to another branch. The result
/// keeps no reference to its arguments.
std::unique_ptr<Trajectory> make_cartesian_line(const InverseKinematics& kinematics,
                                                const CartesianLine& line,
                                                std::span<const double> seed,
                                                const LineOptions& options = {});

/// The same, on the given branch.
std::unique_ptr<Trajectory> make_cartesian_line(const PumaKinematics& kinematics,
                                                const CartesianLine& line, const PumaBranch& branch,
                                                const LineOptions& options = {});

// --- straight lines whose orientation is free, for arms that cannot keep it ---

/// How well the tool can move in every direction at q: least over largest of the three singular
/// values of the tool's translational Jacobian; 0 where it cannot.
double position_dexterity(const InverseKinematics& kinematics, std::span<const double> q);

struct PositionLine {
  std::vector<double> middle;        ///< joint values half-way
  Vector3 direction{};               ///< unit vector, base link's frame
  double length = 0;                 ///< m
  double speed = 0, blend_time = 0;  ///< as of CartesianLine
};

/// The motion of least joint speed that moves the tool along the line, within 1 µm of it. Throws
/// KinematicsError where the line leaves the joints' position or velocity limits or
/// comes to a singularity.
std::unique_ptr<Trajectory> make_position_line(const InverseKinematics& kinematics,
                                               const PositionLine& line);

}  // namespace ga_motion

#endif  // GA_MOTION__CARTESIAN_LINE_HPP_
