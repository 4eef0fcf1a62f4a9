// SPDX-License-Identifier: Apache-2.0

// The whole loop over the cards: law, arm, drivers, emulated cards, simulated arm.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ga_motion/trajectory.hpp"
#include "ga_tools/closed_loop.hpp"
#include "runtime/arm_loop.hpp"
#include "runtime/robot.hpp"

namespace puma_hardware {
namespace {

using ga_controllers::LawKind;
using ga_controllers::LawParameters;
using ga_dynamics::Chain;

constexpr double kPeriod = 1e-3;

LawParameters law_for(const Chain& chain) {
  return ga_hardware::law_parameters(LawKind::kTrackingIntegral,
                                     {ga_controllers::gains_from_bandwidth(40, 1)}, 1,
                                     ga_hardware::signals_of(chain));
}

/// An emulated robot of this process and the loop over it, in the time that it takes to compute.
class Cell {
 public:
  explicit Cell(const emulator::EmulatedArmOptions& options = default_emulated_arm(),
                const Parameters& settings = {})
      : chain(Chain::from_urdf_file(PUMA_URDF)),
        robot(chain, settings, Bus::kPrivate, {}, options),
        driver(robot, nullptr, driver_options()),
        loop(
            driver, chain, law_for(chain), loop_options(), [this] { return next(); }, stop) {}

  std::array<double, 6> truth() {
    std::array<double, 6> q{};
    std::copy(robot.arm()->plant().q().begin(), robot.arm()->plant().q().end(), q.begin());
    return q;
  }
  bool outputs_at_zero() {
    for (int joint = 0; joint < 6; ++joint) {
      if (robot.cards()->output_volts(joint) != 0) return false;
    }
    return true;
  }

  Chain chain;
  Robot robot;
  ArmDriver driver;
  PumaArm& arm = driver.arm();
  std::atomic<bool> stop = false;
  ArmLoop loop;
  std::uint64_t cycles = 0;
  std::uint64_t most_accesses = 0;  ///< in one cycle
  std::function<void()> before_cycle = [] {};
  double late_cycle = kPeriod;  ///< s, every 700th

