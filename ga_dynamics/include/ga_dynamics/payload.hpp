// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__PAYLOAD_HPP_
#define GA_DYNAMICS__PAYLOAD_HPP_

// The payload of an arm: a rigid body fixed to the tip link, given in that link's frame. Chain
// (with_payload()) and Dynamics (set_payload()) carry it.
//
// Units: kg, m, kg m².

#include <span>
#include <string>

#include "ga_dynamics/chain.hpp"

namespace ga_dynamics {

using Payload = LinkInertia;

/// The largest mass [kg], and the largest coordinate [m] of the center of mass, that are plausible.
inline constexpr double kLargestPayload = 10000, kFarthestPayload = 100;

/// True if a rigid body with these parameters exists: finite, mass zero or more, inertia symmetric
/// and positive semi-definite with moments that meet the triangle inequality, no inertia without
/// mass. Real-time safe.
bool is_physical(const Payload& payload) noexcept;

/// Empty if the payload is physical, otherwise the element, its value and the remedy: "payload.mass
/// is -1 kg; give zero or more". Allocates.
std::string payload_flaw(const Payload& payload);

/// From mass, center of mass (three values or none) and inertia about it (ixx ixy ixz iyy iyz izz,
/// or none). Throws std::invalid_argument with the payload's flaw, or for another number of values.
Payload make_payload(double mass, std::span<const double> com, std::span<const double> inertia);

/// From text like MASS[,X,Y,Z[,IXX,IXY,IXZ,IYY,IYZ,IZZ]]. Throws std::invalid_argument.
Payload parse_payload(const std::string& text);

/// The body whose mass, first and second moments are a share 1 − `share` of those of `from` and
/// `share` of those of `to`. Physical if both are and `share` is between 0 and 1. Torques depend
/// linearly on the share. Real-time safe.
Payload blended(const Payload& from, const Payload& to, double share) noexcept;

}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__PAYLOAD_HPP_
