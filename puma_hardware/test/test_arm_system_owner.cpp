// SPDX-License-Identifier: Apache-2.0

// PumaSystem beside another program that has the same cards.

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>

#include "arm_bench.hpp"
#include "emulator/emulated_cell.hpp"
#include "plugins/arm_setup.hpp"
#include "process/heartbeat.hpp"
#include "runtime/robot.hpp"

namespace {

using puma_hardware::Bus;
using puma_hardware::CardClaim;
using test::ArmBench;
using test::States;

/// `puma emulate` in a thread.
class EmulatedRobot {
 public:
  EmulatedRobot()
      : chain_(ga_dynamics::Chain::from_urdf_file(PUMA_URDF)),
        settings(puma_hardware::ArmSettings::from(chain_, puma_hardware::with_emulated_wiring({}))),
        thread_([this] {
          puma_hardware::emulator::run_emulator(name, settings, chain_,
                                                {puma_hardware::default_emulated_arm()}, stop_,
                                                [this](auto&, auto&) { ready_ = true; });
        }) {
    while (!ready_) std::this_thread::yield();
  }
  ~EmulatedRobot() {
    stop_ = true;
    thread_.join();
    puma_hardware::Heartbeat::remove(name);
  }

 private:
  ga_dynamics::Chain chain_;

 public:
  std::string name = "owner_" + std::to_string(getpid());
  puma_hardware::ArmSettings settings;

 private:
  std::atomic<bool> stop_ = false, ready_ = false;
  std::thread thread_;
};

TEST(ArmSystemOwner, LeavesCardsAloneThatAnotherProgramHas) {
  EmulatedRobot robot;
  const auto cards =
      puma_hardware::emulator::EmulatedCards::open_shared(robot.name, robot.settings.cards);
  ArmBench bench(test::Parameters{{"cell", robot.name}, {"guard", "false"}});
  std::optional<CardClaim> other(std::in_place, Bus::kShared, robot.name, robot.settings.cards);
  const std::uint64_t before = cards->accesses();
  bench.system().configure();
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_UNCONFIGURED);
  EXPECT_EQ(cards->accesses(), before) << "not one port access";

  other.reset();
  bench.system().configure();
  ASSERT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE);
  EXPECT_THROW(CardClaim(Bus::kShared, robot.name, robot.settings.cards), puma_hardware::CardError)
      << "an inactive component writes as well";

  bench.system().cleanup();
  EXPECT_NO_THROW(CardClaim(Bus::kShared, robot.name, robot.settings.cards));
  bench.system().configure();
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE) << "and it can have them again";
}

}  // namespace
