// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__MOTION_COMMAND_HPP_
#define CLI__MOTION_COMMAND_HPP_

#include <CLI/CLI.hpp>

namespace puma_hardware::cli {

/// `puma motion`.
void add_motion_command(CLI::App& app);

}  // namespace puma_hardware::cli

#endif  // CLI__MOTION_COMMAND_HPP_
