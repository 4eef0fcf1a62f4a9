// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__DISTURBANCES_HPP_
#define GA_HARDWARE__DISTURBANCES_HPP_

// How a simulated arm differs from its description, unknown to the laws: errors of the model and
// imperfect drives. One table has the names, ranges and units of all of them, for the options of
// `ga sim` (--friction-error) and the parameters of SimSystem (friction_error).
//
// Everything here allocates. Throws std::invalid_argument naming the value and the remedy.

#include <span>
#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"

namespace ga_hardware {

/// Errors are uniformly distributed within plus and minus the value, for each joint or body by
/// itself. Parts of 1 where a percentage is displayed.
struct Disturbances {
  // --- errors of the description
  double mismatch = 0;               ///< of masses and inertia tensors, part of 1
  double com_error = 0;              ///< of the centers of mass, m along each axis
  double friction_error = 0;         ///< of viscous and Coulomb friction, part of 1
  double armature_error = 0;         ///< of the rotor inertias, part of 1
  double torque_constant_error = 0;  ///< of the motors' torque constants, part of 1
  double stiction = 1;               ///< break-away over Coulomb friction
  // --- drives
  double delay = 0;         ///< whole cycles from the command to the amplifier
  double lag = 0;           ///< s, time constant of the amplifier's current
  double torque_limit = 1;  ///< what the motors give at most, part of the effort limit
  /// Hz, resonance of motor and link on the elastic drive, both free and the other joints held, at
  /// the initial posture; 0: rigid drives. The encoder is on the motor.
  double elastic_frequency = 0;
  double elastic_ratio = 0.2;     ///< motor inertia over link inertia, of elastic drives
  double elastic_damping = 0.05;  ///< damping ratio of the resonance

  bool operator==(const Disturbances&) const = default;
};

/// One of them as users know it.
struct DisturbanceOption {
  const char* name;  ///< of the parameter; the option has hyphens
  double Disturbances::*value;
  double least, most;  ///< as displayed
  double scale;        ///< the value is the displayed number times this
  const char* unit;    ///< with a leading blank, or empty
  const char* meaning;
  bool whole = false;
};
std::span<const DisturbanceOption> disturbance_options() noexcept;

/// "give 0 to 99 %" if the displayed value is not finite, out of range, or not whole where it has to
/// be; else empty.
std::string refusal(const DisturbanceOption& option, double displayed);

/// Throws for the first value that is out of range.
void check(const Disturbances& disturbances);

/// Actual over described values of one joint and its body.
struct JointErrors {
  double mass = 1, inertia = 1;       ///< factors
  ga_dynamics::Vector3 com{0, 0, 0};  ///< m, added in the body's frame
  double friction = 1, armature = 1;  ///< factors
  double torque_constant = 1;         ///< factor

  bool operator==(const JointErrors&) const = default;
};

/// The same seed gives the same errors; each kind has its own random numbers, so that one option
/// does not change the effect of another.
std::vector<JointErrors> draw_errors(const Disturbances& disturbances, std::size_t joints,
                                     unsigned seed);

/// The arm as it is: with these errors (one per joint, or none) and a payload, given in the tip
/// link's frame.
ga_dynamics::Chain actual_arm(const ga_dynamics::Chain& described,
                              std::span<const JointErrors> errors,
                              const ga_dynamics::LinkInertia& payload);

}  // namespace ga_hardware

#endif  // GA_HARDWARE__DISTURBANCES_HPP_
