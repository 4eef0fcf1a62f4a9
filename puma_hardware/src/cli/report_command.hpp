// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__REPORT_COMMAND_HPP_
#define CLI__REPORT_COMMAND_HPP_

#include <CLI/CLI.hpp>
#include <string>

namespace puma_hardware::cli {

/// `puma report`. Runs within app.parse(), which then throws what the run throws. `command_line` is
/// told in the report of recordings.
void add_report_command(CLI::App& app, const std::string& command_line);

}  // namespace puma_hardware::cli

#endif  // CLI__REPORT_COMMAND_HPP_
