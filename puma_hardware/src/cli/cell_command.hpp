// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__CELL_COMMAND_HPP_
#define CLI__CELL_COMMAND_HPP_

#include <CLI/CLI.hpp>

namespace puma_hardware::cli {

void add_cell_command(CLI::App& app);

}  // namespace puma_hardware::cli

#endif  // CLI__CELL_COMMAND_HPP_
