// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__ARM_SESSION_HPP_
#define CLI__ARM_SESSION_HPP_

// A command that drives the arm: the loop in a real-time thread, with its progress and result in the
// terminal.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "arm/puma_arm.hpp"
#include "cli/arm_options.hpp"
#include "process/heartbeat.hpp"
#include "runtime/arm_loop.hpp"

namespace puma_hardware::cli {

struct LawChoice {
  ga_controllers::LawKind kind = ga_controllers::LawKind::kTrackingIntegral;
  double bandwidth = 40;  ///< rad/s
  double damping = 1;
  double friction = 1;  ///< share of friction in the feed-forward
  ga_dynamics::Payload payload = {};
  /// One per joint; empty: from bandwidth and damping.
  std::vector<ga_controllers::JointGains> gains = {};

  /// One per joint, or one for all.
  std::vector<ga_controllers::JointGains> all_gains() const {
    if (!gains.empty()) return gains;
    return {ga_controllers::gains_from_bandwidth(bandwidth, damping)};
  }
};

class ArmSession {
 public:
  /// Claims and opens the robot and its guard's heartbeat. Real or shared cards need a running guard
  /// unless `unguarded`. Throws what opening throws.
  ArmSession(const ArmOptions& options, bool unguarded, const LawChoice& law);

  Robot& robot() { return robot_; }
  PumaArm& arm() { return driver_.arm(); }
  ArmLoop& loop() { return loop_; }

  /// Runs `work` in a thread of real-time priority (unless --fast) while progress is shown. Says on
  /// standard error what went wrong; true if it ended as it should.
  bool run(const std::function<LoopEnd(ArmLoop&)>& work);
  /// How the last run ended: "done", "stopped on request", or its fault. Allocates.
  std::string ended() const;
  /// How long the cycles took.
  std::string histogram() const;

 private:
  void explain(LoopEnd end);
  /// Waits for arm power where a person switches it. Throws std::runtime_error without a person.
  void ask_for_power();
  /// The arm-power input as it is now; true if there is none.
  bool power_shown();
  /// Tells a person when to open and close the brakes, and hears when it is done.
  void serve_brakes();
  void set_emulated_hand(bool power, bool brakes_open);

  ArmOptions options_;
  LoopEnd end_ = LoopEnd::kDone;
  BrakeRequest asked_ = BrakeRequest::kNone;

  Robot robot_;
  std::unique_ptr<Heartbeat> heartbeat_;
  ArmDriver driver_;
  ArmLoop loop_;
  bool on_the_clock_;
};

}  // namespace puma_hardware::cli

#endif  // CLI__ARM_SESSION_HPP_
