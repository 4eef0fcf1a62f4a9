// SPDX-License-Identifier: Apache-2.0
#ifndef RUNTIME__ARM_LOOP_HPP_
#define RUNTIME__ARM_LOOP_HPP_

// Plans and laws over an ArmDriver: calibrates, sweeps the joints and follows motions, cycle by
// cycle. The same code drives the real arm on the clock and the emulated one as fast as it can be
// computed.

#include <array>
#include <atomic>
#include <functional>
#include <span>
#include <string>

#include "arm/calibration_builder.hpp"
#include "ga_motion/trajectory.hpp"
#include "runtime/arm_driver.hpp"
#include "runtime/arm_law.hpp"

namespace puma_hardware {

/// Waits for the next cycle and returns the time [s] since the previous one.
using NextCycle = std::function<double()>;

enum class LoopEnd {
  kDone,
  kStopped,  ///< on request
  kFault,    ///< of the safety machine; the cause is in PumaArm::safety()
  kRefused   ///< reason() says why
};

struct ArmLoopOptions {
  double approach_speed = 0.25;  ///< of the joints' speed limits, on the path to a motion's start
  double rest_time = 1;          ///< s at the motion's start, for the law to settle
  double settle_time = 0.05;     ///< s of reading before torque flows
  /// State of a simulated arm, for recordings; empty: the measured state is recorded.
  std::function<void(std::span<double> q, std::span<double> qd)> truth = {};
  /// The law follows its reference, so that a large following error is a fault. Not so a law that
  /// only goes to the reference's end.
  bool follows = true;
};

/// Construction allocates. The functions that move the arm allocate and plan before torque flows;
/// their cycles do not. Throws what `next_cycle` throws.
class ArmLoop {
 public:
  /// All references must outlive the loop.
  ArmLoop(ArmDriver& driver, const ga_dynamics::Chain& model,
          const ga_controllers::LawParameters& law, const ArmLoopOptions& options,
          NextCycle next_cycle, const std::atomic<bool>& stop);

  /// Finds the position by the table; small motions of every joint. Ends without power.
  LoopEnd calibrate(const CalibrationTable& table, const CalibrationOptions& options = {});
  /// Moves every joint from low to high [rad] and back while `builder` looks for index pulses. The
  /// position must be known. Ends without power.
  LoopEnd sweep(CalibrationBuilder& builder, const std::array<double, 6>& low,
                const std::array<double, 6>& high);
  /// Powers the arm, goes to the motion's start, follows it, holds its end for `settle_time` [s]
  /// and stops. Records from the motion's start if `recording` is given.
  LoopEnd follow(const ga_motion::Trajectory& motion, double settle_time,
                 ga_motion::Recording* recording = nullptr);
  /// Both, watched by the guard from the first motion to the last.
  LoopEnd calibrate_and_follow(const CalibrationTable& table, const ga_motion::Trajectory& motion,
                               double settle_time, ga_motion::Recording* recording = nullptr);
  /// Reads for `time` [s] without driving.
  LoopEnd watch(double time);

  /// Why the last call was refused.
  const std::string& reason() const noexcept { return reason_; }
  /// For other threads: the current phase, and the share of it that is done.
  const char* phase() const noexcept { return phase_.load(); }
  double share() const noexcept { return share_.load(); }

 private:
  void read();
  void drive(const ga_controllers::Reference& reference) noexcept;
  void record(double t, ga_motion::Recording& recording) noexcept;
  void reserve(ga_motion::Recording* recording, double length) const;
  bool interrupted() const noexcept;
  LoopEnd refuse(const std::string& why);
  /// Reads for the settling time. Refuses an arm that is not calibrated.
  LoopEnd prepare();
  /// Arms the guard, powers the arm and starts the law.
  LoopEnd power_on();
  LoopEnd run_motion(const ga_motion::Trajectory& motion, double duration,
                     ga_motion::Recording* recording, const char* phase);
  /// Ramps down, brakes on, power off; after a fault waits for the safety machine.
  void stop_arm();
  LoopEnd how_it_ended() const noexcept;

  ArmDriver& driver_;
  PumaArm& arm_;
  ga_dynamics::Chain model_;
  ga_controllers::LawParameters parameters_;
  ArmLaw law_;
  ArmLoopOptions options_;
  NextCycle next_cycle_;
  const std::atomic<bool>& stop_;
  std::string reason_;
  std::array<double, 6> q_ref_{}, qd_ref_{}, qdd_ref_{};
  std::atomic<const char*> phase_{"idle"};
  std::atomic<double> share_ = 0;
};

}  // namespace puma_hardware

#endif  // RUNTIME__ARM_LOOP_HPP_
