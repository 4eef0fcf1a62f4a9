// SPDX-License-Identifier: Apache-2.0
#include <time.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "cli/arm_options.hpp"
#include "cli/commands.hpp"
#include "cli/parameters.hpp"
#include "emulator/emulated_cell.hpp"
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

void run(const std::string& name, const ArmOptions& options, const std::string& wiring) {
  auto [chain, parameters] = described_arm(options);
  if (!wiring.empty()) {
    for (const auto& [key, value] : read_settings(wiring)) parameters[key] = value;
    std::erase_if(parameters, [](const auto& entry) { return concerns_plugin(entry.first); });
  }
  const ArmSettings settings = ArmSettings::from(chain, with_emulated_wiring(parameters));
  emulator::EmulatedCellOptions cell;
  cell.arm = emulated_arm_of(options);
  cell.max_catch_up = kMaxCatchUp;
  if (const std::string refused = enter_realtime(kPriority); !refused.empty()) {
    std::fprintf(stderr, "puma emulate: %s\n", refused.c_str());
  }
  stop_request();
  RobotEnd end(name);
  const auto report = emulator::run_emulator(
      name, settings, chain, cell, end.flag(),
      [&](emulator::EmulatedCards& cards, emulator::EmulatedArm&) {
        if (!wiring.empty()) cards.set_own_wiring();
        std::printf("emulating a robot as '%s'; Ctrl-C ends it\n", name.c_str());
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
                      "say, to rehearse a mistake");
  command->callback([name, options, wiring] { run(*name, *options, *wiring); });
}

}  // namespace puma_hardware::cli
