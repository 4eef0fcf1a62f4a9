// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PAYLOAD_BLEND_HPP_
#define GA_CONTROLLERS__PAYLOAD_BLEND_HPP_

// Changes the payload of the law's model in mid-motion, with bumpless transfer.
//
// The model's mass, first and second moments blend linearly to the new payload, in as many cycles
// as the torque needs to change by no more than a share of its limit per millisecond. The torque is
// linear in them, so the inverse dynamics of the target gives the change Δτ of every step. In the
// same cycle the disturbance estimate takes over D⁻¹Δτ: what it carried for the payload before does
// not count twice, and the observer's predictions continue. In laws with integral action the torque
// stays the same, and a wrong payload is balanced by the estimate at once. In the other laws the
// torque changes by Δτ.
//
// A payload that the estimate could not balance if it were not there blends only as far as it could:
// the step waits until the estimate decreases.
//
// The loop is unstable if the model's inertia is many times the real one, or a small part of it. So a
// payload that changes the inertia about any direction of motion by more than a factor of three, in
// one change or in several (on arms without rotor inertias, or if it is very heavy), has to be
// confirmed: the share of the blend follows the one for which the estimated disturbance torque −D d
// is least, in the least-squares sense over the joints. If the payload is not there, that share is
// zero; if it has half of the stated mass, the share is one half.
// Gravity compensation has no estimate and needs no confirmation: its payload must be right.

#include <span>
#include <vector>

#include "cycle.hpp"
#include "ga_dynamics/chain.hpp"
#include "law_parameters.hpp"
#include "measured_arm.hpp"
#include "state_observer.hpp"

namespace ga_controllers {

/// Construction allocates. All else is real-time safe: no allocation, no lock, no exception.
class PayloadBlend {
 public:
  /// `blend_time` [s]: half of the duration of a blend that no torque slows down.
  PayloadBlend(const ga_dynamics::Chain& chain, double blend_time);

  /// The new payload; false and no change if it is not physical.
  bool set(const ga_dynamics::Payload& payload) noexcept;
  /// The law starts: ends the blend at its target, unless the payload has to be confirmed. `confirm`:
  /// the law has an estimate, and a torque that drove the arm before to start it from.
  void start(bool confirm, MeasuredArm& arm) noexcept;
  bool active() const noexcept { return active_; }
  const ga_dynamics::Payload& present() const noexcept { return present_; }
  const ga_dynamics::Payload& target() const noexcept { return to_; }

  /// What the law does with the disturbance estimate.
  struct Estimate {
    std::span<const double> subtracted;  ///< rad/s², the most that the law subtracts, per joint
    std::span<const double> balanced;    ///< rad/s², the most that it could balance
    bool valid = true;                   ///< false: the law has none
  };
  /// A step of the blend. `v` and `tau`: commanded acceleration and torque of the law with the
  /// present payload; both become those with the next.
  void advance(const Cycle& cycle, const Estimate& estimate, std::span<double> v,
               std::span<double> tau, StateObserver& observer, MeasuredArm& arm) noexcept;

 private:
  void use(double share, MeasuredArm& arm) noexcept;
  bool changes_inertia(const MeasuredArm& arm, bool from_trusted) noexcept;
  double confirmed_step(double dt, const StateObserver& observer, const MeasuredArm& arm) noexcept;

  ga_dynamics::Dynamics target_dynamics_;
  ga_dynamics::Dynamics
      trusted_dynamics_;  ///< with the payload at the start, or the last confirmed
  ga_dynamics::Payload from_, to_, present_;
  double duration_;  ///< s
  double share_ = 1;
  bool active_ = false;
  bool from_present_ = false, from_trusted_ = false;  ///< it changes the inertia a lot from there
  bool confirmed_ = false;                            ///< the estimate has confirmed it
  int age_ = 0;                                       ///< cycles
  std::vector<double> change_, disturbance_, factor_, inertia_, trusted_inertia_;  ///< scratch
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PAYLOAD_BLEND_HPP_
