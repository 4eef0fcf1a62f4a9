// SPDX-License-Identifier: Apache-2.0
#include <time.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "cards/linux_port_io.hpp"
#include "cli/arm_options.hpp"
#include "cli/commands.hpp"
#include "emulator/emulated_cards.hpp"
#include "ga_tools/commands.hpp"
#include "process/guard.hpp"
#include "process/process_lock.hpp"
#include "process/realtime.hpp"

namespace puma_hardware::cli {
namespace {

/// Above any controller: it must run when that one hangs.
constexpr int kPriority = 95;

struct Settings {
  ArmOptions arm;
  double timeout_ms = 8;
  bool stand_by = false;
};

/// ns between two looks whether the guard before has gone.
constexpr long kStandByPause = 5'000'000;
constexpr int kLooksForName = 200;

/// The post of the guard of these cards. With --stand-by waits for one that is taken, if the guard
/// there has the same settings: two that cut differently are worse than one. Nothing if asked to
/// stop meanwhile.
std::optional<ProcessLock> take_post(const std::string& cards, const std::string& settings,
                                     bool stand_by, const std::atomic<bool>& stop) {
  const std::string post = "guard-" + cards;
  const timespec pause{0, kStandByPause};
  bool told = false;
  int nameless = 0;  // in a row: the other just comes, or just leaves
  for (; !stop.load(); nanosleep(&pause, nullptr)) {
    if (auto taken = ProcessLock::take(post, settings)) return taken;
    const ProcessLock::Holder first = ProcessLock::holder(post);
    nameless = first.pid == 0 || first.note.empty() ? nameless + 1 : 0;
    if (nameless > 0 && nameless < kLooksForName) continue;
    if (!stand_by || first.note != settings) {
      throw std::runtime_error("'" + cards + "' has a guard already, " + first.text() + ", with " +
                               first.note +
                               (first.note == settings ? "; one is enough"
                                                       : "; here it is " + settings +
                                                             ". Stop that one first, or give both "
                                                             "the same settings"));
    }
    if (!told) {
      std::printf("guard: %s is on watch for '%s' already, with the same settings; standing by\n",
                  first.text().c_str(), cards.c_str());
      std::fflush(stdout);
      told = true;
    }
  }
  return std::nullopt;
}

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
  DescribedArm arm = described_arm(settings.arm);
  if (settings.arm.io == "emulated") arm.parameters = with_emulated_wiring(arm.parameters);
  const CardSettings cards = ArmSettings::from(arm.chain, arm.parameters).cards;
  std::unique_ptr<PortIo> io;
  if (settings.arm.io == "ports") {
    io = std::make_unique<LinuxPortIo>(cards);
  } else {
    io = emulator::EmulatedCards::open_shared(settings.arm.cell, cards, 2);
  }
  const std::atomic<bool>& stop = stop_request();
  const std::string name = cards_name(bus_of(settings.arm), settings.arm.cell, cards);
  char timeout[32];
  std::snprintf(timeout, sizeof timeout, " --timeout %g", settings.timeout_ms);
  const auto post =
      take_post(name, cut_settings_text(cards.pcl726) + timeout, settings.stand_by, stop);
  if (!post) return;
  if (const std::string refused = enter_realtime(kPriority); !refused.empty()) {
    std::fprintf(stderr, "puma guard: %s\n", refused.c_str());
  }
  Heartbeat heartbeat(name);
  std::printf("guard: on watch for '%s', %g ms\n", name.c_str(), settings.timeout_ms);
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
      ->check(ga_tools::number_range(2.0, 1000.0))
      ->capture_default_str();
  command->add_flag("--stand-by", settings->stand_by,
                    "If another guard with the same settings is on watch, wait for its end and "
                    "take over, in place of leaving");
  command->callback([settings] { run(*settings); });
}

}  // namespace puma_hardware::cli
