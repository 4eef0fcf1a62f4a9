// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOTS_HPP_
#define ROBOTS_HPP_

// The controllers and the arms of the tests, and a motion for each of the arms.

#include <string>
#include <vector>

#include "ga_controllers/control_law.hpp"

namespace test {

using Values = std::vector<double>;
using ga_controllers::LawKind;

constexpr LawKind kAllLaws[] = {LawKind::kPointToPoint, LawKind::kTracking,
                                LawKind::kTrackingIntegral, LawKind::kGravityHold};

/// The controller that this program is for.
LawKind law_under_test();
bool tracks(LawKind kind);
std::string name_of(LawKind kind);  ///< PointToPointController, …

std::string puma();
std::string scara();
std::string seven_joints();

/// A smooth motion of all joints, well within their limits.
struct Motion {
  Motion(const ga_dynamics::Chain& chain, double t);
  ga_controllers::Reference reference() const { return {q, qd, qdd}; }
  Values q, qd, qdd;
};

}  // namespace test

#endif  // ROBOTS_HPP_
