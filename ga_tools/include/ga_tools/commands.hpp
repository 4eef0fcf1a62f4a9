// SPDX-License-Identifier: Apache-2.0
#ifndef GA_TOOLS__COMMANDS_HPP_
#define GA_TOOLS__COMMANDS_HPP_

// Subcommands for the program of an arm: `ga` has them for any arm, `puma` for the PUMA. They run
// within CLI::App::parse(), which throws what they throw. And the options that select a chain,
// common to all commands that read a URDF.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "ga_hardware/simulated_arm.hpp"
#include "ga_tools/closed_loop.hpp"

namespace ga_tools {

using ga_dynamics::ChainOptions;

/// The program that has the commands.
struct Program {
  std::string name;  ///< "ga"
  /// The arm to use if none is named, as a package and a file in its share folder; empty: the
  /// description is required.
  std::string package = {}, urdf = {};
  std::string command_line = {};  ///< as typed, shown in reports
};

/// The command line with arguments quoted for the shell where necessary.
std::string command_line(const std::string& program, int argc, const char* const* argv);

/// Simulates an arm under several control laws and writes a report.
void add_sim_command(CLI::App& app, const Program& program);
/// Writes the report of recorded data.
void add_report_command(CLI::App& app, const Program& program);
/// Prints a motion as a table.
void add_motion_command(CLI::App& app, const Program& program);
/// Times a path by motor torque and writes the motion.
void add_time_command(CLI::App& app, const Program& program);
/// Checks a motion against the arm's limits.
void add_check_command(CLI::App& app, const Program& program);
/// Prints limits of positions, velocities and accelerations.
void add_limits_command(CLI::App& app, const Program& program);

/// Estimates the payload of a simulated arm.
void add_estimate_payload_command(CLI::App& app, const Program& program);

/// As given on the command line.
struct ChainArguments {
  std::string base, tip;
  std::vector<double> gravity;      ///< empty: the default; else x y z
  std::vector<std::string> freeze;  ///< JOINT, JOINT=POSITION or all
  bool strict = false;
  bool allow_missing_inertia = false;
};

/// Throws DescriptionError.
ChainOptions chain_options(const ChainArguments& arguments);

/// Adds them to the help's group of that name.
void add_chain_options(CLI::App& app, ChainArguments& to, const std::string& group = "Robot");

/// Adds --uncertainty-payload … and --fit-resonance to the help's group of that name.
void add_uncertainty_options(CLI::App& app, UncertaintyArguments& to,
                             const std::string& group = "Stability check");

/// The folder share/PACKAGE that belongs to the running program: of its own prefix
/// (PREFIX/lib/PACKAGE/program, PREFIX/bin/program), of a sibling prefix (colcon's isolated layout),
/// or of the build tree. Throws std::runtime_error if there is none.
std::filesystem::path share_folder(const std::string& package);

/// Numbers from `low` to `high`. Unlike CLI::Range it refuses NaN.
CLI::Validator number_range(double low, double high);
/// Any number except infinities and NaN.
CLI::Validator finite_number();
/// An option for each disturbance of a simulated arm (ga_hardware::disturbance_options()), or only for
/// the named ones.
void add_disturbances(CLI::App& group, ga_hardware::Disturbances& to,
                      std::span<const std::string_view> only = {});
/// --known-payload: what the laws know of the payload.
CLI::Option* add_known_payload(CLI::App& command, ga_dynamics::Payload& payload);

}  // namespace ga_tools

#endif  // GA_TOOLS__COMMANDS_HPP_
