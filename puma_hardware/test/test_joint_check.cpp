// SPDX-License-Identifier: Apache-2.0

// `puma cards check` and `output` on an emulated arm that is wired differently from what the settings
// say, on simulated time.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>

#include "cli/joint_check.hpp"
#include "cli/joint_motion.hpp"
#include "emulator/emulated_arm.hpp"

namespace puma_hardware::cli {
namespace {

using emulator::CardFault;
using emulator::EmulatedArm;
using emulator::EmulatedArmOptions;
using emulator::EmulatedCards;
using Six = std::array<double, 6>;

constexpr Six kUpright{0, -1.5, 1.5, 0, 0, 0};
constexpr double kMs = 1e-3;

Parameters with(Parameters changes) {
  Parameters all{{"pcl726.power_output", "8"},         {"pcl726.brake_output", "9"},
                 {"pcl726.power_feedback_input", "2"}, {"pcl726.watchdog_output", "10"},
                 {"pcl726.watchdog_input", "3"},       {"safety.power_delay", "0.2"},
                 {"safety.brake_delay", "0.1"}};
  for (const auto& [name, value] : changes) all[name] = value;
  return all;
}

const ga_dynamics::Chain& chain() {
  static const auto kChain = ga_dynamics::Chain::from_urdf_file(PUMA_URDF);
  return kChain;
}

EmulatedArmOptions standing(const Six& start) {
  EmulatedArmOptions options;
  options.start = start;
  return options;
}

/// An arm wired by `wiring`, and a program that believes `believed`.
class Rig {
 public:
  explicit Rig(const Parameters& wiring = {}, const Six& start = kUpright,
               const Parameters& believed = {})
      : wired(ArmSettings::from(chain(), with(wiring))),
        settings(ArmSettings::from(chain(), with(believed))),
        drives(drive_models(chain(), settings)),
        emulated(wired.cards),
        robot(chain(), wired, emulated, standing(start)),
        first(q()),
        cards(emulated, CardClaim(Bus::kPrivate, "", settings.cards), settings.cards) {}

  JointMotion::Host host() {
    return {[this] { advance(); }, [this](std::uint16_t) { return asked; }, [] {}};
  }
  CheckedMotion check(std::size_t joint, int direction = 1) {
    JointMotion motion(cards, settings, drives, joint, kCheckLimits, host());
    const double most = direction * default_voltage(drives[joint], settings.joints[joint]);
    CheckedMotion result = move_for_check(motion, most, settings.joints[joint].brake);
    motion.end();
    coast();
    return result;
  }
  Diagnosis diagnosis(std::size_t joint, int turned = 0) {
    return diagnose(settings, drives, joint, check(joint), turned);
  }
  /// Why it ended early.
  std::string output(std::size_t joint, double volts, double seconds) {
    JointMotion motion(cards, settings, drives, joint, {}, host());
    std::string early = motion.power_on(settings.joints[joint].brake);
    for (double left = seconds; left > 0 && early.empty(); left -= kMs) early = motion.cycle(volts);
    motion.end();
    coast();
    return early;
  }

  Six q() {
    Six now;
    std::copy_n(robot.plant().q().begin(), 6, now.begin());
    return now;
  }
  double farthest() {
    double most = 0;
    for (std::size_t i = 0; i < 6; ++i) most = std::max(most, std::abs(q()[i] - first[i]));
    return most;
  }
  bool off() {
    bool braked = true;
    for (int i = 0; i < 3; ++i) braked = braked && robot.plant().brake(i);
    return braked && !emulated.digital_output(8) && !emulated.digital_output(9) && !robot.powered();
  }
  bool zero_code() const {
    for (int channel = 0; channel < 6; ++channel) {
      if (cards_volts(channel) != 0) return false;
    }
    return true;
  }

  const ArmSettings wired, settings;
  const DriveModels drives;
  EmulatedCards emulated;
  EmulatedArm robot;
  const Six first;
  Cards cards;
  std::string asked;               ///< of supervise()
  std::function<void(double)> at;  ///< called every millisecond with the time
  double time = 0, fastest = 0, after_end = 0;

