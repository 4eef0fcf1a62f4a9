// SPDX-License-Identifier: Apache-2.0
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
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

/// Above any controller: it must run when a controller hangs.
constexpr int kPriority = 95;

struct Settings {
  ArmOptions arm;
  double timeout_ms = 8;
  bool stand_by = false;
};

/// ms on real cards: an arm that falls freely, or is driven at full torque, gets far in longer times.
constexpr double kLongestTimeout = 50;
constexpr long kStandByPause = 5'000'000;  ///< ns between two attempts
constexpr int kAttemptsForName = 200;

/// The lock of the guard of these cards. With --stand-by waits until a guard with the same settings
/// ends; other settings are refused. Nothing after a stop request.
std::optional<ProcessLock> take_lock(const std::string& cards, const std::string& settings,
                                     bool stand_by, const std::atomic<bool>& stop) {
  const std::string lock = "guard-" + cards;
  const timespec pause{0, kStandByPause};
  bool reported = false;
  int nameless = 0;  // consecutive: the other guard is just starting or ending
  for (; !stop.load(); nanosleep(&pause, nullptr)) {
    if (auto taken = ProcessLock::take(lock, settings)) return taken;
    const ProcessLock::Holder first = ProcessLock::holder(lock);
    nameless = first.pid == 0 || first.note.empty() ? nameless + 1 : 0;
    if (nameless > 0 && nameless < kAttemptsForName) continue;
    if (!stand_by || first.note != settings) {
      throw std::runtime_error("'" + cards + "' already has a guard, " + first.text() + ", with " +
                               first.note +
                               (first.note == settings ? "; one is enough"
                                                       : "; the settings here are " + settings +
                                                             ". Stop that one first, or give both "
                                                             "the same settings"));
    }
    if (!reported) {
      std::printf("guard: %s already watches '%s' with the same settings; standing by\n",
                  first.text().c_str(), cards.c_str());
      std::fflush(stdout);
      reported = true;
    }
  }
  return std::nullopt;
}

std::atomic<pid_t> guard_process = 0;
std::atomic<bool> guard_stopped = false;
constexpr auto kTerminalSignals = {SIGHUP, SIGTSTP, SIGQUIT, SIGTTIN, SIGTTOU, SIGPIPE};
constexpr int kMostRestarts = 5;  ///< in a row, of guards that end within kShortLife
constexpr std::int64_t kShortLife = 1'000'000'000;  ///< ns

/// The guard must not die with the shell or the terminal that controller and guard share: it runs in
/// a session of its own, in a child, and this function returns there. The parent stays with the
/// terminal and does not return: it passes on Ctrl-C and the exit code, and replaces a guard that was
/// killed. A guard without its parent ends as soon as no process drives.
void leave_terminal() {
  ignore_terminal(kTerminalSignals);
  sigset_t stops, before;
  sigemptyset(&stops);
  for (const int number : {SIGINT, SIGTERM}) sigaddset(&stops, number);
  const pid_t parent = getpid();
  struct sigaction pass {};
  pass.sa_handler = [](int) {
    guard_stopped = true;
    kill(guard_process, SIGTERM);
  };
  std::fflush(nullptr);
  for (int restarts = 0;;) {
    sigprocmask(SIG_BLOCK, &stops, &before);
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
    if (child == 0) {
      stop_request();
      ignore_terminal(kTerminalSignals);
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (getppid() != parent) raise(SIGTERM);
      setsid();
      sigprocmask(SIG_SETMASK, &before, nullptr);
      return;
    }
    guard_process = child;
    for (const int number : {SIGINT, SIGTERM}) sigaction(number, &pass, nullptr);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    const std::int64_t begin = monotonic_ns();
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
    if (guard_stopped) _exit(1);
    restarts = monotonic_ns() - begin < kShortLife ? restarts + 1 : 0;
    std::fprintf(stderr, "puma guard: process %d was ended by signal %d; ", child,
                 WTERMSIG(status));
    if (restarts > kMostRestarts) {
      std::fprintf(
          stderr,
          "%d guards in a row ended within %g s: giving up. NO GUARD watches this arm any more; "
          "find out what ends them, then start `puma guard` again\n",
          restarts, static_cast<double>(kShortLife) * 1e-9);
      _exit(1);
    }
    std::fprintf(stderr, "starting another guard\n");
  }
}

