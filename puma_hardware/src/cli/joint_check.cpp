// SPDX-License-Identifier: Apache-2.0
#include "cli/joint_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <vector>

namespace puma_hardware::cli {

namespace {

constexpr double kRampTime = 0.6;                 ///< s, and as long at the greatest voltage
constexpr double kEnough = 0.5;                   ///< motor turns of any joint that end the motion
constexpr double kPotMoved = 0.3;                 ///< motor turns, above the wrist's coupling
constexpr double kPotMovedAtRest = 0.15;          ///< motor turns, above the noise of a mean
constexpr double kEncoderMoved = 0.1;             ///< motor turns
constexpr double kMargin = 1.5, kMostMargin = 3;  ///< of the voltage over that of the friction
constexpr double kShare = 0.5;                    ///< of the turns by the other sensor
/// Of the friction in its easier direction: what moves with less is not moved by the voltage.
constexpr double kLeastFriction = 0.5;

using Six = std::array<double, 6>;

std::string volts_text(double volts) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f V", volts);
  return text;
}

/// The joint other than `joint` that moved most, −1 if none did.
int other(const Six& turns, std::size_t joint, double least) {
  int found = -1;
  for (std::size_t i = 0; i < 6; ++i) {
    if (i == joint || std::abs(turns[i]) < least) continue;
    if (found < 0 || std::abs(turns[i]) > std::abs(turns[static_cast<std::size_t>(found)])) {
      found = static_cast<int>(i);
    }
  }
  return found;
}

/// What of a joint may be reversed.
struct Sign {
  const char* what;
  const char* setting;
  const char* wires;
  int direction;  ///< in which the joint moved by this, if its settings are right
};

/// Those that say the joint turned the other way: what is wrong, empty if nothing is.
std::string reversed(const std::array<Sign, 3>& signs, int turned, const std::string& joint) {
  std::string text;
  for (const Sign& sign : signs) {
    if (sign.direction == turned) continue;
    text += (text.empty() ? "the " : "; the ") + std::string(sign.what) + " is reversed: change " +
            joint + "." + sign.setting + sign.wires;
  }
  return text;
}

std::string in_direction(int turned, const std::string& joint) {
  return std::string("if ") + joint + " turned in its " + (turned > 0 ? "positive" : "negative") +
         " direction";
}

}  // namespace

double default_voltage(const DriveModel& drive, const JointSettings& joint) {
  return std::min(kMargin * drive.volts_to_move(), joint.max_voltage);
}

void check_voltage(const DriveModel& drive, const JointSettings& joint, double most) {
  const double least = drive.volts_to_move(), greatest = kMostMargin * least;
  if (!(least > 0)) {
    throw std::runtime_error(
        joint.name +
        ": the description has no coulomb_friction_positive and _negative, from "
        "which the voltage of a check follows; give them");
  }
  if (std::abs(most) >= least && std::abs(most) <= std::min(greatest, joint.max_voltage)) return;
  throw std::runtime_error("--most " + volts_text(most) + ": " + joint.name + " needs " +
                           volts_text(least) + " against its friction; give " + volts_text(least) +
                           " to " + volts_text(std::min(greatest, joint.max_voltage)) +
                           ", or the same with a minus");
}

CheckedMotion move_for_check(JointMotion& motion, double most, bool open_brakes) {
  CheckedMotion result;
  result.ended = motion.power_on(open_brakes);
  constexpr int kCycles = static_cast<int>(kRampTime * 1000);
  for (int k = 1; k <= 2 * kCycles && result.ended.empty(); ++k) {
    result.ended = motion.cycle(most * std::min(k, kCycles) / kCycles);
    const Moved moved = motion.moved();
    const auto enough = [](const Six& turns) {
      return std::any_of(turns.begin(), turns.end(),
                         [](double one) { return std::abs(one) > kEnough; });
    };
    if (enough(moved.encoder) || enough(moved.pot)) break;
  }
  result.volts = motion.volts();
  motion.end();
  if (motion.unseen()) result.ended.clear();  // what did move says why
  if (!result.ended.empty()) return result;
  motion.rest();
  result.moved = motion.moved_at_rest();
  return result;
}

bool turned_visibly(const CheckedMotion& motion, std::size_t joint) {
  return motion.ended.empty() && std::abs(motion.moved.encoder[joint]) >= kEncoderMoved &&
         std::abs(motion.moved.pot[joint]) >= kPotMovedAtRest;
}

