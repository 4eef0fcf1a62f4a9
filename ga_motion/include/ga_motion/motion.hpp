// SPDX-License-Identifier: Apache-2.0
#ifndef GA_MOTION__MOTION_HPP_
#define GA_MOTION__MOTION_HPP_

// Motions that `ga sim` knows by name, reads from a file of via points, or finds for an arm of which
// nothing else is known: within its position, velocity and torque limits, away from singularities.
// The same arm gets the same motion.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "ga_motion/trajectory.hpp"

namespace ga_motion {

struct Motion {
  std::unique_ptr<Trajectory> trajectory;
  std::string description;  ///< what was chosen, for a person
  /// s; of a motion through via points: when it passes them.
  std::vector<double> knots = {};
};

/// The part of a joint's range in which motions are looked for: within ±2 rad (m) of 0, or of the
/// middle of its limits.
struct Range {
  double low = 0, high = 0;
};
Range usable_range(const ga_dynamics::ChainJoint& joint);

/// Can the motors drive the arm along it, with some torque to spare?
bool within_torque_limits(const ga_dynamics::Chain& chain, const Trajectory& motion);

/// A straight line of the tool at constant orientation; where no such line is found, one whose
/// orientation is free. Nothing where the arm cannot move its tool in every direction, or no line
/// was found.
std::optional<Motion> find_line(const ga_dynamics::Chain& chain);

/// All joints from 35 % to 65 % of their usable ranges on a fifth-order polynomial, as slowly as
/// velocity and torque limits ask for; nearer to where gravity is least if it alone takes more
/// torque than there is.
Motion find_joint_motion(const ga_dynamics::Chain& chain);

/// `name` is auto, line, quintic, ramp, spline, or a file (it ends in .csv or exists). The line is
/// that of the papers where the arm can follow it, otherwise one that was found for the arm; auto
/// is the line, or a motion of all joints where no line is found. Throws std::runtime_error, naming
/// the option, if the name is none of them, no line is found, or the motion exceeds the joints'
/// position or velocity limits or kLongestMotion (motion_limits.hpp).
///
/// The file holds one via point per line: the time [s], beginning with 0 and increasing, and one
/// position per joint [rad, m], separated by commas. A first line with names (t, and q1… or the
/// joints') gives the columns their order, and other columns are ignored: what `puma motion` prints
/// is read. Blank lines and what follows a # are skipped. The arm passes the points on third-order
/// polynomials, at rest at both ends.
Motion choose_motion(const std::string& name, const ga_dynamics::Chain& chain);
/// The same without its description.
std::unique_ptr<Trajectory> make_motion(const std::string& name, const ga_dynamics::Chain& chain);

}  // namespace ga_motion

#endif  // GA_MOTION__MOTION_HPP_
