// SPDX-License-Identifier: Apache-2.0
#ifndef GA_MOTION__FOUND_MOTION_HPP_
#define GA_MOTION__FOUND_MOTION_HPP_

// Motions that an arm of which nothing else is known can follow: within its position, velocity and
// torque limits, away from singularities. The same arm gets the same motion.

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

}  // namespace ga_motion

#endif  // GA_MOTION__FOUND_MOTION_HPP_
