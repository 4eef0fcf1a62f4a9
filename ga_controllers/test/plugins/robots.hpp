// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOTS_HPP_
#define ROBOTS_HPP_

// Controllers and arms of the tests, and a motion for each arm.

#include <string>
#include <trajectory_msgs/msg/joint_trajectory.hpp>
#include <vector>

#include "ga_controllers/control_law.hpp"

namespace test {

using Values = std::vector<double>;
using ga_controllers::LawKind;

constexpr LawKind kAllLaws[] = {LawKind::kPointToPoint, LawKind::kTracking,
                                LawKind::kTrackingIntegral, LawKind::kGravityHold};

/// The controller under test.
LawKind law_under_test();
inline const LawKind kLaw = law_under_test();
inline const bool kTakesReferences = kLaw != LawKind::kGravityHold && kLaw != LawKind::kHandGuiding;
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

/// The point for all joints, in the chain's order.
trajectory_msgs::msg::JointTrajectory message(const ga_dynamics::Chain& chain, const Values& q,
                                              const Values& qd = {}, const Values& qdd = {});

}  // namespace test

#endif  // ROBOTS_HPP_
