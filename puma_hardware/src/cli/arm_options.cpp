// SPDX-License-Identifier: Apache-2.0
#include "cli/arm_options.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "cli/parameters.hpp"
#include "ga_hardware/parameter_text.hpp"
#include "ga_tools/commands.hpp"
#include "process/guard.hpp"
#include "process/heartbeat.hpp"
#include "process/realtime.hpp"

namespace puma_hardware::cli {

namespace fs = std::filesystem;

namespace {

std::atomic<bool> stop_requested = false;
constexpr std::int64_t kGuardPatience = 100'000'000;  ///< ns

}  // namespace

Bus bus_of(const ArmOptions& options) {
  if (options.io == "ports") {
    if (!options.cell.empty()) {
      throw std::runtime_error("--cell " + options.cell + ": only with --io emulated");
    }
    return Bus::kPorts;
  }
  return options.cell.empty() ? Bus::kPrivate : Bus::kShared;
}

void add_description_options(CLI::App& command, ArmOptions& options) {
  command.add_option("--urdf", options.urdf, "Robot description (default: PUMA 560)");
  command.add_option("--settings", options.settings,
                     "File with settings of this arm, one `name: value` per line; overrides the "
                     "description");
  command.add_option("--set", options.set,
                     "Setting that overrides both, e.g. pcl726.base=0x2C0; repeatable");
}

void add_robot_options(CLI::App& command, ArmOptions& options) {
  command.add_option("--io", options.io, "Real or emulated cards")
      ->check(CLI::IsMember({"ports", "emulated"}))
      ->capture_default_str();
  command.add_option("--cell", options.cell,
                     "Emulated cards of a running `puma emulate NAME` (default: emulated in this "
                     "process)");
  add_description_options(command, options);
}

void add_drive_options(CLI::App& command, ArmOptions& options) {
  command.add_option("--calibration", options.calibration,
                     "Calibration table (default: the settings' calibration_file, or the emulated "
                     "arm's own)");
  command.add_option("--rate", options.rate, "Control rate, Hz")
      ->check(ga_tools::number_range(100.0, 5000.0))
      ->capture_default_str();
  command.add_option("--start", options.start, "Initial position of the emulated arm, rad")
      ->expected(6)
      ->check(ga_tools::finite_number());
  command.add_option("--seed", options.seed, "Seed of the emulated noise");
  command.add_flag("--fast", options.fast,
                   "Run faster than real time (only with cards emulated in this process)");
  add_ask_options(command, options);
}

void add_ask_options(CLI::App& command, ArmOptions& options) {
  command.add_flag("--ask", options.ask,
                   "Show the motion and ask before it, as always with --io ports");
  command.add_flag("--yes", options.yes, "Do not ask");
}

void add_disturbance_options(CLI::App& command, ArmOptions& options) {
  CLI::App* group = command.add_option_group("Differences of the emulated arm, unknown to the law");
  group->add_option("--payload", options.payload, "At the tool, kg")
      ->check(ga_tools::number_range(0.0, 100.0))
      ->capture_default_str();
  ga_tools::add_disturbances(*group, options.disturbances, emulator::kEmulatedDisturbances);
}

std::string description_of(const ArmOptions& options) {
  const fs::path path = options.urdf.empty()
                            ? ga_tools::share_folder("puma_description") / "urdf/puma560.urdf"
                            : fs::path(options.urdf);
  std::ifstream file(path);
  if (!file) throw std::runtime_error("--urdf " + path.string() + ": cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Parameters settings_of(const ArmOptions& options) {
  Parameters settings = assigned(options.set);
  if (!options.calibration.empty()) settings["calibration_file"] = options.calibration;
  if (!options.settings.empty()) settings.merge(read_settings(options.settings));
  return settings;
}

DescribedArm described_arm(const std::string& urdf_text, const Parameters& parameters) {
  ga_hardware::ParameterText texts("description", {parameters.begin(), parameters.end()});
  DescribedArm arm{ga_hardware::chain_of(urdf_text, texts), parameters};
  std::erase_if(arm.parameters, [](const auto& entry) { return concerns_plugin(entry.first); });
  return arm;
}

DescribedArm described_arm(const ArmOptions& options) {
  const std::string urdf_text = description_of(options);
  Parameters parameters = settings_of(options);
  parameters.merge(hardware_parameters(urdf_text));
  return described_arm(urdf_text, parameters);
}

emulator::EmulatedArmOptions emulated_arm_of(const ArmOptions& options) {
  emulator::EmulatedArmOptions emulated = default_emulated_arm();
  std::copy(options.start.begin(), options.start.end(), emulated.start.begin());
  emulated.seed = options.seed;
  ga_hardware::check(options.disturbances);
  emulated.disturbances = options.disturbances;
  emulated.payload = options.payload;
  return emulated;
}

Robot open_robot(const ArmOptions& options) {
  const Bus bus = bus_of(options);
  if (options.fast && bus != Bus::kPrivate) {
    throw std::runtime_error("--fast: only with --io emulated and without --cell");
  }
  if (!options.start.empty() && bus != Bus::kPrivate) {
    throw std::runtime_error("--start: only with --io emulated and without --cell");
  }
  const bool differs = options.payload > 0 || options.disturbances != ga_hardware::Disturbances{};
  if (differs && bus != Bus::kPrivate) {
    throw std::runtime_error(
        "--payload, --mismatch and the like: only with --io emulated and without --cell; give them to "
        "`puma emulate`");
  }
  DescribedArm arm = described_arm(options);
  return {std::move(arm.chain), arm.parameters, bus, options.cell, emulated_arm_of(options)};
}

std::string calibration_file(const ArmOptions& options) {
  const Parameters parameters = described_arm(options).parameters;
  if (const auto file = parameters.find("calibration_file");
      file != parameters.end() && !file->second.empty()) {
    return file->second;
  }
  if (options.io == "ports") {
    throw std::runtime_error(
        "--calibration: name the file that `puma calibrate --build` wrote, here or as "
        "calibration_file in the --settings");
  }
  return "";
}

std::unique_ptr<Heartbeat> guarded_heartbeat(const Robot& robot) {
  if (robot.bus() == Bus::kPrivate) return nullptr;
  auto heartbeat = std::make_unique<Heartbeat>(robot.name());
  if (!heartbeat->guard_alive(kGuardPatience)) {
    throw std::runtime_error(
        "no guard is running for '" + robot.name() +
        "': if this process died, the last voltages would stay on the amplifiers. Start `puma "
        "guard` with the same --io or --cell and the same settings first");
  }
  const Pcl726Settings& cards = robot.settings().cards.pcl726;
  if (heartbeat->guard_settings() != cut_settings(cards)) {
    throw std::runtime_error(
        "the guard for '" + robot.name() +
        "' has other settings and would not write 0 V; the settings here are " +
        cut_settings_text(cards) +
        ". Restart `puma guard` with the same --settings, --urdf and --set");
  }
  return heartbeat;
}

std::function<double()> clock_of(const ArmOptions& options, Robot& robot) {
  const double period = 1 / options.rate;
  const auto check = [arm = robot.arm()] {
    if (arm == nullptr || arm->plant().fault() == ga_dynamics::PlantFault::kNone) return;
    throw std::runtime_error("the emulated arm: " + arm->plant().error());
  };
  if (options.fast) {
    return [check, period] {
      check();
      return period;
    };
  }
  struct Clock {
    PeriodicTimer timer;
    std::int64_t last;
  };
  // The timer starts with the first cycle, not with the setup.
  const auto clock = std::make_shared<std::unique_ptr<Clock>>();
  return [clock, check, period] {
    check();
    if (!*clock) {
      const auto period_ns = static_cast<std::int64_t>(period * 1e9);
      *clock = std::make_unique<Clock>(Clock{PeriodicTimer(period_ns), monotonic_ns()});
    }
    (*clock)->timer.wait();
    const std::int64_t now = monotonic_ns();
    const double elapsed = static_cast<double>(now - (*clock)->last) * 1e-9;
    (*clock)->last = now;
    return elapsed;
  };
}

const std::atomic<bool>& stop_request() {
  struct sigaction action {};
  action.sa_handler = [](int) { stop_requested = true; };
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP}) {
    sigaction(number, &action, nullptr);
  }
  ignore_terminal({SIGTTIN, SIGTTOU, SIGPIPE});
  return stop_requested;
}