 private:
  double cards_volts(int joint) const { return emulated.output_volts(joint); }
  void advance() {
    time += kMs;
    if (at) at(time);
    robot.advance(kMs);
    for (const double speed : robot.plant().qd()) fastest = std::max(fastest, std::abs(speed));
  }
  void coast() {
    for (int k = 0; k < 500; ++k) robot.advance(kMs);
  }
};

std::string joint_name(std::size_t joint) { return "joint" + std::to_string(joint + 1); }

std::string set_of(std::size_t joint, const char* setting) {
  return joint_name(joint) + "." + setting;
}

std::string flipped(int direction) { return std::to_string(-direction); }

std::string swapped(std::size_t a, std::size_t b) {
  std::array<int, 6> channels{0, 1, 2, 3, 4, 5};
  std::swap(channels[a], channels[b]);
  std::string text;
  for (const int channel : channels) text += std::to_string(channel) + " ";
  return text;
}

bool tells(const Diagnosis& diagnosis, const std::string& part) {
  return diagnosis.text.find(part) != std::string::npos;
}

class EveryJoint : public ::testing::TestWithParam<std::size_t> {
 protected:
  const std::size_t joint = GetParam();
  const JointSettings own = Rig().settings.joints[joint];
  /// With other wires.
  void expect(const Parameters& wiring, const std::string& told, int turned = 0) {
    SCOPED_TRACE(told);
    Rig rig(wiring);
    const CheckedMotion motion = rig.check(joint);
    const Diagnosis diagnosis = diagnose(rig.settings, rig.drives, joint, motion, turned);
    EXPECT_FALSE(diagnosis.good) << diagnosis.text;
    EXPECT_TRUE(tells(diagnosis, told))
        << diagnosis.text << "\nmotor turns: " << motion.moved.encoder[joint] << ", "
        << motion.moved.pot[joint] << " at " << motion.volts << " V";
    expect_small(rig);
  }
  void expect_small(Rig& rig) {
    EXPECT_LT(rig.farthest(), 0.25);
    EXPECT_LT(rig.fastest, 1);
    EXPECT_TRUE(rig.off());
    EXPECT_TRUE(rig.zero_code());
  }
  void expect_fault(CardFault fault, const std::string& told) {
    SCOPED_TRACE(told);
    Rig rig;
    rig.emulated.inject(fault, static_cast<int>(joint));
    const Diagnosis diagnosis = rig.diagnosis(joint);
    EXPECT_FALSE(diagnosis.good) << diagnosis.text;
    EXPECT_TRUE(tells(diagnosis, told)) << diagnosis.text;
    expect_small(rig);
  }
};

INSTANTIATE_TEST_SUITE_P(JointCheck, EveryJoint, ::testing::Range<std::size_t>(0, 6),
                         [](const auto& param) { return joint_name(param.param); });

TEST_P(EveryJoint, AgreesIfItIsWiredRightly) {
  Rig rig;
  const CheckedMotion motion = rig.check(joint);
  const Diagnosis diagnosis = diagnose(rig.settings, rig.drives, joint, motion, 0);
  EXPECT_TRUE(diagnosis.good) << diagnosis.text;
  // Voltages of a PUMA 560 invert.
  EXPECT_TRUE(tells(diagnosis, "agree: the joint turned in its negative direction"))
      << diagnosis.text;
  EXPECT_LT(rig.q()[joint], rig.first[joint]) << "as it says";
  EXPECT_TRUE(diagnose(rig.settings, rig.drives, joint, motion, -1).good);
  std::printf("%s: moved at %.2f V, by %.3f rad (%.2f and %.2f motor turns), up to %.2f rad/s\n",
              own.name.c_str(), motion.volts, rig.farthest(), motion.moved.encoder[joint],
              motion.moved.pot[joint], rig.fastest);
  expect_small(rig);
}

TEST_P(EveryJoint, NamesAReversedSign) {
  const std::string voltage = set_of(joint, "voltage_direction"),
                    encoder = set_of(joint, "encoder_direction"),
                    pot = set_of(joint, "pot_direction");
  expect({{voltage, flipped(own.voltage_direction)}}, "the voltage is reversed: change " + voltage);
  expect({{encoder, flipped(own.encoder_direction)}}, "the encoder is reversed: change " + encoder);
  expect({{pot, flipped(own.pot_direction)}}, "the potentiometer is reversed: change " + pot);
}

TEST_P(EveryJoint, AsksWhichWayItTurnedIfTwoSignsMayBeReversed) {
  const std::string voltage = set_of(joint, "voltage_direction"),
                    encoder = set_of(joint, "encoder_direction"),
                    pot = set_of(joint, "pot_direction");
  const Parameters two{{voltage, flipped(own.voltage_direction)},
                       {encoder, flipped(own.encoder_direction)}};
  const std::string both =
      "the voltage is reversed: change " + voltage + ", or swap the amplifier's wires; the encoder";
  expect(two, "the potentiometer is reversed: change " + pot);
  expect(two, "Or: " + both);
  expect(two, "--turned positive");
  // The voltage of a check is positive, which turns an arm that does not invert up.
  Rig rig(two);
  const CheckedMotion motion = rig.check(joint);
  ASSERT_GT(rig.q()[joint], rig.first[joint]);
  EXPECT_EQ(diagnose(rig.settings, rig.drives, joint, motion, 1).text.find(both), 0u);
  EXPECT_EQ(diagnose(rig.settings, rig.drives, joint, motion, -1).text.find("the potentiometer"),
            0u);
}

TEST_P(EveryJoint, NamesThreeReversedSignsToAPersonWhoSawTheMotion) {
  const Parameters all{{set_of(joint, "voltage_direction"), flipped(own.voltage_direction)},
                       {set_of(joint, "encoder_direction"), flipped(own.encoder_direction)},
                       {set_of(joint, "pot_direction"), flipped(own.pot_direction)}};
  Rig rig(all);
  const CheckedMotion motion = rig.check(joint);
  EXPECT_TRUE(diagnose(rig.settings, rig.drives, joint, motion, 0).good) << "they agree";
  const Diagnosis diagnosis = diagnose(rig.settings, rig.drives, joint, motion, 1);
  EXPECT_FALSE(diagnosis.good);
  for (const char* what : {"the voltage", "the encoder", "the potentiometer"}) {
    EXPECT_TRUE(tells(diagnosis, what)) << diagnosis.text;
  }
}

TEST_P(EveryJoint, NamesSwappedWires) {
  const std::size_t next = joint == 5 ? 4 : joint + 1;
  const std::string other = joint_name(next);
  if (joint == 5) {  // its voltage may be too low for the amplifier of joint 5
    expect({{"pcl726.channel", swapped(joint, next)}}, "pcl726.channel");
  } else {
    expect({{"pcl726.channel", swapped(joint, next)}}, other + " moves in its place");
  }
  expect({{"pcl833.channel", swapped(joint, next)}}, "its encoder arrives as that of " + other);
  expect({{"pcl818.pot_channel", swapped(joint, next)}},
         "its potentiometer arrives as that of " + other);
}

TEST_P(EveryJoint, NamesALooseWire) {
  expect_fault(CardFault::kEncoderFrozen, "its encoder does not count");
  expect_fault(CardFault::kPotStuck, "its potentiometer does not move");
  expect_fault(CardFault::kAmplifierDead, "an amplifier without supply");
}

TEST_P(EveryJoint, DoesNotGetFarUnseen) {
  for (const int direction : {1, -1}) {
    Rig rig;
    rig.emulated.inject(CardFault::kEncoderFrozen, static_cast<int>(joint));
    rig.emulated.inject(CardFault::kPotStuck, static_cast<int>(joint));
    const Diagnosis diagnosis =
        diagnose(rig.settings, rig.drives, joint, rig.check(joint, direction), 0);
    EXPECT_TRUE(tells(diagnosis, "both sensors")) << diagnosis.text;
    EXPECT_FALSE(tells(diagnosis, "--most")) << diagnosis.text;
    std::printf("%s unseen: %.2f rad, up to %.2f rad/s\n", own.name.c_str(), rig.farthest(),
                rig.fastest);
    EXPECT_LT(rig.farthest(), 0.4);
    EXPECT_LT(rig.fastest, 1.2);
    EXPECT_TRUE(rig.off());
  }
}

TEST_P(EveryJoint, RefusesAVoltageThatCannotMoveIt) {
  const Rig rig;
  const DriveModel& drive = rig.drives[joint];
  EXPECT_THROW(check_voltage(drive, own, 0.9 * drive.volts_to_move()), std::runtime_error);
  EXPECT_THROW(check_voltage(drive, own, -3.1 * drive.volts_to_move()), std::runtime_error);
  EXPECT_NO_THROW(check_voltage(drive, own, -default_voltage(drive, own)));
}

TEST(JointCheck, NeedsTheFrictionOfTheDescription) {
  const Rig rig;
  DriveModel drive = rig.drives[3];
  drive.friction = drive.most_friction = 0;
  try {
    check_voltage(drive, rig.settings.joints[3], default_voltage(drive, rig.settings.joints[3]));
    ADD_FAILURE();
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()).find("joint4: the description has no coulomb_friction"),
              0u);
  }
}

