// SPDX-License-Identifier: Apache-2.0
#ifndef RUNTIME__HOLD_LAW_HPP_
#define RUNTIME__HOLD_LAW_HPP_

// The torque that holds the arm where it is and damps its motion, for the safety machine's holds
// and ramps: gravity by the model, damped.

#include <array>
#include <span>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "puma_hardware/arm/puma_arm.hpp"

namespace puma_hardware {

/// Construction allocates; the rest is real-time safe and does not throw. Six joints.
class HoldLaw {
 public:
  explicit HoldLaw(const ga_dynamics::Chain& model);

  /// Begins at rest where the arm is; what gravity asks for there, which another law may begin
  /// with.
  std::span<const double> start(const ArmReading& reading) noexcept;
  /// One cycle of dt [s]; valid until the next call.
  std::span<const double> update(const ArmReading& reading, double dt) noexcept;

 private:
  ga_dynamics::Dynamics gravity_;
  ga_controllers::ControlLaw law_;
  std::array<double, 6> torque_{};
};

}  // namespace puma_hardware

#endif  // RUNTIME__HOLD_LAW_HPP_
