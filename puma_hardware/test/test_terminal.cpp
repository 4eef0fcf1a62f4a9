// SPDX-License-Identifier: Apache-2.0

// Guard and controller in one shell, on a real pseudo-terminal: keys and signals in mid-motion, and a
// terminal that closes. After each: 0 V, power off, and how long it took.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "emulator/emulated_cards.hpp"
#include "process/heartbeat.hpp"
#include "runtime/robot.hpp"

namespace puma_hardware {
namespace {

constexpr int kClose = -1;  ///< the terminal's window is closed, the connection is lost

void sleep_us(long us) {
  const timespec time{us / 1'000'000, us % 1'000'000 * 1000};
  nanosleep(&time, nullptr);
}

bool within(double seconds, const std::function<bool()>& condition) {
  const std::int64_t end = monotonic_ns() + static_cast<std::int64_t>(seconds * 1e9);
  while (monotonic_ns() < end) {
    if (condition()) return true;
    sleep_us(200);
  }
  return condition();
}

/// An interactive shell on a terminal of its own. What it prints is read and dropped.
class Terminal {
 public:
  Terminal() {
    shell_ = forkpty(&file_, nullptr, nullptr, nullptr);
    if (shell_ == 0) {
      execl("/bin/bash", "bash", "--norc", "--noprofile", "-i", nullptr);
      _exit(127);
    }
    reader_ = std::thread([this] {
      char text[4096];
      while (!closed_) {
        if (read(file_, text, sizeof text) <= 0) break;
      }
    });
  }
  ~Terminal() {
    close_window();
    int status = 0;
    if (shell_ > 0) {
      kill(shell_, SIGKILL);
      waitpid(shell_, &status, 0);
    }
  }
  void type(const std::string& text) const {
    ASSERT_EQ(write(file_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void close_window() {
    if (closed_.exchange(true)) return;
    kill(shell_, SIGHUP);  // as the kernel does when the last master closes
    const int file = file_;
    reader_.detach();
    close(file);
  }

 private:
  pid_t shell_ = 0;
  int file_ = -1;
  std::atomic<bool> closed_ = false;
  std::thread reader_;
};

struct Attack {
  const char* name;
  int key = 0;            ///< a character, or kClose
  int signal = 0;         ///< to the controller, with `to_guard` to the guard as well
  bool to_guard = false;  ///< first
  bool cut = false;       ///< by the guard: the controller cannot stop the arm
};

class TerminalTest : public testing::TestWithParam<Attack> {};

TEST_P(TerminalTest, LeavesNoVoltageAndNoPower) {
  const Attack& attack = GetParam();
  const std::string name = "terminal_" + std::to_string(getpid());
  const ArmSettings settings =
      ArmSettings::from(ga_dynamics::Chain::from_urdf_file(PUMA_URDF), with_emulated_wiring({}));
  const std::string puma = PUMA_COMMAND;
  // The robot is somewhere else.
  const pid_t robot = fork();
  if (robot == 0) {
    setsid();
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    execl(puma.c_str(), "puma", "emulate", name.c_str(), nullptr);
    _exit(127);
  }
  const auto cards = emulator::EmulatedCards::open_shared(name, settings.cards, 30);
  Heartbeat heartbeat(name);
  const auto all_zero = [&] {
    for (int joint = 0; joint < 6; ++joint) {
      if (cards->output_volts(joint) != 0) return false;
    }
    return true;
  };
  const auto powered = [&] { return cards->digital_output(settings.cards.pcl726.power_output); };
  const auto moves = [&] {
    double fastest = 0;
    for (const double qd : cards->truth().qd) fastest = std::max(fastest, std::abs(qd));
    return fastest > 0.02;
  };
  {
    Terminal terminal;
    terminal.type(puma + " guard --cell " + name + " --timeout 300 &\n");
    ASSERT_TRUE(within(30, [&] { return heartbeat.guard_alive(50'000'000); }));
    terminal.type(puma + " run --cell " + name +
                  " --trajectory quintic --set safety.max_missed_deadlines=1000 "
                  "--set safety.deadline_ratio=10 --set safety.jump_ratio=20 "
                  "--set safety.calibration_speed_ratio=1\n");
    ASSERT_TRUE(within(60, [&] { return moves() && !all_zero() && powered(); })) << "no motion";
    sleep_us(50'000);
    const int guard = heartbeat.guard_pid(), controller = heartbeat.controller_pid();
    const std::int64_t begin = monotonic_ns();
    if (attack.key == kClose) {
      terminal.close_window();
    } else if (attack.key != 0) {
      terminal.type(std::string(1, static_cast<char>(attack.key)));
    }
    if (attack.to_guard) kill(guard, attack.signal);
    if (attack.signal != 0) kill(controller, attack.signal);
    ASSERT_TRUE(within(10, [&] { return all_zero() && !powered(); })) << "the voltage stays";
    const double ms = static_cast<double>(monotonic_ns() - begin) * 1e-6;
    std::printf("%-46s 0 V and power off after %6.1f ms, %s\n", attack.name, ms,
                heartbeat.tripped() ? "cut by the guard" : "controlled stop");
    EXPECT_EQ(heartbeat.tripped(), attack.cut);
    sleep_us(100'000);
    EXPECT_TRUE(all_zero() && !powered()) << "and stays so";
    if (attack.signal == SIGSTOP) {
      kill(controller, SIGCONT);
      EXPECT_TRUE(within(5, [&] { return kill(controller, 0) != 0 || all_zero(); }));
    }
    kill(controller, SIGKILL);
    kill(heartbeat.guard_pid(), SIGTERM);
  }
  kill(robot, SIGTERM);
  waitpid(robot, nullptr, 0);
  Heartbeat::remove(name);
}

constexpr Attack kAttacks[] = {
    {.name = "Ctrl-C", .key = 3},
    {.name = "Ctrl-Z", .key = 0x1A},
    {.name = "Ctrl-\\", .key = 0x1C},
    {.name = "the terminal is closed", .key = kClose},
    {.name = "SIGHUP to guard and controller", .signal = SIGHUP, .to_guard = true},
    {.name = "SIGQUIT to guard and controller", .signal = SIGQUIT, .to_guard = true},
    {.name = "SIGTSTP to guard and controller", .signal = SIGTSTP, .to_guard = true},
    {.name = "SIGKILL to the controller", .signal = SIGKILL, .cut = true},
    {.name = "SIGKILL to guard and controller", .signal = SIGKILL, .to_guard = true, .cut = true},
    {.name = "SIGSTOP to the controller", .signal = SIGSTOP, .cut = true},
};

INSTANTIATE_TEST_SUITE_P(MidMotion, TerminalTest, testing::ValuesIn(kAttacks),
                         [](const auto& attack) {
                           return "attack" + std::to_string(attack.index);
                         });

}  // namespace
}  // namespace puma_hardware
