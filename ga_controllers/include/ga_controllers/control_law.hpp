// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__CONTROL_LAW_HPP_
#define GA_CONTROLLERS__CONTROL_LAW_HPP_

// Computed-torque control of an arm: tau = D(q)v + C(q,qd) + G(q), by Gibbs–Appell in one
// inverse-dynamics pass, with the commanded acceleration v of the paper on PC-based control of a
// PUMA (Mata, Valera et al., Table 4). With the error e = q − q_ref and the estimated disturbance d:
//   point to point          v = −Kd qd − Kp e
//   tracking                v = qdd_ref − Kd ed − Kp e
//   tracking with integral  v = qdd_ref − Kd ed − Kp e − d
//   gravity hold            the same, for the position where the arm comes to rest
//   gravity compensation    v = −Kd qd                        (the arm floats, damped)
//   hand guiding            gravity and most of the friction, for a person who moves the arm
//                           (src/hand_guiding.hpp)
// The paper prints Kd qd in the tracking laws as well. That would leave a tracking error for a
// moving reference, so Kd ed is used here. The paper's third law integrates the error, Ki ∫e dt.
// Here an observer estimates position, velocity and disturbance together, from the measured
// positions and the acceleration that the law expects of its own torque; its bandwidth is the one
// for which d integrates a constant error with Ki (src/state_observer.hpp). It knows the saturated
// torque, so it needs no anti-windup, and encoder noise is filtered once.
//
// Units: rad, s, N m (m and N for prismatic joints). Spans hold one value per joint.

#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"

