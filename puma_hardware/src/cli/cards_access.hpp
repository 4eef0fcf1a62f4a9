// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__CARDS_ACCESS_HPP_
#define CLI__CARDS_ACCESS_HPP_

// What the commands need that move one joint a little, to find out how it is wired.

#include <time.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "cli/arm_options.hpp"
#include "cli/cards.hpp"
#include "cli/joint_motion.hpp"
#include "process/heartbeat.hpp"
#include "process/realtime.hpp"
#include "runtime/robot.hpp"

namespace puma_hardware::cli {

constexpr std::int64_t kGuardTimeout = 100'000'000;  ///< ns without a sign of life

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
  std::optional<double> volts;  ///< of `check`, if not given: from the joint's friction
  double seconds = 0.5;
  bool unguarded = false, supported = false, unpowered = false;
  std::string turned;  ///< the direction that a person saw: positive, negative or empty
};

constexpr double kLongestOpen = 5;  ///< s that brakes may be open

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

/// What a motion needs around it: time, the guard, requests to stop.
class Supervision {
 public:
  explicit Supervision(Robot& robot) : robot_(robot) {}

  /// From now on the guard watches. Throws std::runtime_error without one, unless `unguarded`.
  void arm(bool unguarded) {
    if (robot_.bus() != Bus::kPrivate) {
      const std::string refused = enter_realtime(kPriority);
      if (!refused.empty() && robot_.bus() == Bus::kPorts) {
        std::fprintf(stderr, "puma: %s\n", refused.c_str());
      }
    }
    if (unguarded) return;
    heartbeat_ = guarded_heartbeat(robot_);
    if (heartbeat_ && !heartbeat_->arm()) {
      throw std::runtime_error("process " + std::to_string(heartbeat_->controller_pid()) +
                               " drives the arm; stop it first");
    }
  }
  JointMotion::Host host() {
    return {[this] { wait_1_ms(robot_); },
            [this](std::uint16_t outputs) { return why_to_end(outputs); },
            [this] {
              if (heartbeat_) heartbeat_->disarm();
            }};
  }

 private:
  std::string why_to_end(std::uint16_t outputs) {
    if (heartbeat_) {
      heartbeat_->beat(outputs);
      if (heartbeat_->tripped()) return "the guard has cut the outputs";
      if (!heartbeat_->guard_alive(kGuardTimeout) || heartbeat_->guard_ended()) {
        return "the guard is lost";
      }
    }
    return stop_flag().load() ? "stopped on request" : "";
  }

  static constexpr int kPriority = 80;  ///< as the control loop

  Robot& robot_;
  std::unique_ptr<Heartbeat> heartbeat_;
};

/// An emergency stop that is not seen leaves the voltage on: says so.
inline void warn_of_unseen_power(const ArmSettings& settings) {
  if (settings.cards.pcl726.power_feedback_input >= 0) return;
  std::fprintf(stderr,
               "puma: pcl726.power_feedback_input is -1, not wired: this command does not see the "
               "emergency stop. After one, end the command before arm power returns\n");
}

/// `puma cards check`: which sign or wire of a joint is wrong. Throws CLI::RuntimeError(1) if one is.
void check_joint(const ArmOptions& options, const Pulse& pulse);

}  // namespace puma_hardware::cli

#endif  // CLI__CARDS_ACCESS_HPP_
