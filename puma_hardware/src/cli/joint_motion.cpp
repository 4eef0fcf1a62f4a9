// SPDX-License-Identifier: Apache-2.0
#include "cli/joint_motion.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "ga_dynamics/dynamics.hpp"

namespace puma_hardware::cli {

namespace {

constexpr int kPoses = 200;       ///< of which the least inertia and the most gravity are taken
constexpr int kRestSamples = 20;  ///< of a mean at rest
constexpr int kRestCycles = 400;
constexpr double kMostTurns = 2;     ///< of the joint's motor
constexpr double kPotMoved = 0.3;    ///< motor turns, above the noise of a potentiometer
constexpr double kPotDiffers = 0.3;  ///< motor turns between encoder and potentiometer
constexpr double kPotSeen = 0.15;    ///< the same, where a single error does no harm
constexpr double kSeenCounts = 16;   ///< of an encoder that has surely moved
constexpr double kStillCounts = 8;   ///< by which an encoder at rest may vary
constexpr double kSag = 0.25;        ///< motor turns of a supported joint when its brake opens
constexpr double kZeroTime = 0.2, kZeroTimeOpen = 0.5;  ///< s at 0 V, and with open brakes
constexpr int kPowerMissing = 5;                        ///< cycles, as the safety machine
constexpr int kWatchdogMissed = 10;  ///< a read-back that differs counts 2, one that agrees −1
constexpr int kFailedConversions = 10;
constexpr double kJumpRatio = 2, kJumpCounts = 20;  ///< of the speed limit, and beside it
constexpr double kSpeedTime = 0.01;                 ///< s over which the speed is measured
/// Share of the friction that is sure to hold the joint. What the rest of the torque may do unseen is
/// limited in speed and travel.
constexpr double kSureFriction = 0.7;

std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string listed(const ArmSettings& settings, const std::vector<std::size_t>& joints) {
  std::string text;
  for (const std::size_t i : joints) text += (text.empty() ? "" : ", ") + settings.joints[i].name;
  return text;
}

const char* name_of(DacCoding coding) {
  return coding == DacCoding::kOffsetBinary ? "offset_binary" : "twos_complement";
}

}  // namespace

std::string nothing_moves(double volts, const DriveModel& drive) {
  return "neither encoder nor potentiometer moves at " + number("%.2f", volts) +
         " V; friction takes " + number("%.2f", drive.volts_to_move()) +
         " V by the description. No arm power, a closed brake, an amplifier without supply or "
         "enable, or another amplifier gets the voltage (pcl726.channel); or the joint has moved, and "
         "both sensors are dead. Look at the joint: no more voltage before that is clear";
}

DriveModels drive_models(const ga_dynamics::Chain& chain, const ArmSettings& settings) {
  DriveModels models;
  ga_dynamics::Dynamics dynamics(chain, {.drives = ga_dynamics::Drives::kArmature});
  std::mt19937 random(1);
  std::array<double, 6> q, gravity;
  std::array<double, 36> inertia;
  for (std::size_t i = 0; i < 6; ++i) {
    const ga_dynamics::Drive& drive = chain.joints()[i].drive;
    models[i].friction = std::min(drive.coulomb_positive, drive.coulomb_negative);
    models[i].most_friction = std::max(drive.coulomb_positive, drive.coulomb_negative);
    models[i].viscous = drive.viscous;
    models[i].inertia = 1e9;
    models[i].torque_per_volt = settings.joints[i].torque_per_volt;
  }
  for (int pose = 0; pose < kPoses; ++pose) {
    for (std::size_t i = 0; i < 6; ++i) {
      const JointSettings& joint = settings.joints[i];
      q[i] = std::uniform_real_distribution<double>(joint.lower, joint.upper)(random);
    }
    dynamics.gravity(q, gravity);
    dynamics.inertia_matrix(q, inertia);
    for (std::size_t i = 0; i < 6; ++i) {
      models[i].gravity = std::max(models[i].gravity, std::abs(gravity[i]));
      models[i].inertia = std::min(models[i].inertia, inertia[7 * i]);
    }
  }
  return models;
}

JointMotion::JointMotion(Cards& cards, const ArmSettings& settings, const DriveModels& drives,
                         std::size_t joint, const MotionLimits& limits, Host host)
    : cards_(cards),
      settings_(settings),
      drives_(drives),
      transmission_(settings),
      joint_(joint),
      limits_(limits),
      host_(std::move(host)) {
  cards_.read();
  for (std::size_t i = 0; i < 6; ++i) tracks_[i].last_count = cards_.lines()[i].count;
  read_mean();
  start_here();
}

void JointMotion::read_mean() {
  std::array<double, 6> sum{};
  std::array<int, 6> samples{};
  for (int k = 0; k < kRestSamples; ++k) {
    cards_.read_pots();
    for (std::size_t i = 0; i < 6; ++i) {
      const AdSample& sample = cards_.lines()[i].pot;
      if (sample.status != AdStatus::kOk) continue;
      sum[i] += sample.volts;
      ++samples[i];
    }
  }
  for (std::size_t i = 0; i < 6; ++i) {
    if (samples[i] < kRestSamples / 2) {
      throw std::runtime_error(
          settings_.joints[i].name +
          ": the conversions of its potentiometer fail; see `puma cards read`");
    }
    tracks_[i].volts.fill(sum[i] / samples[i]);
    tracks_[i].counts.fill(static_cast<double>(cards_.lines()[i].count));
  }
}

void JointMotion::read_pot(std::size_t joint) {
  cards_.read_pot(joint);
  Track& track = tracks_[joint];
  const AdSample& sample = cards_.lines()[joint].pot;
  if (sample.status != AdStatus::kOk) {
    ++track.failed;
    return;
  }
  track.failed = 0;
  track.volts[track.next] = sample.volts;
  track.counts[track.next] = static_cast<double>(cards_.lines()[joint].count);
  track.next = (track.next + 1) % kSamples;
}

/// Motions count from here.
void JointMotion::start_here() {
  for (std::size_t i = 0; i < 6; ++i) {
    Track& track = tracks_[i];
    track.start_count = cards_.lines()[i].count;
    track.start_volts = 0;
    for (const double volts : track.volts) track.start_volts += volts / kSamples;
    track.counts.fill(static_cast<double>(track.start_count));
  }
  speed_time_ = 0;
  speed_from_ = static_cast<double>(cards_.lines()[joint_].count);
  unseen_speed_ = unseen_travel_ = 0;
  seen_ = {};
  last_ns_ = cards_.now_ns();
}

double JointMotion::by_encoder(std::size_t i) const {
  const JointSettings& joint = settings_.joints[i];
  return joint.encoder_direction *
         static_cast<double>(cards_.lines()[i].count - tracks_[i].start_count) /
         joint.counts_per_rev;
}

double JointMotion::by_pot(std::size_t i) const {
  const JointSettings& joint = settings_.joints[i];
  double volts = 0;
  for (const double sample : tracks_[i].volts) volts += sample / kSamples;
  return joint.pot_direction * (volts - tracks_[i].start_volts) / joint.pot_volts_per_rev;
}

Moved JointMotion::moved() const {
  Moved result;
  for (std::size_t i = 0; i < 6; ++i) {
    result.encoder[i] = by_encoder(i);
    result.pot[i] = by_pot(i);
  }
  return result;
}

Moved JointMotion::moved_at_rest() {
  read_mean();
  return moved();
}

void JointMotion::end() noexcept {
  if (!std::exchange(on_, false)) return;
  cards_.dacs().zero();
  cards_.dacs().clear_outputs();
  host_.ended();
}

void JointMotion::rest() {
  for (int k = 0; k < kRestCycles; ++k) {
    host_.wait();
    cards_.read();
  }
}

std::string JointMotion::cycle(double volts) {
  on_ = true;
  const Pcl726Settings& wiring = settings_.cards.pcl726;
  Pcl726& dacs = cards_.dacs();
  dacs.write_volts(wiring.channel[joint_], volts);
  volts_ = dacs.volts(wiring.channel[joint_]);
  if (!unpowered_) {
    watchdog_ = !watchdog_;
    dacs.write_output(wiring.watchdog_output, watchdog_);
  }
  host_.wait();
  const std::int64_t now = cards_.now_ns();
  const double dt = 1e-9 * static_cast<double>(now - std::exchange(last_ns_, now));
  cards_.read();
  cards_.read_thermal();
  read_pot(joint_);
  next_other_ = (next_other_ + 1) % 6;
  if (next_other_ == joint_) next_other_ = (next_other_ + 1) % 6;
  read_pot(next_other_);
  std::string why = host_.supervise(dacs.outputs());
  if (why.empty()) why = watch_wires();
  if (why.empty()) why = watch_motion(dt);
  if (why.empty()) why = watch_unseen(dt);
  if (!why.empty()) end();
  return why;
}

std::string JointMotion::watch_wires() {
  for (std::size_t i = 0; i < 6; ++i) {
    const std::string& name = settings_.joints[i].name;
    if (cards_.lines()[i].hot) return name + ": the thermal switch has opened";
    if (tracks_[i].failed >= kFailedConversions) {
      return name + ": the conversions of its potentiometer fail; see `puma cards read`";
    }
  }
  if (unpowered_) return "";
  const Pcl726Settings& wiring = settings_.cards.pcl726;
  const auto bit = [](int input) { return static_cast<std::uint16_t>(input < 0 ? 0 : 1 << input); };
  const std::uint16_t wanted = bit(wiring.power_feedback_input) | bit(wiring.watchdog_input);
  if (wanted == 0) return "";
  const std::uint16_t inputs = cards_.dacs().read_inputs(wanted);
  if (wiring.power_feedback_input >= 0) {
    const bool high = (inputs & bit(wiring.power_feedback_input)) != 0;
    const bool present = high == wiring.power_feedback_active_high;
    power_missing_ = present ? 0 : power_missing_ + 1;
    if (power_seen_ && power_missing_ >= kPowerMissing) {
      return "arm power is lost: the emergency stop was pressed, or a relay has opened. Nothing "
             "moves when the power returns";
    }
    power_seen_ = power_seen_ || present;
  }
  if (wiring.watchdog_input >= 0) {
    const bool differs = ((inputs & bit(wiring.watchdog_input)) != 0) != watchdog_;
    watchdog_missed_ = std::max(watchdog_missed_ + (differs ? 2 : -1), 0);
    if (watchdog_missed_ >= kWatchdogMissed) {
      return "pcl726.watchdog_input " + std::to_string(wiring.watchdog_input) +
             " does not follow pcl726.watchdog_output " + std::to_string(wiring.watchdog_output) +
             ": the PCL-726 does not answer, or the wire between them is loose";
    }
  }
  return "";
}

std::string JointMotion::watch_motion(double dt) {
  const JointSettings& own = settings_.joints[joint_];
  for (std::size_t i = 0; i < 6; ++i) {
    const JointSettings& joint = settings_.joints[i];
    const std::int64_t count = cards_.lines()[i].count;
    const auto step = static_cast<double>(count - std::exchange(tracks_[i].last_count, count));
    const double most =
        kJumpRatio * joint.max_speed * std::abs(transmission_.counts_per_rad(i)) * dt + kJumpCounts;
    if (std::abs(step) > most) {
      const auto& bytes = settings_.cards.pcl833.byte_offset;
      return joint.name + ": its count jumps by " + number("%.0f", step) +
             " in one cycle, faster than the joint can turn: check pcl833.byte_offset, now " +
             std::to_string(bytes[0]) + " " + std::to_string(bytes[1]) + " " +
             std::to_string(bytes[2]) + ", and the encoder's wires for noise";
    }
  }
  if (starting_) return "";
  const double encoder = by_encoder(joint_), pot = by_pot(joint_);
  const double turned = std::abs(encoder) > std::abs(pot) ? encoder : pot;
  if (std::abs(turned) > kMostTurns) return own.name + " has moved two turns of its motor";
  speed_time_ += dt;
  if (speed_time_ >= kSpeedTime) {
    const auto count = static_cast<double>(cards_.lines()[joint_].count);
    const double speed = (count - std::exchange(speed_from_, count)) /
                         transmission_.counts_per_rad(joint_) / std::exchange(speed_time_, 0);
    if (limits_.speed_ratio > 0 && std::abs(speed) > limits_.speed_ratio * own.max_speed) {
      return own.name + " moves at " + number("%.2f", speed) + " rad/s";
    }
  }
  if (limits_.compare) {
    double counts = 0;
    for (const double count : tracks_[joint_].counts) counts += count / kSamples;
    const double then =
        std::abs(counts - static_cast<double>(tracks_[joint_].start_count)) / own.counts_per_rev;
    if (std::abs(then - std::abs(pot)) > kPotDiffers) {
      return own.name + " has turned its motor " + number("%.2f", then) +
             " times by the encoder, " + number("%.2f", std::abs(pot)) +
             " times by the potentiometer: one of them is dead or is another joint's; see `puma "
             "cards check`";
    }
  }
  // The wrist's joints are coupled: one that turns alone turns the next motors as well.
  std::array<double, 6> q{}, coupled;
  q[joint_] = 2 * std::numbers::pi * turned / own.gear_ratio;
  transmission_.joints_to_counts(q, coupled);
  for (std::size_t i = 0; i < 6; ++i) {
    if (i == joint_) continue;
    const JointSettings& other = settings_.joints[i];
    const double along = std::abs(coupled[i]) / other.counts_per_rev;
    const double more = std::max(std::abs(by_encoder(i)), std::abs(by_pot(i)) - kPotMoved);
    if (more > along + limits_.other_turns) {
      return "another joint moves: " + other.name +
             (other.brake ? "; the arm is not supported, or a brake does not hold" : "");
    }
  }
  return "";
}

/// A joint whose motion is not seen must not get far. Assumes that it moves as far as the description
/// lets it.
std::string JointMotion::watch_unseen(double dt) {
  if (unpowered_) return "";
  const DriveModel& drive = drives_[joint_];
  const JointSettings& own = settings_.joints[joint_];
  const double torque = std::abs(volts_) * drive.torque_per_volt - kSureFriction * drive.friction -
                        drive.viscous * unseen_speed_;
  unseen_speed_ = std::max(0.0, unseen_speed_ + torque / drive.inertia * dt);
  unseen_travel_ += unseen_speed_ * dt;
  for (std::size_t i = 0; i < 6; ++i) {
    // The joint's motion turns these as well, whether or not it is seen itself.
    if (i > joint_ && joint_ >= 3) continue;
    const double counted = kSeenCounts / settings_.joints[i].counts_per_rev;
    if (std::abs(by_encoder(i) - seen_.encoder[i]) < counted &&
        std::abs(by_pot(i) - seen_.pot[i]) < kPotSeen) {
      continue;
    }
    seen_ = moved();
    unseen_speed_ = unseen_travel_ = 0;
    return "";
  }
  const bool far = unseen_travel_ > limits_.unseen_turns * 2 * std::numbers::pi / own.gear_ratio;
  const bool fast = !own.brake && unseen_speed_ > limits_.unseen_ratio * own.max_speed;
  if (!far && !fast) return "";
  unseen_ = true;
  return own.name + ": " + nothing_moves(volts_, drive);
}

std::string JointMotion::moving_at_zero(bool brakes_open) const {
  std::vector<std::size_t> movers;
  bool braked = true, falls = false, own = false;
  for (std::size_t i = 0; i < 6; ++i) {
    const JointSettings& joint = settings_.joints[i];
    const bool loose = brakes_open && joint.brake;
    const double turns = loose ? kSag : kStillCounts / joint.counts_per_rev;
    if (std::abs(by_encoder(i)) <= turns && std::abs(by_pot(i)) <= std::max(turns, kPotMoved)) {
      continue;
    }
    movers.push_back(i);
    own = own || i == joint_;
    braked = braked && joint.brake;
    falls = falls || drives_[i].falls();
  }
  if (movers.empty()) return "";
  const std::string what = listed(settings_, movers);
  const std::string coding =
      std::string("pcl726.coding, now ") + name_of(settings_.cards.pcl726.coding);
  if (brakes_open && braked && falls) {
    return what +
           " moved at 0 V when the brakes opened: gravity. Hang or hold the arm, or stand it "
           "upright, where friction holds it. If it was held: an offset of the outputs, or " +
           coding;
  }
  const std::string full =
      ". Arm power is off; the outputs were left with the code for 0 V, which a wrong coding turns "
      "into full scale: keep arm power off and measure them with the amplifiers disconnected";
  if (own && movers.size() == 1) {
    return what +
           " moved at 0 V: its output or its amplifier has an offset, or gravity turns it; "
           "or " +
           coding + ", is wrong" + full;
  }
  return what + " moved at 0 V: " + coding + ", is wrong, or the outputs have an offset" + full;
}

std::string JointMotion::power_on(bool open_brakes) {
  const Pcl726Settings& wiring = settings_.cards.pcl726;
  const bool follow = wiring.power_output >= 0 && wiring.brake_output < 0;
  starting_ = true;
  // A hot motor or a wrong joint is noticed before the power.
  if (std::string why = cycle(0); !why.empty()) return why;
  cards_.dacs().write_output(wiring.power_output, true);
  const auto still = [&](double seconds, bool open) {
    for (double left = seconds; left > 0; left -= 0.001) {
      std::string why = cycle(0);
      if (why.empty() && !(why = moving_at_zero(open)).empty()) {
        end();
        rest();
        why = moving_at_zero(open);
      }
      if (!why.empty()) return why;
    }
    return std::string();
  };
  if (wiring.power_feedback_input >= 0) {
    for (double left = settings_.safety.power_timeout; !power_seen_ || power_missing_ > 0;
         left -= 0.001) {
      if (std::string why = still(0.001, open_brakes && follow); !why.empty()) return why;
      if (left > 0) continue;
      end();
      return "arm power does not come within " + number("%g", settings_.safety.power_timeout) +
             " s: is the emergency stop pressed? Else check pcl726.power_output and "
             "pcl726.power_feedback_input";
    }
  }
  if (std::string why = still(settings_.safety.power_delay + kZeroTime, open_brakes && follow);
      !why.empty()) {
    return why;
  }
  if (open_brakes) {
    cards_.dacs().write_output(wiring.brake_output, true);
    if (std::string why = still(settings_.safety.brake_delay + kZeroTimeOpen, true); !why.empty()) {
      return why;
    }
  }
  starting_ = false;
  start_here();
  return "";
}

}  // namespace puma_hardware::cli
