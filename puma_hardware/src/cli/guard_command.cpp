// SPDX-License-Identifier: Apache-2.0
#include "cli/guard_command.hpp"

#include <cstdio>
#include <memory>
#include <stdexcept>

#include "cli/arm_options.hpp"
#include "puma_hardware/cards/linux_port_io.hpp"
#include "puma_hardware/emulator/emulated_cards.hpp"
#include "puma_hardware/runtime/guard.hpp"
#include "puma_hardware/runtime/realtime.hpp"

namespace puma_hardware::cli {
namespace {

/// Above any controller: it must run when that one hangs.
constexpr int kPriority = 95;

struct Settings {
  ArmOptions arm;
  double timeout_ms = 8;
};

void report(const GuardEvent& event) {
  switch (event.kind) {
    case GuardEvent::Kind::kWatching:
      std::printf("guard: watching process %d\n", event.pid);
      break;
    case GuardEvent::Kind::kReleased:
      std::printf("guard: process %d has stopped the arm and left\n", event.pid);
      break;
    case GuardEvent::Kind::kTripped:
      std::printf(
          "guard: process %d %s, last heartbeat %.1f ms ago: 0 V on all outputs, power "
          "off, within %.3f ms\n",
          event.pid, event.died ? "died" : "is silent", event.silence * 1e3,
          event.reaction_time * 1e3);
      break;
  }
  std::fflush(stdout);
}

void run(const Settings& settings) {
  if (settings.arm.io == "emulated" && settings.arm.cell.empty()) {
    throw std::runtime_error(
        "--cell: name the emulated robot to guard; one of a command's own ends "
        "with it");
  }
  std::string text;
  Parameters parameters = parameters_of(settings.arm, text);
  if (settings.arm.io == "emulated") parameters = with_emulated_wiring(parameters);
  const CardSettings cards =
      ArmSettings::from(ga_dynamics::Chain::from_urdf_text(text), parameters).cards;
  std::unique_ptr<PortIo> io;
  if (settings.arm.io == "ports") {
    io = std::make_unique<LinuxPortIo>(cards);
  } else {
    io = emulator::EmulatedCards::open_shared(settings.arm.cell, cards, 2);
  }
  const std::atomic<bool>& stop = stop_request();
  if (const std::string refused = enter_realtime(kPriority); !refused.empty()) {
    std::fprintf(stderr, "puma guard: %s\n", refused.c_str());
  }
  Heartbeat heartbeat(heartbeat_name(settings.arm));
  std::printf("guard: on watch for '%s', %g ms\n", heartbeat_name(settings.arm).c_str(),
              settings.timeout_ms);
  std::fflush(stdout);
  run_guard(*io, cards.pcl726, heartbeat, {settings.timeout_ms * 1e-3, 0.001, true}, stop, report);
}

}  // namespace

void add_guard_command(CLI::App& app) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand(
      "guard",
      "Watch the process that drives the arm; write 0 V and drop power when it dies or hangs\n"
      "Examples: puma guard --io ports\n          puma guard --cell demo --timeout 8");
  add_robot_options(*command, settings->arm);
  command->add_option("--timeout", settings->timeout_ms, "ms without a heartbeat")
      ->check(CLI::Range(2.0, 1000.0))
      ->capture_default_str();
  command->callback([settings] { run(*settings); });
}

}  // namespace puma_hardware::cli
