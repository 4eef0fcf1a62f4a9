// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PLUGINS__SET_POINT_HPP_
#define GA_CONTROLLERS__PLUGINS__SET_POINT_HPP_

// Set-points on ~/reference, for use without a preceding controller:
// trajectory_msgs/JointTrajectory with exactly one point. It is the only stock message with joint
// names, positions, velocities and accelerations: control_msgs/MultiDOFCommand has no
// accelerations, JointTrajectoryPoint no names.

#include <cstdint>
#include <string>
#include <trajectory_msgs/msg/joint_trajectory.hpp>
#include <vector>

#include "ga_dynamics/chain.hpp"

namespace ga_controllers {

/// In the order of the chain; one value per joint.
struct SetPoint {
  std::vector<double> q, qd, qdd;
  bool has_velocity = false, has_acceleration = false;  ///< otherwise they are zero
  std::uint64_t sequence = 0;                           ///< number of the accepted message

  explicit SetPoint(std::size_t joints = 0) : q(joints), qd(joints), qdd(joints) {}
  /// True if velocities and accelerations are zero: it cannot become stale. Real-time safe.
  bool rests() const noexcept;
};

/// Fills the set-point (its vectors sized to the chain's joints), except its sequence. Returns why
/// the message is rejected, or an empty string. Not real-time safe, does not throw.
std::string read_set_point(const trajectory_msgs::msg::JointTrajectory& message,
                           const ga_dynamics::Chain& chain, SetPoint& set_point);

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PLUGINS__SET_POINT_HPP_
