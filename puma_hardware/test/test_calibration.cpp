// SPDX-License-Identifier: Apache-2.0

// Where the arm is after power-up: the table built once, the position found again from random
// poses, and everything that must end in a reason instead of a position.

#include <cmath>
#include <cstdio>
#include <functional>
#include <random>

#include "arm/calibration_builder.hpp"
#include "arm/calibrator.hpp"
#include "arm_cell.hpp"
#include "counting_allocator.hpp"

namespace puma_hardware {
namespace {

using emulator::CardFault;
using emulator::EmulatedArmOptions;

/// Where joint 6's potentiometer (5 V for 103 turns, the joint has 113) and its neighbors see.
constexpr Six kLow{-2.6, -3.7, -0.5, -2.1, -1.55, -3.9}, kHigh{2.6, 0.55, 4.0, 3.0, 1.55, 3.9};

EmulatedArmOptions wiring() {
  EmulatedArmOptions options;
  options.index_phase = {70, 431, 332, 760, 778, 95};
  options.pot_offset_turns = {0.3, -1.4, 0.8, 1.1, -0.6, 0.2};
  return options;
}

/// Sensors without dynamics: the joints are where the reference wants them, so that many poses take
/// little time. Potentiometers bend a little and are noisy.
class Sensors {
 public:
  Sensors(const EmulatedArmOptions& options, double noise, const Six& start, unsigned seed)
      : chain_(ga_dynamics::Chain::from_urdf_file(PUMA_URDF)),
        settings(ArmSettings::from(chain_, ArmCell::with_relays({}))),
        cards(settings.cards),
        options_(options),
        transmission_(settings),
        random_(seed),
        noise_(0, noise) {
    for (std::size_t i = 0; i < 6; ++i) {
      middle_[i] = 0.5 * (settings.joints[i].lower + settings.joints[i].upper);
    }
    transmission_.joints_to_counts(middle_, middle_);
    q = start;
    const auto counts = true_counts();
    for (int i = 0; i < 6; ++i) cards.place_encoder(i, counts[static_cast<std::size_t>(i)]);
    set_inputs();
    arm = std::make_unique<PumaArm>(cards, settings, kPeriod);
  }