Diagnosis diagnose(const ArmSettings& settings, const DriveModels& drives, std::size_t joint,
                   const CheckedMotion& motion, int turned) {
  if (!motion.ended.empty()) return {false, motion.ended};
  const JointSettings& own = settings.joints[joint];
  const Moved& moved = motion.moved;
  const auto name = [&](int index) {
    return settings.joints[static_cast<std::size_t>(index)].name;
  };
  const double encoder = moved.encoder[joint], pot = moved.pot[joint];
  const int counts_of = other(moved.encoder, joint, kPotMoved),
            pot_of = other(moved.pot, joint, kPotMoved);
  // One that moves much less than the other is moved by the wrist's coupling.
  const bool counted = std::abs(encoder) >= std::max(kEncoderMoved, kShare * std::abs(pot)),
             potted = std::abs(pot) >= std::max(kPotMovedAtRest, kShare * std::abs(encoder));
  // Which joint really moved: the one of both sensors, else of either.
  const int mover = counted || potted ? static_cast<int>(joint) : std::max(counts_of, pot_of);
  if (mover >= 0) {
    const DriveModel& drive = drives[static_cast<std::size_t>(mover)];
    if (std::abs(motion.volts) * drive.torque_per_volt < kLeastFriction * drive.friction) {
      return {false, name(mover) + " moved at " + volts_text(motion.volts) +
                         ", although its friction alone takes " +
                         volts_text(drive.friction / drive.torque_per_volt) +
                         ": gravity, a push, or an offset of the output moved it. This says "
                         "nothing about the wires: hold the arm still, upright, and repeat"};
    }
  }
  if (counted && potted) {
    const std::array<Sign, 3> signs{
        {{"voltage", "voltage_direction", ", or swap the amplifier's wires",
          motion.volts * own.voltage_direction > 0 ? 1 : -1},
         {"encoder", "encoder_direction", "", encoder > 0 ? 1 : -1},
         {"potentiometer", "pot_direction", ", or swap its ends", pot > 0 ? 1 : -1}}};
    const int sum = signs[0].direction + signs[1].direction + signs[2].direction;
    const int most = sum > 0 ? 1 : -1;
    if (turned != 0) {
      const std::string wrong = reversed(signs, turned, own.name);
      if (!wrong.empty()) return {false, wrong};
      return {true, "voltage, encoder and potentiometer agree with the direction that was seen"};
    }
    if (std::abs(sum) == 3) {
      return {true, "voltage, encoder and potentiometer agree: the joint turned in its " +
                        std::string(most > 0 ? "positive" : "negative") +
                        " direction (right-handed about its axis is positive). If it turned the "
                        "other way, all three are reversed"};
    }
    return {false, reversed(signs, most, own.name) + " (" + in_direction(most, own.name) +
                       "). Or: " + reversed(signs, -most, own.name) + " (" +
                       in_direction(-most, own.name) +
                       "). Look which way it turns, and repeat with --turned positive or "
                       "--turned negative"};
  }
  if (potted) {
    return {false, counts_of >= 0
                       ? "its encoder arrives as that of " + name(counts_of) +
                             ": swap them in pcl833.channel, or the connectors"
                       : "its encoder does not count: connector, supply, or a broken wire"};
  }
  if (counted) {
    return {false, pot_of >= 0
                       ? "its potentiometer arrives as that of " + name(pot_of) +
                             ": swap them in pcl818.pot_channel, or the connectors"
                       : "its potentiometer does not move: connector, supply, or a broken wire"};
  }
  if (counts_of >= 0 && counts_of == pot_of) {
    const bool coupled = joint >= 3 && pot_of > static_cast<int>(joint);
    return {false,
            name(pot_of) + " moves in its place: swap them in pcl726.channel, or the amplifiers" +
                (coupled ? ". Or " + own.name + " has moved, with both sensors dead, and " +
                               name(pot_of) + " by the wrist's coupling: look which one moves"
                         : "")};
  }
  if (counts_of >= 0 || pot_of >= 0) {
    return {false, "another joint moves, " + name(std::max(counts_of, pot_of)) +
                       ": more than one wire is swapped"};
  }
  return {false, nothing_moves(motion.volts, drives[joint])};
}

}  // namespace puma_hardware::cli
