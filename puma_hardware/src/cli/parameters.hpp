// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__PARAMETERS_HPP_
#define CLI__PARAMETERS_HPP_

// Hardware parameters as text: from a description, from a settings file, from the command line. All
// functions throw std::runtime_error naming the faulty element.

#include <string>
#include <vector>

#include "cards/card_settings.hpp"

namespace puma_hardware::cli {

/// The <param>s of the <hardware> in the description's only <ros2_control>, without those of the
/// simulation (`sim.…`).
Parameters hardware_parameters(const std::string& urdf_text);

/// A flat YAML file, the same for every command and launch file; errors name the line:
///   pcl726.base: 0x2C0
///   pcl833.base: 0x200 0x210        # lists with spaces, or as [0x200, 0x210]
///   calibration_file: "my_arm.json" # quotes are optional; the path is relative to this file
Parameters read_settings(const std::string& path);

/// Of `name=value` words; a later one overrides an earlier one.
Parameters assigned(const std::vector<std::string>& assignments);

/// The description with these parameters in its <hardware>, in place of those of the same name, and
/// with these defaults where there is none. An empty `plugin` keeps the description's.
std::string with_hardware_parameters(const std::string& urdf_text, const Parameters& parameters,
                                     const Parameters& defaults, const std::string& plugin);

}  // namespace puma_hardware::cli

#endif  // CLI__PARAMETERS_HPP_
