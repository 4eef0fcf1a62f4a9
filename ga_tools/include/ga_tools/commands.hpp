// SPDX-License-Identifier: Apache-2.0
#ifndef GA_TOOLS__COMMANDS_HPP_
#define GA_TOOLS__COMMANDS_HPP_

// Subcommands that programs of an arm share: `ga` offers them for any arm, `puma` for the PUMA. They
// run within CLI::App::parse(), which throws what a run throws.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

namespace ga_tools {

/// The program that offers the commands.
struct Program {
  std::string name;  ///< "ga"
  /// The arm to use if none is named, as a package and a file in its share folder; empty: the
  /// description is required.
  std::string package = {}, urdf = {};
  std::string command_line = {};  ///< as typed, shown in reports
};

/// A command as a shell takes it: arguments with other than plain characters are quoted.
std::string command_line(const std::string& program, int argc, const char* const* argv);

/// Simulates an arm under several control laws and writes a report.
void add_sim_command(CLI::App& app, const Program& program);
/// Writes the report of recorded data.
void add_report_command(CLI::App& app, const Program& program);
/// Prints a motion as a table.
void add_motion_command(CLI::App& app, const Program& program);

/// The folder share/PACKAGE that belongs to the running program: of its own prefix
/// (PREFIX/lib/PACKAGE/program, PREFIX/bin/program), of a sibling prefix (colcon's isolated layout),
/// or of the build tree. Throws std::runtime_error where there is none.
std::filesystem::path share_folder(const std::string& package);

/// Numbers from `low` to `high`. In place of CLI::Range, which lets not-a-number through.
CLI::Validator number_range(double low, double high);
/// Any number but infinities and not-a-number.
CLI::Validator finite_number();

}  // namespace ga_tools

#endif  // GA_TOOLS__COMMANDS_HPP_
