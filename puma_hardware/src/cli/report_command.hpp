// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__REPORT_COMMAND_HPP_
#define CLI__REPORT_COMMAND_HPP_

#include <CLI/CLI.hpp>

namespace puma_hardware::cli {

/// `puma report`. Runs within app.parse(), which then throws what the run throws.
void add_report_command(CLI::App& app);

}  // namespace puma_hardware::cli

#endif  // CLI__REPORT_COMMAND_HPP_