const std::atomic<bool>& stop_flag() { return stop_requested; }

void ignore_terminal(std::initializer_list<int> signals) {
  for (const int number : signals) std::signal(number, SIG_IGN);
}

bool read_line(std::string& line) {
  line.clear();
  for (char c = 0; !stop_requested;) {
    const ssize_t got = read(STDIN_FILENO, &c, 1);
    if (got <= 0) return false;
    if (c == '\n') return true;
    line += c;
  }
  return false;
}

void ask(const ArmOptions& options, const std::string& what) {
  if (options.yes || !(options.ask || !emulated(options))) return;
  std::printf("%s\nGo on? Type yes: ", what.c_str());
  std::fflush(stdout);
  std::string answer;
  const bool answered = read_line(answer);
  if (answer == "yes") return;
  throw std::runtime_error(answered
                               ? "the answer was '" + answer + "', not yes: nothing has moved"
                               : "nobody answered: nothing has moved; --yes does without a person");
}

std::string wiring_note(const ArmOptions& options) {
  if (options.settings.empty() && options.set.empty()) return "";
  return emulated_wiring_note(described_arm(options).parameters);
}

bool emulated(const ArmOptions& options) { return options.io != "ports"; }

void announce(const ArmOptions& options) {
  if (!emulated(options)) return;
  std::printf("emulated%s%s: no card of this computer is touched; --io ports drives the real arm\n",
              options.cell.empty() ? "" : " arm ", options.cell.c_str());
  if (const std::string note = wiring_note(options); !note.empty()) {
    std::printf("not as on the real arm: %s\n", note.c_str());
  }
  std::fflush(stdout);
}

}  // namespace puma_hardware::cli
