// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <stdexcept>

#include "process/heartbeat.hpp"

namespace puma_hardware {
namespace {

/// Its own memory for every test, gone afterwards.
class HeartbeatTest : public testing::Test {
 protected:
  HeartbeatTest()
      : name_(std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + "_" +
              std::to_string(getpid())) {}
  ~HeartbeatTest() override { Heartbeat::remove(name_); }

  std::string name_;
};

int in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(work());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void sleep_ms(long ms) {
  const timespec time{ms / 1000, ms % 1000 * 1'000'000};
  nanosleep(&time, nullptr);
}

TEST_F(HeartbeatTest, StartsDisarmedWithoutGuard) {
  Heartbeat heartbeat(name_);
  EXPECT_FALSE(heartbeat.armed());
  EXPECT_FALSE(heartbeat.tripped());
  EXPECT_FALSE(heartbeat.guard_alive(1'000'000'000));
}

TEST_F(HeartbeatTest, CarriesBeatsAndOutputsToAnotherProcess) {
  Heartbeat heartbeat(name_);
  ASSERT_TRUE(heartbeat.arm());
  heartbeat.beat(0x8005);
  EXPECT_EQ(in_child([&] {
              const Heartbeat guard(name_);
              const bool fresh = guard.beat_age_ns() >= 0 && guard.beat_age_ns() < 1'000'000'000;
              return guard.armed() && fresh && guard.digital_outputs() == 0x8005 &&
                             guard.controller_pid() == getppid()
                         ? 0
                         : 1;
            }),
            0);
}

TEST_F(HeartbeatTest, AgesFromTheLastBeat) {
  Heartbeat heartbeat(name_);
  heartbeat.arm();
  sleep_ms(20);
  EXPECT_GE(heartbeat.beat_age_ns(), 20'000'000);
  const std::int64_t before = monotonic_ns();
  heartbeat.beat(0);
  const std::int64_t age = heartbeat.beat_age_ns();
  EXPECT_GE(age, 0);
  EXPECT_LE(age, monotonic_ns() - before);
}

TEST_F(HeartbeatTest, ShowsWhetherTheGuardLives) {
  Heartbeat heartbeat(name_);
  heartbeat.guard_beat();
  EXPECT_TRUE(heartbeat.guard_alive(1'000'000'000));
  sleep_ms(10);
  EXPECT_FALSE(heartbeat.guard_alive(5'000'000));
}

TEST_F(HeartbeatTest, TripDisarmsUntilArmedAnew) {
  Heartbeat heartbeat(name_);
  heartbeat.arm();
  heartbeat.trip();
  EXPECT_TRUE(heartbeat.tripped());
  EXPECT_FALSE(heartbeat.armed());
  EXPECT_TRUE(heartbeat.arm());
  EXPECT_FALSE(heartbeat.tripped());
}

TEST_F(HeartbeatTest, RefusesASecondControllerWhileTheFirstLives) {
  Heartbeat heartbeat(name_);
  ASSERT_TRUE(heartbeat.arm());
  EXPECT_EQ(in_child([&] { return Heartbeat(name_).arm() ? 1 : 0; }), 0);
  heartbeat.disarm();
  EXPECT_EQ(in_child([&] { return Heartbeat(name_).arm() ? 1 : 0; }), 1);
}

TEST_F(HeartbeatTest, TellsWhenSomebodyElseEndedIt) {
  Heartbeat heartbeat(name_);
  EXPECT_FALSE(heartbeat.overruled()) << "never armed";
  ASSERT_TRUE(heartbeat.arm());
  EXPECT_FALSE(heartbeat.overruled());
  Heartbeat(name_).disarm();
  EXPECT_TRUE(heartbeat.overruled());
  ASSERT_TRUE(heartbeat.arm());
  EXPECT_FALSE(heartbeat.overruled());
  heartbeat.trip();
  EXPECT_FALSE(heartbeat.overruled()) << "that was the guard";
  ASSERT_TRUE(heartbeat.arm());
  heartbeat.disarm();
  EXPECT_FALSE(heartbeat.overruled()) << "that was its own end";
}

TEST_F(HeartbeatTest, CarriesTheGuardsSettings) {
  Heartbeat heartbeat(name_);
  EXPECT_EQ(heartbeat.guard_settings(), 0U);
  EXPECT_EQ(in_child([&] {
              Heartbeat(name_).watch(0x02C0'0002'0002'FFFF, 8'000'000);
              return 0;
            }),
            0);
  EXPECT_EQ(heartbeat.guard_settings(), 0x02C0'0002'0002'FFFFU);
}

TEST_F(HeartbeatTest, IsNotArmedWithoutItsGuard) {
  Heartbeat heartbeat(name_);
  ASSERT_EQ(in_child([&] {
              Heartbeat guard(name_);
              guard.watch(1, 8'000'000);
              guard.guard_beat();
              return 0;
            }),
            0);
  ASSERT_TRUE(heartbeat.guard_alive(1'000'000'000)) << "by its last sign of life";
  EXPECT_FALSE(heartbeat.arm()) << "but its process has ended";
  EXPECT_FALSE(heartbeat.armed());
  Heartbeat(name_).watch(1, 8'000'000);  // its successor
  EXPECT_TRUE(heartbeat.arm());
}

TEST_F(HeartbeatTest, NoticesAGuardThatHadEndedBeforeItWasWatched) {
  Heartbeat heartbeat(name_);
  heartbeat.watch(1, 8'000'000);
  ASSERT_TRUE(heartbeat.arm());
  EXPECT_FALSE(heartbeat.guard_ended());
  in_child([&] {
    Heartbeat(name_).watch(1, 8'000'000);
    return 0;
  });
  heartbeat.guard_ended();
  sleep_ms(25);
  EXPECT_TRUE(heartbeat.guard_ended()) << "there is no process to get a descriptor of";
}

TEST_F(HeartbeatTest, KnowsWhetherOthersWouldFindIt) {
  const Heartbeat heartbeat(name_);
  EXPECT_TRUE(heartbeat.present());
  Heartbeat::remove(name_);
  EXPECT_FALSE(heartbeat.present());
  const Heartbeat another(name_);
  EXPECT_TRUE(another.present());
  EXPECT_FALSE(heartbeat.present()) << "that is another one";
}

TEST_F(HeartbeatTest, IsTakenOverFromADeadController) {
  ASSERT_EQ(in_child([&] { return Heartbeat(name_).arm() ? 0 : 1; }), 0);
  Heartbeat heartbeat(name_);
  EXPECT_TRUE(heartbeat.armed());
  EXPECT_TRUE(heartbeat.arm());
  EXPECT_EQ(heartbeat.controller_pid(), getpid());
}

TEST(HeartbeatName, RefusesWhatCannotBeAFileName) {
  for (const char* name : {"", "a/b", "a b"}) {
    EXPECT_THROW(Heartbeat{name}, std::runtime_error) << name;
  }
  EXPECT_THROW(Heartbeat{std::string(65, 'a')}, std::runtime_error);
}

}  // namespace
}  // namespace puma_hardware