namespace ga_controllers {

enum class LawKind {
  kPointToPoint,
  kTracking,
  kTrackingIntegral,
  kGravityHold,
  kGravityCompensation,
  kHandGuiding
};

/// Kp [1/s²], Kd [1/s], Ki [1/s³] of one joint: the inertia is in the model, so they are the same
/// for every arm.
struct JointGains {
  double kp = 0, kd = 0, ki = 0;
  bool operator==(const JointGains&) const = default;
};

/// Kp = w², Kd = 2 z w, Ki = 0.32 w³ for a bandwidth w [rad/s] and a damping ratio z. With z = 1 the
/// bandwidth of the observer is then 2 w. Throws std::invalid_argument unless both are positive and
/// finite.
JointGains gains_from_bandwidth(double bandwidth, double damping);

/// Of hand guiding, which does not use the gains; LawParameters::friction is the share of the friction
/// that is compensated.
struct HandGuidingParameters {
  /// The real friction is at least 1 minus this of the chain's. No more is compensated.
  double friction_uncertainty = 0.2;
  /// rad/s. Slower motion may be noise: no friction is compensated. All of it is from three times
  /// this velocity on.
  double dead_zone = 0.01;
  double damping = 1;  ///< 1/s, times the joint's own inertia
  /// Of the velocity limit. Above it the damping is 50/s, with up to half of the torque limit.
  double speed = 0.25;
  double limit_zone =
      0.1;  ///< rad or m ahead of the soft limits, in which the joint is pushed back
  /// Of the torque limit, bound of the push-back. Half of it acts at the soft limit.
  double limit_torque = 0.5;
};

/// Of the adaptation (src/adaptation.hpp): how much of the model is unknown, as standard deviations.
/// Zero: known. Estimates stay within three of them. Accepted: mass, friction, armature up to 0.5, com up
/// to 0.05 m, payload_mass up to 10 kg, payload_offset up to 0.3 m, inertia_ratio 1 … 3.
struct AdaptationParameters {
  bool enabled = false;
  double mass = 0.12;           ///< share of every mass and of every central inertia
  double com = 0;               ///< m, of every center of mass, along each axis
  double payload_mass = 2;      ///< kg, of a payload beside the known one
  double payload_offset = 0.1;  ///< m, of its center of mass from the tip link's origin
  double friction = 0.12;       ///< share of Coulomb and of viscous friction
  double armature = 0.1;        ///< share of every rotor inertia
  /// The feedback takes the found inertia into account up to this factor on the described one, at
  /// least 1: a heavier arm is held as stiffly as a described one. Use 1 for elastic drives, whose
  /// resonance limits the loop: the feed-forward is corrected alone.
  double inertia_ratio = 2;
};

struct LawParameters {
  LawKind kind = LawKind::kTracking;
  std::vector<JointGains> gains = {};  ///< one per joint, or a single one for all
  /// N m; empty: the chain's effort limits; unlimited where the chain has none (zero or infinity).
  std::vector<double> torque_limit = {};
  std::vector<double> torque_rate_limit = {};  ///< N m/s; empty: none
  /// Share of the chain's friction that is fed forward, 0 … 1: at the reference's velocity in the
  /// tracking laws, at the measured velocity in point to point (use less than 1 there).
  double friction = 0;
  /// Coulomb friction is fed forward as coulomb · tanh(velocity / friction_velocity). While the
  /// reference is smoothed, its rate is limited to 0.2 % of the torque limit per millisecond.
  double friction_velocity = 0.005;
  /// While the reference rests, a joint that is closer to its goal than this is latched: its torque
  /// stays constant until it is 2.5 times as far away, and the torque that the law has added since
  /// the reference came to rest is removed, up to the friction feed-forward. Otherwise integral
  /// action would hunt under stiction.
  double integral_dead_band = 0;
  /// rad s, bounds the disturbance estimate to Ki times this.
  double integral_limit = std::numeric_limits<double>::infinity();
  /// Time constant [s] of the blend after a change of law: of the torque difference and of the
  /// distance to the new reference, which blends slower if the torque limits require it.
  double blend_time = 0.2;
  /// Reference governor: the followed reference stays within the chain's soft position limits and its
  /// velocity limits and brakes ahead of them, also when the reference is lost or the law changes.
  bool keep_limits = false;
  /// The payload at the tip link that the law starts with, without confirmation (set_payload()), in
  /// addition to the chain's bodies.
  ga_dynamics::Payload payload = {};
  /// Time scaling, in the laws that track velocities: if a joint would need more than 95 % of its torque
  /// limit or more than its velocity limit, all joints follow the reference later, on the same path. A
  /// reference within these limits passes unchanged.
  bool keep_path = false;
  /// s, delay of every motion with keep_path. A reference that brakes harder than the joints can, but
  /// was feasible before, stays on its path only if that is known in advance.
  double look_ahead = 0;
  /// Estimates errors of the model in motion and corrects it, in the laws that track velocities. Not
  /// for motions in contact with the environment: a contact force would be taken for a payload.
  AdaptationParameters adaptation = {};
  /// Consecutive updates with a non-finite input before the law reports an error.
  int error_cycles = 10;
  HandGuidingParameters hand_guiding = {};
};

enum class LawStatus {
  kOk,
  kReferenceHeld,  ///< the reference is not finite: the last valid one is brought to rest and held. A
                   ///< followed reference that is not finite is replaced by the arm's position.
  kStateHeld,  ///< the measured state is not finite: the torque blends to gravity compensation at
               ///< the last valid position
  kError       ///< either of them for error_cycles consecutive updates; the arm is still held
};
std::string to_string(LawStatus status);

/// Reference of one cycle. Velocity and acceleration are ignored by laws that do not use them. Empty
/// means not given:
/// - Positions alone, in every cycle or held for up to 100 cycles, are followed as a cubic B-spline
///   through the samples, 1.5 sample intervals (at least 10 cycles) late in all joints, so the path
///   stays. Steps and noise that no joint could follow as a spline are smoothed as described below.
/// - Missing accelerations are estimated from the velocities. An acceleration without a velocity is
///   ignored.
/// - A moving sample that repeats to the last bit is extrapolated for up to 50 ms.
/// - If velocity and acceleration are given as zero, but the positions move, the velocity is
///   estimated: after eight changes in the same direction, until the next change is overdue.
/// Without positions, or with a value that is not finite or beyond 1e6, there is no reference: the
/// last one (after start(), the measured state) is brought to rest and held.
///
/// The law tracks the followed reference. It equals the input reference except that jumps are
/// smoothed: a jump of position or velocity that would step a torque by more than 1 % of its limit,
/// or a jump of position by more than four cycles at the joint's velocity limit. The followed
/// reference then continues from where it was and blends to the input within the bandwidth, the
/// joint's velocity limit and about a quarter of the torque. The acceleration alone may step.
///
/// For any sequence of references, the followed reference stays near the positions of the last four
/// seconds. On the arms of test_any_reference it leaves their range by at most 0.2 s of motion at
/// the joint's velocity limit with noise, steps, held samples, positions alone, velocities without
/// accelerations and gaps, and by at most 1.5 s of such motion with velocities and accelerations
/// that contradict the positions in every cycle. A joint that is so slow or weak that a step takes
/// more than four seconds is still moving then. The followed reference converges to an input
/// reference at rest (proof in blending.hpp). A reference that jumps in every cycle is low-pass
/// filtered: noise, and positions without a detectable velocity, are followed with a lag of at
/// least three time constants of the bandwidth.
///
/// A sender that slows its own time by the rate of time_scale() (speed scaling), but sends velocities
/// and accelerations as without, sets `time_scale` to that rate.
struct Reference {
  std::span<const double> q, qd, qdd;
  /// The reference's own time since the last update over dt, 0 … 1; qd and qdd are derivatives by it.
  double time_scale = 1;
};

/// Why the arm does not follow the reference (with keep_limits; kPathLost with keep_path).
struct LimitViolation {
  enum class Reason {
    kNone,
    kOutside,  ///< outside the soft position limits
    kTooFast,  ///< for the velocity limit, the torque, or the distance to a position limit; with
               ///< keep_path, for all but the latter, while the time is stretched
    kPathLost  ///< with keep_path: TimeScale::lost
  };
  Reason reason = Reason::kNone;
  std::size_t joint = 0;  ///< the last joint with a violation
};

/// Time scaling of the reference (only with keep_path).
struct TimeScale {
  double rate = 1;  ///< speed of the followed reference over that of the input reference, 0 … 1
  double lag = 0;   ///< s of the input reference that are still to be followed
  /// Joint whose torque limit cannot hold the arm further along the path: the reference stops before
  /// that. -1: none.
  int blocked = -1;
  bool by_user = false;  ///< set_speed() slows the reference down, or has just done so
  /// The reference went on for so long (minutes) that the rest of its path could not be kept: the arm
  /// stands where it is. It continues to the newest reference, not on the path, when the user ends a
  /// pause, when the reference comes to rest, or when it jumps.
  bool lost = false;
};

/// What the adaptation has found (only with AdaptationParameters::enabled).
struct AdaptedModel {
  double payload_mass = 0;                       ///< kg, beside the known payload
  double payload_mass_deviation = 0;             ///< kg, standard deviation
  ga_dynamics::Vector3 payload_com = {0, 0, 0};  ///< m, in the tip link's frame
  bool paused = false;  ///< the torques contradict the estimate, as in contact with an obstacle
};

using Departure [[deprecated("use LimitViolation")]] = LimitViolation;

/// Terms of the last torque, N m. They add up to the total.
struct TorqueTerms {
  std::span<const double> inertia;   ///< D(q) times the acceleration of the reference
  std::span<const double> coriolis;  ///< C(q,qd)
  std::span<const double> gravity;   ///< G(q)
  std::span<const double> friction;  ///< fed forward
  std::span<const double> feedback;  ///< D(q) times the acceleration that corrects the error
  std::span<const double> blend;     ///< remainder of the torque before the last change
  std::span<const double> limit;     ///< change of the torque by saturation
  std::span<const double> total;
};

/// Construction allocates and throws std::invalid_argument naming the parameter. All else is
/// real-time safe: no allocation, no lock, no exception. One thread at a time. Spans hold one value
/// per joint. Shorter measurements, and values beyond 1e6, count as not finite.
class ControlLaw {
 public:
  ControlLaw(const ga_dynamics::Chain& chain, const LawParameters& parameters);
  ~ControlLaw();
  ControlLaw(ControlLaw&&) noexcept;
  ControlLaw& operator=(ControlLaw&&) noexcept;

