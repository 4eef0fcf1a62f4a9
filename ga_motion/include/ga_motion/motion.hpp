// SPDX-License-Identifier: Apache-2.0
#ifndef GA_MOTION__MOTION_HPP_
#define GA_MOTION__MOTION_HPP_

// The motions that `ga sim` knows by name, or reads from a file of via points.

#include <memory>
#include <string>

#include "ga_dynamics/chain.hpp"
#include "ga_motion/found_motion.hpp"
#include "ga_motion/trajectory.hpp"

namespace ga_motion {

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