  std::array<std::int64_t, 6> true_counts() const {
    Six exact;
    transmission_.joints_to_counts(q, exact);
    std::array<std::int64_t, 6> counts;
    for (std::size_t i = 0; i < 6; ++i) counts[i] = std::llround(exact[i]);
    return counts;
  }
  void set_inputs() {
    const auto counts = true_counts();
    for (std::size_t i = 0; i < 6; ++i) {
      const JointSettings& joint = settings.joints[i];
      const int number = static_cast<int>(i);
      cards.set_encoder(number, counts[i], static_cast<int>(joint.counts_per_rev),
                        options_.index_phase[i]);
      const double turns = joint.encoder_direction * (static_cast<double>(counts[i]) - middle_[i]) /
                               joint.counts_per_rev +
                           options_.pot_offset_turns[i];
      const double bent = turns + 0.5 * std::sin(turns / 9);
      const double volts = 2.5 + joint.pot_direction * joint.pot_volts_per_rev * bent;
      cards.set_pot_volts(pot_of[i], std::clamp(volts + noise_(random_), 0.0, 5.0));
    }
  }
  /// One cycle with the joints at the reference.
  const ArmReading& cycle(const Six& where) {
    if (!stuck) q = where;
    set_inputs();
    cards.advance(900'000);
    const ArmReading& reading = arm->read(kPeriod);
    arm->write_none();
    return reading;
  }

 private:
  ga_dynamics::Chain chain_;

 public:
  ArmSettings settings;
  emulator::EmulatedCards cards;
  std::unique_ptr<PumaArm> arm;
  Six q{};
  std::array<int, 6> pot_of{0, 1, 2, 3, 4, 5};  ///< which input a potentiometer is wired to
  bool stuck = false;

 private:
  EmulatedArmOptions options_;
  Transmission transmission_;
  Six middle_{};
  std::mt19937 random_;
  std::normal_distribution<double> noise_;
};

CalibrationTable built(const EmulatedArmOptions& options, double noise) {
  const Six start{};
  Sensors sensors(options, noise, start, 7);
  sensors.cycle(start);
  EXPECT_TRUE(sensors.arm->set_position(start));
  sensors.arm->begin_index_search();
  CalibrationBuilder builder(sensors.settings);
  Sweep sweep(sensors.settings, start, kLow, kHigh, 6);
  while (!sweep.done()) {
    sweep.advance(kPeriod);
    sensors.cycle(sweep.q());
    builder.add(*sensors.arm);
  }
  return builder.finish();
}

/// Of the same arm, for all tests.
const CalibrationTable& table() {
  static const CalibrationTable kTable = built(wiring(), 0.002);
  return kTable;
}

/// Follows the calibrator's references exactly; the arm counts as calibrating meanwhile.
CalibrationStep run(Sensors& sensors, Calibrator& calibrator) {
  const Six start = sensors.q;
  Six where = start;
  CalibrationStep step;
  bool begun = false;
  double last_progress = 0;
  for (int k = 0; k < 100000; ++k) {
    step = calibrator.step(sensors.cycle(where), kPeriod);
    if (step.phase == CalibrationPhase::kDone || step.phase == CalibrationPhase::kFailed) break;
    EXPECT_GE(step.progress, last_progress);
    last_progress = step.progress;
    if (step.phase != CalibrationPhase::kMoving) continue;
    if (!begun) sensors.arm->begin_index_search();
    begun = true;
    for (std::size_t i = 0; i < 6; ++i) where[i] = start[i] + step.q[i] - step.coarse[i];
  }
  return step;
}

TEST(Calibration, BuildsTheTableFromASweep) {
  const ArmSettings settings = Sensors(wiring(), 0, {}, 1).settings;
  EXPECT_NO_THROW(table().validate(settings));
  const std::array<int, 6> phase = wiring().index_phase;
  for (std::size_t i = 0; i < 6; ++i) {
    const auto& entries = table().joints[i].entries;
    EXPECT_GE(entries.size(), 35u) << "joint " << i + 1;
    for (const IndexEntry& entry : entries) {
      const auto per_rev = static_cast<std::int64_t>(settings.joints[i].counts_per_rev);
      EXPECT_EQ(((entry.count - phase[i]) % per_rev + per_rev) % per_rev, 0);
    }
  }
  for (const double count : {-30123.0, 512.0, 28000.0}) {
    const JointTable& joint = table().joints[5];
    EXPECT_NEAR(joint.count_at(joint.volts_at(count)), count, 1e-6);
  }
}

TEST(Calibration, FindsTheArmAgainFromARandomPose) {
  std::mt19937 random(3);
  std::printf("%-24s %8s %18s %22s\n", "potentiometer noise", "poses", "found to < 1 count",
              "largest error, counts");
  for (const double noise : {0.0, 0.002, 0.005, 0.010}) {
    int found = 0;
    double worst = 0;
    for (int pose = 0; pose < 100; ++pose) {
      Six start;
      for (std::size_t i = 0; i < 6; ++i) {
        // Joints 4 and 5 turn motor 6 as well: by 3.4 turns, 0.28 rad of joint 6.
        const double spare = i == 5 ? 0.35 : 0;
        start[i] =
            std::uniform_real_distribution<double>(kLow[i] + spare, kHigh[i] - spare)(random);
      }
      Sensors sensors(wiring(), noise, start, static_cast<unsigned>(pose));
      // Faster than usual: fewer samples of the potentiometers, and less time for 400 poses.
      Calibrator calibrator(sensors.settings, table(),
                            {.measure_time = 0.2, .turns_per_second = 6, .settle_time = 0.05});
      const CalibrationStep step = run(sensors, calibrator);
      ASSERT_EQ(step.phase, CalibrationPhase::kDone) << calibrator.reason();
      ASSERT_TRUE(sensors.arm->finish_calibration(calibrator.offsets()));
      double error = 0;
      for (std::size_t i = 0; i < 6; ++i) {
        error = std::max(error, std::abs(sensors.arm->true_counts()[i] -
                                         static_cast<double>(sensors.true_counts()[i])));
      }
      worst = std::max(worst, error);
      found += error < 1;
    }
    std::printf("%18.0f mV    %8d %18d %22.0f\n", 1e3 * noise, 100, found, worst);
    EXPECT_EQ(found, 100);
  }
}

TEST(Calibration, MovesTheArmLittleAndBringsItBack) {
  const Six start{2.5, -3.6, 3.9, -2.0, 1.5, -3.8};  // near the ends of the ranges
  Sensors sensors(wiring(), 0.002, start, 1);
  Calibrator calibrator(sensors.settings, table());
  Six low = start, high = start, where = start;
  CalibrationStep step;
  for (int k = 0; k < 60000 && step.phase != CalibrationPhase::kDone; ++k) {
    step = calibrator.step(sensors.cycle(where), kPeriod);
    ASSERT_NE(step.phase, CalibrationPhase::kFailed) << calibrator.reason();
    if (step.phase == CalibrationPhase::kMoving) sensors.arm->begin_index_search();
    int moving = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      if (step.phase == CalibrationPhase::kMoving) where[i] = start[i] + step.q[i] - step.coarse[i];
      low[i] = std::min(low[i], where[i]);
      high[i] = std::max(high[i], where[i]);
      moving += step.qd[i] != 0;
      EXPECT_LT(std::abs(step.qd[i]), 0.25 * sensors.settings.joints[i].max_speed);
    }
    EXPECT_LE(moving, 1) << "one joint at a time";
  }
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_LT(high[i] - low[i], 0.4) << "joint " << i + 1;
    EXPECT_GE(low[i], std::min(start[i], kLow[i])) << "towards the middle";
    EXPECT_LE(high[i], std::max(start[i], kHigh[i]));
    EXPECT_NEAR(where[i], start[i], 1e-9);
    EXPECT_NEAR(step.coarse[i], start[i], 0.04) << "the potentiometers alone";
  }
}

TEST(Calibration, DoesNotAllocate) {
  Sensors sensors(wiring(), 0.002, {}, 1);
  Calibrator calibrator(sensors.settings, table());
  CalibrationBuilder builder(sensors.settings);
  const long before = test::allocations();
  const CalibrationStep step = run(sensors, calibrator);
  for (int k = 0; k < 100; ++k) builder.add(*sensors.arm);
  EXPECT_EQ(test::allocations(), before);
  EXPECT_EQ(step.phase, CalibrationPhase::kDone);
}

struct OnCards {
  Six start{0.3, -0.6, 1.1, 0.4, -0.5, 0.7};
  emulator::CardBehavior behavior = {};
};

OnCards other_cards(emulator::Latch index, emulator::Latch read, int width) {
  OnCards cards;
  cards.behavior.index_latch = index;
  cards.behavior.read_latch = read;
  cards.behavior.counter_reset = emulator::CounterReset::kStrobe;
  cards.behavior.index_width = width;
  cards.behavior.inputs_float_high = true;
  cards.behavior.power_up_code = 0xFFF;
  cards.behavior.differential = true;
  return cards;
}

// The law, the cards, friction and gravity, not only the sensors; also on other cards than the
// default ones.
TEST(Calibration, WorksOnTheSimulatedArm) {
  using emulator::Latch;
  for (const OnCards& on : {OnCards{}, OnCards{{-2.4, -3.0, 3.5, -1.9, 1.4, -3}},
                            other_cards(Latch::kFollow, Latch::kHold, 4),
                            other_cards(Latch::kHold, Latch::kFollow, 40)}) {
    EmulatedArmOptions options = wiring();
    options.start = on.start;
    ArmCell cell(options, {}, ga_dynamics::Chain::from_urdf_file(PUMA_URDF), on.behavior);
    const CalibrationTable exact =
        on.behavior.index_width == 0
            ? exact_table(cell.settings, options)
            : emulator::emulated_calibration(cell.settings, options, on.behavior);
    Calibrator calibrator(cell.settings, exact);
    const Six before = cell.truth();
    CalibrationStep step;
    double seconds = 0, farthest = 0;
    bool started = false;
    while (step.phase != CalibrationPhase::kDone && seconds < 100) {
      seconds += kPeriod;
      cell.read();
      step = calibrator.step(cell.arm.reading(), kPeriod);
      ASSERT_NE(step.phase, CalibrationPhase::kFailed) << calibrator.reason();
      if (step.phase == CalibrationPhase::kMoving && !started) {
        ASSERT_TRUE(cell.arm.begin_calibration(step.coarse));
        cell.start_law();
        started = true;
      }
      if (started) {
        Six torque{};
        cell.law.update(cell.arm.reading().q, cell.arm.reading().qd, {step.q, step.qd, step.qdd},
                        kPeriod, torque);
        std::copy_n(cell.law.acceleration().begin(), 6, cell.acceleration.begin());
        cell.arm.write(torque, 0, cell.holding_torque());
      } else {
        cell.arm.write_none();
      }
      cell.robot.advance(kPeriod);
      for (std::size_t i = 0; i < 6; ++i) {
        farthest = std::max(farthest, std::abs(cell.truth()[i] - before[i]));
      }
      if (started) {
        ASSERT_EQ(cell.arm.safety().state(), SafetyState::kCalibrating) << cell.why();
      }
    }
    ASSERT_TRUE(cell.arm.power_off());
    for (int k = 0; k < 300; ++k) cell.idle();
    ASSERT_EQ(cell.arm.safety().state(), SafetyState::kReady) << cell.why();
    ASSERT_TRUE(cell.arm.finish_calibration(calibrator.offsets()));
    EXPECT_EQ(cell.arm.safety().state(), SafetyState::kCalibrated);
    double worst = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      worst = std::max(
          worst, std::abs(cell.arm.true_counts()[i] - static_cast<double>(cell.robot.counts()[i])));
    }
    std::printf("simulated arm: calibrated in %.1f s, moved at most %.2f rad, error %.0f counts\n",
                seconds, farthest, worst);
    EXPECT_LT(worst, on.behavior.index_latch == Latch::kFollow ? 1.5 : 1);
    // And goes on from there, watched by the table.
    cell.arm.use_table(exact);
    for (int k = 0; k < 20; ++k) cell.idle();  // until all potentiometers have been compared
    ASSERT_TRUE(cell.arm.power_on());
    cell.start_law();
    const Six here = cell.arm.reading().q;
    for (int k = 0; k < 200; ++k) cell.follow(here);
    EXPECT_EQ(cell.arm.safety().state(), SafetyState::kActive) << cell.why();
  }
}