 private:
  static ArmDriverOptions driver_options() {
    ArmDriverOptions options;
    options.period = kPeriod;
    options.feed_observer = false;
    return options;
  }
  ArmLoopOptions loop_options() {
    ArmLoopOptions options;
    options.truth = [this](std::span<double> q, std::span<double> qd) {
      std::copy(robot.arm()->plant().q().begin(), robot.arm()->plant().q().end(), q.begin());
      std::copy(robot.arm()->plant().qd().begin(), robot.arm()->plant().qd().end(), qd.begin());
    };
    return options;
  }
  double next() {
    const std::uint64_t accesses = robot.cards()->accesses();
    if (cycles > 0) most_accesses = std::max(most_accesses, accesses - last_accesses_);
    last_accesses_ = accesses;
    ++cycles;
    before_cycle();
    return cycles % 700 == 0 ? late_cycle : kPeriod;
  }
  std::uint64_t last_accesses_ = 0;
};

emulator::EmulatedArmOptions standing_at(std::span<const double> q) {
  emulator::EmulatedArmOptions options = default_emulated_arm();
  std::copy(q.begin(), q.end(), options.start.begin());
  return options;
}

TEST(ArmLoop, FollowsTheLineThroughTheCardsAsWellAsWithoutThem) {
  const Chain chain = Chain::from_urdf_file(PUMA_URDF);
  const auto line = ga_motion::make_motion("line", chain);
  std::vector<double> start(6), rest(6), none(6);
  line->sample(0, start, rest, none);

  Cell cell(standing_at(start));
  ASSERT_EQ(cell.loop.watch(0.1), LoopEnd::kDone);
  // As a calibration leaves it: the counts are right to the count.
  std::array<double, 6> counts{}, known{};
  std::copy(cell.robot.arm()->counts().begin(), cell.robot.arm()->counts().end(), counts.begin());
  cell.arm.transmission().counts_to_joints(counts, known);
  ASSERT_TRUE(cell.arm.set_position(known));
  ga_motion::Recording with_cards;
  ASSERT_EQ(cell.loop.follow(*line, 2, &with_cards), LoopEnd::kDone) << cell.loop.reason();
  ga_tools::trace_tool(with_cards, chain);
  const ga_tools::Metrics cards = ga_tools::measure(with_cards, chain, line->duration());
  EXPECT_TRUE(cell.robot.cards()->illegal_accesses().empty());
  EXPECT_TRUE(cell.outputs_at_zero());

  ga_tools::LawUnderTest law = ga_tools::computed_torque(chain, law_for(chain));
  ga_tools::LoopOptions options;
  options.settle_time = 2;
  ga_hardware::SimulatedArmSettings simulated = ga_tools::settings_for(*line, options);
  simulated.signals = ga_hardware::signals_of(chain);
  ga_hardware::SimulatedArm arm(chain, simulated);
  const ga_tools::Metrics bare = ga_tools::measure(
      ga_tools::run_loop(arm, chain, *line, law, options), chain, line->duration());
  std::printf("tool path error: %.4f mm RMS through the cards, %.4f mm without\n",
              cards.tool_rms * 1e3, bare.tool_rms * 1e3);
  std::printf("joint error: %.4f mrad RMS through the cards, %.4f mrad without\n",
              cards.joint_rms * 1e3, bare.joint_rms * 1e3);
  EXPECT_LT(cards.tool_rms, 1.2 * bare.tool_rms);
  EXPECT_LT(cards.joint_rms, 1.2 * bare.joint_rms);
  EXPECT_LT(cards.tool_rms, 1e-5) << "a tenth of the PUMA's repeatability";
}

TEST(ArmLoop, RunsAfterAnImpactOfTheUnpoweredArm) {
  // Unpowered, the upper arm slides through its brake into its stop. The other joints stay where
  // they are, and the arm can be driven off the stop.
  Cell cell;
  ga_dynamics::Plant& plant = cell.robot.arm()->plant();
  std::array<double, 6> at = cell.truth();
  at[1] = cell.chain.joints()[1].limits.upper - 0.001;
  plant.reset(at, std::array<double, 6>{0, 2, 0, 0, 0, 0});
  ASSERT_EQ(cell.loop.watch(1), LoopEnd::kDone) << cell.loop.reason();
  ASSERT_GT(plant.impacts(), 0);
  const std::array<double, 6> here = cell.truth();
  EXPECT_EQ(here[0], at[0]);
  EXPECT_EQ(here[2], at[2]);
  for (const double qd : plant.qd()) EXPECT_EQ(qd, 0);
  ASSERT_TRUE(cell.arm.set_position(here));
  std::array<double, 6> there = here;
  there[0] += 0.2;
  there[1] -= 0.3;
  ASSERT_EQ(cell.loop.follow(*ga_motion::make_quintic(here, there, 1), 0.5), LoopEnd::kDone)
      << cell.loop.reason();
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(cell.truth()[i], there[i], 1e-3) << i;
}

TEST(ArmLoop, NeedsAtMost32AccessesACycleAndThoseOfOnePotentiometer) {
  Cell cell;
  const std::array<double, 6> here = cell.truth();
  ASSERT_EQ(cell.loop.watch(0.1), LoopEnd::kDone);
  ASSERT_TRUE(cell.arm.set_position(here));
  std::array<double, 6> there = here;
  for (double& q : there) q += 0.2;
  // The cycle in which power comes on switches an output beside.
  std::uint64_t steady = 0;
  cell.before_cycle = [&] {
    if (cell.cycles > 200) return;
    cell.most_accesses = 0;
  };
  ASSERT_EQ(cell.loop.follow(*ga_motion::make_quintic(here, there, 1), 0.5), LoopEnd::kDone);
  steady = cell.most_accesses;
  std::printf("%llu port accesses in a cycle, potentiometer included\n",
              static_cast<unsigned long long>(steady));
  EXPECT_LE(steady, 32U + 8U);
}

TEST(ArmLoop, BuildsItsTableCalibratesByItAndMovesToAGoal) {
  Cell first;
  const std::array<double, 6> here = first.truth();
  ASSERT_EQ(first.loop.watch(0.1), LoopEnd::kDone);
  ASSERT_TRUE(first.arm.set_position(here));
  std::array<double, 6> low = here, high = here;
  for (std::size_t i = 0; i < 6; ++i) {
    low[i] -= 0.6;
    high[i] += 0.6;
  }
  CalibrationBuilder builder(first.arm.settings());
  ASSERT_EQ(first.loop.sweep(builder, low, high), LoopEnd::kDone);
  const CalibrationTable table = builder.finish();
  const CalibrationTable derived =
      emulator::emulated_calibration(first.arm.settings(), default_emulated_arm());
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_GT(table.joints[i].entries.size(), 8U) << i;
    for (const IndexEntry& built : table.joints[i].entries) {
      const auto& all = derived.joints[i].entries;
      const auto same = std::find_if(all.begin(), all.end(), [&](const IndexEntry& entry) {
        return entry.count == built.count;
      });
      ASSERT_NE(same, all.end()) << "joint " << i << ", index pulse at " << built.count;
      const double turns =
          (built.volts - same->volts) / first.arm.settings().joints[i].pot_volts_per_rev;
      EXPECT_LT(std::abs(turns), CalibrationOptions{}.match_tolerance / 3) << i;
    }
  }

