// SPDX-License-Identifier: Apache-2.0

// The simulated arm behind the emulated cards: what the wires carry.

#include <gtest/gtest.h>

#include <cmath>

#include "arm/transmission.hpp"
#include "cards/pcl726.hpp"
#include "cards/pcl818.hpp"
#include "cards/pcl833.hpp"
#include "counting_allocator.hpp"
#include "emulated_bus.hpp"
#include "emulator/emulated_arm.hpp"

namespace puma_hardware::emulator {
namespace {

using Six = std::array<double, 6>;

class EmulatedArmTest : public ::testing::Test {
 protected:
  EmulatedArmTest() : chain(ga_dynamics::Chain::from_urdf_file(PUMA_URDF)) {
    options.start = {0.3, -0.6, 1.1, 0.4, -0.5, 0.7};
  }
  void start(const Parameters& hardware = {}) {
    settings = ArmSettings::from(chain, hardware);
    cards = std::make_unique<EmulatedCards>(settings.cards);
    arm = std::make_unique<EmulatedArm>(chain, settings, *cards, options);
  }
  void write_volts(std::size_t joint, double volts) {
    const auto code = static_cast<unsigned>(std::lround(2048 + volts * 204.8));
    const auto port = static_cast<std::uint16_t>(settings.cards.pcl726.base + 2 * joint);
    cards->write(port, static_cast<std::uint8_t>(code >> 8));
    cards->write(static_cast<std::uint16_t>(port + 1), static_cast<std::uint8_t>(code & 0xFF));
  }
  void zero_volts() {
    for (std::size_t joint = 0; joint < 6; ++joint) write_volts(joint, 0);
  }
  void write_outputs(unsigned bits) {
    cards->write(static_cast<std::uint16_t>(settings.cards.pcl726.base + 0xD),
                 static_cast<std::uint8_t>(bits));
  }
  void run(double seconds) {
    for (int k = 0; k < std::lround(seconds * 1000); ++k) arm->advance(1e-3);
  }
  double moved(std::size_t joint) { return arm->plant().q()[joint] - options.start[joint]; }