struct Trouble {
  const char* name;
  CalibrationFailure expected;
  const char* told;
  std::function<void(Sensors&)> make;
  std::function<void(CalibrationTable&)> change = {};
};

TEST(Calibration, WhatIsAmbiguousOrContradictoryEndsInAReason) {
  const Trouble troubles[] = {
      {"index pulses of joint 3 lost", CalibrationFailure::kIndexLost, "joint3: 0 index pulses",
       [](Sensors& s) { s.cards.inject(CardFault::kIndexLost, 2); }},
      {"potentiometers 1 and 3 swapped", CalibrationFailure::kPotDoesNotFollow,
       "joint1: the potentiometer deviates",
       [](Sensors& s) { std::swap(s.pot_of[0], s.pot_of[2]); }},
      {"potentiometer 4 stuck", CalibrationFailure::kPotDoesNotFollow, "joint4: the potentiometer",
       [](Sensors& s) { s.cards.inject(CardFault::kPotStuck, 3); }},
      {"potentiometer 2 open", CalibrationFailure::kPotOutsideTable,
       "joint2: the potentiometer reads 0.0",
       [](Sensors& s) { s.cards.inject(CardFault::kPotOpen, 1); }},
      {"A/D stuck", CalibrationFailure::kNoSamples, "joint1: 0 potentiometer samples",
       [](Sensors& s) { s.cards.inject(CardFault::kAdStuck); }},
      {"arm does not move", CalibrationFailure::kDidNotMove, "joint1: the motor moved 0 counts",
       [](Sensors& s) { s.stuck = true; }},
      {"bit of encoder 1 stuck", CalibrationFailure::kIndexSpacing, "joint1: index pulses are",
       [](Sensors& s) { s.cards.inject(CardFault::kEncoderStuckBit, 0); }},
      {"table of potentiometers half a turn off", CalibrationFailure::kAmbiguous,
       "joint5: the best match", [](Sensors&) {},
       [](CalibrationTable& t) {
         for (IndexEntry& entry : t.joints[4].entries) entry.volts += 0.45 * 0.0485;
       }},
      {"table with another scale", CalibrationFailure::kPotDoesNotFollow,
       "joint6: the potentiometer deviates", [](Sensors&) {},
       [](CalibrationTable& t) {
         for (IndexEntry& entry : t.joints[5].entries)
           entry.volts = 2.5 + 1.6 * (entry.volts - 2.5);
       }},
      {"table of another place", CalibrationFailure::kBeyondLimits, "joint1: it would be at",
       [](Sensors&) {},
       [](CalibrationTable& t) {
         for (IndexEntry& entry : t.joints[0].entries) entry.count += 60000;
       }},
  };
  std::printf("%-42s %-22s %s\n", "trouble", "failure", "told");
  for (const Trouble& trouble : troubles) {
    SCOPED_TRACE(trouble.name);
    Sensors sensors(wiring(), 0.002, {0.4, -1.2, 1.9, 0.6, 0.5, -0.8}, 5);
    CalibrationTable changed = table();
    if (trouble.change) trouble.change(changed);
    Calibrator calibrator(sensors.settings, changed);
    trouble.make(sensors);
    const CalibrationStep step = run(sensors, calibrator);
    EXPECT_EQ(step.phase, CalibrationPhase::kFailed);
    EXPECT_EQ(calibrator.failure(), trouble.expected) << calibrator.reason();
    EXPECT_NE(calibrator.reason().find(trouble.told), std::string::npos) << calibrator.reason();
    EXPECT_EQ(step.qd, Six{});
    std::printf("%-42s %-22s %s\n", trouble.name, to_string(calibrator.failure()),
                calibrator.reason().c_str());
  }
}

