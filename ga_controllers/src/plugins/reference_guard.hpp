// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PLUGINS__REFERENCE_GUARD_HPP_
#define GA_CONTROLLERS__PLUGINS__REFERENCE_GUARD_HPP_

// Keeps a reference to what the joints can do. The stock joint_trajectory_controller takes goals
// outside of the position limits and motions that no motor can follow; an arm that did what it says
// would run into its stops or trip the drives.
//
// A reference that the joint can follow passes unchanged. One that is outside of the position
// limits, too fast to stop before them, beyond the joint's velocity limit or torque, or that jumps
// is left, and followed at a distance: within the limits, with a moderate acceleration and no step
// of it, until it is caught up with.

#include <span>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"
#include "ga_dynamics/dynamics.hpp"

namespace ga_controllers {

/// Construction allocates. All else is real-time safe: no allocation, no lock, no exception. Units:
/// rad, s, N m (m, N for prismatic joints).
class ReferenceGuard {
 public:
  enum class Verdict {
    kFollowed,
    kOutside,  ///< of the position limits
    kTooFast   ///< for the velocity limit, the torque, or the way that is left to a position limit
  };
  struct Result {
    Verdict verdict = Verdict::kFollowed;
    std::size_t joint = 0;  ///< the last one that the verdict is about
  };
  /// A reference in, what to follow out.
  struct Values {
    std::span<double> q, qd, qdd;
  };

  /// One torque limit per joint of the chain.
  ReferenceGuard(const ga_dynamics::Chain& chain, std::vector<double> torque_limit);

  /// The next reference starts a motion at the measured state.
  void forget() noexcept { known_ = false; }
  /// Without a reference the law goes its own way, to a rest; the next one goes on from there.
  void go_on_from(const Reference& followed) noexcept;
  /// `q`, `qd`: the measured state. All values are finite. Set-points of a topic may jump, and are
  /// left to the law to smooth.
  Result keep(std::span<const double> q, std::span<const double> qd, double dt, bool may_jump,
              const Values& reference) noexcept;

 private:
  struct Joint {
    ga_dynamics::JointLimits limits;
    double q = 0, qd = 0, qdd = 0;  ///< what was followed last
    bool left = false;              ///< not the given reference
  };
  Verdict judge(const Joint& joint, double q, double qd, double qdd, double strength,
                double reach) const;
  void follow(Joint& joint, double q, double qd, double strength, double dt) const;

  ga_dynamics::Dynamics dynamics_;
  std::vector<Joint> joints_;
  std::vector<double> torque_limit_, inertia_;
  bool known_ = false;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PLUGINS__REFERENCE_GUARD_HPP_
