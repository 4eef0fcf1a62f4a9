// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__FOLLOWED_REFERENCE_HPP_
#define GA_CONTROLLERS__FOLLOWED_REFERENCE_HPP_

// Computes the reference that the law follows from the input reference:
// - A lost reference is brought to rest and held.
// - After a change of law, the followed reference restarts at the measured state. After a jump of
//   the input it continues from where it was. In both cases it then blends to the input
//   (blending.hpp).
// - With keep_path, all joints follow it later if it is too fast for one (time_scaling.hpp).
// - With keep_limits it stays within the joint limits (reference_governor.hpp).
//
// Missing velocities and accelerations are estimated (reference_completion.hpp). If velocity and
// acceleration are zero, the velocity is estimated from the positions (reference_velocity.hpp). A reference without jumps passes unchanged. From a jump until blending
// is complete, every change of the input that its velocities and accelerations do not explain is
// blended as well, which filters noise and held samples, and input velocities are limited to the
// joint's velocity limit.
//
// In each update: take() or take_measured(), then advance().

#include <memory>
#include <span>
#include <vector>

#include "blending.hpp"
#include "cycle.hpp"
#include "friction_feedforward.hpp"
#include "ga_controllers/control_law.hpp"
#include "law_parameters.hpp"
#include "measured_arm.hpp"
#include "reference_completion.hpp"
#include "reference_governor.hpp"
#include "reference_velocity.hpp"
#include "time_scaling.hpp"

namespace ga_controllers {

/// Construction allocates. All else is real-time safe: no allocation, no lock, no exception. Units:
/// rad, s, N m (m, N for prismatic joints).
class FollowedReference {
 public:
  FollowedReference(const ga_dynamics::Chain& chain, const LawParameters& parameters,
                    const MeasuredArm& arm);

  /// Starts at the measured state; without a reference the law comes to rest from there. `known`:
  /// the state is finite; otherwise the last reference is held at rest.
  void start(std::span<const double> q, std::span<const double> qd, bool known) noexcept;
  /// Takes the input reference. If there is no valid one, holds a position near the last valid one,
  /// chosen once. Detects jumps for advance(). Returns false if a reference that the law needs is
  /// not finite or implausibly large.
  bool take(const Reference& reference, double dt, const LawSetting& law,
            const MeasuredArm& arm) noexcept;
  /// For a law without a reference: takes the measured state.
  void take_measured(const MeasuredArm& arm, double dt) noexcept;
  /// Computes the followed reference of this cycle. Updates the arm's inertia after a change and
  /// after a jump. Returns true if the input reference jumped.
  bool advance(const Cycle& cycle, const LawSetting& law, const FrictionFeedforward& friction,
               MeasuredArm& arm) noexcept;

  const Motion& given() const noexcept { return given_; }  ///< or held
  const Motion& followed() const noexcept { return followed_; }
  /// Distance between the followed and the input position, before the governor.
  std::span<const double> remaining() const noexcept { return remaining_; }
  /// rad/s², approximate peak acceleration of the blend; zero if there is none.
  double blend_acceleration(std::size_t joint, const MeasuredArm& arm,
                            const LawSetting& law) const noexcept;
  /// True if the arm and the input reference are at rest but the reference accelerates.
  bool starts_from_rest(const LawSetting& law, const MeasuredArm& arm) const noexcept;
  /// True if blending no longer contributes a velocity that matters for friction.
  bool near(std::size_t joint) const noexcept {
    return joints_[joint].near || !joints_[joint].blending.active();
  }
  /// Result of the last advance() with a reference since start().
  LimitViolation limit_violation() const noexcept { return violation_; }
  /// True if the last advance() computed something that is not finite: the followed reference restarted
  /// at the arm.
  bool failed() const noexcept { return failed_; }
  /// Null without keep_path.
  TimeScaling* scaling() noexcept { return scaling_.get(); }
  /// The payload in the model of the governor and of the time scaling. Real-time safe.
  void set_payload(const ga_dynamics::Payload& payload) noexcept {
    if (governor_) governor_->set_payload(payload);
    if (scaling_) scaling_->set_payload(payload);
  }
  /// Likewise the bodies, the rotor inertias and the friction of the arm.
  void set_model(std::span<const ga_dynamics::LinkInertia> bodies, std::span<const double> armature,
                 std::span<const ga_dynamics::Drive> drives) noexcept {
    if (governor_) governor_->set_bodies(bodies, armature);
    if (scaling_) scaling_->set_model(bodies, armature, drives);
  }
  const TimeScaling* scaling() const noexcept { return scaling_.get(); }

 private:
  void choose_hold_position(const MeasuredArm& arm) noexcept;
  void restart_at_arm(const Cycle& cycle, const LawSetting& law,
                      const FrictionFeedforward& friction, MeasuredArm& arm) noexcept;
  void complete(const Reference& reference, double dt, const LawSetting& law,
                const MeasuredArm& arm) noexcept;
  void take_joint(std::size_t joint, const Blending::State& now, double dt, const LawSetting& law,
                  const MeasuredArm& arm) noexcept;
  void blend(std::size_t joint, bool any_jumped, double dt, const LawSetting& law,
             const MeasuredArm& arm) noexcept;
  bool scales(const LawSetting& law) const noexcept;
  bool leaves_path(const MeasuredArm& arm) const noexcept;
  void drop_path() noexcept;
  void estimate_braking(std::span<const double> torque, const FrictionFeedforward& friction,
                        MeasuredArm& arm) noexcept;

  struct Joint {
    Blending blending;
    ReferenceVelocity estimate;   ///< for positions without a velocity
    double rate = 0;              ///< rad/s, input velocity, given or estimated
    bool near = false;            ///< blending is nearly complete
    bool jumped = false;          ///< in this cycle
    bool jumped_before = false;   ///< in the previous cycle: the new acceleration is known only now
    bool filtering = false;       ///< since a jump: small unexplained changes are blended as well
    Blending::State accepted;     ///< input reference, limited for blending
    Blending::State last;         ///< the same, previous cycle
    Blending::State before;       ///< followed − accepted, previous cycle
    Blending::State unexplained;  ///< change of `accepted` that its rates do not explain
    double followed_rate = 0;     ///< rad/s, two cycles ago
    double mismatch = 0;          ///< rad/s, integrated input acceleration − input velocity
    double feedforward = 0;       ///< rad/s², input acceleration, limited for feed-forward
  };

  double blend_time_;
  Motion given_, followed_;
  Motion path_;  ///< the followed reference before time scaling; if not behind, the followed one
  std::vector<Joint> joints_;
  std::vector<double> remaining_;
  ReferenceCompletion completion_;
  std::vector<double> hold_, velocity_limit_, acceleration_limit_;  ///< scratch of take()
  std::unique_ptr<ReferenceGovernor> governor_;                     ///< null without keep_limits
  bool stands_ = false;                                             ///< the sender's time
  std::unique_ptr<TimeScaling> scaling_;                            ///< null without keep_path
  double step_ = 0;  ///< s of the reference's time in this cycle
  LimitViolation violation_;
  std::vector<double> braking_;  ///< rad/s², at the last change
  std::vector<double> factor_;   ///< scratch of estimate_braking()
  double mismatch_decay_ = 1;    ///< factor on Joint::mismatch in this cycle
  bool failed_ = false;
  bool holding_ = false;  ///< no valid reference; the hold position is chosen
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__FOLLOWED_REFERENCE_HPP_
