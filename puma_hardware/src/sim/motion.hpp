// SPDX-License-Identifier: Apache-2.0
#ifndef SIM__MOTION_HPP_
#define SIM__MOTION_HPP_

// The motions that `puma sim` knows by name, or reads from a file of via points.

#include <memory>
#include <string>

#include "ga_dynamics/chain.hpp"
#include "ga_dynamics/trajectory.hpp"

namespace puma_hardware::sim {

/// `name` is line, quintic, ramp, spline, or a file (it ends in .csv or exists). Throws
/// std::runtime_error, naming the option, if it is none of them or leaves the joints' limits, and
/// ga_dynamics' errors where the arm cannot follow.
///
/// The file holds one via point per line: the time [s], beginning with 0 and increasing, and one
/// position per joint [rad, m], separated by commas. A first line with names (t, and q1… or the
/// joints') gives the columns their order, and other columns are ignored: what `puma motion` prints
/// is read. Blank lines and what follows a # are skipped. The arm passes the points on third-order
/// polynomials, at rest at both ends.
std::unique_ptr<ga_dynamics::Trajectory> make_motion(const std::string& name,
                                                     const ga_dynamics::Chain& chain);

}  // namespace puma_hardware::sim

#endif  // SIM__MOTION_HPP_
