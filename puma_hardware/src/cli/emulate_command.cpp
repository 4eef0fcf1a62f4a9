// SPDX-License-Identifier: Apache-2.0
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "cli/arm_options.hpp"
#include "cli/commands.hpp"
#include "cli/parameters.hpp"
#include "emulator/emulated_cell.hpp"
#include "emulator/emulator_settings.hpp"
#include "ga_tools/commands.hpp"
#include "process/heartbeat.hpp"
#include "process/realtime.hpp"

namespace puma_hardware::cli {
namespace {

/// Above any controller, which must not delay the robot, and below its guard.
constexpr int kPriority = 90;
/// s. If the process is starved of CPU time, the simulation pauses instead of catching up.
constexpr double kMaxCatchUp = 0.004;

constexpr std::int64_t kLongestWait = 2'000'000'000;  ///< ns

/// A robot does not vanish with the terminal of its controller: after a stop request it stays while
/// it is driven, up to 2 s.
class RobotEnd {
 public:
  explicit RobotEnd(const std::string& name) : heartbeat_(name), thread_([this] { wait(); }) {}
  ~RobotEnd() {
    over_ = true;
    thread_.join();
  }
  const std::atomic<bool>& flag() const { return over_; }

 private:
  void wait() {
    const std::atomic<bool>& stop = stop_request();
    const timespec pause{0, 5'000'000};
    for (std::int64_t asked = 0; !over_; nanosleep(&pause, nullptr)) {
      if (!stop) continue;
      if (asked == 0) asked = monotonic_ns();
      if (!heartbeat_.armed() || monotonic_ns() - asked > kLongestWait) over_ = true;
    }
  }

  Heartbeat heartbeat_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

/// What an option and the wiring file both say would be ambiguous.
void refuse_twice(const ArmOptions& options, const Parameters& wired, const std::string& file) {
  const auto check = [&](const std::string& name, bool given) {
    if (!given || !wired.contains("emulator." + name)) return;
    std::string option = name;
    std::replace(option.begin(), option.end(), '_', '-');
    throw std::runtime_error("--" + option + ": emulator." + name + " is also in " + file +
                             "; give only one of them");
  };
  check("payload", options.payload != 0);
  for (const auto& one : ga_hardware::disturbance_options()) {
    check(one.name, options.disturbances.*one.value != ga_hardware::Disturbances{}.*one.value);
  }
}

Parameters read_wiring(const std::string& file) {
  if (file.empty()) return {};
  if (!std::ifstream(file)) throw std::runtime_error("--wiring " + file + ": cannot be read");
  return read_settings(file);
}

void run(const std::string& name, const ArmOptions& options, const std::string& wiring) {
  auto [chain, parameters] = described_arm(options);
  const std::string note = wiring_note(options);
  emulator::EmulatedCellOptions cell;
  cell.arm = emulated_arm_of(options);
  Parameters wired = read_wiring(wiring);
  refuse_twice(options, wired, wiring);
  emulator::take_emulator_settings("--wiring " + wiring, wired, cell.cards, cell.arm);
  std::erase_if(wired, [](const auto& entry) { return concerns_plugin(entry.first); });
  for (const auto& [key, value] : wired) parameters[key] = value;
  const ArmSettings settings = ArmSettings::from(chain, with_emulated_wiring(parameters));
  cell.max_catch_up = kMaxCatchUp;
  if (const std::string refused = enter_realtime(kPriority); !refused.empty()) {
    std::fprintf(stderr, "puma emulate: %s\n", refused.c_str());
  }
  stop_request();
  RobotEnd end(name);
  const auto report = emulator::run_emulator(
      name, settings, chain, cell, end.flag(),
      [&](emulator::EmulatedCards& cards, emulator::EmulatedArm&) {
        if (!wired.empty()) cards.set_own_wiring();
        std::printf("emulating a robot as '%s'; Ctrl-C ends it\n", name.c_str());
        if (!note.empty()) std::printf("not as on the real arm: %s\n", note.c_str());
        std::fflush(stdout);
      });
  std::printf("%.1f s emulated, longest step %.2f ms, %.3f s skipped\n", report.simulated,
              report.longest_step * 1e3, report.skipped);
}

}  // namespace

void add_emulate_command(CLI::App& app) {
  const auto options = std::make_shared<ArmOptions>();
  const auto name = std::make_shared<std::string>(), wiring = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "emulate",
      "Emulate a PUMA and its four I/O cards in shared memory, for commands with --cell NAME\n"
      "Example: puma emulate demo --start 0 -1.5 1.5 0 0 0");
  command->add_option("name", *name, "Letters, digits, _ and -")->required();
  add_description_options(*command, *options);
  command->add_option("--start", options->start, "Initial position, rad")
      ->expected(6)
      ->check(ga_tools::finite_number());
  command->add_option("--seed", options->seed, "Seed of noise and model errors");
  add_disturbance_options(*command, *options);
  command->add_option("--wiring", *wiring,
                      "Settings file of a robot that is wired differently from what the settings "
                      "say, to rehearse a mistake; and the settings of the emulator below");
  command->footer(
      "Settings of the emulator, in the --wiring file (default in brackets). They stand "
      "for what no source documents:\n" +
      emulator::emulator_parameter_help());
  command->callback([name, options, wiring] { run(*name, *options, *wiring); });
}

}  // namespace puma_hardware::cli
