// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <string>

#include "cli/arm_options.hpp"
#include "cli/commands.hpp"
#include "emulator/emulated_cell.hpp"
#include "ga_tools/commands.hpp"
#include "process/realtime.hpp"

namespace puma_hardware::cli {
namespace {

/// Above any controller, which must not delay the robot, and below its guard.
constexpr int kPriority = 90;
/// s. If the process is starved of CPU time, the simulation pauses instead of catching up.
constexpr double kMaxCatchUp = 0.004;

void run(const std::string& name, const ArmOptions& options) {
  const auto [chain, parameters] = described_arm(options);
  const ArmSettings settings = ArmSettings::from(chain, with_emulated_wiring(parameters));
  emulator::EmulatedCellOptions cell;
  cell.arm = emulated_arm_of(options);
  cell.max_catch_up = kMaxCatchUp;
  if (const std::string refused = enter_realtime(kPriority); !refused.empty()) {
    std::fprintf(stderr, "puma emulate: %s\n", refused.c_str());
  }
  const auto report = emulator::run_emulator(
      name, settings, chain, cell, stop_request(),
      [&name](emulator::EmulatedCards&, emulator::EmulatedArm&) {
        std::printf("emulating a robot as '%s'; Ctrl-C ends it\n", name.c_str());
        std::fflush(stdout);
      });
  std::printf("%.1f s emulated, longest step %.2f ms, %.3f s skipped\n", report.simulated,
              report.longest_step * 1e3, report.skipped);
}

}  // namespace

void add_emulate_command(CLI::App& app) {
  const auto options = std::make_shared<ArmOptions>();
  const auto name = std::make_shared<std::string>();
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
  command->callback([name, options] { run(*name, *options); });
}

}  // namespace puma_hardware::cli