  const std::vector<double> elsewhere{0.2, -1.3, 1.4, 0.15, -0.2, 0.1};
  Cell second(standing_at(elsewhere));
  ASSERT_EQ(second.loop.calibrate(table), LoopEnd::kDone) << second.loop.reason();
  EXPECT_EQ(second.arm.safety().state(), SafetyState::kCalibrated);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(second.arm.reading().q[i], second.truth()[i], 2e-4) << i;
  }
  const auto motion = ga_motion::make_quintic(elsewhere, here, 2);
  ASSERT_EQ(second.loop.follow(*motion, 1), LoopEnd::kDone);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(second.truth()[i], here[i], 2e-3) << i;
  EXPECT_TRUE(second.outputs_at_zero());
  EXPECT_TRUE(second.robot.cards()->illegal_accesses().empty());
}

TEST(ArmLoop, CalibratesAndMovesWithLateCycles) {
  // As on a computer without a real-time kernel. The torque stays constant meanwhile.
  for (const double late : {0.003, 0.02, 0.045, 0.1}) {
    Cell cell(default_emulated_arm(), {{"safety.max_missed_deadlines", "500"}});
    cell.late_cycle = late;
    const auto table = emulator::emulated_calibration(cell.arm.settings(), default_emulated_arm());
    ASSERT_EQ(cell.loop.calibrate(table), LoopEnd::kDone) << late << " s: " << cell.loop.reason();
    const std::array<double, 6> here = cell.truth();
    std::array<double, 6> there = here;
    for (double& q : there) q += 0.3;
    ASSERT_EQ(cell.loop.follow(*ga_motion::make_quintic(here, there, 2), 1), LoopEnd::kDone)
        << late << " s: " << cell.loop.reason();
    // The last late cycle is less than a second ago; after a long one, the law restarts.
    const double within = late > 0.05 ? 5e-3 : 1e-3;
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(cell.truth()[i], there[i], within) << late;
  }
}

