// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__CONTROL_LAW_HPP_
#define GA_CONTROLLERS__CONTROL_LAW_HPP_

// Computed-torque control of an arm: tau = D(q)v + C(q,qd) + G(q), by Gibbs–Appell in one
// inverse-dynamics pass, with the commanded acceleration v of the paper on PC-based control of a
// PUMA (Mata, Valera et al., Table 4). With the error e = q − q_ref:
//   point to point          v = −Kd qd − Kp e
//   tracking                v = qdd_ref − Kd ed − Kp e
//   tracking with integral  v = qdd_ref − Kd ed − Kp e − Ki ∫e dt
//   gravity hold            v = −Kd qd                        (the arm floats, damped)
// The paper prints Kd qd in the tracking laws as well; a moving reference would leave a lag, so it
// is Kd ed here.
//
// Units: rad, s, N m (m and N for prismatic joints). Spans hold one value per joint.

#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"

namespace ga_controllers {

enum class LawKind { kPointToPoint, kTracking, kTrackingIntegral, kGravityHold };

/// Kp [1/s²], Kd [1/s], Ki [1/s³] of one joint: the inertia is in the model, so they are the same
/// for every arm.
struct JointGains {
  double kp = 0, kd = 0, ki = 0;
  bool operator==(const JointGains&) const = default;
};

/// Kp = w², Kd = 2 z w, Ki = w³/4 for a bandwidth w [rad/s] and a damping ratio z. With z = 1 the
/// integral law has its poles at −1.42 w and at 0.42 w with damping 0.69. Throws
/// std::invalid_argument unless both are positive and finite.
JointGains gains_from_bandwidth(double bandwidth, double damping);

struct LawParameters {
  LawKind kind = LawKind::kTracking;
  std::vector<JointGains> gains = {};  ///< one per joint, or a single one for all
  /// N m; empty: the chain's effort limits, and none where the chain has none (zero or infinity).
  std::vector<double> torque_limit = {};
  std::vector<double> torque_rate_limit = {};  ///< N m/s; empty: none
  /// Share of the chain's friction that is fed forward, 0 … 1: at the reference's velocity in the
  /// tracking laws, at the measured one in point to point (there a share below 1 is wise).
  double friction = 0;
  /// Coulomb friction is fed forward as coulomb · tanh(velocity / friction_velocity); while the
  /// reference is smoothed, by no more than 0.2 % of the torque limit per millisecond.
  double friction_velocity = 0.005;
  /// While the reference rests, errors smaller than this are not integrated, and the torque that
  /// the law has added since the reference came to rest is taken back by up to the friction that is
  /// fed forward: with stiction an integral would hunt.
  double integral_dead_band = 0;
  double integral_limit = std::numeric_limits<double>::infinity();  ///< of |∫e dt|, rad s
  /// Time constant [s] with which, after a change of law, the difference of the torques and the
  /// distance to the new reference fade; the distance slower where the torque limits ask for it.
  double blend_time = 0.2;
  /// What is followed stays within the chain's position and velocity limits and brakes ahead of
  /// them, whatever the reference asks for and wherever it is lost or the law changed.
  bool keep_limits = false;
  /// After so many updates in a row with a non-finite input the law reports an error.
  int error_cycles = 10;
};

enum class LawStatus {
  kOk,
  kReferenceHeld,  ///< the reference is not finite: the last valid one is brought to rest
  kStateHeld,  ///< the measured state is not finite: the torque fades to the gravity of the last
               ///< one
  kError       ///< either of them for error_cycles updates in a row; the torque still holds the arm
};
std::string to_string(LawStatus status);

/// Reference of one instant; velocity and acceleration are ignored where the law has none. Left
/// empty they are zero; an acceleration without a velocity is ignored. Where both are zero the
/// velocity is the one that the positions show, given in every cycle or held for up to 50 ms: after
/// eight changes in the same direction, and until the next change is overdue. No positions: there
/// is no reference, the last one (after start() the arm) is brought to rest and held. So it is
/// where a value is not finite or beyond 1e6.
///
/// A jump of position or velocity that would step a torque by more than 1 % of its limit, or of
/// position by more than four cycles at the joint's velocity limit, is smoothed: what the law
/// follows goes on from where it was and blends over, within the bandwidth, the joint's velocity
/// limit and about a quarter of the torque. Acceleration alone may step.
///
/// Whatever the sequence of references, the followed reference stays near the positions given in
/// the last four seconds. On the arms of test_any_reference it leaves their range by no more than
/// 0.2 s at the joint's velocity limit with noise, steps, held samples, positions alone, velocities
/// without accelerations and gaps, and by no more than 1.5 s at it with velocities and
/// accelerations that contradict the positions in every cycle. A joint that needs longer than four
/// seconds for a step, because it is slow or weak, is still under way by then. The followed
/// reference arrives where the given one rests (blending.hpp has the proof). A reference that jumps
/// in every cycle is low-pass filtered: noise, and positions that show no velocity, are followed
/// with a lag of three time constants of the bandwidth or more.
struct Reference {
  std::span<const double> q, qd, qdd;
};

/// Why what is followed is not the reference, beyond the smoothing of jumps (with keep_limits).
struct LimitViolation {
  enum class Reason {
    kNone,
    kOutside,  ///< of the position limits
    kTooFast   ///< for the velocity limit, the torque, or the way that is left to a position limit
  };
  Reason reason = Reason::kNone;
  std::size_t joint = 0;  ///< the last one that this is about
};

using Departure [[deprecated("use LimitViolation")]] = LimitViolation;

/// The parts of the last update's torque, N m. They add up to the total.
struct TorqueTerms {
  std::span<const double> inertia;   ///< D(q) times the acceleration of the reference
  std::span<const double> coriolis;  ///< C(q,qd)
  std::span<const double> gravity;   ///< G(q)
  std::span<const double> friction;  ///< fed forward
  std::span<const double> feedback;  ///< D(q) times the acceleration that corrects the error
  std::span<const double> blend;     ///< what is left of the torque before the last change
  std::span<const double> limit;     ///< what the limits cut off
  std::span<const double> total;
};

/// Construction allocates and throws std::invalid_argument naming the parameter. All else is
/// real-time safe: no allocation, no lock, no exception. One thread at a time. Spans hold one value
/// per joint; measurements that are shorter count as not finite.
class ControlLaw {
 public:
  ControlLaw(const ga_dynamics::Chain& chain, const LawParameters& parameters);
  ~ControlLaw();
  ControlLaw(ControlLaw&&) noexcept;
  ControlLaw& operator=(ControlLaw&&) noexcept;

