// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__DESCRIBE_COMMAND_HPP_
#define CLI__DESCRIBE_COMMAND_HPP_

#include <CLI/CLI.hpp>

namespace puma_hardware::cli {

/// `puma describe`: the description with an arm's settings in it.
void add_describe_command(CLI::App& app);

}  // namespace puma_hardware::cli

#endif  // CLI__DESCRIBE_COMMAND_HPP_