TEST(JointCheck, EndsWhenTheEmergencyStopIsPressed) {
  for (const bool checked : {false, true}) {
    Rig rig;
    double released = 0;
    rig.at = [&](double time) {
      if (time > 0.75 && released == 0) rig.emulated.inject(CardFault::kPowerLost);
      if (time > 0.9) {
        rig.emulated.clear_faults();
        released = time;
      }
    };
    const std::string early = checked ? rig.check(5).ended : rig.output(5, -0.15, 20);
    EXPECT_EQ(early.find("arm power is lost: the emergency stop"), 0u) << early;
    EXPECT_TRUE(rig.off());
    EXPECT_TRUE(rig.zero_code());
    const Six then = rig.q();
    rig.emulated.clear_faults();
    for (int k = 0; k < 1000; ++k) rig.robot.advance(kMs);
    EXPECT_EQ(rig.q(), then) << "nothing moves again";
  }
}

TEST(JointCheck, DoesNotBeginWithoutArmPower) {
  Rig rig;
  rig.emulated.inject(CardFault::kPowerLost);
  const std::string early = rig.output(5, 0.2, 1);
  EXPECT_EQ(early.find("arm power does not come within"), 0u) << early;
  EXPECT_EQ(rig.farthest(), 0);
  EXPECT_TRUE(rig.off());
}