void report(const GuardEvent& event) {
  switch (event.kind) {
    case GuardEvent::Kind::kWatching:
      std::printf("guard: watching process %d\n", event.pid);
      break;
    case GuardEvent::Kind::kReleased:
      std::printf("guard: process %d has stopped the arm and disconnected\n", event.pid);
      break;
    case GuardEvent::Kind::kTripped:
      std::printf(
          "guard: process %d %s, last heartbeat %.1f ms ago: 0 V on all outputs, power "
          "off, within %.3f ms\n",
          event.pid, event.died ? "died" : "hangs", event.silence * 1e3, event.reaction_time * 1e3);
      break;
  }
  std::fflush(stdout);
}

void run(const Settings& settings) {
  if (settings.arm.io == "emulated" && settings.arm.cell.empty()) {
    throw std::runtime_error(
        "--cell: give the name of the emulated robot; cards emulated in the process that drives them "
        "need no guard");
  }
  if (settings.arm.io == "ports" && settings.timeout_ms > kLongestTimeout) {
    char text[200];
    std::snprintf(
        text, sizeof text,
        "--timeout %g: with --io ports at most %g ms; longer times are for emulated arms on "
        "computers that stall",
        settings.timeout_ms, kLongestTimeout);
    throw std::runtime_error(text);
  }
  leave_terminal();
  DescribedArm arm = described_arm(settings.arm);
  if (settings.arm.io == "emulated") arm.parameters = with_emulated_wiring(arm.parameters);
  const CardSettings cards = ArmSettings::from(arm.chain, arm.parameters).cards;
  std::unique_ptr<PortIo> io;
  if (settings.arm.io == "ports") {
    io = std::make_unique<LinuxPortIo>(cards);
  } else {
    io = emulator::EmulatedCards::open_shared(settings.arm.cell, cards, 2);
  }
  const std::atomic<bool>& stop = stop_flag();
  const std::string name = cards_name(bus_of(settings.arm), settings.arm.cell, cards);
  char timeout[32];
  std::snprintf(timeout, sizeof timeout, " --timeout %g", settings.timeout_ms);
  const auto lock =
      take_lock(name, cut_settings_text(cards.pcl726) + timeout, settings.stand_by, stop);
  if (!lock) return;
  if (const std::string refused = enter_realtime(kPriority); !refused.empty()) {
    std::fprintf(stderr, "puma guard: %s\n", refused.c_str());
  }
  Heartbeat heartbeat(name);
  std::printf("guard: running for '%s'%s, timeout %g ms, process %d\n", name.c_str(),
              emulated(settings.arm) ? " (emulated)" : "", settings.timeout_ms, getpid());
  std::fflush(stdout);
  run_guard(*io, cards.pcl726, heartbeat, {settings.timeout_ms * 1e-3, 0.001, true}, stop, report);
}

}  // namespace

void add_guard_command(CLI::App& app) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand(
      "guard",
      "Watchdog of the process that drives the arm: writes 0 V and switches off the power when it "
      "dies or hangs\n"
      "Examples: puma guard --io ports\n          puma guard --cell demo --timeout 8");
  add_robot_options(*command, settings->arm);
  command->add_option("--timeout", settings->timeout_ms, "Time without a heartbeat, ms")
      ->check(ga_tools::number_range(2.0, 1000.0))
      ->capture_default_str();
  command->add_flag("--stand-by", settings->stand_by,
                    "If another guard with the same settings is running, wait for its end and take "
                    "over");
  command->callback([settings] { run(*settings); });
}

}  // namespace puma_hardware::cli
