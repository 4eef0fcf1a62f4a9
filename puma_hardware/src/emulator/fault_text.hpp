// SPDX-License-Identifier: Apache-2.0
#ifndef EMULATOR__FAULT_TEXT_HPP_
#define EMULATOR__FAULT_TEXT_HPP_

// Faults of emulated cards by name: "thermal:joint2", "encoder-jump:joint1", "pcl833a-lost".

#include <string>

#include "arm/arm_settings.hpp"
#include "emulator/emulated_cards.hpp"

namespace puma_hardware::emulator {

/// All names, for help texts: "thermal:JOINT, …".
std::string card_fault_names();
/// The same with a line each that says what happens.
std::string card_fault_help();
/// Injects the named fault; an empty text clears all faults. Throws std::invalid_argument naming the
/// unknown name and the known ones.
void inject_by_name(EmulatedCards& cards, const std::string& text, const ArmSettings& settings);

}  // namespace puma_hardware::emulator

#endif  // EMULATOR__FAULT_TEXT_HPP_
