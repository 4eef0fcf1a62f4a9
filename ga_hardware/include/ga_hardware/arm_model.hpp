// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__ARM_MODEL_HPP_
#define GA_HARDWARE__ARM_MODEL_HPP_

// Model computations of the hardware, independent of the active controller: the acceleration that
// the torques cause, for the velocity observers, and the holding torque, for the safety machine.
// Construction allocates; the rest is real-time safe and does not throw. Spans hold one value per
// joint.

#include <span>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"
#include "ga_dynamics/dynamics.hpp"

namespace ga_hardware {

class AccelerationModel {
 public:
  /// `friction`: false if the arm has no friction, whatever the description states.
  explicit AccelerationModel(const ga_dynamics::Chain& model, bool friction = true);

  /// rad/s² at this state and these torques [N m], with friction; zeros if a joint moves no
  /// inertia. Valid until the next call.
  std::span<const double> predict(std::span<const double> q, std::span<const double> qd,
                                  std::span<const double> torque) noexcept;

 private:
  ga_dynamics::Dynamics dynamics_;
  std::vector<ga_dynamics::Drive> drives_;
  std::vector<double> torque_, bias_, acceleration_;
};

/// Gravity compensation with damping, for holds and ramp-downs of the safety machine.
class HoldLaw {
 public:
  explicit HoldLaw(const ga_dynamics::Chain& model);

  /// Starts at rest at this position. Returns the gravity torque, from which another law may start.
  std::span<const double> start(std::span<const double> q) noexcept;
  /// One cycle of dt [s]; valid until the next call.
  std::span<const double> update(std::span<const double> q, std::span<const double> qd,
                                 double dt) noexcept;

 private:
  ga_dynamics::Dynamics gravity_;
  ga_controllers::ControlLaw law_;
  std::vector<double> torque_, rest_;
};

}  // namespace ga_hardware

#endif  // GA_HARDWARE__ARM_MODEL_HPP_
