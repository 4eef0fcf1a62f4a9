// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__REST_LATCH_HPP_
#define GA_CONTROLLERS__REST_LATCH_HPP_

// Integral action under stiction. A joint that sticks beside its goal is pushed until it breaks
// away. Break-away takes more torque than sliding, so the joint would overshoot, stick, be pushed
// back, and hunt in a limit cycle.
//
// So while all references rest, a joint that comes within the dead band of its goal is latched, if
// the law compensates Coulomb friction of the joint (without friction it would drift): the
// torque that was added since the reference came to rest is removed, up to the Coulomb friction, and
// the disturbance estimate keeps its value. Friction stops the joint there and holds it, with a
// margin in both directions, and the encoder's noise does not reach the torque. The latch opens at
// kRelease times the dead band, or when the reference moves. The torque that pushed against stiction
// is removed then as well, as fast as the friction feed-forward of the motion replaces it. All this
// changes the torque gradually, feedback included: below 2 % of its limit per millisecond.
//
// If break-away takes so much torque that a joint sticks on one side of its goal, slips through the
// dead band and sticks on the other side, the dead band of that joint doubles. If it slips back, the
// dead band reaches to where it sticks then, up to kWidest times the given one, until the reference
// moves or a disturbance releases the joint: a rest beside the goal is better than hunting.
//
// In each update of the law: advance(), the commanded acceleration, its torque, settle().

#include <span>
#include <vector>

#include "followed_reference.hpp"
#include "ga_controllers/control_law.hpp"
#include "measured_arm.hpp"
#include "state_observer.hpp"

namespace ga_controllers {

/// Construction allocates. All else is real-time safe: no allocation, no lock, no exception. Units:
/// rad, s, N m (m, N for prismatic joints).
class RestLatch {
 public:
  RestLatch(const LawParameters& parameters, std::size_t joints);

  /// Opens all latches, at a start or a change.
  void clear(StateObserver& observer) noexcept;
  /// Latches and releases joints.
  void advance(const FollowedReference& reference, double dt, StateObserver& observer,
               MeasuredArm& arm) noexcept;
  /// True if the joint rests at its goal: feedback fades, except for damping until it stands.
  bool latched(std::size_t joint) const noexcept { return rest_[joint] == Rest::kLatched; }
  /// Share of the feedback, 0 … 1: it fades in and out, so that latches do not step the torque.
  double feedback(std::size_t joint) const noexcept { return feedback_[joint]; }
  /// rad/s; a slower joint stands, as far as the observer can tell.
  double standstill(std::size_t joint) const noexcept { return standstill_[joint]; }
  void set_standstill(std::size_t joint, double bandwidth) noexcept;
  /// Removes the torque against stiction of joints that have just been latched, from `tau` and from
  /// the disturbance. `friction`: the part of `tau` that is fed forward.
  void settle(std::span<double> tau, std::span<const double> friction, double dt,
              StateObserver& observer, MeasuredArm& arm) noexcept;

 private:
  enum class Rest {
    kMoving,   ///< the reference moves
    kOffGoal,  ///< the reference rests, the joint is outside the dead band
    kLatched
  };
  bool remove(StateObserver& observer, MeasuredArm& arm) noexcept;
  void widen(std::size_t joint, double error, double dt) noexcept;

  double dead_band_;
  double friction_;       ///< share that is fed forward
  double rest_velocity_;  ///< rad/s; a slower reference counts as resting
  std::vector<Rest> rest_;
  std::vector<char> begins_;           ///< the rest or the latch begins in this cycle
  std::vector<int> direction_;         ///< of the last push: +1, −1; 0: none in this rest
  std::vector<double> widening_;       ///< of the dead band in this rest
  std::vector<int> stuck_side_;        ///< of the goal: +1, −1; 0: did not stick in this rest
  std::vector<double> stuck_time_;     ///< s, since when the joint stays off its goal
  std::vector<double> stuck_at_;       ///< rad from the goal
  std::vector<double> feedback_;       ///< share that is not faded out
  std::vector<double> latched_time_;   ///< s, of the present latch
  std::vector<double> left_;           ///< N m, pushed, still to be removed
  std::vector<double> last_friction_;  ///< N m, fed forward in the last cycle
  std::vector<double> rest_torque_;    ///< N m, when the reference came to rest
  std::vector<double> pushed_;         ///< N m, added since then, up to the Coulomb friction
  std::vector<double> standstill_;
  std::vector<double> step_, factor_;  ///< scratch of remove()
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__REST_LATCH_HPP_
