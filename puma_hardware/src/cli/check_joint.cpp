// SPDX-License-Identifier: Apache-2.0

// Which sign or wire of a joint is wrong: a slowly growing voltage moves it by a fraction of a motor
// turn; of amplifier, encoder and potentiometer two agree, and the third is the culprit.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "cli/cards_access.hpp"

namespace puma_hardware::cli {
namespace {

constexpr double kRampTime = 2;      ///< s
constexpr double kEnough = 0.5;      ///< motor turns of any encoder that end the motion
constexpr double kPotMoved = 0.3;    ///< motor turns, above the noise of a potentiometer
constexpr double kCountMoved = 0.1;  ///< motor turns
constexpr int kPotCycles = 20;       ///< between two readings of the potentiometers
constexpr int kRest = 400;           ///< cycles at 0 V before the last reading
constexpr int kPotSamples = 20;      ///< of the mean at rest

using Six = std::array<double, 6>;

/// Motor turns by encoder and potentiometer of each joint, positive in the joint's positive direction
/// if the settings are right.
struct Moved {
  Six encoder{}, pot{};
};

class Response {
 public:
  Response(Cards& cards, const ArmSettings& settings) : cards_(cards), settings_(settings) {
    cards_.read();
    for (std::size_t i = 0; i < 6; ++i) count_[i] = cards_.lines()[i].count;
    volts_ = mean_volts();
  }
  /// The potentiometers as of their last good conversion.
  Moved now() {
    for (std::size_t i = 0; i < 6; ++i) {
      const AdSample& sample = cards_.lines()[i].pot;
      if (sample.status == AdStatus::kOk) present_[i] = sample.volts;
    }
    return moved(present_);
  }
  Moved at_rest() { return moved(mean_volts()); }

 private:
  /// Throws std::runtime_error naming the joint if its conversions fail.
  Six mean_volts() {
    Six sum{};
    std::array<int, 6> samples{};
    for (int k = 0; k < kPotSamples; ++k) {
      cards_.read_pots();
      for (std::size_t i = 0; i < 6; ++i) {
        const AdSample& sample = cards_.lines()[i].pot;
        if (sample.status != AdStatus::kOk) continue;
        sum[i] += sample.volts;
        ++samples[i];
      }
    }
    for (std::size_t i = 0; i < 6; ++i) {
      if (samples[i] < kPotSamples / 2) {
        throw std::runtime_error(
            settings_.joints[i].name +
            ": the conversions of its potentiometer fail; see `puma cards read`");
      }
      sum[i] /= samples[i];
    }
    present_ = sum;
    return sum;
  }
  Moved moved(const Six& volts) const {
    Moved result;
    for (std::size_t i = 0; i < 6; ++i) {
      const JointSettings& joint = settings_.joints[i];
      result.encoder[i] = joint.encoder_direction *
                          static_cast<double>(cards_.lines()[i].count - count_[i]) /
                          joint.counts_per_rev;
      result.pot[i] = joint.pot_direction * (volts[i] - volts_[i]) / joint.pot_volts_per_rev;
    }
    return result;
  }