TEST(ArmLoop, RefusesToMoveBeforeItIsCalibrated) {
  Cell cell;
  const auto motion = ga_motion::make_hold(cell.truth(), 1);
  EXPECT_EQ(cell.loop.follow(*motion, 0), LoopEnd::kRefused);
  EXPECT_NE(cell.loop.reason().find("calibrate"), std::string::npos) << cell.loop.reason();
  EXPECT_FALSE(cell.robot.arm()->powered());
}

/// A calibrated cell that moves joints 1–3 for 3 s while `event` happens after 2 s of cycles.
struct Moving {
  explicit Moving(const std::function<void(Cell&)>& event) : cell(), here(cell.truth()) {
    EXPECT_EQ(cell.loop.watch(0.1), LoopEnd::kDone);
    EXPECT_TRUE(cell.arm.set_position(here));
    std::array<double, 6> there = here;
    there[0] += 0.8;
    there[1] += 0.5;
    there[2] -= 0.5;
    const std::uint64_t start = cell.cycles;
    cell.before_cycle = [this, start, event] {
      if (cell.cycles == start + 3000) event(cell);
    };
    end = cell.loop.follow(*ga_motion::make_quintic(here, there, 3), 1);
    stood = cell.truth();
    for (int k = 0; k < 500; ++k) cell.robot.arm()->advance(kPeriod);
  }
  double drift() {
    double largest = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      largest = std::max(largest, std::abs(cell.truth()[i] - stood[i]));
    }
    return largest;
  }

  Cell cell;
  std::array<double, 6> here, stood{};
  LoopEnd end = LoopEnd::kDone;
};

TEST(ArmLoop, StopsCleanlyWhenAsked) {
  Moving moving([](Cell& cell) { cell.stop = true; });
  EXPECT_EQ(moving.end, LoopEnd::kStopped);
  EXPECT_EQ(moving.cell.arm.safety().state(), SafetyState::kCalibrated);
  EXPECT_TRUE(moving.cell.outputs_at_zero());
  EXPECT_FALSE(moving.cell.robot.arm()->powered());
  EXPECT_LT(moving.drift(), 1e-3) << "it stands";
}

TEST(ArmLoop, AThermalSwitchRampsTheArmDownAndSaysSo) {
  Moving moving([](Cell& cell) { cell.robot.cards()->inject(emulator::CardFault::kThermal, 1); });
  EXPECT_EQ(moving.end, LoopEnd::kFault);
  EXPECT_EQ(moving.cell.arm.safety().cause().fault, Fault::kThermal);
  EXPECT_EQ(moving.cell.arm.safety().cause().joint, 1);
  EXPECT_TRUE(moving.cell.outputs_at_zero());
  EXPECT_LT(moving.drift(), 1e-3);
}

TEST(ArmLoop, ALostEncoderCardCutsTheOutputsInTheSameCycle) {
  Moving moving([](Cell& cell) { cell.robot.cards()->inject(emulator::CardFault::kMissing833a); });
  EXPECT_EQ(moving.end, LoopEnd::kFault);
  EXPECT_EQ(reaction_to(moving.cell.arm.safety().cause().fault), Reaction::kCut);
  EXPECT_TRUE(moving.cell.outputs_at_zero());
  EXPECT_FALSE(moving.cell.robot.arm()->powered());
}

TEST(ArmLoop, GoesOnAfterAFaultIsClearedWithoutAJump) {
  Moving moving([](Cell& cell) { cell.robot.cards()->inject(emulator::CardFault::kThermal, 0); });
  Cell& cell = moving.cell;
  ASSERT_EQ(moving.end, LoopEnd::kFault);
  cell.before_cycle = [] {};
  cell.robot.cards()->clear_faults();
  ASSERT_TRUE(cell.arm.safety().clear_faults());
  const std::array<double, 6> before = cell.truth();
  ASSERT_EQ(cell.loop.follow(*ga_motion::make_hold(before, 0.5), 0.5), LoopEnd::kDone)
      << cell.loop.reason();
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(cell.truth()[i], before[i], 1e-3) << i;
}

}  // namespace
}  // namespace puma_hardware