TEST(Calibration, AnArmThatMovesMeanwhileIsRefused) {
  Sensors sensors(wiring(), 0.002, {}, 5);
  Calibrator calibrator(sensors.settings, table());
  Six where{};
  for (int k = 0; k < 100; ++k) {
    where[0] += 1e-5;
    calibrator.step(sensors.cycle(where), kPeriod);
  }
  EXPECT_EQ(calibrator.failure(), CalibrationFailure::kNotAtRest);
  EXPECT_NE(calibrator.reason().find("keep the arm at rest"), std::string::npos);
}

TEST(Calibration, RefusesImpossibleOptionsAndTables) {
  const ArmSettings settings = Sensors(wiring(), 0, {}, 1).settings;
  EXPECT_THROW(Calibrator(settings, table(), {.turns = 1}), CardError);
  EXPECT_THROW(Calibrator(settings, table(), {.turns_per_second = 0}), CardError);
  EXPECT_THROW(Calibrator(settings, CalibrationTable{}), CardError);
  EXPECT_EQ(Calibrator(settings, table()).reason(), "nothing went wrong");
}

std::string refusal(const CalibrationTable& changed, const ArmSettings& settings) {
  try {
    changed.validate(settings);
  } catch (const CardError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Calibration, ATableMustBePlausible) {
  const ArmSettings settings = Sensors(wiring(), 0, {}, 1).settings;
  CalibrationTable changed = table();
  changed.joints[2].entries[7].count += 3;
  EXPECT_NE(
      refusal(changed, settings).find("calibration table of joint3: between the index pulses"),
      std::string::npos)
      << refusal(changed, settings);
  changed = table();
  std::swap(changed.joints[1].entries[7].volts, changed.joints[1].entries[8].volts);
  EXPECT_NE(refusal(changed, settings).find("pot_direction"), std::string::npos);
  changed = table();
  changed.joints[3].entries.resize(3);
  EXPECT_NE(refusal(changed, settings).find("joint4: it has 3 index pulses"), std::string::npos);
}

std::string build_refusal(const std::function<void(Sensors&)>& make, double reach = 0.6) {
  const Six start{};
  Sensors sensors(wiring(), 0.002, start, 7);
  sensors.cycle(start);
  sensors.arm->set_position(start);
  make(sensors);
  sensors.arm->begin_index_search();
  CalibrationBuilder builder(sensors.settings);
  Six low, high;
  low.fill(-0.5 * reach);
  high.fill(reach);
  Sweep sweep(sensors.settings, start, low, high, 6);
  EXPECT_EQ(sweep.progress(), 0);
  while (!sweep.done()) {
    sweep.advance(kPeriod);
    sensors.cycle(sweep.q());
    builder.add(*sensors.arm);
  }
  EXPECT_EQ(sweep.progress(), 1);
  sweep.advance(kPeriod);
  try {
    builder.finish();
  } catch (const CardError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Calibration, BuildingRefusesWhatIsContradictory) {
  EXPECT_EQ(build_refusal([](Sensors&) {}), "accepted");
  EXPECT_NE(build_refusal([](Sensors& s) {
              s.cards.inject(CardFault::kIndexLost, 4);
            }).find("joint5: 0 index pulses were seen"),
            std::string::npos);
  EXPECT_NE(build_refusal([](Sensors& s) { std::swap(s.pot_of[0], s.pot_of[1]); }).find("joint1: "),
            std::string::npos);
  EXPECT_NE(build_refusal([](Sensors& s) {
              s.cards.inject(CardFault::kEncoderStuckBit, 0);
            }).find("joint1: index pulses at counts"),
            std::string::npos);
  EXPECT_NE(build_refusal([](Sensors&) {}, 0.01).find("move the joint further"), std::string::npos);
}

}  // namespace
}  // namespace puma_hardware