  int size() const noexcept;
  LawKind kind() const noexcept;

  /// Begins at the measured state; the first torque continues `last_torque` (what the arm was
  /// driven with before; what of it exceeds this law's limit fades, what exceeds the chain's effort
  /// limit as well is not taken over) and the integral is empty. Of a torque that would push a joint
  /// beyond half of its velocity limit while it fades, the rest is dropped at once: that happens to
  /// light joints, those of a description without rotor inertias above all. A tracking reference that sets out
  /// in the same cycle, while the arm is held at rest, adds the torque of its acceleration at once.
  /// Where last_torque is not finite nothing drove the joint before (brakes, no power): its first
  /// torque is the law's own. A non-finite state counts as unknown: until there is a finite one the
  /// torque stays what it was.
  void start(std::span<const double> q, std::span<const double> qd,
             std::span<const double> last_torque) noexcept;
  /// Changes the law or its gains in mid-motion; the torque goes on from where it is, as far as what
  /// is left of it would not push a joint beyond its velocity limit.
  void change(LawKind kind) noexcept;
  /// One for all joints or one per joint; the gains that the law has already change nothing. False,
  /// and nothing changes either, for another number of them and for gains that are negative or not
  /// finite.
  bool change_gains(std::span<const JointGains> gains) noexcept;

  /// One cycle of dt [s]: torques for the measured state and the reference. The first one starts
  /// the law at the arm if start() was not called. After a cycle of more than 0.05 s, and of more
  /// than twice the one before, it goes on from the torque and the arm as after a change. A dt that
  /// is negative or not-a-number counts as 0, one of more than 1 s as 1 s. kError, and nothing is
  /// written, if `tau` is too short.
  LawStatus update(std::span<const double> q, std::span<const double> qd,
                   const Reference& reference, double dt, std::span<double> tau) noexcept;

  /// ∫e dt [rad s]; the commanded acceleration v; was the joint's torque cut by a limit in the last
  /// update (false for a joint that there is not)?
  std::span<const double> integral() const noexcept;
  std::span<const double> acceleration() const noexcept;
  bool saturated(int joint) const noexcept;
  /// The reference of the last update as it was given or is held, and as it is followed, smoothed
  /// after changes and jumps. Gravity hold: the arm's own state.
  Reference reference() const noexcept;
  Reference followed() const noexcept;
  LimitViolation limit_violation() const noexcept;
  [[deprecated("use limit_violation()")]] LimitViolation departure() const noexcept {
    return limit_violation();
  }
  /// Costs about an inverse dynamics more; valid until the next call.
  TorqueTerms terms() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__CONTROL_LAW_HPP_