  ga_dynamics::Chain chain;
  EmulatedArmOptions options;
  ArmSettings settings;
  std::unique_ptr<EmulatedCards> cards;
  std::unique_ptr<EmulatedArm> arm;
};

TEST_F(EmulatedArmTest, SagsUnderGravityWithoutVoltageOnceTheBrakesAreReleased) {
  start({{"pcl726.power_output", "2"}, {"pcl726.brake_output", "3"}});
  zero_volts();
  run(0.3);
  for (std::size_t joint = 0; joint < 3; ++joint) EXPECT_EQ(moved(joint), 0) << "brakes hold";
  EXPECT_FALSE(arm->powered());

  write_outputs(0x04);
  run(0.3);
  EXPECT_TRUE(arm->powered());
  EXPECT_EQ(moved(1), 0) << "power alone does not release the brakes";

  write_outputs(0x0C);
  run(0.3);
  EXPECT_GT(std::abs(moved(1)), 0.01);
  EXPECT_EQ(moved(0), 0) << "joint 1 stands upright: gravity does not turn it";

  write_outputs(0x00);
  run(0.5);
  const double rest = moved(1);
  run(0.2);
  EXPECT_EQ(moved(1), rest) << "brakes again";
}

TEST_F(EmulatedArmTest, BrakesFollowThePowerWithoutAnOutputOfTheirOwn) {
  start({{"pcl726.power_output", "2"}});
  zero_volts();
  run(0.2);
  EXPECT_EQ(moved(1), 0);
  write_outputs(0x04);
  run(0.2);
  EXPECT_GT(std::abs(moved(1)), 0.001);
}

TEST_F(EmulatedArmTest, BrakedJointsDoNotDriftAfterAnImpact) {
  // The upper arm falls on its stop while joint 1 stands; then power and brakes are as they were.
  options.start = {0.3, 0.2, 1.1, 0.4, -0.5, 0.7};
  start({{"pcl726.power_output", "2"}, {"pcl726.brake_output", "3"}});
  zero_volts();
  write_outputs(0x0C);
  run(1.5);
  ASSERT_GT(arm->plant().impacts(), 0);
  ASSERT_EQ(arm->plant().q()[1], chain.joints()[1].limits.upper);
  write_outputs(0x00);
  run(0.5);
  const Six rest = cards->truth().q;
  run(2);
  for (std::size_t joint = 0; joint < 6; ++joint) {
    EXPECT_EQ(cards->truth().q[joint], rest[joint]) << "joint " << joint + 1;
    EXPECT_EQ(cards->truth().qd[joint], 0) << "joint " << joint + 1;
  }
  write_outputs(0x0C);
  write_volts(0, -5);
  run(0.1);
  EXPECT_GT(cards->truth().q[0] - rest[0], 0.01) << "the arm can be driven again";
}

TEST_F(EmulatedArmTest, AClosedBrakeHoldsItsJointInAnImpact) {
  // Power fails while joint 2 falls: it slides through its brake into the stop; joint 1 is at rest.
  start({{"pcl726.power_output", "2"}});
  const Six at{0.3, chain.joints()[1].limits.upper - 0.001, 1.1, 0.4, -0.5, 0.7};
  arm->plant().reset(at, Six{0, 2, 0, 0, 0, 0});
  run(1);
  ASSERT_GT(arm->plant().impacts(), 0);
  for (const std::size_t joint : {0U, 2U}) {
    EXPECT_EQ(arm->plant().q()[joint], at[joint]) << "joint " << joint + 1;
    EXPECT_EQ(arm->plant().qd()[joint], 0) << "joint " << joint + 1;
  }
}

TEST_F(EmulatedArmTest, BrakesOpenedByHandDropTheArmWithoutPower) {
  for (const Parameters& wiring :
       {Parameters{{"manual_power", "true"}},
        Parameters{{"pcl726.power_output", "2"}, {"pcl726.brake_output", "3"}}}) {
    start(wiring);
    zero_volts();
    run(0.2);
    EXPECT_EQ(moved(1), 0) << "the brakes hold";
    cards->set_hand_switches(false, true);
    run(0.3);
    EXPECT_FALSE(arm->powered());
    EXPECT_FALSE(cards->truth().brake[1]);
    EXPECT_GT(std::abs(moved(1)), 0.05);
    cards->set_hand_switches(false, false);
    run(0.5);
    const double rest = moved(1);
    run(0.2);
    EXPECT_EQ(moved(1), rest) << "closed again";
  }
}

TEST_F(EmulatedArmTest, TheArmFallsIfPowerIsLostBeforeAPersonClosesTheBrakes) {
  start({{"manual_power", "true"}});
  zero_volts();
  cards->set_hand_switches(true, true);
  cards->inject(CardFault::kPowerLost);
  run(0.3);
  EXPECT_FALSE(arm->powered());
  EXPECT_GT(std::abs(moved(1)), 0.05);
}

TEST_F(EmulatedArmTest, OneJointTurnedByHandLeavesTheOthersTheirMotion) {
  const auto fall = [this](double turn) {
    start({{"manual_power", "true"}});
    zero_volts();
    cards->set_hand_switches(false, true);
    cards->turn_by_hand(5, turn);
    run(0.3);
    return moved(1);
  };
  const double alone = fall(0);
  EXPECT_NEAR(fall(0.05), alone, 0.05 * std::abs(alone));
  EXPECT_NEAR(moved(5), 0.05, 0.02);
}

TEST_F(EmulatedArmTest, TorqueFollowsItsVoltageAfterTheDelayOfTheAmplifiers) {
  options.disturbances.delay = 3;
  start();
  zero_volts();
  run(0.01);
  write_volts(0, -5);
  for (int cycle = 0; cycle < 3; ++cycle) {
    arm->advance(1e-3);
    EXPECT_EQ(arm->drive_torque()[0], 0) << cycle;
  }
  arm->advance(1e-3);
  EXPECT_NEAR(arm->drive_torque()[0], 5 * 9.76, 0.05);
}

TEST_F(EmulatedArmTest, TorqueFollowsItsVoltageWithTheLagOfTheAmplifiers) {
  options.disturbances.lag = 0.005;
  start({{"pcl726.power_output", "2"}});
  zero_volts();
  write_outputs(0x04);
  run(0.05);
  write_volts(0, -5);
  run(0.005);
  const double full = 5 * 9.76;
  EXPECT_NEAR(arm->drive_torque()[0], full * (1 - std::exp(-1)), 0.1);
  run(0.1);
  EXPECT_NEAR(arm->drive_torque()[0], full, 0.05);
  write_outputs(0x00);
  arm->advance(1e-3);
  EXPECT_EQ(arm->drive_torque()[0], 0) << "no current without power";
}

TEST_F(EmulatedArmTest, ItsTableHasThePulsesWhereTheCardLatchesThem) {
  start();
  for (const Latch latch : {Latch::kHold, Latch::kFollow}) {
    CardBehavior behavior;
    behavior.index_latch = latch;
    behavior.index_width = 40;
    const CalibrationTable plain = emulated_calibration(settings, options);
    const CalibrationTable wide = emulated_calibration(settings, options, behavior);
    for (std::size_t i = 0; i < 6; ++i) {
      const bool up = settings.joints[i].encoder_direction > 0;
      const auto turn = static_cast<std::int64_t>(settings.joints[i].counts_per_rev);
      const auto shift =
          (wide.joints[i].entries.front().count - plain.joints[i].entries.front().count + turn) %
          turn;
      EXPECT_EQ(shift, up == (latch == Latch::kFollow) ? 40 : 0) << i;
    }
  }
}

TEST_F(EmulatedArmTest, ReportsAMotionThatFails) {
  start();
  zero_volts();
  run(0.1);
  const auto counts = arm->counts()[1];
  ga_dynamics::Dynamics& dynamics = arm->plant().dynamics();
  dynamics.set_external_wrench(chain.tip_index(), {1e308, 1e308, 1e308}, {0, 0, 0});
  bool going = true;
  for (int k = 0; k < 100 && going; ++k) going = arm->advance(1e-3);
  EXPECT_FALSE(going);
  EXPECT_NE(arm->plant().error().find("diverged"), std::string::npos) << arm->plant().error();
  EXPECT_EQ(arm->counts()[1], counts) << "no reading is made of a state that is not finite";
}

TEST_F(EmulatedArmTest, IsPoweredByHandWithoutAnOutputForThePower) {
  start();
  zero_volts();
  run(0.2);
  EXPECT_TRUE(arm->powered());
  EXPECT_GT(std::abs(moved(1)), 0.001);
}

TEST_F(EmulatedArmTest, WithoutPowerAVoltageMovesNothing) {
  start({{"pcl726.power_output", "2"}});
  zero_volts();
  write_volts(5, 5);
  run(0.1);
  EXPECT_EQ(moved(5), 0);
  EXPECT_EQ(arm->drive_torque()[5], 0);
  write_outputs(0x04);
  run(0.1);
  EXPECT_GT(std::abs(moved(5)), 0.05);
}

TEST_F(EmulatedArmTest, UnwrittenDacsDriveTheArmWithFullVoltage) {
  start();
  run(0.05);
  EXPECT_NEAR(arm->drive_torque()[0],
              -settings.joints[0].voltage_direction * 10 * settings.joints[0].torque_per_volt,
              1e-9);
}

TEST_F(EmulatedArmTest, VoltsBecomeTorqueWithTheAmplifiersSign) {
  start();
  zero_volts();
  write_volts(0, -5);
  arm->advance(1e-3);
  EXPECT_NEAR(arm->drive_torque()[0], 5 * 9.76, 0.05) << "the PUMA's amplifiers invert";
  run(0.1);
  EXPECT_GT(moved(0), 0.01);
}

TEST_F(EmulatedArmTest, MotorsOfTheWristPushTheJointsBeforeThemToo) {
  start();
  zero_volts();
  write_volts(4, -2);
  write_volts(5, 1);
  run(0.1);
  // Rates of the drive angles: e5 = q5 + c54 q4, e6 = q6 + c64 q4 + c65 e5; torques go through the
  // transpose. The amplifiers invert.
  const auto& [c54, c64, c65] = settings.coupling;
  const double d5 = 410 / 204.8 * settings.joints[4].torque_per_volt,
               d6 = -205 / 204.8 * settings.joints[5].torque_per_volt;
  const Six torque{0, 0, 0, c54 * d5 + (c64 + c65 * c54) * d6, d5 + c65 * d6, d6};
  ga_dynamics::Plant expected(chain, options.plant);
  expected.reset(options.start, Six{});
  for (int k = 0; k < 100; ++k) expected.step(torque, 1e-3);
  EXPECT_GT(std::abs(moved(4)), 0.02);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(arm->plant().q()[i], expected.q()[i], 1e-9) << i;
}

TEST_F(EmulatedArmTest, CountsBeginAtZeroAndFollowTheJointsThroughTheGears) {
  start();
  Pcl726 dac(*cards, settings.cards.pcl726);
  Pcl833 first(*cards, settings.cards.pcl833, 0), second(*cards, settings.cards.pcl833, 1);
  for (int channel = 0; channel < 3; ++channel) {
    EXPECT_EQ(first.read(channel), 0);
    EXPECT_EQ(second.read(channel), 0);
  }
  for (int joint = 0; joint < 6; ++joint) dac.write_volts(joint, joint % 2 == 0 ? 6 : -6);
  run(0.2);
  const Transmission transmission(settings);
  Six before{}, now{};
  transmission.joints_to_counts(options.start, before);
  transmission.joints_to_counts(arm->plant().q(), now);
  for (std::size_t i = 0; i < 6; ++i) {
    const int channel = static_cast<int>(i % 3);
    const auto count = static_cast<double>((i < 3 ? first : second).read(channel));
    EXPECT_GT(std::abs(count), 100) << i;
    EXPECT_NEAR(count, now[i] - before[i], 1.0) << i;
    EXPECT_NEAR(static_cast<double>(arm->counts()[i]), now[i], 0.5 + 1e-9) << i;
  }
  EXPECT_TRUE(cards->illegal_accesses().empty());
}

TEST_F(EmulatedArmTest, IndexPulsesComeAtTheirPhaseOfTheMotorsTurn) {
  options.index_phase = {100, 200, 300, 400, 500, 999};
  start();
  Pcl726 dac(*cards, settings.cards.pcl726);
  Pcl833 card(*cards, settings.cards.pcl833, 0);
  const std::int64_t begin = arm->counts()[0];
  card.begin_index_search(0);
  std::vector<std::int64_t> seen;
  dac.write_volts(0, -6);
  for (int k = 0; k < 500; ++k) {
    arm->advance(1e-3);
    const auto reading = card.read_with_index(0);
    EXPECT_EQ(reading.count + begin, arm->counts()[0]);
    if (reading.index_seen) seen.push_back(reading.index_count + begin);
  }
  ASSERT_GE(seen.size(), 3u);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ((seen[i] % 1000 + 1000) % 1000, 100) << seen[i];
    if (i == 0) continue;
    EXPECT_EQ(seen[i] - seen[i - 1], 1000) << "none is missed";
  }
  EXPECT_TRUE(cards->illegal_accesses().empty());
}

/// Volts of a joint's potentiometer at the connector, averaged.
double pot(EmulatedCards& cards, Pcl818& card, EmulatedArm& arm, int channel, int samples = 16) {
  double sum = 0;
  for (int k = 0; k < samples; ++k) {
    arm.advance(1e-3);
    const AdSample sample = card.convert(channel);
    EXPECT_EQ(sample.status, AdStatus::kOk);
    sum += sample.volts;
  }
  EXPECT_TRUE(cards.illegal_accesses().empty());
  return sum / samples;
}

TEST_F(EmulatedArmTest, PotentiometersRiseWithTheMotorsTurns) {
  start({{"pcl726.power_output", "2"}});
  Pcl726 dac(*cards, settings.cards.pcl726);
  Pcl818 ad(*cards, settings.cards.pcl818);
  const Six rest{};
  Six q{};
  for (int joint = 0; joint < 6; ++joint) {
    const auto i = static_cast<std::size_t>(joint);
    const JointSettings& s = settings.joints[i];
    const double turn = 2 * std::numbers::pi / s.gear_ratio, middle = (s.lower + s.upper) / 2;
    double last = 0;
    for (int turns = -20; turns <= 20; turns += 10) {
      q = {};
      for (std::size_t k = 0; k < 6; ++k)
        q[k] = (settings.joints[k].lower + settings.joints[k].upper) / 2;
      q[i] = middle + turns * turn;
      arm->plant().reset(q, rest);
      const double volts = pot(*cards, ad, *arm, joint);
      EXPECT_NEAR(volts, 2.5 + turns * s.pot_volts_per_rev, 0.004) << joint << " " << turns;
      EXPECT_GT(volts, last);
      last = volts;
    }
  }
}

TEST_F(EmulatedArmTest, PotentiometersSitOnTheMotorsAndSeeTheCoupling) {
  start({{"pcl726.power_output", "2"}});
  Pcl818 ad(*cards, settings.cards.pcl818);
  const Six rest{};
  Six q{};
  arm->plant().reset(q, rest);
  const double before = pot(*cards, ad, *arm, 5);
  q[4] = 1;
  arm->plant().reset(q, rest);
  const double after = pot(*cards, ad, *arm, 5);
  const double turns =
      settings.coupling.c65 * settings.joints[5].gear_ratio / (2 * std::numbers::pi);
  EXPECT_GT(std::abs(turns), 1);
  EXPECT_NEAR(after - before, turns * settings.joints[5].pot_volts_per_rev, 0.005);
}

TEST_F(EmulatedArmTest, PotentiometersHaveNoiseAndStayWithinTheirSupply) {
  options.pot_noise = 0.02;
  start({{"pcl726.power_output", "2"}});
  Pcl818 ad(*cards, settings.cards.pcl818);
  double sum = 0, squares = 0;
  const int n = 500;
  for (int k = 0; k < n; ++k) {
    const double volts = pot(*cards, ad, *arm, 0, 1);
    sum += volts;
    squares += volts * volts;
  }
  EXPECT_NEAR(std::sqrt(squares / n - sum / n * sum / n), 0.02, 0.003);

  options.pot_noise = 0;
  options.pot_offset_turns = {200, -200, 0, 0, 0, 0};
  start({{"pcl726.power_output", "2"}});
  Pcl818 again(*cards, settings.cards.pcl818);
  EXPECT_GT(pot(*cards, again, *arm, 0), 4.99);
  EXPECT_NEAR(pot(*cards, again, *arm, 1), 0, 0.003);
}

TEST_F(EmulatedArmTest, TheCardsClockIsTheArms) {
  start();
  const std::int64_t begin = cards->now_ns();
  zero_volts();
  arm->advance(1e-3);
  EXPECT_EQ(cards->now_ns() - begin, 1'000'000) << "the accesses are part of it";
  cards->advance(5'000'000);
  arm->advance(1e-3);
  EXPECT_EQ(cards->now_ns() - begin, 6'000'000);
  arm->advance(1e-3);
  EXPECT_EQ(cards->now_ns() - begin, 7'000'000);
}

TEST_F(EmulatedArmTest, TellsWhereTheArmReallyIs) {
  start({{"pcl726.power_output", "2"}});
  zero_volts();
  run(0.01);
  ArmTruth truth = cards->truth();
  EXPECT_FALSE(truth.powered);
  EXPECT_TRUE(truth.brake[1]);
  EXPECT_FALSE(truth.brake[5]);
  write_outputs(0x04);
  run(0.2);
  truth = cards->truth();
  EXPECT_TRUE(truth.powered);
  EXPECT_FALSE(truth.brake[1]);
  EXPECT_NEAR(truth.time, 0.21, 1e-9);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(truth.q[i], arm->plant().q()[i]);
    EXPECT_EQ(truth.qd[i], arm->plant().qd()[i]);
  }
}

TEST_F(EmulatedArmTest, TheSameSeedGivesTheSameArm) {
  start();
  run(0.05);
  const double first = cards->truth().q[1];
  Pcl818 ad(*cards, settings.cards.pcl818);
  const double volts = pot(*cards, ad, *arm, 2, 3);
  start();
  run(0.05);
  EXPECT_EQ(cards->truth().q[1], first);
  Pcl818 again(*cards, settings.cards.pcl818);
  EXPECT_EQ(pot(*cards, again, *arm, 2, 3), volts);
}

TEST_F(EmulatedArmTest, RefusesWhatCannotBe) {
  options.pot_noise = -1;
  EXPECT_THROW(start(), std::invalid_argument);
  options.pot_noise = 0;
  options.plant.brake_torque = {1, 2};
  EXPECT_THROW(start(), std::invalid_argument);
}

TEST_F(EmulatedArmTest, AllocatesNothing) {
  start();
  zero_volts();
  run(0.1);
  const long before = test::allocations();
  run(2);
  EXPECT_EQ(test::allocations(), before);
}

}  // namespace
}  // namespace puma_hardware::emulator
