// SPDX-License-Identifier: Apache-2.0

// The arm over emulated cards: what goes in and out, what a cycle costs, and what each broken card
// or wire leads to.

#include <cmath>
#include <cstdio>
#include <limits>

#include "arm_cell.hpp"
#include "counting_allocator.hpp"

namespace puma_hardware {
namespace {

using emulator::CardFault;
using emulator::EmulatedArmOptions;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

EmulatedArmOptions somewhere() {
  EmulatedArmOptions options;
  options.start = {0.3, -0.6, 1.1, 0.4, -0.5, 0.7};
  return options;
}

class PumaArmTest : public ::testing::Test {
 protected:
  ArmCell cell_{somewhere()};
  PumaArm& arm_ = cell_.arm;

  bool power() const { return cell_.cards.digital_output(kPowerOutput); }
  bool brakes_released() const { return cell_.cards.digital_output(kBrakeOutput); }
};

TEST_F(PumaArmTest, OpensWithoutVoltagePowerOrPosition) {
  EXPECT_EQ(arm_.safety().state(), SafetyState::kReady);
  EXPECT_TRUE(cell_.zero_volts());
  EXPECT_FALSE(power());
  EXPECT_FALSE(brakes_released());
  EXPECT_FALSE(arm_.power_on()) << "not before it is calibrated";
}

TEST_F(PumaArmTest, RefusesCardsThatAreNotThere) {
  emulator::EmulatedCards cards(cell_.settings.cards);
  cards.inject(CardFault::kMissing833b);
  EXPECT_THROW(PumaArm(cards, cell_.settings, kPeriod), CardError);
}

TEST_F(PumaArmTest, ReadsWhereTheArmIs) {
  ASSERT_TRUE(arm_.set_position(cell_.truth()));
  EXPECT_EQ(arm_.safety().state(), SafetyState::kCalibrated);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(arm_.reading().q[i], cell_.robot.plant().q()[i], 1e-12);
  }
  EXPECT_FALSE(arm_.set_position(Six{kNan, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(arm_.set_position(Six{})) << "again, while it stands";
  EXPECT_NEAR(arm_.reading().q[5], 0, 1e-12);
}

TEST_F(PumaArmTest, HoldsTheArmAgainstGravity) {
  cell_.power_on_here();
  for (int k = 0; k < 1000; ++k) cell_.follow(cell_.reference);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(cell_.robot.plant().q()[i], cell_.reference[i], 2e-3) << "joint " << i + 1;
    EXPECT_NEAR(arm_.reading().q[i], cell_.robot.plant().q()[i], 2e-4);
    EXPECT_NEAR(arm_.reading().qd[i], 0, 0.02);
  }
  EXPECT_TRUE(power());
  EXPECT_TRUE(brakes_released());
  EXPECT_GT(std::abs(cell_.cards.output_volts(1)), 0.5);
}

TEST_F(PumaArmTest, ACycleCostsFewPortAccesses) {
  cell_.power_on_here();
  std::uint64_t most = 0;
  for (int k = 0; k < 600; ++k) {
    const std::uint64_t before = cell_.cards.accesses();
    cell_.follow(cell_.reference);
    most = std::max(most, cell_.cards.accesses() - before);
  }
  std::printf("port accesses in a cycle: at most %d, of them for a potentiometer at most 8\n",
              static_cast<int>(most));
  EXPECT_LE(most, 31u + 8u);
}

TEST_F(PumaArmTest, DoesNotAllocate) {
  cell_.power_on_here();
  arm_.use_table(exact_table(cell_.settings, somewhere()));
  const long before = test::allocations();
  const Six torque = arm_.reading().torque;
  for (int k = 0; k < 100000; ++k) {
    arm_.read(kPeriod, cell_.acceleration);
    arm_.write(torque);
    cell_.cards.advance(900'000);
  }
  EXPECT_EQ(test::allocations(), before);
  EXPECT_EQ(arm_.safety().state(), SafetyState::kActive) << cell_.why();
}

TEST_F(PumaArmTest, TorqueBecomesVoltsThroughTheGears) {
  ASSERT_TRUE(arm_.set_position(Six{}));
  ASSERT_TRUE(arm_.power_on());
  arm_.read(kPeriod);
  arm_.write(Six{9.76, -18.64, 0, 0, 0, 2.13});
  // The amplifiers invert; a torque of joint 6 loads motors 4 and 5 as well.
  const double step = 10.0 / 2048;
  EXPECT_NEAR(cell_.cards.output_volts(0), -1, step);
  EXPECT_NEAR(cell_.cards.output_volts(1), 1, step);
  EXPECT_EQ(cell_.cards.output_volts(2), 0);
  EXPECT_NEAR(cell_.cards.output_volts(3), -0.0130401 * 2.13 / 2.42, step);
  EXPECT_NEAR(cell_.cards.output_volts(4), 0.180556 * 2.13 / 2.01, step);
  EXPECT_NEAR(cell_.cards.output_volts(5), -1, step);
  EXPECT_NEAR(arm_.reading().torque[0], 9.76, 9.76 * step);
  EXPECT_NEAR(arm_.reading().torque[5], 2.13, 2.13 * step);
  arm_.read(kPeriod);
  arm_.write(Six{120, -186.4, 0, 0, 0, 0});
  EXPECT_NEAR(cell_.cards.output_volts(0), -10, step);
  EXPECT_NEAR(arm_.reading().torque[0], 97.6, 0.05) << "what really went out";
}

TEST_F(PumaArmTest, VoltageStopsAtTheJointsMaximum) {
  ArmSettings settings = cell_.settings;
  for (JointSettings& joint : settings.joints) joint.max_voltage = 4;
  emulator::EmulatedCards cards(settings.cards);
  PumaArm arm(cards, settings, kPeriod);
  arm.read(kPeriod);
  arm.set_position(Six{});
  arm.power_on();
  arm.write(Six{97, 0, 0, 0, 0, 0});
  EXPECT_NEAR(cards.output_volts(0), -4, 0.005);
}

TEST_F(PumaArmTest, TheBrakesWaitForTheFirstCommand) {
  ASSERT_TRUE(arm_.set_position(cell_.truth()));
  ASSERT_TRUE(arm_.power_on());
  for (int k = 0; k < 50; ++k) cell_.idle();
  EXPECT_TRUE(power());
  EXPECT_FALSE(brakes_released());
  EXPECT_TRUE(cell_.zero_volts());
  cell_.start_law();
  cell_.follow(cell_.truth());
  EXPECT_TRUE(brakes_released());
}

TEST_F(PumaArmTest, ALawThatIsNotInChargeDoesNotMoveTheVelocity) {
  cell_.acceleration = {200, 200, kNan, 200, 200, 200};
  for (int k = 0; k < 100; ++k) cell_.idle();
  for (const double qd : arm_.reading().qd) EXPECT_EQ(qd, 0);
  cell_.acceleration = {};
  cell_.power_on_here();
  cell_.acceleration = {50, 50, kNan, 50, 50, 50};
  cell_.read();
  EXPECT_NEAR(arm_.reading().qd[0], 50 * kPeriod, 0.02) << "in charge it does";
  EXPECT_NEAR(arm_.reading().qd[2], 0, 0.02);
}

TEST_F(PumaArmTest, StopsControlledOnPowerOff) {
  cell_.power_on_here();
  EXPECT_FALSE(arm_.set_position(Six{})) << "not while torque flows";
  ASSERT_TRUE(arm_.power_off());
  cell_.idle();
  EXPECT_FALSE(brakes_released());
  EXPECT_FALSE(cell_.zero_volts());
  for (int k = 0; k < 260; ++k) cell_.idle();
  EXPECT_TRUE(cell_.zero_volts());
  EXPECT_FALSE(power());
  EXPECT_EQ(arm_.safety().state(), SafetyState::kCalibrated);
  EXPECT_NEAR(cell_.robot.plant().q()[1], cell_.reference[1], 5e-3) << "it did not drop";
}

TEST_F(PumaArmTest, TheEmergencyStopDoesNotWaitForTheCycle) {
  cell_.power_on_here();
  arm_.emergency_stop();
  EXPECT_TRUE(cell_.zero_volts());
  EXPECT_FALSE(power());
  EXPECT_FALSE(brakes_released());
  cell_.follow(cell_.reference);
  EXPECT_TRUE(cell_.zero_volts());
  EXPECT_EQ(arm_.safety().cause().fault, Fault::kEmergencyStop);
  EXPECT_TRUE(arm_.safety().clear_faults());
  EXPECT_EQ(arm_.safety().state(), SafetyState::kCalibrated);
}

TEST_F(PumaArmTest, ALostGuardStopsTheArm) {
  cell_.power_on_here();
  arm_.set_guard_alive(false);
  cell_.follow(cell_.reference);
  EXPECT_EQ(arm_.safety().cause().fault, Fault::kGuardLost);
  for (int k = 0; k < 260; ++k) cell_.follow(cell_.reference);
  EXPECT_TRUE(cell_.zero_volts());
}

TEST_F(PumaArmTest, WithoutCommandsItHoldsThenBrakes) {
  cell_.power_on_here();
  const Six before = arm_.reading().torque;
  cell_.idle();
  EXPECT_EQ(arm_.reading().torque, before) << "the last command stands";
  for (int k = 0; k < 11; ++k) cell_.idle();
  EXPECT_EQ(arm_.safety().cause().fault, Fault::kCommandTimeout);
  EXPECT_EQ(arm_.safety().reaction(), Reaction::kHold);
  EXPECT_TRUE(brakes_released());
  for (int k = 0; k < 2300; ++k) cell_.idle();
  EXPECT_TRUE(cell_.zero_volts());
  EXPECT_NEAR(cell_.robot.plant().q()[1], cell_.reference[1], 0.02) << "held, then braked";
}

TEST_F(PumaArmTest, SwitchesTheTool) {
  arm_.set_tool(1, true);
  EXPECT_TRUE(cell_.cards.digital_output(1));
  EXPECT_FALSE(cell_.cards.digital_output(0));
  arm_.set_tool(1, false);
  EXPECT_FALSE(cell_.cards.digital_output(1));
  arm_.set_tool(2, true);
  arm_.set_tool(-1, true);
  EXPECT_FALSE(cell_.cards.digital_output(2));
}

TEST_F(PumaArmTest, LeavesZeroVoltsAndNoPowerBehind) {
  emulator::EmulatedCards cards(cell_.settings.cards);
  {
    PumaArm arm(cards, cell_.settings, kPeriod);
    arm.read(kPeriod);
    arm.set_position(Six{});
    arm.power_on();
    arm.write(Six{50, 50, 20, 5, 5, 5});
    EXPECT_TRUE(cards.digital_output(kPowerOutput));
    EXPECT_NE(cards.output_volts(0), 0);
  }
  for (int joint = 0; joint < 6; ++joint) EXPECT_EQ(cards.output_volts(joint), 0);
  EXPECT_FALSE(cards.digital_output(kPowerOutput));
  EXPECT_FALSE(cards.digital_output(kBrakeOutput));
}

TEST_F(PumaArmTest, AShortCycleAfterALateOneIsNoJump) {
  cell_.power_on_here();
  for (int joint = 0; joint < 6; ++joint) {
    cell_.cards.set_encoder(joint, cell_.robot.counts()[static_cast<std::size_t>(joint)] + 2, 1000,
                            0);
  }
  arm_.read(1e-6);
  arm_.write(arm_.reading().torque);
  EXPECT_EQ(arm_.safety().fault_count(), 0) << cell_.why();
}

// The machine stalls in mid-motion while a conversion is under way: the sample is of before, the
// encoders are of afterwards.
TEST(PumaArmStall, AnOldSampleIsNotComparedWithNewCounts) {
  for (const int cycles : {300, 301}) {  // a conversion takes part of two cycles: in one of them
    SCOPED_TRACE(cycles);
    const EmulatedArmOptions options = somewhere();
    ArmCell cell(options, {{"safety.max_missed_deadlines", "500"}, {"safety.jump_ratio", "20"}});
    cell.arm.use_table(exact_table(cell.settings, options));
    cell.power_on_here();
    const double speed = 0.6;  // rad/s
    Six q = cell.reference, qd{};
    qd.fill(speed);
    for (int k = 0; k < cycles; ++k) {
      for (double& angle : q) angle += speed * kPeriod;
      cell.follow(q, qd);
    }
    ASSERT_EQ(cell.arm.safety().fault_count(), 0) << cell.why();
    constexpr int kStall = 100;  // periods
    for (int k = 0; k < kStall; ++k) cell.robot.advance(kPeriod);
    cell.arm.read(kStall * kPeriod);
    cell.arm.write(cell.arm.reading().torque, 0, cell.holding_torque());
    EXPECT_EQ(cell.arm.safety().fault_count(), 0) << cell.why();
  }
}

TEST(PumaArmStall, TheVelocityAfterALongGapIsTheMeanOne) {
  const EmulatedArmOptions options = somewhere();
  ArmCell cell(options, {{"safety.max_missed_deadlines", "1000"}, {"safety.jump_ratio", "20"}});
  cell.arm.use_table(exact_table(cell.settings, options));
  cell.power_on_here();
  Six q = cell.reference, qd{};
  qd.fill(0.3);
  for (int k = 0; k < 300; ++k) {
    for (std::size_t i = 0; i < 6; ++i) q[i] += qd[i] * kPeriod;
    cell.follow(q, qd);
  }
  const auto before = cell.arm.reading().q;
  constexpr int kStall = 800;  // periods; in them the arm goes on under its last torque
  for (int k = 0; k < kStall; ++k) cell.robot.advance(kPeriod);
  cell.arm.read(kStall * kPeriod);
  for (std::size_t i = 0; i < 6; ++i) {
    const double mean = (cell.arm.reading().q[i] - before[i]) / (kStall * kPeriod);
    EXPECT_NEAR(cell.arm.reading().qd[i], mean, 1e-3) << "joint " << i + 1;
  }
  EXPECT_GT(std::abs(cell.arm.reading().q[1] - before[1]), 0.02);
}

// The edge of the software: power that somebody else switches, a card that cannot be read back.

constexpr int kFeedback = 4, kWatchdog = 10, kReadBack = 5;

Parameters watched_wiring() {
  return {{"pcl726.power_feedback_input", std::to_string(kFeedback)},
          {"pcl726.watchdog_output", std::to_string(kWatchdog)},
          {"pcl726.watchdog_input", std::to_string(kReadBack)}};
}

/// Cycles until the arm's state is not active.
int cycles_to_fault(ArmCell& cell, int most = 3000) {
  int cycles = 0;
  while (cell.arm.safety().state() == SafetyState::kActive && cycles < most) {
    cell.follow(cell.reference);
    ++cycles;
  }
  return cycles;
}

TEST(PumaArmEdge, NothingIsPoweredWithoutAnOutputThatDropsThePower) {
  ArmCell cell(somewhere(), {{"pcl726.power_output", "-1"}});
  ASSERT_TRUE(cell.arm.set_position(cell.truth()));
  EXPECT_FALSE(cell.arm.power_on());
  EXPECT_NE(cell.settings.power_refusal().find("pcl726.power_output is -1"), std::string::npos);
  ArmCell uncalibrated(somewhere(), {{"pcl726.power_output", "-1"}});
  EXPECT_FALSE(uncalibrated.arm.begin_calibration(uncalibrated.truth()));
  EXPECT_EQ(ArmCell(somewhere()).settings.power_refusal(), "");
  EXPECT_EQ(ArmCell(somewhere(), {{"pcl726.power_output", "-1"}, {"manual_power", "true"}})
                .settings.power_refusal(),
            "");
}

TEST(PumaArmEdge, TheEmergencyStopIsSeenAndNothingMovesWhenPowerReturns) {
  for (const char* high : {"false", "true"}) {
    SCOPED_TRACE(high);
    Parameters wiring = watched_wiring();
    wiring["pcl726.power_feedback_active_high"] = high;
    ArmCell cell(somewhere(), wiring);
    cell.power_on_here();
    cell.cards.inject(CardFault::kPowerLost);
    const int cycles = cycles_to_fault(cell);
    EXPECT_EQ(cell.arm.safety().cause().fault, Fault::kPowerLost) << cell.why();
    EXPECT_LE(cycles, 10);
    EXPECT_TRUE(cell.zero_volts());
    EXPECT_FALSE(cell.cards.digital_output(kPowerOutput));
    const Six before = cell.truth();
    cell.cards.clear_faults();
    for (int k = 0; k < 1000; ++k) cell.follow(cell.reference);
    EXPECT_TRUE(cell.zero_volts());
    EXPECT_EQ(cell.arm.safety().cause().fault, Fault::kPowerLost);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(cell.truth()[i], before[i], 1e-6) << i;
    std::printf("emergency stop, arm-power input active %s: 0 V after %d cycles\n",
                high[0] == 't' ? "high" : "low", cycles);
  }
}

TEST(PumaArmEdge, WithoutAnArmPowerInputTheFollowingErrorOrAStallShowsLostPower) {
  const EmulatedArmOptions options = somewhere();
  ArmCell cell(options);
  cell.arm.use_table(exact_table(cell.settings, options));  // without it: encoder-frozen
  cell.power_on_here();
  cell.cards.inject(CardFault::kPowerLost);
  int cycles = 0;
  for (; cycles < 3000 && cell.arm.safety().state() == SafetyState::kActive; ++cycles) {
    cell.reference[0] += 0.3 * kPeriod;  // a slow motion goes on
    cell.read();
    Six torque{};
    const Six rest{};
    cell.law.update(cell.arm.reading().q, cell.arm.reading().qd, {cell.reference, rest, rest},
                    kPeriod, torque);
    cell.arm.set_reference(cell.reference);
    cell.arm.write(torque, 0, cell.holding_torque());
    cell.robot.advance(kPeriod);
  }
  EXPECT_TRUE(cell.arm.safety().cause().fault == Fault::kFollowingError ||
              cell.arm.safety().cause().fault == Fault::kStall)
      << cell.why();
  EXPECT_LE(cycles, 300);
  for (int k = 0; k < 300; ++k) cell.idle();
  cell.cards.clear_faults();
  for (int k = 0; k < 500; ++k) cell.follow(cell.reference);
  EXPECT_TRUE(cell.zero_volts());
  std::printf("emergency stop without an arm-power input: %s after %d cycles\n", cell.why().c_str(),
              cycles);
}

// An arm-power input that is not wired, or always shows power: the command must not grow until the
// power is back.
TEST(PumaArmEdge, PowerThatReturnsDoesNotThrowTheArm) {
  std::printf("%-8s %-10s %18s %s\n", "gap, s", "speed", "fastest afterwards", "fault");
  for (const double gap : {0.05, 0.1, 0.2, 0.3, 0.4}) {
    const EmulatedArmOptions options = somewhere();
    ArmCell cell(options);
    cell.arm.use_table(exact_table(cell.settings, options));
    cell.power_on_here();
    constexpr double kSpeed = 0.5;  // rad/s
    double fastest = 0, fastest_before = 0;
    const auto end_of_gap = static_cast<int>(200 + gap / kPeriod);
    for (int k = 0; k < 1500; ++k) {
      if (k == 200) cell.cards.inject(CardFault::kPowerLost);
      if (k == end_of_gap) cell.cards.clear_faults();
      Six qd{}, qdd{};
      qd[0] = kSpeed * std::min(1.0, k / 150.0);
      qdd[0] = k < 150 ? kSpeed / (150 * kPeriod) : 0;
      cell.reference[0] += qd[0] * kPeriod;
      cell.arm.set_reference(cell.reference);
      cell.follow(cell.reference, qd, qdd);
      double& most = k < 200 ? fastest_before : fastest;
      if (k < 200 || k >= end_of_gap) {
        most = std::max(most, std::abs(cell.robot.plant().qd()[0]));
      }
    }
    std::printf("%-8.2f %-10.2f %18.2f %s\n", gap, fastest_before, fastest, cell.why().c_str());
    EXPECT_LE(fastest, 1.2) << "well below the speed limit";
    if (gap >= 0.2) {
      EXPECT_EQ(fastest, 0) << "it was stopped before";
    }
  }
}

TEST(PumaArmEdge, TheWatchdogOutputChangesInEveryCycleWithPower) {
  ArmCell cell(somewhere(), watched_wiring());
  const auto changes = [&](int cycles, bool commanded) {
    int seen = 0;
    for (int k = 0; k < cycles; ++k) {
      const bool before = cell.cards.digital_output(kWatchdog);
      commanded ? cell.follow(cell.reference) : cell.idle();
      seen += cell.cards.digital_output(kWatchdog) != before ? 1 : 0;
    }
    return seen;
  };
  EXPECT_EQ(changes(50, false), 0) << "no power, no toggling";
  cell.power_on_here();
  EXPECT_EQ(changes(200, true), 200);
  EXPECT_TRUE(cell.robot.powered());
  cell.arm.cut_by_guard();
  EXPECT_EQ(changes(50, true), 0);
  EXPECT_EQ(cell.arm.safety().cause().fault, Fault::kGuardCut);
  EXPECT_FALSE(cell.cards.digital_output(kWatchdog));
}

TEST(PumaArmEdge, TheWatchdogRelayDropsThePowerOfAComputerThatStandsStill) {
  ArmCell cell(somewhere(), watched_wiring());
  cell.power_on_here();
  ASSERT_TRUE(cell.robot.powered());
  const Six before = cell.truth();
  for (int k = 0; k < 40; ++k) cell.robot.advance(kPeriod);  // no cycle any more
  EXPECT_FALSE(cell.zero_volts()) << "the last voltage stays";
  EXPECT_FALSE(cell.robot.powered()) << "but not the power";
  for (int k = 0; k < 1000; ++k) cell.robot.advance(kPeriod);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(cell.truth()[i], before[i], 0.02) << i;
}

TEST(PumaArmEdge, TheReadBackOfTheWatchdogProvesThatThePcl726IsAlive) {
  Parameters wiring = watched_wiring();
  wiring.erase("pcl726.power_feedback_input");  // which shows no power at a lost card
  ArmCell cell(somewhere(), wiring);
  cell.power_on_here();
  for (int k = 0; k < 500; ++k) cell.follow(cell.reference);
  ASSERT_EQ(cell.arm.safety().fault_count(), 0) << cell.why();
  cell.cards.inject(CardFault::kMissing726);
  const int cycles = cycles_to_fault(cell);
  const FaultRecord cause = cell.arm.safety().cause();
  EXPECT_EQ(cause.fault, Fault::kCardLost) << cell.why();
  EXPECT_EQ(cause.value, cell.settings.cards.pcl726.base);
  for (const char* word : {"0x2c0", "input 5 (pcl726.watchdog_input)", "output 10"}) {
    EXPECT_NE(cell.why().find(word), std::string::npos) << cell.why();
  }
  EXPECT_LE(cycles, 12);
  for (int k = 0; k < 40; ++k) cell.robot.advance(kPeriod);
  EXPECT_FALSE(cell.robot.powered()) << "the relay dropped: the lost card cannot be written";
  std::printf("PCL-726 lost in mid-motion: card-lost after %d cycles\n", cycles);
}

TEST(PumaArmEdge, ADifferingPotentiometerIsSeenBeforePower) {
  const EmulatedArmOptions options = somewhere();
  ArmCell cell(options);
  CalibrationTable table = exact_table(cell.settings, options);
  for (IndexEntry& entry : table.joints[1].entries) entry.count += 2 * 800;  // two turns off
  cell.arm.use_table(table);
  ASSERT_TRUE(cell.arm.set_position(cell.truth()));
  EXPECT_FALSE(cell.arm.power_on()) << "not before all six have been compared";
  for (int k = 0; k < 50; ++k) {
    cell.idle();
    cell.arm.power_on();
    EXPECT_TRUE(cell.zero_volts());
    EXPECT_FALSE(cell.cards.digital_output(kPowerOutput));
  }
  EXPECT_EQ(cell.arm.safety().cause().fault, Fault::kPotMismatch) << cell.why();
}

TEST(PumaArmEdge, APersonSwitchesPowerAndBrakes) {
  ArmCell cell(somewhere(), {{"pcl726.power_output", "-1"},
                             {"pcl726.brake_output", "-1"},
                             {"manual_power", "true"},
                             {"safety.manual_stop_time", "2"}});
  cell.cards.set_hand_switches(true, false);
  const Six before = cell.truth();
  ASSERT_TRUE(cell.arm.set_position(before));
  ASSERT_TRUE(cell.arm.power_on());
  cell.start_law();
  cell.reference = before;
  for (int k = 0; k < 300; ++k) cell.follow(cell.reference);
  EXPECT_EQ(cell.arm.brake_request(), BrakeRequest::kOpen);
  EXPECT_FALSE(cell.zero_volts()) << "the motors hold what the brakes will not";
  cell.cards.set_hand_switches(true, true);
  cell.arm.confirm_brakes();
  for (int k = 0; k < 500; ++k) cell.follow(cell.reference);
  EXPECT_TRUE(cell.arm.brakes_released());
  ASSERT_TRUE(cell.arm.power_off());
  for (int k = 0; k < 500; ++k) cell.idle();
  EXPECT_EQ(cell.arm.brake_request(), BrakeRequest::kClose);
  EXPECT_FALSE(cell.zero_volts()) << "it holds until the person has closed them";
  cell.cards.set_hand_switches(true, false);
  cell.arm.confirm_brakes();
  for (int k = 0; k < 260; ++k) cell.idle();
  EXPECT_TRUE(cell.zero_volts());
  EXPECT_NEAR(cell.truth()[1], before[1], 0.01) << "it did not drop";
  EXPECT_NEAR(cell.truth()[2], before[2], 0.01);
}

TEST(PumaArmEdge, SlowRelaysAndBrakesDoNotDropTheArm) {
  EmulatedArmOptions options = somewhere();
  options.relay_time = 0.03;
  options.brake_time = 0.08;
  ArmCell cell(options, {{"safety.power_delay", "0.05"}, {"safety.brake_delay", "0.1"}});
  const Six before = cell.truth();
  cell.power_on_here();
  for (int k = 0; k < 1000; ++k) cell.follow(cell.reference);
  EXPECT_EQ(cell.arm.safety().state(), SafetyState::kActive) << cell.why();
  ASSERT_TRUE(cell.arm.power_off());
  for (int k = 0; k < 1000; ++k) cell.idle();
  EXPECT_TRUE(cell.zero_volts());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(cell.truth()[i], before[i], 0.02) << i;
}

// Every fault of cards and wires while all joints swing, and the voltages after it.
struct Injection {
  const char* name;
  CardFault fault;
  int joint;
  Fault expected;
  bool power_input = true;  ///< is wired
  bool reference = true;    ///< the caller gives one, as `puma run` does; ros2_control does not
};

TEST(PumaArmFaults, EveryBrokenCardOrWireStopsTheArm) {
  const Injection injections[] = {
      {"PCL-818 gone", CardFault::kMissing818, 0, Fault::kCardLost},
      {"first PCL-833 gone", CardFault::kMissing833a, 0, Fault::kCardLost},
      {"second PCL-833 gone", CardFault::kMissing833b, 0, Fault::kCardLost},
      {"A/D 1000 times slower", CardFault::kSlowAd, 0, Fault::kAdTimeout},
      {"A/D never ready", CardFault::kAdStuck, 0, Fault::kAdTimeout},
      {"A/D gives another channel", CardFault::kAdWrongChannel, 0, Fault::kAdTimeout},
      {"encoder 1 frozen", CardFault::kEncoderFrozen, 0, Fault::kNone},
      {"encoder 4 frozen", CardFault::kEncoderFrozen, 3, Fault::kNone},
      {"encoder 3 jumps", CardFault::kEncoderJump, 2, Fault::kEncoderJump},
      {"potentiometer 2 open", CardFault::kPotOpen, 1, Fault::kPotMismatch},
      {"potentiometer 5 stuck", CardFault::kPotStuck, 4, Fault::kPotMismatch},
      {"thermal switch 6", CardFault::kThermal, 5, Fault::kThermal},
      {"emergency stop pressed", CardFault::kPowerLost, 0, Fault::kPowerLost},
      {"the same, input not wired", CardFault::kPowerLost, 0, Fault::kStall, false, false},
      {"amplifier 4 dead", CardFault::kAmplifierDead, 3, Fault::kFollowingError},
      {"PCL-726 gone", CardFault::kMissing726, 0, Fault::kCardLost, false},
      {"too late for the guard", CardFault::kThermal, -1, Fault::kGuardCut},
  };
  std::printf("%-28s %-16s %-10s %9s %14s  %s\n", "injected", "fault", "reaction", "cycles",
              "to 0 V after", "told");
  for (const Injection& injected : injections) {
    SCOPED_TRACE(injected.name);
    const EmulatedArmOptions options = somewhere();
    Parameters wiring = watched_wiring();
    if (!injected.power_input) wiring.erase("pcl726.power_feedback_input");
    ArmCell cell(options, wiring);
    cell.arm.use_table(exact_table(cell.settings, options));
    cell.power_on_here();
    auto swing = [&, k = 0](bool commanded) mutable {
      const double t = kPeriod * k++, w = 4, reach = 0.15;
      Six q = cell.reference, qd{}, qdd{};
      for (std::size_t i = 0; i < 6; ++i) {
        q[i] += reach * (1 - std::cos(w * t));
        qd[i] = reach * w * std::sin(w * t);
        qdd[i] = reach * w * w * std::cos(w * t);
      }
      if (commanded && injected.reference) cell.arm.set_reference(q);
      commanded ? cell.follow(q, qd, qdd) : cell.idle();
    };
    for (int k = 0; k < 700; ++k) swing(true);
    ASSERT_EQ(cell.arm.safety().fault_count(), 0) << cell.why();
    if (injected.expected == Fault::kGuardCut) {
      cell.arm.cut_by_guard();
    } else {
      cell.cards.inject(injected.fault, injected.joint);
    }
    int cycles = 0;
    while (cell.arm.safety().state() == SafetyState::kActive && cycles < 3000) {
      swing(true);
      ++cycles;
    }
    const FaultRecord cause = cell.arm.safety().cause();
    if (injected.expected != Fault::kNone) {
      EXPECT_EQ(cause.fault, injected.expected) << cell.why();
    } else {
      EXPECT_TRUE(cause.fault == Fault::kEncoderFrozen || cause.fault == Fault::kPotMismatch)
          << cell.why();
    }
    EXPECT_LE(cycles, cause.fault == Fault::kFollowingError ? 600 : 400)
        << "half a turn of the motor near a turning point";
    // A lost PCL-726 keeps its voltage; the watchdog relay takes the power.
    const bool writable = injected.fault != CardFault::kMissing726;
    const auto off = [&] { return writable ? cell.zero_volts() : !cell.robot.powered(); };
    int to_zero = 1;
    while (!off() && to_zero < 1000) {
      swing(false);
      ++to_zero;
    }
    EXPECT_LE(to_zero, !writable ? 30 : reaction_to(cause.fault) == Reaction::kCut ? 1 : 252);
    EXPECT_FALSE(cell.robot.powered());
    EXPECT_EQ(cell.arm.safety().cause().fault, cause.fault);
    for (int k = 0; k < 500; ++k) swing(true);
    EXPECT_TRUE(off()) << "latched";
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(cell.robot.plant().qd()[i], 0) << "the brakes hold joint " << i + 1;
    }
    std::printf("%-28s %-16s %-10s %9d %14d  %s\n", injected.name, to_string(cause.fault),
                to_string(reaction_to(cause.fault)), cycles, to_zero, cell.why().c_str());
  }
}

// One bit of a count that reads 1 for ever moves the joint by less than a millimeter at the tool:
// it stays within the arm's tolerance of everything that is checked, and does no harm.
TEST(PumaArmFaults, AStuckLowBitOfAnEncoderShakesTheArmALittle) {
  ArmCell cell(somewhere());
  cell.power_on_here();
  cell.cards.inject(CardFault::kEncoderStuckBit, 0);
  for (int k = 0; k < 1000; ++k) cell.follow(cell.reference);
  EXPECT_NEAR(cell.robot.plant().q()[0], cell.reference[0], 3e-3);
}

}  // namespace
}  // namespace puma_hardware