  int size() const noexcept;
  LawKind kind() const noexcept;

  /// Starts at the measured state. Bumpless transfer: the first torque equals `last_torque`, the
  /// torque that drove the arm before, and the difference fades. In laws with integral action the
  /// difference becomes the first estimate of the disturbance: a payload that the predecessor held
  /// does not sag. Exceptions:
  /// - Torque above the chain's effort limit is not taken over. Torque above this law's limit is, and
  ///   fades.
  /// - Torque that would move a joint at more than half of its velocity limit while it fades is
  ///   dropped at once. This concerns light joints, mostly in descriptions without rotor inertias.
  /// - If a tracking reference starts to accelerate in the same cycle while the arm is at rest, the
  ///   torque for that acceleration is added at once.
  /// - Where last_torque is not finite or beyond 1e6, the joint was not driven before (brakes, no
  ///   power) and starts with the law's own torque.
  /// If the state is not finite, the torque stays constant until it is.
  void start(std::span<const double> q, std::span<const double> qd,
             std::span<const double> last_torque) noexcept;
  /// Changes the law in mid-motion with bumpless transfer. Torque that would move a joint beyond
  /// its velocity limit while it fades is dropped.
  void change(LawKind kind) noexcept;
  /// Changes the gains likewise: one for all joints or one per joint. Equal gains change nothing.
  /// Returns false and changes nothing for a wrong count and for gains that are negative, not finite, or
  /// above those of a bandwidth of 10,000 rad/s, which no loop can use (LawParameters likewise).
  bool change_gains(std::span<const JointGains> gains) noexcept;
  /// Changes the payload at the tip link that the law knows, with bumpless transfer: the model
  /// blends to it within twice the blend time, slower if a torque would change by more than 0.5 % of
  /// its limit per millisecond. The disturbance estimate takes over the difference in every cycle,
  /// so in laws with integral action the torque does not change, whether or not the payload is
  /// there. The other laws change by the payload's torque. If its torque could not be balanced in
  /// case that it is not there (half of a torque limit), the blend waits for the estimate to
  /// decrease. A payload that changes the inertia about a direction of motion by more than a factor of
  /// three is used only as far as the estimate confirms it. start() ends a blend, unless its
  /// payload has to be confirmed. In hand guiding the payload waits for the next law. Returns false
  /// and changes nothing if the payload is not physical (ga_dynamics::payload_flaw() says why).
  bool set_payload(const ga_dynamics::Payload& payload) noexcept;
  /// The payload in the model: that of the last set_payload() as soon as the blend has ended.
  const ga_dynamics::Payload& payload() const noexcept;

