// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__SIM_COMMAND_HPP_
#define CLI__SIM_COMMAND_HPP_

#include <CLI/CLI.hpp>
#include <string>

namespace puma_hardware::cli {

/// `puma sim`. Runs within app.parse(), which then throws what the run throws. `command_line` is
/// told in the report.
void add_sim_command(CLI::App& app, const std::string& command_line);

}  // namespace puma_hardware::cli

#endif  // CLI__SIM_COMMAND_HPP_
