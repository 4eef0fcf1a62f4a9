// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__OPTIONS_HPP_
#define CLI__OPTIONS_HPP_

// Options of the commands that `ga` and `puma` share: the arm, and the folder for results.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "ga_tools/commands.hpp"

namespace ga_tools {

/// The arm that the user names, or the program's own.
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

/// A folder for results, created before the work so that a bad name is reported at once. Unless
/// keep() was called, the destructor removes the folders that were created.
class OutputFolder {
 public:
  /// Throws std::runtime_error naming --output if the folder cannot be created or written to.
  explicit OutputFolder(const std::filesystem::path& path);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  void keep() { created_.clear(); }

 private:
  void remove_created();

  std::vector<std::filesystem::path> created_;  ///< deepest first
};

}  // namespace ga_tools

#endif  // CLI__OPTIONS_HPP_
