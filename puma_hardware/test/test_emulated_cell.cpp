// SPDX-License-Identifier: Apache-2.0

// The emulated robot as a process of its own, on the wall clock.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "cards/pcl726.hpp"
#include "cards/pcl818.hpp"
#include "cards/pcl833.hpp"
#include "emulator/cards_state.hpp"
#include "emulator/emulated_cell.hpp"

namespace puma_hardware::emulator {
namespace {

std::string own_name(const char* test) { return std::string(test) + std::to_string(getpid()); }

class EmulatedCell : public ::testing::Test {
 protected:
  EmulatedCell()
      : chain(ga_dynamics::Chain::from_urdf_file(PUMA_URDF)),
        settings(ArmSettings::from(chain, {{"pcl726.power_output", "2"}})) {}
  ga_dynamics::Chain chain;
  ArmSettings settings;
  EmulatedCellOptions options;
  std::atomic<bool> stop{false};
};

TEST_F(EmulatedCell, RunsInRealTimeUntilItIsStopped) {
  const std::string name = own_name("real_time");
  std::thread stopper;
  std::chrono::steady_clock::time_point begin;
  const auto report = run_emulator(name, settings, chain, options, stop,
                                   [&](EmulatedCards& cards, EmulatedArm& arm) {
                                     EXPECT_FALSE(arm.powered());
                                     EXPECT_EQ(cards.truth().time, 0);
                                     begin = std::chrono::steady_clock::now();
                                     stopper = std::thread([&] {
                                       std::this_thread::sleep_for(std::chrono::milliseconds(400));
                                       stop = true;
                                     });
                                   });
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  stopper.join();
  EXPECT_LT(report.simulated + report.skipped, wall.count() + 1e-3);
  EXPECT_GT(report.simulated + report.skipped, 0.3) << "at most max_catch_up behind";
  EXPECT_NEAR(static_cast<double>(report.steps), report.simulated * 1000, 1e-6);
  EXPECT_THROW(EmulatedCards::open_shared(name, settings.cards), std::runtime_error);
}

TEST_F(EmulatedCell, SkipsAPauseThatIsTooLongToCatchUp) {
  options.max_catch_up = 0.01;
  std::thread stopper;
  const auto report = run_emulator(
      own_name("pause"), settings, chain, options, stop, [&](EmulatedCards& cards, EmulatedArm&) {
        stopper = std::thread([&] {
          {
            const CardsLock lock(cards.state());  // the arm has to wait
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
          }
          const double then = cards.truth().time;
          for (int k = 0; k < 10000 && cards.truth().time < then + 0.01; ++k) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
          stop = true;
        });
      });
  stopper.join();
  EXPECT_GT(report.skipped, 0.15);
  EXPECT_GT(report.longest_step, 0.01) << "it waited for the lock";
}

TEST_F(EmulatedCell, IsARobotForAnotherProcessAndOutlivesIt) {
  const std::string name = own_name("robot");
  const pid_t robot = fork();
  if (robot == 0) {
    try {
      run_emulator(name, settings, chain, options, stop);
    } catch (const std::exception&) {
    }
    _exit(1);
  }
  {
    const auto cards = EmulatedCards::open_shared(name, settings.cards, 10);
    {
      Pcl726 dac(*cards, settings.cards.pcl726);
      Pcl833 counters(*cards, settings.cards.pcl833, 0);
      dac.write_output(2, true);
      dac.write_volts(0, -5);
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      std::int64_t count = 0;
      while (count < 500 && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        count = counters.read(0);
      }
      EXPECT_GE(count, 500);
      EXPECT_GT(cards->truth().q[0], 0.04);
      Pcl818 ad(*cards, settings.cards.pcl818);
      AdSample pot;
      for (int attempt = 0; attempt < 100 && pot.status != AdStatus::kOk; ++attempt) {
        pot = ad.convert(0);  // may time out if the machine takes the processor away
      }
      EXPECT_EQ(pot.status, AdStatus::kOk);
      EXPECT_GT(pot.volts, 2.5) << "joint 1 is beyond the middle of its travel";
    }
    // A process that is killed while it drives the arm leaves the voltage where it is.
    const pid_t controller = fork();
    if (controller == 0) {
      const auto theirs = EmulatedCards::open_shared(name, settings.cards);
      theirs->write(0x2C0, 0xC);
      theirs->write(0x2C1, 0x00);
      for (;;) theirs->read(0x302);
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (cards->output_volts(0) != 5 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    kill(controller, SIGKILL);
    waitpid(controller, nullptr, 0);
    EXPECT_EQ(cards->output_volts(0), 5);
    const double then = cards->truth().time;
    while (cards->truth().time < then + 0.05 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_GE(cards->truth().time, then + 0.05) << "the robot goes on";
    EXPECT_TRUE(cards->illegal_accesses().empty());
  }
  kill(robot, SIGKILL);
  waitpid(robot, nullptr, 0);
  // A killed emulator leaves its cards behind; the next one of that name removes them.
  EXPECT_NO_THROW(EmulatedCards::open_shared(name, settings.cards));
  EXPECT_EQ(EmulatedCards::create_shared(name, settings.cards)->output_volts(0), -10);
}

TEST_F(EmulatedCell, RefusesImpossibleOptions) {
  options.rate = 1;
  EXPECT_THROW(run_emulator("never", settings, chain, options, stop), std::invalid_argument);
  options = {};
  options.max_catch_up = 0;
  EXPECT_THROW(run_emulator("never", settings, chain, options, stop), std::invalid_argument);
}

}  // namespace
}  // namespace puma_hardware::emulator
