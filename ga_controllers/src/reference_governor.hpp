// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__REFERENCE_GOVERNOR_HPP_
#define GA_CONTROLLERS__REFERENCE_GOVERNOR_HPP_

// Reference governor: keeps the reference within what the joints can do. The stock
// joint_trajectory_controller accepts goals outside the position limits and motions that no motor
// can follow; an arm that followed them would hit its stops or trip the drives.
//
// The position limits are the soft ones. An arm that starts between a soft and a hard limit may stay
// where it is, and only move inward.
//
// A feasible reference passes unchanged. It is overridden if it is outside the position limits, too
// fast to stop before them, above the velocity limit, needs an acceleration above the torque limit,
// or jumps. The governor then follows it within the limits, with moderate and continuous
// acceleration, until it has caught up. The acceleration limit of a joint is its torque limit over
// its own inertia. Gravity, friction and coupling are not included; the governor leaves half of the
// torque for them.

#include <limits>
#include <span>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"
#include "ga_dynamics/dynamics.hpp"

namespace ga_controllers {

/// Velocity limit; infinity where the description has none (or zero).
double speed_limit(const ga_dynamics::JointLimits& limits) noexcept;

/// Limits a reference acceleration [rad/s²] to what the change of the velocity [rad/s] in a cycle
/// confirms (at most `max_acceleration`, the acceleration at the torque limit) plus `unconfirmed`.
/// An acceleration that no velocity confirms would lead away from the reference.
double plausible_acceleration(double acceleration, double change, double dt,
                              double max_acceleration, double unconfirmed) noexcept;

/// Largest unconfirmed acceleration to continue with when the reference is overridden or jumps. It
/// is also bounded by the velocity limit, which a light joint reaches within milliseconds. `trust`,
/// 0 … 1: how well accelerations have agreed with velocities so far; the bound rises with it.
double unconfirmed_limit(double max_acceleration, double velocity_limit, double trust) noexcept;

/// Construction allocates. All else is real-time safe: no allocation, no lock, no exception. Units:
/// rad, s, N m (m, N for prismatic joints).
class ReferenceGovernor {
 public:
  /// In: the reference. Out: the governed reference.
  struct Values {
    std::span<double> q, qd, qdd;
  };

  /// One torque limit per joint of the chain.
  ReferenceGovernor(const ga_dynamics::Chain& chain, std::vector<double> torque_limit);

  /// Starts the governed reference at this state.
  void begin(std::span<const double> q, std::span<const double> qd,
             std::span<const double> qdd) noexcept;
  /// One cycle. `q`: the measured position. All values must be finite. `scaled`: the reference is within
  /// the torque and velocity limits (time_scaling.hpp).
  LimitViolation govern(std::span<const double> q, double dt, const Values& reference,
                        bool scaled = false) noexcept;
  /// True if a joint in this state cannot be stopped moderately before its position limit unless it
  /// already brakes. `max_acceleration`: rad/s², at the torque limit.
  bool must_brake(std::size_t joint, double q, double qd, double max_acceleration) const noexcept {
    return check(joints_[joint], q, qd, 0, max_acceleration, kNoJumpLimit) !=
           LimitViolation::Reason::kNone;
  }
  /// True while the joint's reference is overridden.
  bool is_overriding(std::size_t joint) const noexcept { return joints_[joint].overridden; }
  /// Real-time safe.
  void set_payload(const ga_dynamics::Payload& payload) noexcept {
    dynamics_.set_payload(payload);
    model_changed_ = true;
  }
  void set_bodies(std::span<const ga_dynamics::LinkInertia> bodies,
                  std::span<const double> armature) noexcept {
    dynamics_.set_bodies(bodies, armature);
    model_changed_ = true;
  }

 private:
  static constexpr double kNoJumpLimit = std::numeric_limits<double>::infinity();
  struct Joint {
    ga_dynamics::JointLimits limits;  ///< `lower`, `upper`: in force; soft or, after widen(), wider
    double hard_lower = 0, hard_upper = 0;
    double q = 0, qd = 0, qdd = 0;  ///< last governed reference
    bool overridden = false;        ///< it differs from the input reference
  };
  /// Extends the position limits to an arm that starts beyond the soft ones, up to the hard ones.
  static void widen(Joint& joint, double q) noexcept;
  /// Brings them back as the reference moves inward.
  static void narrow(Joint& joint) noexcept;
  LimitViolation::Reason check(const Joint& joint, double q, double qd, double qdd,
                               double max_acceleration, double reach) const;
  void update_inertia(std::span<const double> q) noexcept;
  void follow(Joint& joint, double q, double qd, double qdd, double max_acceleration,
              double dt) const;

  ga_dynamics::Dynamics dynamics_;
  std::vector<Joint> joints_;
  std::vector<double> torque_limit_, inertia_;
  std::vector<double> inertia_q_;  ///< where the inertia was computed
  int inertia_age_ = 0;            ///< cycles
  bool model_changed_ = false;     ///< since then
  bool begun_ = false;
  bool scaled_ = false;  ///< in this cycle
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__REFERENCE_GOVERNOR_HPP_
