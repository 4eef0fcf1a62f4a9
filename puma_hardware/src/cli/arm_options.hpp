// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__ARM_OPTIONS_HPP_
#define CLI__ARM_OPTIONS_HPP_

// Options shared by the commands that touch the arm, and the robot that they open.

#include <CLI/CLI.hpp>
#include <atomic>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "arm/calibration_table.hpp"
#include "process/heartbeat.hpp"
#include "runtime/robot.hpp"

namespace puma_hardware::cli {

struct ArmOptions {
  std::string io = "emulated";
  std::string cell;
  std::string urdf;
  std::string settings;  ///< file
  std::vector<std::string> set;
  std::string calibration;
  double rate = 1000;
  std::vector<double> start;
  unsigned seed = 1;
  bool fast = false;
  bool yes = false, ask = false;
  ga_hardware::Disturbances disturbances = {};  ///< of the emulated arm
  double payload = 0;                           ///< kg, unknown, of the emulated arm
};

/// --urdf, --settings, --set.
void add_description_options(CLI::App& command, ArmOptions& options);
/// Those, --io and --cell.
void add_robot_options(CLI::App& command, ArmOptions& options);
/// --calibration, --rate, --start, --seed, --fast, --ask, --yes.
void add_drive_options(CLI::App& command, ArmOptions& options);
/// --ask, --yes.
void add_ask_options(CLI::App& command, ArmOptions& options);
/// --payload, --mismatch and other differences of the emulated arm from its description.
void add_disturbance_options(CLI::App& command, ArmOptions& options);

/// Throws std::runtime_error naming the invalid option, and what Robot throws.
Robot open_robot(const ArmOptions& options);
/// The file that --calibration or the settings name; empty: the emulated arm's own table. Throws
/// std::runtime_error if real cards have none.
std::string calibration_file(const ArmOptions& options);
/// Heartbeat of a running guard of these cards with the same settings; throws std::runtime_error if
/// there is none. Null for cards emulated in this process, which end with it.
std::unique_ptr<Heartbeat> guarded_heartbeat(const Robot& robot);
emulator::EmulatedArmOptions emulated_arm_of(const ArmOptions& options);
/// Throws std::runtime_error naming the invalid option.
Bus bus_of(const ArmOptions& options);
/// Text of the description file.
std::string description_of(const ArmOptions& options);
/// Settings of --settings, --set and --calibration; the later overrides the earlier.
Parameters settings_of(const ArmOptions& options);
/// The chain of a description, and the parameters of the arm and its cards.
struct DescribedArm {
  ga_dynamics::Chain chain;
  Parameters parameters;
};
/// `parameters`: all of the hardware; the result omits those of the plugin.
DescribedArm described_arm(const std::string& urdf_text, const Parameters& parameters);
/// With the parameters of the description, overridden by settings_of().
DescribedArm described_arm(const ArmOptions& options);

/// The clock of the loop: the computer's, or none with --fast. Throws std::runtime_error when the
/// simulation of the emulated arm has failed.
std::function<double()> clock_of(const ArmOptions& options, Robot& robot);

/// Set by SIGINT, SIGTERM, SIGHUP, SIGQUIT (Ctrl-\\) and SIGTSTP (Ctrl-Z) after the first call: a
/// process that was suspended would leave its last voltage. SIGTTIN, SIGTTOU and SIGPIPE are ignored.
const std::atomic<bool>& stop_request();
/// The same flag without another change of the signals.
const std::atomic<bool>& stop_flag();
void ignore_terminal(std::initializer_list<int> signals);

/// Shows what is about to happen and waits for a yes, with --io ports or --ask, and without --yes.
/// Throws std::runtime_error for any other answer.
void ask(const ArmOptions& options, const std::string& what);
/// A line from standard input; false at its end, and after a stop request.
bool read_line(std::string& line);

/// What the emulated robot has and the settings of a rehearsal lack; empty without settings.
std::string wiring_note(const ArmOptions& options);
bool emulated(const ArmOptions& options);
/// Says on standard output that the cards are emulated, if they are.
void announce(const ArmOptions& options);

}  // namespace puma_hardware::cli

#endif  // CLI__ARM_OPTIONS_HPP_
