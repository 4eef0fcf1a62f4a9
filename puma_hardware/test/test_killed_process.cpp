// SPDX-License-Identifier: Apache-2.0

// The real commands as processes of their own: `puma emulate` is the robot, `puma guard` watches,
// `puma run` drives and is killed in mid-motion.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "emulator/emulated_cards.hpp"
#include "process/heartbeat.hpp"
#include "runtime/robot.hpp"

namespace puma_hardware {
namespace {

void sleep_us(long us) {
  const timespec time{us / 1'000'000, us % 1'000'000 * 1000};
  nanosleep(&time, nullptr);
}

/// A `puma` command that is ended with the object.
class Process {
 public:
  explicit Process(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), PUMA_COMMAND);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&pid_, PUMA_COMMAND, &actions, nullptr, argv.data(), environ) != 0) pid_ = 0;
    posix_spawn_file_actions_destroy(&actions);
  }
  ~Process() { end(SIGTERM); }
  int end(int signal) {
    if (pid_ == 0) return -1;
    kill(pid_, signal);
    return wait();
  }
  int wait() {
    int status = 0;
    if (pid_ != 0) waitpid(pid_, &status, 0);
    pid_ = 0;
    return status;
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

bool within(double seconds, const std::function<bool()>& condition) {
  const std::int64_t end = monotonic_ns() + static_cast<std::int64_t>(seconds * 1e9);
  while (monotonic_ns() < end) {
    if (condition()) return true;
    sleep_us(200);
  }
  return condition();
}

class KilledProcess : public testing::Test {
 protected:
  KilledProcess() {
    const auto chain = ga_dynamics::Chain::from_urdf_file(PUMA_URDF);
    settings_ = ArmSettings::from(chain, with_emulated_wiring({}));
  }
  ~KilledProcess() override { Heartbeat::remove(name_); }

  void start_robot_and_guard() {
    robot_ = std::make_unique<Process>(std::vector<std::string>{"emulate", name_});
    cards_ = emulator::EmulatedCards::open_shared(name_, settings_.cards, 20);
    guard_ = std::make_unique<Process>(std::vector<std::string>{
        "guard", "--cell", name_, "--timeout", "500"});  // a death it sees at once
    Heartbeat heartbeat(name_);
    ASSERT_TRUE(within(20, [&] { return heartbeat.guard_alive(50'000'000); }));
  }
  /// The machine that runs the tests may stall for tens of milliseconds.
  Process drive() {
    return Process({"run", "--cell", name_, "--trajectory", "quintic", "--set",
                    "safety.max_missed_deadlines=1000", "--set", "safety.deadline_ratio=10"});
  }
  bool moves() {
    double fastest = 0;
    for (const double qd : cards_->truth().qd) fastest = std::max(fastest, std::abs(qd));
    return fastest > 0.02;
  }
  bool all_zero() const {
    for (int joint = 0; joint < 6; ++joint) {
      if (cards_->output_volts(joint) != 0) return false;
    }
    return true;
  }

  std::string name_ = "killed_" + std::to_string(getpid());
  ArmSettings settings_;
  std::unique_ptr<Process> robot_, guard_;
  std::unique_ptr<emulator::EmulatedCards> cards_;
};

TEST_F(KilledProcess, LeavesAllSixOutputsAtZeroWithin20Milliseconds) {
  start_robot_and_guard();
  std::vector<double> times;
  for (int round = 0; round < 3; ++round) {
    Process driver = drive();
    ASSERT_TRUE(within(60, [&] { return moves() && !all_zero(); })) << "it never moved";
    sleep_us(100'000 * (round + 1));
    ASSERT_FALSE(all_zero());
    const std::int64_t killed = monotonic_ns();
    kill(driver.pid(), SIGKILL);
    ASSERT_TRUE(within(2, [&] { return all_zero(); }));
    times.push_back(static_cast<double>(monotonic_ns() - killed) * 1e-6);
    driver.wait();
    EXPECT_TRUE(
        within(2, [&] { return !cards_->digital_output(settings_.cards.pcl726.power_output); }));
    EXPECT_TRUE(within(5, [&] { return !moves(); })) << "the brakes hold it";
  }
  std::sort(times.begin(), times.end());
  std::printf("kill -9 in mid-motion: all six outputs at 0 V after %.2f, %.2f, %.2f ms\n", times[0],
              times[1], times[2]);
  EXPECT_LT(times[1], 20) << "the median: the machine of the tests may stall";
}

TEST_F(KilledProcess, NothingMovesWithoutAGuard) {
  start_robot_and_guard();
  guard_->end(SIGTERM);
  sleep_us(200'000);
  const int status = drive().wait();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_FALSE(cards_->truth().powered) << "the arm was not touched";
}

TEST_F(KilledProcess, ALostGuardStopsTheArm) {
  start_robot_and_guard();
  Process driver = drive();
  ASSERT_TRUE(within(60, [&] { return moves() && !all_zero(); }));
  guard_->end(SIGKILL);  // which would replace a guard
  kill(Heartbeat(name_).guard_pid(), SIGKILL);
  const int status = driver.wait();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_TRUE(all_zero());
}

TEST_F(KilledProcess, AKilledGuardIsReplacedAndCutsWhatTheControllerLeaves) {
  start_robot_and_guard();
  Process driver = drive();
  ASSERT_TRUE(within(60, [&] { return moves() && !all_zero(); }));
  Heartbeat heartbeat(name_);
  const int first = heartbeat.guard_pid();
  kill(first, SIGKILL);
  kill(driver.pid(), SIGKILL);
  const std::int64_t killed = monotonic_ns();
  ASSERT_TRUE(within(10, [&] { return all_zero(); }));
  std::printf("guard and controller killed at once: 0 V after %.1f ms\n",
              static_cast<double>(monotonic_ns() - killed) * 1e-6);
  EXPECT_NE(heartbeat.guard_pid(), first);
  EXPECT_TRUE(
      within(2, [&] { return !cards_->digital_output(settings_.cards.pcl726.power_output); }));
}

TEST_F(KilledProcess, AGuardWithoutItsParentWatchesToTheEnd) {
  start_robot_and_guard();
  Process driver = drive();
  ASSERT_TRUE(within(60, [&] { return moves() && !all_zero(); }));
  guard_->end(SIGKILL);
  sleep_us(100'000);
  EXPECT_FALSE(all_zero()) << "it goes on";
  kill(driver.pid(), SIGKILL);
  EXPECT_TRUE(within(2, [&] { return all_zero(); }));
}

TEST_F(KilledProcess, CtrlCStopsTheArmCleanly) {
  start_robot_and_guard();
  Process driver = drive();
  ASSERT_TRUE(within(60, [&] { return moves() && !all_zero(); }));
  const int status = driver.end(SIGINT);
  ASSERT_TRUE(WIFEXITED(status)) << "it ends by itself";
  EXPECT_TRUE(all_zero());
  EXPECT_FALSE(Heartbeat(name_).tripped()) << "the guard had nothing to do";
  EXPECT_TRUE(cards_->illegal_accesses().empty());
}

}  // namespace
}  // namespace puma_hardware