  Cards& cards_;
  const ArmSettings& settings_;
  std::array<std::int64_t, 6> count_{};
  Six volts_{}, present_{};
};

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

/// What is wrong, and the setting or wire; empty if nothing is. `volts`: the last voltage.
std::string culprit(const ArmSettings& settings, std::size_t joint, const Moved& moved,
                    double volts) {
  const JointSettings& own = settings.joints[joint];
  const auto name = [&](int index) {
    return settings.joints[static_cast<std::size_t>(index)].name;
  };
  const double encoder = moved.encoder[joint], pot = moved.pot[joint];
  const int counts_of = other(moved.encoder, joint, kPotMoved),
            pot_of = other(moved.pot, joint, kPotMoved);
  const bool counted = std::abs(encoder) >= kCountMoved, turned = std::abs(pot) >= kPotMoved;
  if (counted && turned) {
    const bool wanted = volts * own.voltage_direction > 0;
    const bool by_encoder = encoder > 0, by_pot = pot > 0;
    if (by_encoder == by_pot) {
      return by_pot == wanted ? ""
                              : "the voltage is reversed: change " + own.name +
                                    ".voltage_direction, or swap the amplifier's wires";
    }
    return by_pot == wanted ? "the encoder is reversed: change " + own.name + ".encoder_direction"
                            : "the potentiometer is reversed: change " + own.name +
                                  ".pot_direction, or swap its ends";
  }
  if (turned) {
    return counts_of >= 0 ? "its encoder arrives as that of " + name(counts_of) +
                                ": swap them in pcl833.channel, or the connectors"
                          : "its encoder does not count: connector, supply, or a broken wire";
  }
  if (counted) {
    return pot_of >= 0 ? "its potentiometer arrives as that of " + name(pot_of) +
                             ": swap them in pcl818.pot_channel, or the connectors"
                       : "its potentiometer does not move: connector, supply, or a broken wire";
  }
  if (counts_of >= 0 && counts_of == pot_of) {
    return name(pot_of) + " moves in its place: swap them in pcl726.channel, or the amplifiers";
  }
  if (counts_of >= 0 || pot_of >= 0) {
    return "another joint moves, " + name(std::max(counts_of, pot_of)) +
           ": more than one wire is swapped";
  }
  return "nothing moves: is arm power on, the brake open, the amplifier supplied and enabled? Else "
         "try a larger --most";
}

}  // namespace

void check_joint(const ArmOptions& options, const Pulse& pulse) {
  announce(options);
  Robot robot = open_robot(options);
  const std::atomic<bool>& stop = stop_request();
  const ArmSettings& arm = robot.settings();
  const Pcl726Settings& wiring = arm.cards.pcl726;
  if (const std::string why = arm.power_refusal(); !why.empty()) throw std::runtime_error(why);
  const bool brakes = opens_brakes(arm, pulse);
  const auto joint = static_cast<std::size_t>(pulse.joint - 1);
  ask(options,
      arm.joints[joint].name +
          (brakes ? " moves by about half a motor turn, with the brakes of joints 1 to 3 open: "
                    "the arm must be supported. Emergency stop in your hand?"
                  : " moves by about half a motor turn. Emergency stop in your hand?"));
  Cards cards(robot);
  for (int k = 0; k < kPotCycles; ++k) wait_1_ms(robot);
  Response response(cards, arm);
  const auto heartbeat = armed(robot, pulse.unguarded);
  cards.dacs().write_output(wiring.power_output, true);
  if (brakes) cards.dacs().write_output(wiring.brake_output, true);
  std::string early;
  double volts = 0;
  bool watchdog = false;
  for (int k = 0; k < static_cast<int>(kRampTime * 1000) && early.empty(); ++k) {
    volts = pulse.volts * k / (kRampTime * 1000);
    cards.dacs().write_volts(wiring.channel[joint], volts);
    wait_1_ms(robot);
    cards.read();
    cards.read_thermal();
    if (k % kPotCycles == 0) cards.read_pots();
    watchdog = !watchdog;
    cards.dacs().write_output(wiring.watchdog_output, watchdog);
    const Moved moved = response.now();
    bool done = false;
    for (std::size_t i = 0; i < 6; ++i) {
      done = done || std::abs(moved.encoder[i]) > kEnough || std::abs(moved.pot[i]) > kEnough;
      if (cards.lines()[i].hot) early = arm.joints[i].name + ": the thermal switch has opened";
    }
    if (done) break;
    if (stop.load()) early = "stopped on request";
    if (!heartbeat) continue;
    heartbeat->beat(cards.dacs().outputs());
    if (heartbeat->tripped()) early = "the guard has cut the outputs";
    if (!heartbeat->guard_alive(kGuardTimeout) || heartbeat->guard_ended()) {
      early = "the guard is lost";
    }
  }
  cards.dacs().zero();
  cards.dacs().clear_outputs();
  if (heartbeat) heartbeat->disarm();
  for (int k = 0; k < kRest && early.empty(); ++k) {
    wait_1_ms(robot);
    cards.read();
  }
  if (!early.empty()) {
    std::fprintf(stderr, "puma: ended early: %s\n", early.c_str());
    throw CLI::RuntimeError(1);
  }
  const Moved moved = response.at_rest();
  std::printf("%s: up to %.2f V; motor turns by encoder %.2f, by potentiometer %.2f\n",
              arm.joints[joint].name.c_str(), volts, moved.encoder[joint], moved.pot[joint]);
  const std::string wrong = culprit(arm, joint, moved, volts);
  std::printf("%s: %s\n", arm.joints[joint].name.c_str(),
              wrong.empty() ? "voltage, encoder and potentiometer agree" : wrong.c_str());
  if (!wrong.empty()) throw CLI::RuntimeError(1);
}

}  // namespace puma_hardware::cli
