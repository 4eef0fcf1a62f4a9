// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PLUGINS__SET_POINT_HPP_
#define GA_CONTROLLERS__PLUGINS__SET_POINT_HPP_

// What comes in on ~/reference when no controller precedes: trajectory_msgs/JointTrajectory with
// exactly one point. Of the stock messages it is the one with joint names, position, velocity and
// acceleration; control_msgs/MultiDOFCommand lacks the last, a bare JointTrajectoryPoint the first.

#include <cstdint>
#include <string>
#include <trajectory_msgs/msg/joint_trajectory.hpp>
#include <vector>

#include "ga_dynamics/chain.hpp"

namespace ga_controllers {

/// In the chain's order; every vector has one value per joint.
struct SetPoint {
  std::vector<double> q, qd, qdd;
  std::uint64_t sequence = 0;  ///< of the messages accepted so far

  explicit SetPoint(std::size_t joints = 0) : q(joints), qd(joints), qdd(joints) {}
  /// Neither moves nor speeds up: it cannot become stale. Real-time safe.
  bool rests() const noexcept;
};

/// Fills the set-point (its vectors sized to the chain's joints), except its sequence. Returns why
/// the message is refused, empty if it is not. Not real-time safe, does not throw.
std::string read_set_point(const trajectory_msgs::msg::JointTrajectory& message,
                           const ga_dynamics::Chain& chain, SetPoint& set_point);

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PLUGINS__SET_POINT_HPP_
