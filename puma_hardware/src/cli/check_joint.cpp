// SPDX-License-Identifier: Apache-2.0

// `puma cards check`: the dialog around joint_check.hpp.

#include <cstdio>
#include <stdexcept>
#include <string>

#include "cli/cards_access.hpp"
#include "cli/joint_check.hpp"

namespace puma_hardware::cli {
namespace {

int direction_of(const std::string& word) {
  return word == "positive" ? 1 : word == "negative" ? -1 : 0;
}

/// The direction that the person saw, from --turned or the answer; 0: unknown.
int seen_direction(const ArmOptions& options, const Pulse& pulse, const std::string& joint) {
  if (!pulse.turned.empty()) return direction_of(pulse.turned);
  if (options.yes || !(options.ask || !emulated(options))) return 0;
  std::printf(
      "Which way did %s turn? Positive is right-handed about its axis (see \"Signs of the "
      "motors\" in the commissioning guide). positive, negative, or Enter: ",
      joint.c_str());
  std::fflush(stdout);
  std::string answer;
  read_line(answer);
  return direction_of(answer);
}

}  // namespace

void check_joint(const ArmOptions& options, const Pulse& pulse) {
  announce(options);
  Robot robot = open_robot(options);
  stop_request();
  const ArmSettings& arm = robot.settings();
  if (const std::string why = arm.power_refusal(); !why.empty()) throw std::runtime_error(why);
  const bool brakes = opens_brakes(arm, pulse);
  const auto joint = static_cast<std::size_t>(pulse.joint - 1);
  const std::string& name = arm.joints[joint].name;
  const DriveModels drives = drive_models(robot.chain(), arm);
  const double most = pulse.volts.value_or(default_voltage(drives[joint], arm.joints[joint]));
  check_voltage(drives[joint], arm.joints[joint], most);
  warn_of_unseen_power(arm);
  char text[400];
  std::snprintf(text, sizeof text,
                "%s moves by about half a motor turn, at up to %.2f V (%.2f V by its friction)%s. "
                "Look which way it turns. Emergency stop in your hand?",
                name.c_str(), most, drives[joint].volts_to_move(),
                brakes ? ", with the brakes of joints 1 to 3 open: the arm must be supported, or "
                         "stand upright"
                       : "");
  ask(options, text);
  Cards cards(robot);
  for (int k = 0; k < 20; ++k) wait_1_ms(robot);
  CheckedMotion motion;
  {
    Supervision supervision(robot);
    JointMotion moving(cards, arm, drives, joint, kCheckLimits, supervision.host());
    supervision.arm(pulse.unguarded);
    motion = move_for_check(moving, most, brakes);
  }
  if (motion.ended.empty()) {
    std::printf("%s: up to %.2f V; motor turns by encoder %.2f, by potentiometer %.2f\n",
                name.c_str(), motion.volts, motion.moved.encoder[joint], motion.moved.pot[joint]);
  }
  const int turned = turned_visibly(motion, joint) ? seen_direction(options, pulse, name) : 0;
  const Diagnosis diagnosis = diagnose(arm, drives, joint, motion, turned);
  std::printf("%s: %s\n", name.c_str(), diagnosis.text.c_str());
  if (!diagnosis.good) throw CLI::RuntimeError(1);
}

}  // namespace puma_hardware::cli
