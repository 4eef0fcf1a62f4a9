// SPDX-License-Identifier: Apache-2.0
// The guard beside a controlling process that dies or stalls, over emulated cards in shared memory.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "cards/pcl726.hpp"
#include "emulator/emulated_cards.hpp"
#include "process/guard.hpp"

namespace puma_hardware {
namespace {

void sleep_ms(long ms) {
  const timespec time{ms / 1000, ms % 1000 * 1'000'000};
  nanosleep(&time, nullptr);
}

constexpr int kTool = 0, kPower = 2, kBrake = 9;
constexpr double kPatience = 0.5;  ///< s

CardSettings wired_settings() {
  CardSettings settings;
  settings.pcl726.power_output = kPower;
  settings.pcl726.brake_output = kBrake;
  return settings;
}

/// A controlling process that drives all six outputs and beats every millisecond.
[[noreturn]] void control(const std::string& name, const CardSettings& settings) {
  const auto cards = emulator::EmulatedCards::open_shared(name, settings);
  Heartbeat heartbeat(name);
  Pcl726 outputs(*cards, settings.pcl726);
  if (!heartbeat.arm()) _exit(3);
  for (const int bit : {kTool, kPower, kBrake}) outputs.write_output(bit, true);
  for (;;) {
    if (heartbeat.tripped()) _exit(4);
    for (int channel = 0; channel < 6; ++channel) outputs.write_volts(channel, 3.0 + channel);
    heartbeat.beat(outputs.outputs());
    sleep_ms(1);
  }
}

class GuardTest : public testing::Test {
 protected:
  GuardTest()
      : name_(std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + "_" +
              std::to_string(getpid())),
        cards_(emulator::EmulatedCards::create_shared(name_, settings_)),
        heartbeat_(name_) {}

  ~GuardTest() override {
    stop_guard();
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    Heartbeat::remove(name_);
  }

  /// The machine of the tests may stall for a tenth of a second: more patience than on an arm. A
  /// death is seen at once all the same.
  void start_guard(const GuardOptions& options = {kPatience, 0.001}) {
    guard_ = std::thread([this, options] {
      run_guard(*cards_, settings_.pcl726, heartbeat_, options, stop_, [this](const auto& event) {
        const std::lock_guard lock(mutex_);
        events_.push_back(event);
      });
    });
  }

  void stop_guard() {
    stop_ = true;
    if (guard_.joinable()) guard_.join();
  }

  void start_controller() {
    child_ = fork();
    if (child_ == 0) control(name_, settings_);
    for (int i = 0; i < 2000 && cards_->output_volts(5) < 7; ++i) sleep_ms(1);
    ASSERT_NEAR(cards_->output_volts(5), 8, 0.01);
  }

  bool all_zero() const {
    for (int joint = 0; joint < 6; ++joint) {
      if (cards_->output_volts(joint) != 0) return false;
    }
    return true;
  }

