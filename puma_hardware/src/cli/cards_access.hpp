// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__CARDS_ACCESS_HPP_
#define CLI__CARDS_ACCESS_HPP_

// The four cards without the safety machine, for the commands that find out how they are wired, and
// what these need to move one joint a little.

#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "arm/transmission.hpp"
#include "cards/pcl726.hpp"
#include "cards/pcl818.hpp"
#include "cards/pcl833.hpp"
#include "cli/arm_options.hpp"
#include "process/heartbeat.hpp"
#include "runtime/robot.hpp"

namespace puma_hardware::cli {

constexpr std::int64_t kGuardTimeout = 100'000'000;  ///< ns without a sign of life

/// Readings of one joint.
struct JointLine {
  AdSample pot;
  bool hot = false;
  std::int64_t count = 0;
  std::array<std::uint8_t, 3> bytes{};
  std::optional<std::int64_t> index;  ///< count at the last index pulse
};

/// All four cards, opened: DACs at 0 V, counters at 0. Reading also writes (the A/D card's
/// multiplexer, the counters' latches), so that the cards are claimed.
class Cards {
 public:
  explicit Cards(Robot& robot) : Cards(robot, robot.claim(), robot.settings().cards) {}
  ~Cards() {
    each_counter([](Pcl833& card, int channel, std::size_t) { card.end_index_search(channel); });
  }

  void read() {
    each_counter([this](Pcl833& card, int channel, std::size_t joint) {
      const Pcl833::IndexReading reading = card.read_with_index(channel);
      lines_[joint].count = reading.count;
      lines_[joint].bytes = card.last_bytes(channel);
      if (reading.index_seen) lines_[joint].index = reading.index_count;
    });
  }
  void read_thermal() {
    const int hot = analog_.read_thermal();
    for (std::size_t joint = 0; joint < 6; ++joint) {
      lines_[joint].hot = (hot >> joint & 1) != 0;
    }
  }
  void read_pots() {
    read_thermal();
    for (std::size_t joint = 0; joint < 6; ++joint) {
      lines_[joint].pot = analog_.convert(settings_.pcl818.pot_channel[joint]);
    }
  }

  const std::array<JointLine, 6>& lines() const { return lines_; }
  Pcl726& dacs() { return dacs_; }
  Pcl818& analog() { return analog_; }
  const PortIo& bus() const { return io_; }
  std::int64_t now_ns() const { return io_.now_ns(); }  ///< on the bus's clock

 private:
  Cards(Robot& robot, CardClaim claim, const CardSettings& settings)
      : claim_(std::move(claim)),
        settings_(settings),
        io_(robot.io(claim_)),
        dacs_(robot.io(claim_), settings.pcl726),
        analog_(robot.io(claim_), settings.pcl818),
        counters_{Pcl833(robot.io(claim_), settings.pcl833, 0),
                  Pcl833(robot.io(claim_), settings.pcl833, 1)} {
    each_counter([](Pcl833& card, int channel, std::size_t) { card.begin_index_search(channel); });
  }

  void each_counter(const std::function<void(Pcl833&, int, std::size_t)>& visit) {
    for (std::size_t joint = 0; joint < 6; ++joint) {
      const int wired = settings_.pcl833.channel[joint];
      visit(counters_[static_cast<std::size_t>(wired / 3)], wired % 3, joint);
    }
  }

  CardClaim claim_;  ///< before the cards, whose constructors and destructors write to them
  CardSettings settings_;
  PortIo& io_;
  Pcl726 dacs_;
  Pcl818 analog_;
  std::array<Pcl833, 2> counters_;
  std::array<JointLine, 6> lines_;
};

inline void wait_1_ms(Robot& robot) {
  const timespec period{0, 1'000'000};
  if (robot.arm() != nullptr) {
    robot.arm()->advance(0.001);
  } else {
    nanosleep(&period, nullptr);
  }
}

/// A small voltage on one joint's output, to measure it or to find the joint's direction.
struct Pulse {
  int joint = 1;
  double volts = 0, seconds = 0.5;
  bool unguarded = false, supported = false;
};

constexpr double kLongestOpen = 5;     ///< s that brakes may be open
constexpr double kMostTurns = 2;       ///< of the joint's motor
constexpr double kOthersTurns = 0.25;  ///< of another motor, beyond the wrist's coupling
constexpr double kMostSpeed = 0.15;    ///< of the joint's speed limit
constexpr int kSpeedCycles = 10;       ///< over which the speed is measured

/// Ends a pulse before something moves too far.
class MotionWatch {
 public:
  MotionWatch(const ArmSettings& settings, std::size_t joint, const Cards& cards)
      : settings_(settings), transmission_(settings), joint_(joint) {
    for (std::size_t i = 0; i < 6; ++i) start_[i] = cards.lines()[i].count;
    last_ = start_[joint_];
    last_ns_ = cards.now_ns();
  }

