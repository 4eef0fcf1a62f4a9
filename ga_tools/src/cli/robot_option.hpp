// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__ROBOT_OPTION_HPP_
#define CLI__ROBOT_OPTION_HPP_

// The arm that a command is about: named by the user, or the program's own.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

#include "ga_tools/commands.hpp"

namespace ga_tools {

struct RobotOption {
  Program program = {};
  std::string given = {};  ///< by the user

  /// Throws std::runtime_error if there is none.
  std::filesystem::path file() const;
};

/// The option --urdf, or a positional argument if the program has no arm of its own.
void add_robot_option(CLI::App& command, const Program& program, RobotOption& to);
/// " robot.urdf" if the description is required, for examples.
std::string robot_example(const Program& program);
/// " (default: puma560.urdf)" if there is one.
std::string default_robot(const Program& program);

}  // namespace ga_tools

#endif  // CLI__ROBOT_OPTION_HPP_
