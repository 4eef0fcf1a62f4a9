// SPDX-License-Identifier: Apache-2.0
#ifndef RUNTIME__ARM_LAW_HPP_
#define RUNTIME__ARM_LAW_HPP_

// A control law and the acceleration that it expects of the arm, for the velocity observers.

#include <array>
#include <span>

#include "arm/puma_arm.hpp"
#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"

namespace puma_hardware {

/// Construction allocates; the rest is real-time safe and does not throw.
class ArmLaw {
 public:
  ArmLaw(const ga_dynamics::Chain& model, const ga_controllers::LawParameters& law)
      : law_(model, law) {}

  /// Starts at rest at `q` with the torque that holds the arm there: the brakes held it so far.
  void start(std::span<const double> q, std::span<const double> holding_torque) noexcept {
    law_.start(q, std::array<double, 6>{}, holding_torque);
    expected_ = {};
  }
  /// Torque [N m] of a cycle `elapsed` [s] after the last one; valid until the next call.
  std::span<const double> update(const ArmReading& reading,
                                 const ga_controllers::Reference& reference,
                                 double elapsed) noexcept {
    law_.update(reading.q, reading.qd, reference, elapsed, torque_);
    for (std::size_t i = 0; i < 6; ++i) {
      expected_[i] = law_.acceleration()[i] + law_.disturbance()[i];
    }
    return torque_;
  }
  /// rad/s² until the next update().
  std::span<const double> expected_acceleration() const noexcept { return expected_; }

 private:
  ga_controllers::ControlLaw law_;
  std::array<double, 6> torque_{}, expected_{};
};

}  // namespace puma_hardware

#endif  // RUNTIME__ARM_LAW_HPP_