  /// ms until all outputs are at 0 V, from now.
  double time_to_zero() {
    const std::int64_t start = monotonic_ns();
    while (!all_zero() && monotonic_ns() - start < 2'000'000'000) {
      const timespec pause{0, 50'000};
      nanosleep(&pause, nullptr);
    }
    return static_cast<double>(monotonic_ns() - start) * 1e-6;
  }

  bool seen(GuardEvent::Kind kind) {
    const std::lock_guard lock(mutex_);
    for (const GuardEvent& event : events_) {
      if (event.kind == kind) return true;
    }
    return false;
  }

  CardSettings settings_ = wired_settings();
  std::string name_;
  std::unique_ptr<emulator::EmulatedCards> cards_;
  Heartbeat heartbeat_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::vector<GuardEvent> events_;
  std::thread guard_;
  pid_t child_ = 0;
};

TEST_F(GuardTest, OutlastsTheProcessThatDrivesTheArm) {
  GuardOptions options{kPatience, 0.001};
  options.outlast = true;
  start_guard(options);
  start_controller();
  stop_ = true;
  sleep_ms(50);
  EXPECT_FALSE(all_zero()) << "the arm is still driven";
  kill(child_, SIGKILL);
  EXPECT_LT(time_to_zero(), 1000) << "and the guard was still there";
  stop_guard();
  EXPECT_TRUE(seen(GuardEvent::Kind::kTripped));
}

TEST_F(GuardTest, CutsTheOutputsOfAKilledProcess) {
  start_guard();
  std::vector<double> times;
  for (int round = 0; round < 5; ++round) {
    start_controller();
    kill(child_, SIGKILL);
    times.push_back(time_to_zero());
    waitpid(child_, nullptr, 0);
    child_ = 0;
  }
  std::sort(times.begin(), times.end());
  std::printf("kill -9, five times: all outputs at 0 V after %.2f to %.2f ms, median %.2f ms\n",
              times.front(), times.back(), times[2]);
  EXPECT_LT(times[2], 20);
  sleep_ms(5);
  EXPECT_FALSE(cards_->digital_output(kPower));
  EXPECT_FALSE(cards_->digital_output(kBrake));
  EXPECT_TRUE(cards_->digital_output(kTool)) << "a gripper must not drop its part";
  EXPECT_TRUE(heartbeat_.tripped());
  EXPECT_TRUE(seen(GuardEvent::Kind::kTripped));
}

TEST_F(GuardTest, WithoutAGuardTheVoltageStays) {
  start_controller();
  kill(child_, SIGKILL);
  sleep_ms(50);
  EXPECT_NEAR(cards_->output_volts(5), 8, 0.01) << "the cards outlive the process";
}

TEST_F(GuardTest, CutsTheOutputsOfAStalledProcessWhichThenGivesUp) {
  start_guard();
  start_controller();
  kill(child_, SIGSTOP);
  const double ms = time_to_zero();
  EXPECT_GT(ms, 0.8e3 * kPatience) << "not before its time";
  EXPECT_LT(ms, 1e3 * kPatience + 300);
  kill(child_, SIGCONT);
  int status = 0;
  waitpid(child_, &status, 0);
  child_ = 0;
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 4) << "it sees the trip";
  sleep_ms(50);
  EXPECT_TRUE(all_zero()) << "a write that was under way does not last";
}

TEST_F(GuardTest, CutsWhatAProcessLeftThatDiedBeforeTheGuardCame) {
  start_controller();
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
  child_ = 0;
  start_guard();
  EXPECT_LT(time_to_zero(), 300);
}

TEST_F(GuardTest, WritesNothingAfterACleanStop) {
  start_guard();
  ASSERT_TRUE(heartbeat_.arm());
  Pcl726 outputs(*cards_, settings_.pcl726);
  for (int i = 0; i < 10; ++i) {
    heartbeat_.beat(0);
    sleep_ms(1);
  }
  heartbeat_.disarm();
  sleep_ms(5);
  const std::uint64_t before = cards_->accesses();
  sleep_ms(40);
  EXPECT_EQ(cards_->accesses(), before);
  EXPECT_FALSE(heartbeat_.tripped());
  stop_guard();
  EXPECT_TRUE(seen(GuardEvent::Kind::kReleased));
}

TEST_F(GuardTest, AWriteAfterTheTripDoesNotLast) {
  start_guard();
  start_controller();
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
  child_ = 0;
  time_to_zero();
  ASSERT_TRUE(all_zero());
  sleep_ms(20);
  Pcl726 late(*cards_, settings_.pcl726);  // writes 0 V when it comes and when it goes
  late.write_volts(3, 5);
  time_to_zero();
  EXPECT_TRUE(all_zero()) << "it goes on writing 0 V until somebody arms again";
}

TEST_F(GuardTest, ReportsEachChangeOnce) {
  start_guard();
  sleep_ms(20);  // nothing to report
  ASSERT_TRUE(heartbeat_.arm());
  for (int i = 0; i < 20; ++i) {
    heartbeat_.beat(0);
    sleep_ms(1);
  }
  heartbeat_.disarm();
  for (int i = 0; i < 2000 && !seen(GuardEvent::Kind::kReleased); ++i) sleep_ms(1);
  start_controller();
  const pid_t controller = child_;
  kill(child_, SIGKILL);
  time_to_zero();
  for (int i = 0; i < 2000 && !seen(GuardEvent::Kind::kTripped); ++i) sleep_ms(1);
  sleep_ms(20);
  stop_guard();
  using Kind = GuardEvent::Kind;
  std::vector<Kind> kinds;
  for (const GuardEvent& event : events_) kinds.push_back(event.kind);
  EXPECT_EQ(kinds,
            (std::vector{Kind::kWatching, Kind::kReleased, Kind::kWatching, Kind::kTripped}));
  ASSERT_FALSE(events_.empty());
  EXPECT_EQ(events_.front().pid, getpid());
  EXPECT_EQ(events_.back().pid, controller);
  EXPECT_TRUE(events_.back().died);
}

TEST_F(GuardTest, RefusesOptionsThatCannotBe) {
  const auto ignore = [](const GuardEvent&) {};
  for (const GuardOptions options : {GuardOptions{0.008, 0}, GuardOptions{0.001, 0.002},
                                     GuardOptions{2, 0.001}, GuardOptions{-1, 0.001}}) {
    EXPECT_THROW(run_guard(*cards_, settings_.pcl726, heartbeat_, options, stop_, ignore),
                 std::invalid_argument);
  }
}

}  // namespace
}  // namespace puma_hardware
