// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__SIM_COMMAND_HPP_
#define CLI__SIM_COMMAND_HPP_

#include <CLI/CLI.hpp>

namespace puma_hardware::cli {

/// `puma sim`. Runs within app.parse(), which then throws what the run throws.
void add_sim_command(CLI::App& app);

}  // namespace puma_hardware::cli

#endif  // CLI__SIM_COMMAND_HPP_
