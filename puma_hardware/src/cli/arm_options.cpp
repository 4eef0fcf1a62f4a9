// SPDX-License-Identifier: Apache-2.0
#include "cli/arm_options.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "cli/hardware_parameters.hpp"
#include "cli/share_folder.hpp"
#include "puma_hardware/runtime/heartbeat.hpp"
#include "puma_hardware/runtime/realtime.hpp"

namespace puma_hardware::cli {

namespace fs = std::filesystem;

namespace {

std::atomic<bool> stop_requested = false;

Bus bus_of(const ArmOptions& options) {
  if (options.io == "ports") {
    if (!options.cell.empty()) {
      throw std::runtime_error("--cell " + options.cell + ": only with --io emulated");
    }
    return Bus::kPorts;
  }
  return options.cell.empty() ? Bus::kPrivate : Bus::kShared;
}

}  // namespace

void add_robot_options(CLI::App& command, ArmOptions& options) {
  command.add_option("--io", options.io, "Where the cards are")
      ->check(CLI::IsMember({"ports", "emulated"}))
      ->capture_default_str();
  command.add_option("--cell", options.cell,
                     "Emulated cards of a running `puma emulate NAME` (default: a robot of this "
                     "command's own)");
  command.add_option("--urdf", options.urdf, "Robot (default: the PUMA 560)");
  command.add_option("--set", options.set,
                     "A setting in place of the description's, as pcl726.base=0x2C0; repeatable");
}

void add_drive_options(CLI::App& command, ArmOptions& options) {
  command.add_option("--calibration", options.calibration,
                     "Table of potentiometers and index pulses (default: the emulated arm's)");
  command.add_option("--rate", options.rate, "Hz")
      ->check(CLI::Range(100.0, 5000.0))
      ->capture_default_str();
  command.add_option("--start", options.start, "Where the emulated arm stands at first, rad")
      ->expected(6);
  command.add_option("--seed", options.seed, "Of the emulated noise");
  command.add_flag("--fast", options.fast,
                   "Do not wait for the clock (with an emulated robot of its own)");
}

Parameters parameters_of(const ArmOptions& options, std::string& urdf_text) {
  const fs::path path = options.urdf.empty()
                            ? share_folder("puma_description") / "urdf/puma560.urdf"
                            : fs::path(options.urdf);
  std::ifstream file(path);
  if (!file) throw std::runtime_error("--urdf " + path.string() + ": cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  urdf_text = text.str();
  Parameters parameters = hardware_parameters(urdf_text, options.set);
  // Said by options here; the ROS 2 plugin takes them as parameters.
  for (const char* name : {"io", "cell"}) parameters.erase(name);
  if (!options.calibration.empty()) parameters["calibration_file"] = options.calibration;
  return parameters;
}

emulator::EmulatedArmOptions emulated_arm_of(const ArmOptions& options) {
  emulator::EmulatedArmOptions emulated = default_emulated_arm();
  std::copy(options.start.begin(), options.start.end(), emulated.start.begin());
  emulated.seed = options.seed;
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
  std::string text;
  const Parameters parameters = parameters_of(options, text);
  return {ga_dynamics::Chain::from_urdf_text(text), parameters, bus, options.cell,
          emulated_arm_of(options)};
}

std::string calibration_file(const ArmOptions& options) {
  if (!options.calibration.empty()) return options.calibration;
  if (options.io == "ports") {
    throw std::runtime_error("--calibration: name the file that `puma calibrate --build` wrote");
  }
  return share_folder("puma_hardware") / "config/emulated_calibration.json";
}

std::string heartbeat_name(const ArmOptions& options) {
  return options.cell.empty() ? options.io : options.cell;
}

std::function<double()> clock_of(const ArmOptions& options, Robot& robot) {
  const double period = 1 / options.rate;
  emulator::EmulatedArm* arm = robot.arm();
  if (options.fast) {
    return [arm, period] {
      arm->advance(period);
      return period;
    };
  }
  struct Clock {
    PeriodicTimer timer;
    std::int64_t last;
  };
  // The timer starts with the first cycle, however long the setting up takes.
  const auto clock = std::make_shared<std::unique_ptr<Clock>>();
  return [clock, arm, period] {
    if (!*clock) {
      const auto period_ns = static_cast<std::int64_t>(period * 1e9);
      *clock = std::make_unique<Clock>(Clock{PeriodicTimer(period_ns), monotonic_ns()});
    }
    (*clock)->timer.wait();
    const std::int64_t now = monotonic_ns();
    const double elapsed = static_cast<double>(now - (*clock)->last) * 1e-9;
    (*clock)->last = now;
    if (arm != nullptr) arm->advance(elapsed);
    return elapsed;
  };
}

const std::atomic<bool>& stop_request() {
  struct sigaction action {};
  action.sa_handler = [](int) { stop_requested = true; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return stop_requested;
}

}  // namespace puma_hardware::cli
