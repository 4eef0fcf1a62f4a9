// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__FOLLOWED_REFERENCE_HPP_
#define GA_CONTROLLERS__FOLLOWED_REFERENCE_HPP_

// From the reference that a law is given to the one that it follows: one that is lost is brought to
// rest and held; after a change of the law the followed one begins at the arm, after a jump of the
// given one it goes on from where it was, and blends over in either case (blending.hpp); and it
// stays within the limits of the joints if it is to (reference_governor.hpp).
//
// A velocity and acceleration of zero say nothing: the velocity then is what the positions show
// (shown_velocity.hpp). A reference without jumps passes unchanged. From a jump of one joint on,
// until the followed reference has arrived, all that the given one does beyond what its velocities
// and accelerations explain is blended, so noise and held samples are filtered. Meanwhile given
// velocities count up to the joint's velocity limit.
//
// In each update: take() or take_arm(), then advance().

#include <memory>
#include <span>
#include <vector>

#include "blending.hpp"
#include "cycle.hpp"
#include "friction_feedforward.hpp"
#include "ga_controllers/control_law.hpp"
#include "law_parameters.hpp"
#include "measured_arm.hpp"
#include "reference_governor.hpp"
#include "shown_velocity.hpp"

namespace ga_controllers {

/// Positions, velocities and accelerations of all joints. Construction allocates.
struct Motion {
  explicit Motion(std::size_t n) : q(n), qd(n), qdd(n) {}
  Reference view() const noexcept { return {q, qd, qdd}; }
  std::vector<double> q, qd, qdd;
};

/// Construction allocates. All else is real-time safe: no allocation, no lock, no exception. Units:
/// rad, s, N m (m, N for prismatic joints).
class FollowedReference {
 public:
  FollowedReference(const ga_dynamics::Chain& chain, const LawParameters& parameters,
                    const MeasuredArm& arm);

  /// A law begins at the arm: without a reference it comes to rest from this state. `known`: the
  /// state is finite; else the last reference stays, at rest.
  void start(std::span<const double> q, std::span<const double> qd, bool known) noexcept;
  /// Takes the given reference, or a rest near the last valid one in its place, which is decided on
  /// once. False: it is given but not finite (or absurdly large) where the law needs it. Sees
  /// jumps, for advance().
  bool take(const Reference& reference, double dt, const LawSetting& law,
            const MeasuredArm& arm) noexcept;
  /// For a law without a reference: it is where the arm is.
  void take_arm(const MeasuredArm& arm, double dt) noexcept;
  /// What is followed in this cycle. Updates the arm's inertia after a change and after a jump.
  /// True: the given reference jumped.
  bool advance(const Cycle& cycle, const LawSetting& law, const FrictionFeedforward& friction,
               MeasuredArm& arm) noexcept;

  const Motion& given() const noexcept { return given_; }  ///< or held
  const Motion& followed() const noexcept { return followed_; }
  /// Between the followed position and the given one, before the governor.
  std::span<const double> to_go() const noexcept { return to_go_; }
  /// rad/s², about the largest acceleration of the way there; zero where there is none.
  double way_acceleration(std::size_t joint, const MeasuredArm& arm,
                          const LawSetting& law) const noexcept;
  /// True if the arm and the given reference rest but the reference accelerates.
  bool sets_out(const LawSetting& law, const MeasuredArm& arm) const noexcept;
  /// No velocity of the way is left that friction would show.
  bool near(std::size_t joint) const noexcept {
    return joints_[joint].near || !joints_[joint].blending.active();
  }
  /// Of the last advance() with a reference since start().
  LimitViolation limit_violation() const noexcept { return violation_; }

 private:
  void decide_hold(const MeasuredArm& arm) noexcept;
  void begin_at_arm(const Cycle& cycle, const LawSetting& law, const FrictionFeedforward& friction,
                    MeasuredArm& arm) noexcept;
  void take_joint(std::size_t joint, const Blending::State& now, double dt, const LawSetting& law,
                  const MeasuredArm& arm) noexcept;
  void blend(std::size_t joint, bool any_jumped, double dt, const LawSetting& law,
             const MeasuredArm& arm) noexcept;
  void estimate_braking(std::span<const double> torque, const FrictionFeedforward& friction,
                        MeasuredArm& arm) noexcept;

  struct Joint {
    Blending blending;
    ShownVelocity shown;       ///< of positions without a velocity
    double rate = 0;           ///< rad/s, of the given reference, given or shown
    bool near = false;         ///< the end of the way
    bool jumped = false;       ///< in this cycle
    bool settles = false;      ///< jumped in the cycle before: its acceleration is known only now
    bool filters = false;      ///< since a jump: smaller surpluses are blended too
    Blending::State counted;   ///< the given reference as it counts on the way
    Blending::State before;    ///< followed less counted, in the cycle before
    Blending::State surplus;   ///< of the change of `counted`, beyond what its rates explain
    double followed_rate = 0;  ///< rad/s, two cycles before
    double doubt = 0;          ///< rad/s, by which the given accelerations and velocities differ
    double fed = 0;            ///< rad/s², of the given reference, as far as it is fed forward
  };

  double blend_time_;
  Motion given_, followed_;
  std::vector<Joint> joints_;
  std::vector<double> to_go_;
  std::vector<double> hold_;                     ///< scratch of take()
  std::unique_ptr<ReferenceGovernor> governor_;  ///< if limits are to be kept
  LimitViolation violation_;
  std::vector<double> braking_;  ///< rad/s², at the last change
  std::vector<double> factor_;   ///< scratch of estimate_braking()
  double doubt_left_ = 1;        ///< share of Joint::doubt that is left after this cycle
  bool holds_ = false;           ///< there is no valid reference: the hold is decided on
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__FOLLOWED_REFERENCE_HPP_