  /// Call every millisecond. Why the pulse has to end, or nothing.
  std::string check(const Cards& cards) {
    const auto moved = [&](std::size_t i) {
      return static_cast<double>(cards.lines()[i].count - start_[i]);
    };
    const JointSettings& own = settings_.joints[joint_];
    if (std::abs(moved(joint_)) > kMostTurns * own.counts_per_rev) {
      return own.name + " has moved two turns of its motor";
    }
    if (++cycles_ % kSpeedCycles == 0) {
      const std::int64_t count = cards.lines()[joint_].count;
      const std::int64_t now = cards.now_ns();
      const double time = 1e-9 * static_cast<double>(now - std::exchange(last_ns_, now));
      const double speed = static_cast<double>(count - std::exchange(last_, count)) /
                           transmission_.counts_per_rad(joint_) / std::max(time, 1e-3);
      if (std::abs(speed) > kMostSpeed * own.max_speed) {
        return own.name + " moves at " + std::to_string(speed) + " rad/s";
      }
    }
    // The wrist's joints are coupled: one that turns alone turns the next motors as well.
    std::array<double, 6> q{}, coupled;
    q[joint_] = moved(joint_) / transmission_.counts_per_rad(joint_);
    transmission_.joints_to_counts(q, coupled);
    for (std::size_t i = 0; i < 6; ++i) {
      const JointSettings& other = settings_.joints[i];
      if (i != joint_ &&
          std::abs(moved(i)) > std::abs(coupled[i]) + kOthersTurns * other.counts_per_rev) {
        return "another joint moves: " + other.name +
               (other.brake ? "; the arm is not supported, or a brake does not hold" : "");
      }
      if (cards.lines()[i].hot) return other.name + ": the thermal switch has opened";
    }
    return "";
  }

 private:
  const ArmSettings& settings_;
  Transmission transmission_;
  std::size_t joint_;
  std::array<std::int64_t, 6> start_{};
  std::int64_t last_ = 0, last_ns_ = 0;
  int cycles_ = 0;
};

/// Whether the pulse opens the brakes. Throws std::runtime_error if they may not be opened.
inline bool opens_brakes(const ArmSettings& settings, const Pulse& pulse) {
  const Pcl726Settings& wiring = settings.cards.pcl726;
  const JointSettings& joint = settings.joints[static_cast<std::size_t>(pulse.joint - 1)];
  const bool follow_power = wiring.power_output >= 0 && wiring.brake_output < 0;
  if (!joint.brake && !follow_power) return false;
  if (!pulse.supported) {
    throw std::runtime_error(
        (follow_power ? "pcl726.brake_output is -1: the brakes of joints 1 to 3 open with arm power"
                      : joint.name + " has a brake, which opens together with those of the other "
                                     "joints") +
        ", and the arm falls. Support it with a second person or a hoist, then give --supported");
  }
  if (pulse.seconds > kLongestOpen) {
    throw std::runtime_error("--seconds " + std::to_string(pulse.seconds) +
                             ": at most 5 with the brakes open");
  }
  return true;
}

inline std::unique_ptr<Heartbeat> armed(const Robot& robot, bool unguarded) {
  auto heartbeat = unguarded ? nullptr : guarded_heartbeat(robot);
  if (heartbeat && !heartbeat->arm()) {
    throw std::runtime_error("process " + std::to_string(heartbeat->controller_pid()) +
                             " drives the arm; stop it first");
  }
  return heartbeat;
}

/// `puma cards check`: which sign or wire of a joint is wrong. Throws CLI::RuntimeError(1) if one is.
void check_joint(const ArmOptions& options, const Pulse& pulse);

}  // namespace puma_hardware::cli

#endif  // CLI__CARDS_ACCESS_HPP_
