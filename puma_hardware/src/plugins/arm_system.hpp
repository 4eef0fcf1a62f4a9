// SPDX-License-Identifier: Apache-2.0
#ifndef PLUGINS__ARM_SYSTEM_HPP_
#define PLUGINS__ARM_SYSTEM_HPP_

// puma_hardware/PumaSystem: the arm on its four cards, real or emulated, as ros2_control hardware.
// Lifecycle and interfaces: ga_hardware/arm_system.hpp; parameters: arm_setup.hpp; services:
// arm_node.hpp.
//
// on_configure() connects: the cards answer, outputs are 0 V, positions are NaN until the arm is
// calibrated. Calibration needs the inactive state. Activation is refused without calibration,
// without a guard and with a fault; it permits power. The first commanded effort switches on the
// power and releases the brakes.

#include <memory>

#include "emulator/emulated_cards.hpp"
#include "ga_hardware/arm_system.hpp"

namespace puma_hardware {

class PumaSystem : public ga_hardware::ArmSystem {
 public:
  PumaSystem();

  /// Null if the cards are real or not connected. For tests.
  emulator::EmulatedCards* emulated_cards() const noexcept;

 private:
  std::unique_ptr<ga_hardware::ArmBackend> make_arm() override;

  class Backend;
  Backend* backend_ = nullptr;
};

}  // namespace puma_hardware

#endif  // PLUGINS__ARM_SYSTEM_HPP_
