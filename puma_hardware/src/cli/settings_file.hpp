// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__SETTINGS_FILE_HPP_
#define CLI__SETTINGS_FILE_HPP_

// The settings of one arm in a file of their own, the same for every command and launch file:
//
//   pcl726.base: 0x2C0
//   pcl833.base: 0x200 0x210        # lists with spaces, or as [0x200, 0x210]
//   calibration_file: my_arm.json   # relative to this file
//
// A flat YAML file: one `name: value` a line, `#` comments, quotes around a value if one likes.

#include <string>

#include "puma_hardware/cards/card_settings.hpp"

namespace puma_hardware::cli {

/// Throws std::runtime_error naming the file and the line that does not fit.
Parameters read_settings(const std::string& path);

}  // namespace puma_hardware::cli

#endif  // CLI__SETTINGS_FILE_HPP_
