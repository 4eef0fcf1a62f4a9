// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__HARDWARE_PARAMETERS_HPP_
#define CLI__HARDWARE_PARAMETERS_HPP_

#include <string>
#include <vector>

#include "puma_hardware/cards/card_settings.hpp"

namespace puma_hardware::cli {

/// The <param>s of the <hardware> in the description's only <ros2_control>, without those that are
/// of the simulation (`sim.…`), and `name=value` assignments over them. Throws std::runtime_error
/// naming what does not fit.
Parameters hardware_parameters(const std::string& urdf_text,
                               const std::vector<std::string>& assignments);

}  // namespace puma_hardware::cli

#endif  // CLI__HARDWARE_PARAMETERS_HPP_
