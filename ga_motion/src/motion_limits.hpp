// SPDX-License-Identifier: Apache-2.0
#ifndef GA_MOTION__MOTION_LIMITS_HPP_
#define GA_MOTION__MOTION_LIMITS_HPP_

// Can the joints follow a motion at all? Its positions, velocities and duration against their
// limits.

#include <string>

#include "ga_dynamics/chain.hpp"
#include "ga_motion/trajectory.hpp"

namespace ga_motion {

/// s; of any motion. Beyond it a wrong unit of time is likelier than a purpose.
constexpr double kLongestMotion = 3600;

/// Throws std::runtime_error for a motion that leaves a joint's position limits, exceeds a velocity
/// limit or takes longer than kLongestMotion: it names `source` ("--trajectory via.csv"), the
/// joint, the value, the limit, the time and the remedy. Of several joints beyond their velocity
/// limits, it names the one that exceeds its limit most, with its largest velocity.
void check_motion(const Motion& motion, const ga_dynamics::Chain& chain, const std::string& source);

}  // namespace ga_motion

#endif  // GA_MOTION__MOTION_LIMITS_HPP_
