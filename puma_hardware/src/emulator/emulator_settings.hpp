// SPDX-License-Identifier: Apache-2.0
#ifndef EMULATOR__EMULATOR_SETTINGS_HPP_
#define EMULATOR__EMULATOR_SETTINGS_HPP_

// Settings of the emulator itself, as text: `emulator.pcl833.latch` and so on, in the wiring file of
// `puma emulate`. All of them are assumptions, because no source documents what they describe.

#include <span>
#include <string>

#include "cards/card_settings.hpp"
#include "emulator/card_behavior.hpp"
#include "emulator/emulated_arm.hpp"

namespace puma_hardware::emulator {

/// One setting, for help texts.
struct EmulatorParameter {
  std::string name;       ///< with "emulator."
  std::string values;     ///< "hold, follow", "0 to 400 counts"
  std::string otherwise;  ///< the default
  std::string meaning;
};
std::span<const EmulatorParameter> emulator_parameters();
/// All of them, a line each with name, values and default, and one with the meaning.
std::string emulator_parameter_help();

/// Removes the emulator's settings from `parameters`, and reads them. `where` is the prefix of error
/// messages; what is not given keeps its value. Throws std::runtime_error naming the setting, its
/// value and the remedy, for unknown names the nearest one.
void take_emulator_settings(const std::string& where, Parameters& parameters,
                            CardBehavior& behavior, EmulatedArmOptions& arm);

}  // namespace puma_hardware::emulator

#endif  // EMULATOR__EMULATOR_SETTINGS_HPP_