TEST(JointCheck, EndsWhenTheWatchdogIsNotReadBack) {
  const Parameters unseen_power{{"pcl726.power_feedback_input", "-1"}};
  Rig rig(unseen_power, kUpright, unseen_power);
  rig.at = [&](double time) {
    if (time > 0.6) rig.emulated.inject(CardFault::kMissing726);
  };
  const std::string early = rig.output(5, 0.1, 1);
  EXPECT_NE(early.find("pcl726.watchdog_input 3 does not follow"), std::string::npos) << early;
}

TEST(JointCheck, EndsOnRequest) {
  Rig rig;
  rig.at = [&](double time) {
    if (time > 0.5) rig.asked = "stopped on request";
  };
  EXPECT_EQ(rig.output(5, 0.1, 1), "stopped on request");
  EXPECT_LT(rig.time, 0.6);
  EXPECT_TRUE(rig.off());
}

TEST(JointCheck, AnOutputWithADeadEncoderIsWatchedByThePotentiometer) {
  struct {
    std::size_t joint;
    double volts;
  } const kMotions[] = {{5, 1}, {3, 1}, {1, -1}};
  for (const auto& [joint, volts] : kMotions) {
    Rig rig;
    rig.emulated.inject(CardFault::kEncoderFrozen, static_cast<int>(joint));
    const std::string early = rig.output(joint, volts, 3);
    EXPECT_NE(early.find("by the potentiometer: one of them is dead"), std::string::npos) << early;
    std::printf("%s, dead encoder: %.3f rad, up to %.2f rad/s\n", joint_name(joint).c_str(),
                rig.farthest(), rig.fastest);
    EXPECT_LT(rig.farthest(), 0.25);
    EXPECT_LT(rig.fastest, 1);
  }
}

