// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__ARM_OPTIONS_HPP_
#define CLI__ARM_OPTIONS_HPP_

// Options that all commands which touch the arm share, and what they open.

#include <CLI/CLI.hpp>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "puma_hardware/arm/calibration_table.hpp"
#include "runtime/robot.hpp"

namespace puma_hardware::cli {

struct ArmOptions {
  std::string io = "emulated";
  std::string cell;
  std::string urdf;
  std::vector<std::string> set;
  std::string calibration;
  double rate = 1000;
  std::vector<double> start;
  unsigned seed = 1;
  bool fast = false;
};

/// --io, --cell, --urdf, --set.
void add_robot_options(CLI::App& command, ArmOptions& options);
/// --calibration, --rate, --start, --seed, --fast.
void add_drive_options(CLI::App& command, ArmOptions& options);

/// Throws std::runtime_error naming the option that does not fit, and what Robot throws.
Robot open_robot(const ArmOptions& options);
/// The file that --calibration names, or the one of the emulated arm.
std::string calibration_file(const ArmOptions& options);
/// Under which name the controlling process and its guard meet.
std::string heartbeat_name(const ArmOptions& options);
emulator::EmulatedArmOptions emulated_arm_of(const ArmOptions& options);
Parameters parameters_of(const ArmOptions& options, std::string& urdf_text);

/// The clock of the loop: the emulated arm's own with --fast, else the machine's.
std::function<double()> clock_of(const ArmOptions& options, Robot& robot);

/// Set by SIGINT and SIGTERM from the first call on.
const std::atomic<bool>& stop_request();

}  // namespace puma_hardware::cli

#endif  // CLI__ARM_OPTIONS_HPP_
