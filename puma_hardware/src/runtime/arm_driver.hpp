// SPDX-License-Identifier: Apache-2.0
#ifndef RUNTIME__ARM_DRIVER_HPP_
#define RUNTIME__ARM_DRIVER_HPP_

// The control cycle of the arm, for callers that run their own loop: never blocks. Every cycle is
// read() and then either command() or idle(). A cycle without a command continues a stop, a hold
// after a fault, or a calibration.
//
// The first command switches on the power and releases the brakes: if the brakes follow the power,
// power without torque would drop the arm. If the brakes have their own output, allow_power()
// already switches on the power.

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <thread>

#include "arm/puma_arm.hpp"
#include "ga_hardware/arm_model.hpp"
#include "process/heartbeat.hpp"
#include "process/realtime.hpp"
#include "runtime/calibration_run.hpp"
#include "runtime/robot.hpp"

namespace puma_hardware {

struct ArmDriverOptions {
  double period = 0.001;       ///< s, nominal
  double guard_timeout = 0.1;  ///< s without a sign of life after which the guard is lost
  /// Feeds the velocity observers with the acceleration that the model expects of the torque, in
  /// cycles whose command gave none.
  bool feed_observer = true;
};

/// Construction claims, opens and tests the cards, allocates, and throws CardError. The rest is
/// real-time safe and does not throw, unless stated otherwise. One thread at a time.
class ArmDriver {
 public:
  /// `heartbeat` may be null: no guard. Both must outlive the driver.
  ArmDriver(Robot& robot, Heartbeat* heartbeat, const ArmDriverOptions& options);

  PumaArm& arm() noexcept { return arm_; }
  const PumaArm& arm() const noexcept { return arm_; }

  /// Begins a cycle `elapsed` [s] after the last one.
  void read(double elapsed) noexcept;
  /// s, time that references advance in this cycle: limited to 0.5 … 2 nominal periods, so that
  /// the arm need not catch up after a late cycle.
  double period() const noexcept { return period_; }
  double elapsed() const noexcept { return elapsed_; }  ///< s, since the last cycle
  double nominal_period() const noexcept { return options_.period; }
  /// Torques [N m] that are `age` [s] old, and the acceleration [rad/s²] that the caller's law
  /// expects of them (empty: the model's). `handover`: those of a predecessor, whose successor has
  /// not commanded yet. Powers the arm if it is allowed to and may be powered.
  void command(std::span<const double> torque, double age,
               std::span<const double> expected_acceleration = {}, bool handover = false) noexcept;
  void idle() noexcept;

  bool guarded() const noexcept { return heartbeat_ != nullptr; }
  /// Running, and with the settings of these cards: with others it would not write 0 V.
  bool guard_alive() const noexcept;
  /// Why no torque may flow: no output that drops the power, no guard, or one that would cut at this
  /// loop rate, or other programs are not kept off the arm. Empty if it may. Allocates.
  std::string power_refusal() const;
  /// From now on the guard cuts the outputs if the cycles stop. False if another process is armed, or
  /// no guard runs.
  bool arm_guard() noexcept;
  /// Another process drives this arm.
  bool other_drives() const noexcept;
  /// Why arm_guard() was refused; allocates.
  std::string arm_refusal() const;
  /// Stays armed without power while `keep`, for motions that follow each other: a guard that was asked
  /// to stop goes on until then.
  void keep_guard(bool keep) noexcept;
  /// A fault withdraws the permission.
  void allow_power(bool allowed) noexcept { power_allowed_ = allowed; }
  /// Powers a calibrated arm before the first command. Returns the torque [N m] that holds it, for
  /// a law to start with; empty if the arm may not be powered.
  std::span<const double> power_on() noexcept;
  /// Controlled stop over the next cycles, with the brakes.
  void stop() noexcept { arm_.power_off(); }
  /// Torque is applied, or a stop is in progress.
  bool busy() const noexcept;
  /// 0 V and power off now; a calibration in progress ends. May be called more than once.
  void cut() noexcept;
  /// For callers whose own loop has ended: runs cycles until the arm has stopped, at most for the
  /// time of a ramp-down and a margin; then 0 V and power off. Not real-time safe: it sleeps.
  void stop_and_wait() noexcept;

  /// A calibration for idle() to run, or null. It must outlive its end.
  void calibrate(CalibrationRun* run) noexcept { run_ = run; }
  CalibrationRun* calibration() noexcept { return run_; }
  /// Since the last fault reset.
  bool card_lost() const noexcept;
  bool tripped() const noexcept { return tripped_; }  ///< by the guard

  std::uint64_t cycles() const noexcept { return periods_.count(); }
  const TimeHistogram& periods() const noexcept { return periods_; }
  const TimeHistogram& bus_times() const noexcept { return bus_; }    ///< port accesses of a cycle
  const TimeHistogram& work_times() const noexcept { return work_; }  ///< from read() to the output

 private:
  void finish_cycle(std::int64_t begin_ns) noexcept;
  void release_guard() noexcept;
  /// The holding torque for the next write.
  std::span<const double> holding_torque() noexcept;

  Robot& robot_;
  CardClaim claim_;  ///< before the arm, whose constructor and destructor write to the cards
  Heartbeat* heartbeat_;
  ArmDriverOptions options_;
  PumaArm arm_;
  ga_hardware::HoldLaw hold_;
  ga_hardware::AccelerationModel model_;
  CalibrationRun* run_ = nullptr;
  bool brakes_wired_;
  bool power_allowed_ = false, guard_armed_ = false, guard_kept_ = false, tripped_ = false;
  double period_, elapsed_;
  std::array<double, 6> expected_{};  ///< rad/s², given with the last command
  bool expected_given_ = false;
  std::int64_t begin_ns_ = 0;  ///< of the cycle
  std::int64_t read_ns_ = 0;   ///< that the last read() took
  TimeHistogram periods_, bus_, work_;
  std::atomic<bool> claimed_ = true;  ///< as the thread saw it
  std::jthread claim_watch_;          ///< looks at the files of claim and heartbeat
};

}  // namespace puma_hardware

#endif  // RUNTIME__ARM_DRIVER_HPP_
