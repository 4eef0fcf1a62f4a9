// SPDX-License-Identifier: Apache-2.0

// The bus of the emulated cards: addresses, clock, log, and sharing between processes.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

#include "emulated_bus.hpp"
#include "emulator/cards_state.hpp"

namespace puma_hardware::emulator {
namespace {

constexpr std::uint16_t kDac = 0x2C0;

/// A name of this process's own.
std::string own_name(const char* test) { return std::string(test) + std::to_string(getpid()); }

void write_code(PortIo& io, unsigned channel, unsigned code) {
  io.write(static_cast<std::uint16_t>(kDac + 2 * channel), static_cast<std::uint8_t>(code >> 8));
  io.write(static_cast<std::uint16_t>(kDac + 2 * channel + 1), static_cast<std::uint8_t>(code));
}

/// Runs the function in a child process.
pid_t fork_child(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    int status = 0;
    try {
      body();
    } catch (const std::exception&) {
      status = 1;
    }
    _exit(status);
  }
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

template <typename Condition>
bool within_seconds(double seconds, Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

using EmulatedCardsBus = EmulatedBus;

TEST_F(EmulatedCardsBus, AnAddressWithoutACardReadsFfh) {
  EXPECT_EQ(cards().read(0x220), 0xFF);
  expect_illegal("there is no card at this address");
  cards().write(0x1FF, 0);
  expect_illegal("there is no card at this address");
}

TEST_F(EmulatedCardsBus, AnAccessTakesAMicrosecondOnItsOwnClock) {
  const std::int64_t begin = cards().now_ns();
  cards().read(0x302);
  cards().write(0x302, 0);
  EXPECT_EQ(cards().now_ns() - begin, 2000);
  cards().advance(500);
  EXPECT_EQ(cards().now_ns() - begin, 2500);
  cards().advance_to(begin + 9000);
  EXPECT_EQ(cards().now_ns() - begin, 9000);
  cards().advance_to(begin);
  cards().advance(-5);
  EXPECT_EQ(cards().now_ns() - begin, 9000) << "time does not run backwards";
  EXPECT_EQ(cards().accesses(), 2u);
}

TEST_F(EmulatedCardsBus, TheWallClockGoesByItself) {
  EmulatedCards on_the_wall(settings, true);
  const std::int64_t begin = on_the_wall.now_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_GE(on_the_wall.now_ns() - begin, 2'000'000);
  const std::int64_t before = on_the_wall.now_ns();
  on_the_wall.advance(1'000'000'000'000);
  EXPECT_LT(on_the_wall.now_ns() - before, 1'000'000'000'000);
}

TEST_F(EmulatedCardsBus, EqualIllegalAccessesAreToldOnceWithTheirCount) {
  for (int i = 0; i < 1000; ++i) cards().read(kDac);
  cards().write(0x210 + 0xB, 0x42);
  const auto accesses = cards().illegal_accesses();
  ASSERT_EQ(accesses.size(), 2u);
  EXPECT_EQ(accesses[0].port, kDac);
  EXPECT_FALSE(accesses[0].write);
  EXPECT_EQ(accesses[0].count, 1000u);
  EXPECT_EQ(accesses[0].first_ns, 1000);
  EXPECT_EQ(accesses[1].port, 0x21B);
  EXPECT_TRUE(accesses[1].write);
  EXPECT_EQ(accesses[1].value, 0x42);
  EXPECT_EQ(cards().illegal_access_count(), 1001u);
}

TEST_F(EmulatedCardsBus, TheLogIsBoundedAndKeepsTheLatest) {
  for (unsigned port = 0x400; port < 0x500; ++port) cards().read(static_cast<std::uint16_t>(port));
  const auto accesses = cards().illegal_accesses();
  ASSERT_EQ(accesses.size(), 64u);
  for (const IllegalAccess& access : accesses) EXPECT_GE(access.port, 0x4C0);
  EXPECT_EQ(cards().illegal_access_count(), 256u);
}

TEST_F(EmulatedCardsBus, IgnoresJointsThatAreNone) {
  cards().set_encoder(6, 100, 1000, 0);
  cards().place_encoder(-1, 100);
  cards().set_pot_volts(6, 1);
  cards().set_thermal(-1, true);
  cards().inject(CardFault::kThermal, 6);
  cards().clear(CardFault::kThermal, 6);
  EXPECT_EQ(cards().output_volts(6), 0);
  EXPECT_EQ(cards().read(0x303), 0);
}

TEST_F(EmulatedCardsBus, RefusesSettingsThatCannotBe) {
  settings.pcl726.base = settings.pcl818.base;
  EXPECT_THROW(restart(), CardError);
}

// --- shared between processes

TEST(SharedCards, AreOneSetOfCardsForAllProcesses) {
  const std::string name = own_name("one_set");
  const CardSettings settings;
  const auto mine = EmulatedCards::create_shared(name, settings);
  const pid_t child = fork_child([&] {
    const auto theirs = EmulatedCards::open_shared(name, settings);
    write_code(*theirs, 2, 0xC00);
    theirs->read(kDac);
  });
  ASSERT_EQ(wait_for(child), 0);
  EXPECT_EQ(mine->output_volts(2), 5);
  EXPECT_EQ(mine->accesses(), 3u);
  ASSERT_EQ(mine->illegal_accesses().size(), 1u) << "the log is shared too";
  EXPECT_NEAR(static_cast<double>(mine->now_ns() - mine->last_output_change_ns()), 0, 5e9);
}

TEST(SharedCards, KeepTheirVoltageWhenAProcessIsKilled) {
  const std::string name = own_name("keep");
  const CardSettings settings;
  const auto mine = EmulatedCards::create_shared(name, settings);
  const pid_t child = fork_child([&] {
    const auto theirs = EmulatedCards::open_shared(name, settings);
    write_code(*theirs, 0, 0xC00);
    for (;;) pause();
  });
  EXPECT_TRUE(within_seconds(5, [&] { return mine->output_volts(0) == 5; }));
  kill(child, SIGKILL);
  wait_for(child);
  EXPECT_EQ(mine->output_volts(0), 5);
}

TEST(SharedCards, TheLockOfAKilledProcessIsTakenOver) {
  const std::string name = own_name("lock");
  const CardSettings settings;
  const auto mine = EmulatedCards::create_shared(name, settings);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork_child([&] {
    const auto theirs = EmulatedCards::open_shared(name, settings);
    const CardsLock lock(theirs->state());
    if (::write(ready[1], "x", 1) != 1) _exit(1);
    for (;;) pause();
  });
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  kill(child, SIGKILL);
  wait_for(child);
  write_code(*mine, 0, 0x800);
  EXPECT_EQ(mine->output_volts(0), 0);
  EXPECT_EQ(mine->lock_recoveries(), 1u);
  close(ready[0]);
  close(ready[1]);
}

TEST(SharedCards, SurviveProcessesKilledAtAnyMoment) {
  const std::string name = own_name("any_moment");
  const CardSettings settings;
  const auto mine = EmulatedCards::create_shared(name, settings);
  for (int round = 0; round < 20; ++round) {
    const std::uint64_t before = mine->accesses();
    const pid_t child = fork_child([&] {
      const auto theirs = EmulatedCards::open_shared(name, settings);
      for (unsigned code = 0;; ++code) write_code(*theirs, 1, code & 0xFFF);
    });
    EXPECT_TRUE(within_seconds(5, [&] { return mine->accesses() > before + 1000; }));
    kill(child, SIGKILL);
    wait_for(child);
    write_code(*mine, 1, 0x800);
    EXPECT_EQ(mine->output_volts(1), 0);
  }
}

TEST(SharedCards, AreRefusedWithOtherSettings) {
  const std::string name = own_name("settings");
  CardSettings settings;
  const auto mine = EmulatedCards::create_shared(name, settings);
  settings.pcl833.byte_offset = {2, 1, 0};
  try {
    EmulatedCards::open_shared(name, settings);
    ADD_FAILURE();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("pcl833.byte_offset[0] = 0"), std::string::npos)
        << error.what();
  }
  settings = {};
  settings.pcl818.timeout_us = 77;  // a driver's own affair
  EXPECT_NO_THROW(EmulatedCards::open_shared(name, settings));
}

TEST(SharedCards, AreRefusedFromAnotherVersion) {
  const std::string name = own_name("version");
  const CardSettings settings;
  const auto mine = EmulatedCards::create_shared(name, settings);
  ++mine->state().version;
  EXPECT_THROW(EmulatedCards::open_shared(name, settings), std::runtime_error);
  --mine->state().version;
  EXPECT_NO_THROW(EmulatedCards::open_shared(name, settings));
  mine->state().magic = 0;
  EXPECT_THROW(EmulatedCards::open_shared(name, settings), std::runtime_error);
  std::filesystem::resize_file("/dev/shm/puma_cards_" + name, 16);
  EXPECT_THROW(EmulatedCards::open_shared(name, settings), std::runtime_error);
  std::filesystem::resize_file("/dev/shm/puma_cards_" + name, sizeof(CardsState));
}

TEST(SharedCards, AreRemovedByTheirCreatorOnly) {
  const std::string name = own_name("removed");
  const CardSettings settings;
  auto mine = EmulatedCards::create_shared(name, settings);
  EmulatedCards::open_shared(name, settings).reset();
  const pid_t child = fork_child([&] { mine.reset(); });
  ASSERT_EQ(wait_for(child), 0);
  EXPECT_NO_THROW(EmulatedCards::open_shared(name, settings));
  mine.reset();
  try {
    EmulatedCards::open_shared(name, settings);
    ADD_FAILURE();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("start the emulator"), std::string::npos);
  }
}

TEST(SharedCards, OldOnesOfTheNameAreReplaced) {
  const std::string name = own_name("replaced");
  const CardSettings settings;
  const pid_t killed = fork_child([&] {
    const auto old = EmulatedCards::create_shared(name, settings);
    write_code(*old, 0, 0x900);
    _exit(0);  // nothing is tidied up
  });
  ASSERT_EQ(wait_for(killed), 0);
  ASSERT_NO_THROW(EmulatedCards::open_shared(name, settings)) << "they outlive their creator";
  const auto fresh = EmulatedCards::create_shared(name, settings);
  EXPECT_EQ(fresh->output_volts(0), -10);
}

TEST(SharedCards, AreNotTakenFromALivingCreator) {
  const std::string name = own_name("living");
  const CardSettings settings;
  const auto mine = EmulatedCards::create_shared(name, settings);
  write_code(*mine, 0, 0x900);
  try {
    EmulatedCards::create_shared(name, settings);
    ADD_FAILURE();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("process " + std::to_string(getpid())),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(EmulatedCards::open_shared(name, settings)->output_volts(0), mine->output_volts(0));
}

TEST(SharedCards, CanBeWaitedFor) {
  const std::string name = own_name("waited");
  const CardSettings settings;
  const pid_t child = fork_child([&] {
    const auto theirs = EmulatedCards::open_shared(name, settings, 10);
    write_code(*theirs, 0, 0x800);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto mine = EmulatedCards::create_shared(name, settings);
  ASSERT_EQ(wait_for(child), 0);
  EXPECT_EQ(mine->output_volts(0), 0);
}

TEST(SharedCards, HaveNamesThatAFileCanHave) {
  for (const char* name : {"", "a/b", "a b", "ä"}) {
    EXPECT_THROW(EmulatedCards::create_shared(name, {}), std::runtime_error) << name;
  }
}

}  // namespace
}  // namespace puma_hardware::emulator
