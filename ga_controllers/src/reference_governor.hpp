// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__REFERENCE_GOVERNOR_HPP_
#define GA_CONTROLLERS__REFERENCE_GOVERNOR_HPP_

// Keeps a reference to what the joints can do. The stock joint_trajectory_controller takes goals
// outside of the position limits and motions that no motor can follow; an arm that did what it says
// would run into its stops or trip the drives.
//
// A reference that the joint can follow passes unchanged. One that is outside of the position
// limits, too fast to stop before them, beyond the joint's velocity limit or with an acceleration
// beyond its torque, or that jumps is left, and followed at a distance: within the limits, with a
// moderate acceleration and no step of it, until it is caught up with. What the torque allows is
// judged joint by joint, by the limit over the joint's own inertia; gravity, friction and the other
// joints are not in it, but in the half of the torque that the governor itself does not use.

#include <limits>
#include <span>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"
#include "ga_dynamics/dynamics.hpp"

namespace ga_controllers {

/// Descriptions that know no limit of a joint's velocity say zero: infinity then.
double speed_limit(const ga_dynamics::JointLimits& limits) noexcept;

/// An acceleration [rad/s²] of a reference, as far as the change of its velocity [rad/s] in a cycle
/// confirms it, up to `strength`, the acceleration at the torque limit. Beyond that, `unconfirmed`
/// of it: an acceleration that no velocity confirms would lead away from the reference.
double believed_acceleration(double acceleration, double change, double dt, double strength,
                             double unconfirmed) noexcept;

/// The acceleration that may continue unconfirmed when a joint departs from its reference. A light
/// joint reaches its velocity limit within milliseconds, so the velocity limit bounds it, too: less
/// where the accelerations have agreed with the velocities so far, `trust` 0 … 1.
double continued_acceleration(double strength, double velocity_limit, double trust) noexcept;

/// Construction allocates. All else is real-time safe: no allocation, no lock, no exception. Units:
/// rad, s, N m (m, N for prismatic joints).
class ReferenceGovernor {
 public:
  /// A reference in, what to follow out.
  struct Values {
    std::span<double> q, qd, qdd;
  };

  /// One torque limit per joint of the chain.
  ReferenceGovernor(const ga_dynamics::Chain& chain, std::vector<double> torque_limit);

  /// What is followed begins here, with this velocity and acceleration.
  void begin(std::span<const double> q, std::span<const double> qd,
             std::span<const double> qdd) noexcept;
  /// `q`: the measured position. All values are finite.
  LimitViolation keep(std::span<const double> q, double dt, const Values& reference) noexcept;
  /// A joint with this state, unless it brakes already, cannot be stopped moderately before its
  /// position limit. `strength`: the acceleration [rad/s²] that all of its torque gives it.
  bool must_brake(std::size_t joint, double q, double qd, double strength) const noexcept {
    return judge(joints_[joint], q, qd, 0, strength, kAnyJump) != LimitViolation::Reason::kNone;
  }
  /// Is something else followed than the joint's reference?
  bool has_left(std::size_t joint) const noexcept { return joints_[joint].left; }

 private:
  static constexpr double kAnyJump = std::numeric_limits<double>::infinity();
  struct Joint {
    ga_dynamics::JointLimits limits;
    double q = 0, qd = 0, qdd = 0;  ///< what was followed last
    bool left = false;              ///< not the given reference
  };
  LimitViolation::Reason judge(const Joint& joint, double q, double qd, double qdd, double strength,
                               double reach) const;
  void follow(Joint& joint, double q, double qd, double qdd, double strength, double dt) const;

  ga_dynamics::Dynamics dynamics_;
  std::vector<Joint> joints_;
  std::vector<double> torque_limit_, inertia_;
  bool begun_ = false;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__REFERENCE_GOVERNOR_HPP_