TEST(JointCheck, AnOutputIsBoundedWithoutAnyFeedback) {
  for (const double volts : {0.2, 0.5, 1.0, -1.0}) {
    Rig rig;
    rig.emulated.inject(CardFault::kEncoderFrozen, 5);
    rig.emulated.inject(CardFault::kPotStuck, 5);
    const std::string early = rig.output(5, volts, 60);
    EXPECT_NE(early.find("both sensors are dead"), std::string::npos) << early;
    std::printf("joint6 unseen at %.1f V: %.3f rad, up to %.2f rad/s\n", volts, rig.farthest(),
                rig.fastest);
    EXPECT_LT(rig.farthest(), 0.4);
    EXPECT_LT(rig.fastest, 1);
  }
}

TEST(JointCheck, AWrongCodingIsNamedBeforeAnyVoltage) {
  for (const bool checked : {true, false}) {
    for (const std::size_t joint : {3u, 0u}) {
      Rig rig(Parameters{{"pcl726.coding", "twos_complement"}});
      const std::string early = checked ? rig.check(joint).ended : rig.output(joint, 0.2, 1);
      EXPECT_NE(early.find("moved at 0 V: pcl726.coding, now offset_binary, is wrong"),
                std::string::npos)
          << early;
      EXPECT_EQ(early.find("reversed"), std::string::npos) << early;
      std::printf("%s, wrong coding: %.3f rad, up to %.2f rad/s\n", joint_name(joint).c_str(),
                  rig.farthest(), rig.fastest);
      EXPECT_LT(rig.farthest(), 0.25);
      EXPECT_TRUE(rig.off());
      for (int channel = 0; channel < 6; ++channel) {
        EXPECT_EQ(rig.cards.dacs().volts(channel), 0) << "by the settings";
      }
    }
  }
}

TEST(JointCheck, AnArmThatIsNotHeldFallsByGravity) {
  for (const std::size_t joint : {1u, 2u, 0u}) {
    Rig rig({}, {0, 0, 1.5, 0, 0, 0});
    const Diagnosis diagnosis = rig.diagnosis(joint);
    EXPECT_TRUE(tells(diagnosis, "at 0 V when the brakes opened: gravity")) << diagnosis.text;
    EXPECT_TRUE(tells(diagnosis, "joint2")) << diagnosis.text;
    EXPECT_LT(rig.farthest(), 0.2);
    EXPECT_TRUE(rig.off());
  }
}

TEST(JointCheck, WhatMovesWithLessThanItsFrictionSaysNothingAboutWires) {
  const Rig rig;
  CheckedMotion motion;
  motion.volts = 0.05;
  motion.moved.encoder[1] = motion.moved.pot[1] = 0.6;
  const Diagnosis diagnosis = diagnose(rig.settings, rig.drives, 1, motion, 0);
  EXPECT_FALSE(diagnosis.good);
  EXPECT_TRUE(tells(diagnosis, "joint2 moved at 0.05 V")) << diagnosis.text;
  EXPECT_FALSE(tells(diagnosis, "change ")) << diagnosis.text;
}

TEST(JointCheck, AWrongByteOrderIsNamed) {
  for (const char* order : {"2 1 0", "1 0 2", "0 2 1"}) {
    for (const std::size_t joint : {3u, 0u}) {
      Rig rig({}, kUpright, {{"pcl833.byte_offset", order}});
      const Diagnosis diagnosis = rig.diagnosis(joint);
      EXPECT_TRUE(tells(diagnosis, "check pcl833.byte_offset, now " + std::string(order)))
          << order << ": " << diagnosis.text;
      EXPECT_LT(rig.farthest(), 0.25);
    }
  }
}

TEST(JointCheck, AMeterDoesNotNeedPower) {
  Rig rig;
  JointMotion motion(rig.cards, rig.settings, rig.drives, 3, {}, rig.host());
  motion.without_power();
  for (int k = 0; k < 5000; ++k) {
    ASSERT_EQ(motion.cycle(1), "");
    ASSERT_FALSE(rig.robot.powered());
  }
  EXPECT_NEAR(rig.emulated.output_volts(3), 1, 0.01);
  EXPECT_EQ(rig.farthest(), 0);
  motion.end();
  EXPECT_TRUE(rig.zero_code());
}

}  // namespace
}  // namespace puma_hardware::cli
