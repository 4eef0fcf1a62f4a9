// SPDX-License-Identifier: Apache-2.0

// One process at a time owns the cards; none accesses them before it owns them.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "emulator/emulated_cards.hpp"
#include "process/guard.hpp"
#include "runtime/arm_driver.hpp"
#include "runtime/robot.hpp"

namespace puma_hardware {
namespace {

constexpr std::int64_t kGuardTimeout = 100'000'000;  ///< ns

std::string own_name(const char* what) {
  return std::string(what) + "_" + std::to_string(getpid());
}

/// What it throws, or nothing.
std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

/// A child that does this, says that it is done and waits to be killed.
class Child {
 public:
  explicit Child(const std::function<void()>& work) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      work();
      EXPECT_EQ(write(ends[1], "x", 1), 1);
      for (;;) pause();
    }
    char done = 0;
    EXPECT_EQ(read(ends[0], &done, 1), 1);
    close(ends[0]);
    close(ends[1]);
  }
  ~Child() { end(); }
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

TEST(ProcessLock, IsHeldByOneAndTellsByWhom) {
  const std::string name = own_name("lock");
  Child holder([&] {
    static auto held = ProcessLock::take(name, "a note");
    if (!held) _exit(1);
  });
  EXPECT_FALSE(ProcessLock::take(name));
  const ProcessLock::Holder who = ProcessLock::holder(name);
  EXPECT_EQ(who.pid, holder.pid());
  EXPECT_NE(who.command.find("test_card_claim"), std::string::npos) << who.command;
  EXPECT_EQ(who.note, "a note");
  holder.end();
  EXPECT_TRUE(ProcessLock::take(name)) << "kill -9 gives it back";
  EXPECT_TRUE(ProcessLock::take(name)) << "and so does the object's end";
  EXPECT_FALSE(std::filesystem::exists("/dev/shm/puma_lock_" + name)) << "nothing is left";
}

TEST(ProcessLock, IsNotGivenBackByAForkedChild) {
  const std::string name = own_name("forked");
  auto held = ProcessLock::take(name);
  ASSERT_TRUE(held);
  const pid_t child = fork();
  if (child == 0) {
    held.reset();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(ProcessLock::take(name));
}

TEST(ProcessLock, RefusesWhatCannotBeAFileName) {
  for (const char* name : {"", "a/b", "a b"}) {
    EXPECT_THROW(ProcessLock::take(name), std::runtime_error) << name;
  }
}

TEST(CardClaim, OfPortsCoversEveryCard) {
  // Addresses of no card, so that an arm on this machine is left alone.
  CardSettings settings;
  settings.pcl818.base = 0x320;
  settings.pcl726.base = 0x340;
  settings.pcl833.base = {0x360, 0x370};
  EXPECT_EQ(cards_name(Bus::kPorts, "", settings), "ports-340");
  std::optional<CardClaim> claim(std::in_place, Bus::kPorts, "", settings);
  CardSettings other;
  other.pcl818.base = 0x220;
  other.pcl726.base = 0x240;
  other.pcl833.base = {0x260, 0x370};
  const std::string told = refusal([&] { CardClaim(Bus::kPorts, "", other); });
  EXPECT_NE(told.find("second PCL-833 (pcl833.base) at 0x370"), std::string::npos) << told;
  EXPECT_NE(told.find("process " + std::to_string(getpid())), std::string::npos) << told;
  other.pcl833.base = {0x260, 0x270};
  EXPECT_NO_THROW(CardClaim(Bus::kPorts, "", other)) << "a second arm with cards of its own";
  claim.reset();
  EXPECT_NO_THROW(CardClaim(Bus::kPorts, "", settings));
}

class SharedArm : public testing::Test {
 protected:
  SharedArm()
      : chain_(ga_dynamics::Chain::from_urdf_file(PUMA_URDF)),
        settings_(ArmSettings::from(chain_, with_emulated_wiring({}))),
        cards_(emulator::EmulatedCards::create_shared(name_, settings_.cards)) {}
  ~SharedArm() override { Heartbeat::remove(name_); }

  std::string name_ = own_name("claimed");
  ga_dynamics::Chain chain_;
  ArmSettings settings_;
  std::unique_ptr<emulator::EmulatedCards> cards_;
};

TEST_F(SharedArm, IsNotTouchedByASecondProcess) {
  Child first([&] {
    static Robot robot(chain_, {}, Bus::kShared, name_);
    static ArmDriver driver(robot, nullptr, {});
    driver.read(0.001);
    driver.idle();
  });
  const std::uint64_t before = cards_->accesses();
  Robot robot(chain_, {}, Bus::kShared, name_);
  const std::string told = refusal([&] { ArmDriver(robot, nullptr, {}); });
  EXPECT_NE(told.find("process " + std::to_string(first.pid())), std::string::npos) << told;
  EXPECT_EQ(cards_->accesses(), before) << "not one port access";
  first.end();
  EXPECT_NO_THROW(ArmDriver(robot, nullptr, {}));
  EXPECT_GT(cards_->accesses(), before);
}

TEST_F(SharedArm, IsFreeWhenItsDriverIsGone) {
  Robot robot(chain_, {}, Bus::kShared, name_), again(chain_, {}, Bus::kShared, name_);
  auto driver = std::make_unique<ArmDriver>(robot, nullptr, ArmDriverOptions{});
  EXPECT_THROW(ArmDriver(again, nullptr, {}), CardError);
  driver.reset();
  EXPECT_NO_THROW(ArmDriver(again, nullptr, {}));
}

TEST_F(SharedArm, KnowsAGuardByItsSettings) {
  Heartbeat heartbeat(name_);
  Robot robot(chain_, {}, Bus::kShared, name_);
  ArmDriverOptions options;
  options.guard_timeout = 60;
  ArmDriver driver(robot, &heartbeat, options);
  heartbeat.guard_beat();
  EXPECT_FALSE(driver.guard_alive()) << "of unknown settings";
  Pcl726Settings other = robot.settings().cards.pcl726;
  other.coding = DacCoding::kTwosComplement;
  heartbeat.watch(cut_settings(other), kGuardTimeout);
  EXPECT_FALSE(driver.guard_alive()) << "what it would write is not 0 V";
  heartbeat.watch(cut_settings(robot.settings().cards.pcl726), kGuardTimeout);
  EXPECT_TRUE(driver.guard_alive());
}

/// A cycle without torque; returns the fault.
Fault cycle(ArmDriver& driver) {
  const std::array<double, 6> none{};
  driver.read(0.001);
  driver.command(none, 0);
  return driver.arm().safety().cause().fault;
}
/// Drives an arm whose power is allowed.
void make_active(ArmDriver& driver) {
  const std::array<double, 6> pose{0, -1.5, 1.5, 0, 0, 0};
  cycle(driver);
  ASSERT_TRUE(driver.arm().set_position(pose));
  EXPECT_EQ(cycle(driver), Fault::kNone);
  ASSERT_EQ(driver.arm().safety().state(), SafetyState::kActive);
}

TEST_F(SharedArm, StopsWhenNobodyWatchesItAnyMore) {
  Heartbeat heartbeat(name_);
  Robot robot(chain_, {}, Bus::kShared, name_);
  ArmDriverOptions options;
  options.guard_timeout = 60;
  ArmDriver driver(robot, &heartbeat, options);
  driver.allow_power(true);
  heartbeat.watch(cut_settings(robot.settings().cards.pcl726), kGuardTimeout);
  heartbeat.guard_beat();
  ASSERT_TRUE(driver.arm_guard());
  make_active(driver);
  Heartbeat(name_).disarm();
  EXPECT_EQ(cycle(driver), Fault::kGuardLost);
}

TEST_F(SharedArm, StopsWhenItsLockWasRemoved) {
  for (const bool replaced : {false, true}) {
    SCOPED_TRACE(replaced);
    Robot robot(chain_, {}, Bus::kShared, name_);
    ArmDriver driver(robot, nullptr, {});
    driver.allow_power(true);
    make_active(driver);
    const std::string path = "/dev/shm/puma_lock_cards-" + name_;
    ASSERT_EQ(std::remove(path.c_str()), 0);
    if (replaced) std::ofstream(path) << "another\n";
    Fault fault = Fault::kNone;
    for (int k = 0; k < 2000 && fault == Fault::kNone; ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      fault = cycle(driver);
    }
    EXPECT_EQ(fault, Fault::kClaimLost);
    const std::string text = describe(driver.arm().safety().cause(), robot.settings());
    EXPECT_NE(text.find("RemoveIPC=no"), std::string::npos) << text;
    EXPECT_NE(driver.power_refusal().find("removed or replaced"), std::string::npos);
    std::remove(path.c_str());
  }
}

TEST_F(SharedArm, DoesNotWaitForAnArmThatStands) {
  Robot robot(chain_, {}, Bus::kShared, name_);
  ArmDriver driver(robot, nullptr, {});
  const std::uint64_t before = cards_->accesses();
  driver.read(0.001);
  driver.idle();
  const std::uint64_t of_a_cycle = cards_->accesses() - before;
  driver.stop_and_wait();
  EXPECT_LT(cards_->accesses() - before, 2 * of_a_cycle) << "it waits for cycles of the arm";
}

}  // namespace
}  // namespace puma_hardware
