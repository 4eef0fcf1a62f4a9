// SPDX-License-Identifier: Apache-2.0
#ifndef RUNTIME__ARM_LOOP_HPP_
#define RUNTIME__ARM_LOOP_HPP_

// The control loop over the cards: read the arm, compute the law, write the torques, beat the
// heart. The same code drives the real arm on the clock and the emulated one as fast as it can be
// computed.

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"
#include "ga_hardware/hold_law.hpp"
#include "ga_hardware/recording.hpp"
#include "ga_motion/trajectory.hpp"
#include "puma_hardware/arm/calibration_builder.hpp"
#include "puma_hardware/arm/puma_arm.hpp"
#include "puma_hardware/process/heartbeat.hpp"
#include "puma_hardware/process/realtime.hpp"
#include "runtime/calibration_run.hpp"

namespace puma_hardware {

/// Lets the time to the next cycle pass and returns the s since the one before.
using NextCycle = std::function<double()>;

enum class LoopEnd {
  kDone,
  kStopped,  ///< the user asked for it
  kFault,    ///< of the safety machine; the cause is in PumaArm::safety()
  kRefused   ///< reason() says why
};

struct ArmLoopOptions {
  double rate = 1000;            ///< Hz
  double approach_speed = 0.25;  ///< of the joints' speed limits, on the way to a motion's start
  double rest_time = 1;          ///< s at the motion's start, for the law to settle
  double guard_timeout = 0.1;    ///< s; a guard silent for longer is lost
  double settle_time = 0.05;     ///< s of reading before torque flows
  /// Where a simulated arm really is, for recordings; empty: what the arm measures is recorded.
  std::function<void(std::span<double> q, std::span<double> qd)> truth = {};
};

/// Construction allocates and throws std::invalid_argument. The functions that move the arm
/// allocate and plan before torque flows; their cycles do not.
class ArmLoop {
 public:
  /// `heartbeat` may be null: then there is no guard. All must outlive the loop.
  ArmLoop(PumaArm& arm, const ga_dynamics::Chain& model, const ga_controllers::LawParameters& law,
          const ArmLoopOptions& options, Heartbeat* heartbeat, NextCycle next_cycle,
          const std::atomic<bool>& stop);

  /// Finds the position by the table; small motions of every joint. Ends without power.
  LoopEnd calibrate(const CalibrationTable& table, const CalibrationOptions& options = {});
  /// Moves every joint from low to high [rad] and back while `builder` looks for index pulses. The
  /// position must be known. Ends without power.
  LoopEnd sweep(CalibrationBuilder& builder, const std::array<double, 6>& low,
                const std::array<double, 6>& high);
  /// Powers the arm, goes to the motion's start, follows it, holds its end for `settle_time` [s]
  /// and stops. Records from the motion's start if `recording` is given.
  LoopEnd follow(const ga_motion::Trajectory& motion, double settle_time,
                 ga_hardware::Recording* recording = nullptr);
  /// Reads for so long [s] without driving.
  LoopEnd watch(double time);

  /// Why the last call was refused.
  const std::string& reason() const noexcept { return reason_; }
  /// For other threads: what is being done, and the share of it that is done.
  const char* phase() const noexcept { return phase_.load(); }
  double share() const noexcept { return share_.load(); }
  const TimeHistogram& periods() const noexcept { return periods_; }
  const TimeHistogram& work() const noexcept { return work_; }

 private:
  void read() noexcept;
  void write(const ga_controllers::Reference& reference) noexcept;
  void record(double t, ga_hardware::Recording& recording) noexcept;
  void write_none() noexcept;
  void finish_cycle() noexcept;
  void start_law() noexcept;
  bool torque_flows() const noexcept;
  bool interrupted() const noexcept;
  LoopEnd refuse(const std::string& why);
  LoopEnd power_on();
  LoopEnd run_motion(const ga_motion::Trajectory& motion, double duration,
                     ga_hardware::Recording* recording, const char* phase) noexcept;
  /// Ramps down, brakes on, power off; after a fault lets the safety machine finish.
  void stop_arm() noexcept;
  LoopEnd how_it_ended(LoopEnd otherwise) const noexcept;

  PumaArm& arm_;
  ga_dynamics::Chain model_;
  ga_controllers::LawParameters parameters_;
  ga_controllers::ControlLaw law_;
  ga_hardware::HoldLaw hold_;
  ArmLoopOptions options_;
  Heartbeat* heartbeat_;
  NextCycle next_cycle_;
  const std::atomic<bool>& stop_;
  std::string reason_;
  std::vector<double> torque_, q_ref_, qd_ref_, qdd_ref_;
  std::vector<double> expected_;  ///< rad/s² of the arm until the next cycle
  std::vector<double> ki_;
  std::array<double, 6> true_q_{}, true_qd_{};
  bool driving_ = false;
  double period_ = 0;
  std::int64_t woke_ns_ = 0;
  std::atomic<const char*> phase_{"idle"};
  std::atomic<double> share_ = 0;
  TimeHistogram periods_, work_;
};

}  // namespace puma_hardware

#endif  // RUNTIME__ARM_LOOP_HPP_
