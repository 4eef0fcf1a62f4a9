// SPDX-License-Identifier: Apache-2.0

// What the description and the hardware parameters say of the arm, and what is refused.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "arm/arm_settings.hpp"

namespace puma_hardware {
namespace {

using ga_dynamics::Chain;

std::string urdf() {
  std::ifstream file(PUMA_URDF);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The description with the first occurrence after `from` of one text replaced.
Chain changed(const std::string& from, const std::string& old_text, const std::string& new_text) {
  std::string text = urdf();
  const auto start = text.find(from);
  const auto at = text.find(old_text, start);
  if (start == std::string::npos || at == std::string::npos) throw std::logic_error(old_text);
  text.replace(at, old_text.size(), new_text);
  return Chain::from_urdf_text(text);
}

std::string refusal(const Chain& chain, const Parameters& hardware = {}) {
  try {
    ArmSettings::from(chain, hardware);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "accepted";
}

std::string joint_refusal(const std::string& joint, const std::string& old_text,
                          const std::string& new_text) {
  return refusal(changed("<ros2_control", old_text, new_text)).find(joint) != std::string::npos
             ? refusal(changed("<ros2_control", old_text, new_text))
             : "joint not named: " + refusal(changed("<ros2_control", old_text, new_text));
}

TEST(ArmSettings, ReadsThePuma560) {
  const ArmSettings s = ArmSettings::from(Chain::from_urdf_file(PUMA_URDF), {});
  EXPECT_EQ(s.joints[1].name, "joint2");
  EXPECT_EQ(s.joints[1].gear_ratio, 107.815);
  EXPECT_EQ(s.joints[1].counts_per_rev, 800);
  EXPECT_EQ(s.joints[1].encoder_direction, -1);
  EXPECT_EQ(s.joints[1].torque_per_volt, 18.64);
  EXPECT_EQ(s.joints[1].voltage_direction, -1);
  EXPECT_EQ(s.joints[1].max_voltage, 10);
  EXPECT_EQ(s.joints[1].max_torque, 186.4);
  EXPECT_EQ(s.joints[1].max_speed, 1.51);
  EXPECT_NEAR(s.joints[1].lower, -3.8920842, 1e-6);
  EXPECT_NEAR(s.joints[1].upper, 0.7504916, 1e-6);
  EXPECT_TRUE(s.joints[2].brake);
  EXPECT_FALSE(s.joints[3].brake);
  EXPECT_EQ(s.joints[0].pot_volts_per_rev, 0.0485);
  EXPECT_EQ(s.coupling.c54, 0.0139037);
  EXPECT_EQ(s.coupling.c64, -0.0130401);
  EXPECT_EQ(s.coupling.c65, 0.180556);
  EXPECT_EQ(s.calibration_file, "");
}

TEST(ArmSettings, ReadsThePuma600) {
  const std::string path =
      std::string(PUMA_URDF).replace(std::string(PUMA_URDF).size() - 8, 3, "600");
  EXPECT_NO_THROW(ArmSettings::from(Chain::from_urdf_file(path), {}));
}

TEST(ArmSettings, ReadsHardwareParameters) {
  const ArmSettings s = ArmSettings::from(Chain::from_urdf_file(PUMA_URDF),
                                          {{"safety.ramp_time", " 0.4 "},
                                           {"safety.max_ad_timeouts", "5"},
                                           {"safety.pot_tolerance_turns", "0.3"},
                                           {"observer_bandwidth", "120"},
                                           {"calibration_file", "/etc/puma/calibration.json"},
                                           {"pcl726.base", "0x2E0"}});
  EXPECT_EQ(s.safety.ramp_time, 0.4);
  EXPECT_EQ(s.safety.max_ad_timeouts, 5);
  EXPECT_EQ(s.safety.pot_tolerance_turns, 0.3);
  EXPECT_EQ(s.observer_bandwidth, 120);
  EXPECT_EQ(s.calibration_file, "/etc/puma/calibration.json");
  EXPECT_EQ(s.cards.pcl726.base, 0x2E0);
}

TEST(ArmSettings, ReadsOptionalJointParameters) {
  const ArmSettings s = ArmSettings::from(
      changed("<ros2_control", "<param name=\"brake\">true</param>",
              "<param name=\"brake\">false</param><param name=\"pot_direction\">-1</param>"
              "<param name=\"pot_volts_per_rev\">0.05</param>"),
      {});
  EXPECT_FALSE(s.joints[0].brake);
  EXPECT_EQ(s.joints[0].pot_direction, -1);
  EXPECT_EQ(s.joints[0].pot_volts_per_rev, 0.05);
}

TEST(ArmSettings, WhatAnOwnerMeasuresGoesBeforeTheDescription) {
  const Chain chain = Chain::from_urdf_file(PUMA_URDF);
  const ArmSettings s = ArmSettings::from(chain, {{"joint1.encoder_direction", "-1"},
                                                  {"joint2.voltage_direction", "1"},
                                                  {"joint3.torque_per_volt", "8.5"},
                                                  {"joint4.pot_volts_per_rev", "0.045"},
                                                  {"joint5.pot_direction", "-1"},
                                                  {"joint6.max_voltage", "8"}});
  EXPECT_EQ(s.joints[0].encoder_direction, -1);
  EXPECT_EQ(s.joints[1].voltage_direction, 1);
  EXPECT_EQ(s.joints[2].torque_per_volt, 8.5);
  EXPECT_EQ(s.joints[3].pot_volts_per_rev, 0.045);
  EXPECT_EQ(s.joints[4].pot_direction, -1);
  EXPECT_EQ(s.joints[5].max_voltage, 8);
  EXPECT_NE(refusal(chain, {{"joint1.encoder_direction", "2"}})
                .find("joint 'joint1': parameter encoder_direction is '2'; give 1 or -1"),
            std::string::npos);
  EXPECT_NE(refusal(chain, {{"joint1.gear_ratio", "60"}}).find("joint1.gear_ratio is unknown"),
            std::string::npos)
      << "the model depends on it";
}

TEST(ArmSettings, PowerIsSwitchedByAnOutputOrAPerson) {
  const Chain chain = Chain::from_urdf_file(PUMA_URDF);
  EXPECT_FALSE(ArmSettings::from(chain, {}).power_controlled());
  const ArmSettings wired = ArmSettings::from(chain, {{"pcl726.power_output", "3"}});
  EXPECT_TRUE(wired.power_controlled());
  EXPECT_EQ(wired.safety.manual_stop_time, 0);
  const ArmSettings manual = ArmSettings::from(chain, {{"manual_power", "Yes"}});
  EXPECT_TRUE(manual.power_controlled());
  EXPECT_TRUE(manual.manual_brakes());
  EXPECT_EQ(manual.safety.manual_stop_time, 10);
  const ArmSettings mixed =
      ArmSettings::from(chain, {{"manual_power", "true"}, {"pcl726.brake_output", "3"}});
  EXPECT_FALSE(mixed.manual_brakes());
  EXPECT_EQ(mixed.safety.manual_stop_time, 0);
  EXPECT_NE(refusal(chain, {{"manual_power", "true"}, {"pcl726.power_output", "3"}})
                .find("give only one of them"),
            std::string::npos);
}

TEST(ArmSettings, AMisspeltNameListsTheNearest) {
  const Chain chain = Chain::from_urdf_file(PUMA_URDF);
  EXPECT_NE(refusal(chain, {{"safety.ramp_tine", "1"}}).find("; did you mean safety.ramp_time?"),
            std::string::npos);
  EXPECT_NE(refusal(chain, {{"pcl726.bas", "0x2E0"}}).find("did you mean pcl726.base"),
            std::string::npos);
  EXPECT_EQ(refusal(chain, {{"nonsense", "1"}}).find("did you mean"), std::string::npos);
}

TEST(ArmSettings, RefusesBadJointParametersByName) {
  EXPECT_EQ(joint_refusal("joint1", "<param name=\"gear_ratio\">62.6111</param>", ""),
            "joint 'joint1': parameter gear_ratio is missing; give it in the <ros2_control> tag");
  EXPECT_NE(joint_refusal("joint1", ">62.6111<", ">-62.6111<").find("gear_ratio is '-62.6111'"),
            std::string::npos);
  EXPECT_NE(joint_refusal("joint1", ">62.6111<", ">62,6<").find("gear_ratio is '62,6'"),
            std::string::npos);
  EXPECT_NE(joint_refusal("joint2", "rev\">800<", "rev\">800.5<").find("give a whole number"),
            std::string::npos);
  EXPECT_NE(joint_refusal("joint1", "encoder_direction\">1<", "encoder_direction\">2<")
                .find("encoder_direction is '2'; give 1 or -1"),
            std::string::npos);
  EXPECT_NE(joint_refusal("joint1", "brake\">true<", "brake\">maybe<").find("brake is 'maybe'"),
            std::string::npos);
  EXPECT_NE(joint_refusal("joint1", "name=\"brake\"", "name=\"break\"")
                .find("parameter break is unknown"),
            std::string::npos);
  EXPECT_NE(joint_refusal("joint5", "<param name=\"coupling_joint4\">0.0139037</param>", "")
                .find("coupling_joint4"),
            std::string::npos);
  EXPECT_NE(joint_refusal("joint6", "motor5\">0.180556<", "motor5\">nan<").find("coupling_motor5"),
            std::string::npos);
}

TEST(ArmSettings, RefusesACouplingWhereThereIsNone) {
  EXPECT_NE(joint_refusal("joint4",
                          "<param name=\"encoder_direction\">-1</param>\n"
                          "      <param name=\"brake\">false</param>",
                          "<param name=\"encoder_direction\">-1</param>"
                          "<param name=\"coupling_joint4\">0.1</param>")
                .find("coupling_joint4 is unknown"),
            std::string::npos);
}

TEST(ArmSettings, RefusesLimitsThatAreNone) {
  EXPECT_NE(refusal(changed("<joint name=\"joint1\"", "velocity=\"1.92\"", "velocity=\"0\""))
                .find("joint 'joint1': its <limit> tag needs a positive velocity"),
            std::string::npos);
  EXPECT_NE(refusal(changed("<joint name=\"joint2\"", "effort=\"186.4\"", "effort=\"0\""))
                .find("joint 'joint2': its <limit> tag needs a positive effort"),
            std::string::npos);
  EXPECT_NE(refusal(changed("<joint name=\"joint1\"", "type=\"revolute\"", "type=\"continuous\""))
                .find("joint 'joint1': its <limit> tag needs lower < upper"),
            std::string::npos);
  EXPECT_NE(refusal(changed("<joint name=\"joint1\"", "type=\"revolute\"", "type=\"prismatic\""))
                .find("joint 'joint1' is not revolute"),
            std::string::npos);
}

TEST(ArmSettings, RefusesAChainOfAnotherLength) {
  EXPECT_NE(refusal(Chain::from_urdf_file(PUMA_URDF, {.tip = "link4", .freeze_off_chain = true}))
                .find("this chain 4"),
            std::string::npos);
}

TEST(ArmSettings, RefusesBadHardwareParametersByName) {
  const Chain chain = Chain::from_urdf_file(PUMA_URDF);
  EXPECT_EQ(refusal(chain, {{"safety.ramp_tine", "1"}})
                .find("hardware: parameter safety.ramp_tine is unknown; known are "),
            0U);
  EXPECT_NE(refusal(chain, {{"safety.ramp_tine", "1"}}).find(", safety.ramp_time"),
            std::string::npos);
  EXPECT_NE(refusal(chain, {{"safety.overspeed_ratio", "0"}})
                .find("safety.overspeed_ratio is '0'; give a number greater than 0"),
            std::string::npos);
  EXPECT_NE(refusal(chain, {{"safety.jump_ratio", "inf"}}).find("safety.jump_ratio"),
            std::string::npos);
  EXPECT_NE(refusal(chain, {{"safety.max_missed_deadlines", "2.5"}}).find("a whole number"),
            std::string::npos);
  EXPECT_NE(refusal(chain, {{"safety.soft_limit_margin", ""}}).find("is ''"), std::string::npos);
  EXPECT_NE(refusal(chain, {{"observer_bandwidth", "0"}}).find("observer_bandwidth"),
            std::string::npos);
  EXPECT_NE(refusal(chain, {{"pcl726.bas", "0x2E0"}}).find("pcl726.bas"), std::string::npos);
}

TEST(ArmSettings, RefusesTorquesThatAreFarFromTheLimit) {
  const Chain chain = Chain::from_urdf_file(PUMA_URDF);
  for (const char* value : {"97.6", "0.976", "0.15"}) {
    const std::string why = refusal(chain, {{"joint1.torque_per_volt", value}});
    EXPECT_NE(why.find("joint 'joint1': torque_per_volt " + std::string(value)), std::string::npos)
        << why;
    EXPECT_NE(why.find("effort of 97.6 N m; give between 0.2 and 4 times that"), std::string::npos)
        << why;
  }
  EXPECT_NE(refusal(chain, {{"joint1.torque_per_volt", "97.6"}}).find("gives 976 N m at 10 V"),
            std::string::npos);
  EXPECT_NE(refusal(chain, {{"joint1.torque_per_volt", "0.976"}, {"joint1.max_voltage", "100"}}),
            "accepted")
      << "the card gives 10 V";
  for (const char* value : {"19.5", "3.9", "2"}) {
    EXPECT_EQ(refusal(chain, {{"joint1.torque_per_volt", value}}), "accepted") << value;
  }
  EXPECT_EQ(refusal(chain, {{"joint1.max_voltage", "2.5"}}), "accepted") << "a careful start";
}

TEST(ArmSettings, NamesLimitsThatAreTooLaxForRealCards) {
  const Chain chain = Chain::from_urdf_file(PUMA_URDF);
  EXPECT_EQ(ArmSettings::from(chain, {}).relaxed_limit(), "");
  const std::pair<const char*, const char*> lax[] = {{"safety.max_missed_deadlines", "1000"},
                                                     {"safety.deadline_ratio", "10"},
                                                     {"safety.jump_ratio", "20"},
                                                     {"safety.overspeed_ratio", "2"},
                                                     {"safety.command_timeout", "1"},
                                                     {"safety.following_error", "5"},
                                                     {"safety.stall_time", "10"},
                                                     {"safety.frozen_time", "5"},
                                                     {"safety.power_timeout", "10"},
                                                     {"safety.pot_tolerance_turns", "20"},
                                                     {"safety.max_ad_timeouts", "1000"}};
  for (const auto& [name, value] : lax) {
    const std::string why = ArmSettings::from(chain, {{name, value}}).relaxed_limit();
    EXPECT_EQ(why.find("hardware parameter " + std::string(name) + " is " + value +
                       "; on real cards it may be at most "),
              0U)
        << why;
  }
}

TEST(ArmSettings, WarnsOfAnEmergencyStopThatNoInputShows) {
  const Chain chain = Chain::from_urdf_file(PUMA_URDF);
  const std::string warning = ArmSettings::from(chain, {}).power_warning();
  EXPECT_NE(warning.find("pcl726.power_feedback_input is -1"), std::string::npos) << warning;
  EXPECT_EQ(ArmSettings::from(chain, {{"pcl726.power_feedback_input", "4"}}).power_warning(), "");
}

TEST(ArmSettings, RefusesAMarginThatLeavesNoRange) {
  std::string text = urdf();
  const auto joint = text.find("<joint name=\"joint5\"");
  const auto soft = text.find("<safety_controller", joint);
  text.erase(soft, text.find("/>", soft) + 2 - soft);
  const std::string lower = "lower=\"-1.7453292519943295\"";
  text.replace(text.find(lower, joint), lower.size(), "lower=\"1.7\"");
  EXPECT_NE(refusal(Chain::from_urdf_text(text), {{"safety.soft_limit_margin", "0.03"}})
                .find("safety.soft_limit_margin leaves joint 'joint5' no range"),
            std::string::npos);
}

}  // namespace
}  // namespace puma_hardware
