// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__HOLD_LAW_HPP_
#define GA_HARDWARE__HOLD_LAW_HPP_

// The torque that holds the arm where it is and damps its motion, for the safety machine's holds
// and ramps: gravity by the model, damped.

#include <span>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"
#include "ga_dynamics/dynamics.hpp"

namespace ga_hardware {

/// Construction allocates; the rest is real-time safe and does not throw. Spans hold one value per
/// joint.
class HoldLaw {
 public:
  explicit HoldLaw(const ga_dynamics::Chain& model);

  /// Begins at rest where the arm is. Returns the torque of gravity there, which another law may
  /// begin with.
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

#endif  // GA_HARDWARE__HOLD_LAW_HPP_