  /// One cycle: computes the torques for the measured state and the reference. `dt` [s] is the time
  /// since the previous update. The observer takes the positions, best as the encoders read them;
  /// the velocities count at a start, until it has settled. Calls
  /// start() first if that has not been done. After a cycle that is longer than 0.05 s and than
  /// twice the previous one, the law restarts at the measured state and the last torque, as after a
  /// change. A negative or NaN dt counts as 0, one above 1 s as 1 s. Returns kError and writes
  /// nothing if `tau` is too short.
  LawStatus update(std::span<const double> q, std::span<const double> qd,
                   const Reference& reference, double dt, std::span<double> tau) noexcept;

  /// Estimated disturbance [rad/s²]; the commanded acceleration v; whether the joint's torque was
  /// saturated in the last update (false for an invalid index).
  std::span<const double> disturbance() const noexcept;
  std::span<const double> acceleration() const noexcept;
  /// N m; the disturbance times the inertia matrix: what the model lacks. Valid until the next call.
  std::span<const double> disturbance_torque() noexcept;
  bool saturated(int joint) const noexcept;
  /// Reference of the last update, as given or held; the followed reference, smoothed after changes
  /// and jumps. Gravity hold: the measured state.
  Reference reference() const noexcept;
  Reference followed() const noexcept;
  LimitViolation limit_violation() const noexcept;
  TimeScale time_scale() const noexcept;
  /// Slows motions down to this share of their speed, 0 … 1, on their path; 0 is a pause, which also
  /// lasts through jumps of the reference and changes of the law. Takes effect within half a second. A
  /// value that is not finite, and any without `keep_path`, has no effect. Real-time safe.
  void set_speed(double speed) noexcept;
  AdaptedModel adapted_model() const noexcept;
  /// Forgets what the adaptation has found. The model blends back to the description; the disturbance
  /// estimate takes over the difference.
  void reset_adaptation() noexcept;
  [[deprecated("use limit_violation()")]] LimitViolation departure() const noexcept {
    return limit_violation();
  }
  /// Costs about one more inverse dynamics; valid until the next call.
  TorqueTerms terms() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The effort command by which hardware replaces the last one while controllers are switched: a NaN
/// with a payload. The joint is driven, by the torque that its effort state shows, and the successor's
/// first command has not arrived. Other NaNs do not say that. Real-time safe.
double kept_torque() noexcept;
bool is_kept_torque(double command) noexcept;

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__CONTROL_LAW_HPP_
