// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__COMMANDS_HPP_
#define CLI__COMMANDS_HPP_

// The subcommands of `puma` that touch the arm or its cards, one source file each.

#include <CLI/CLI.hpp>

namespace puma_hardware::cli {

void add_calibrate_command(CLI::App& app);
void add_cards_command(CLI::App& app);
void add_cell_command(CLI::App& app);
void add_emulate_command(CLI::App& app);
void add_estimate_payload_command(CLI::App& app);
void add_guard_command(CLI::App& app);
void add_run_command(CLI::App& app);
void add_urdf_command(CLI::App& app);

}  // namespace puma_hardware::cli

#endif  // CLI__COMMANDS_HPP_
