// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__HARDWARE_PARAMETERS_HPP_
#define CLI__HARDWARE_PARAMETERS_HPP_

// The parameters of the arm's hardware in a description, read and written. All throw
// std::runtime_error naming what does not fit.

#include <string>
#include <vector>

#include "puma_hardware/cards/card_settings.hpp"

namespace puma_hardware::cli {

/// The <param>s of the <hardware> in the description's only <ros2_control>, without those that are
/// of the simulation (`sim.…`).
Parameters hardware_parameters(const std::string& urdf_text);

/// The description's <robot name>; empty if it has none.
std::string robot_name(const std::string& urdf_text);

/// Of `name=value` words; those of a later one win.
Parameters assigned(const std::vector<std::string>& assignments);

/// The description with these parameters in its <hardware>, in place of those of the same name, and
/// with these defaults where there is none. An empty `plugin` leaves the description's.
std::string with_hardware_parameters(const std::string& urdf_text, const Parameters& parameters,
                                     const Parameters& defaults, const std::string& plugin);

}  // namespace puma_hardware::cli

#endif  // CLI__HARDWARE_PARAMETERS_HPP_
