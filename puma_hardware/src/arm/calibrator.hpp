// SPDX-License-Identifier: Apache-2.0
#ifndef ARM__CALIBRATOR_HPP_
#define ARM__CALIBRATOR_HPP_

// Finds the arm's position after power-up, when the encoder counts are arbitrary. The
// potentiometers give a coarse position. Each joint then moves a few motor turns and back, one
// after the other, and the index pulses with the potentiometer voltages around them are matched to
// the table (as Trident's trajq.c does). An ambiguous or inconsistent result is a failure with a
// reason.
//
// The caller runs the control law:
//   CalibrationStep step = calibrator.step(arm.read(period), period);
//   measuring: no torque yet, arm.write_none(). At its end step.coarse is the coarse position.
//   moving:    once, arm.begin_calibration(step.coarse), and the law starts at arm.reading().q;
//              then every cycle its reference is step.q, step.qd, step.qdd, and arm.write(torque).
//   done:      arm.power_off(), cycles until the state is ready,
//              arm.finish_calibration(calibrator.offsets()).
//   failed:    arm.power_off(), arm.end_index_search(); calibrator.reason() says why.

#include <array>
#include <cstdint>
#include <string>

#include "arm/calibration_table.hpp"
#include "arm/puma_arm.hpp"
#include "arm/trapezoidal_profile.hpp"

namespace puma_hardware {

struct CalibrationOptions {
  double measure_time = 0.5;    ///< s, of the potentiometers at rest
  double turns = 3.2;           ///< of each motor: three index pulses
  double turns_per_second = 2;  ///< of the motors
  double settle_time = 0.2;     ///< s, between motions
  double least_travel = 0.8;    ///< measured share of the turns, at least
  /// Turns between table and potentiometer at the best match. The second best is one turn away, so
  /// that half a turn is ambiguous.
  double match_tolerance = 0.3;
  double follow_tolerance = 0.35;  ///< turns, of the potentiometer along the motion
  int index_tolerance = 1;         ///< counts
  double limit_tolerance = 0.2;    ///< rad of the result beyond a joint limit
};

enum class CalibrationPhase { kMeasuring, kMoving, kDone, kFailed };
const char* to_string(CalibrationPhase phase) noexcept;

enum class CalibrationFailure {
  kNone,
  kNotAtRest,
  kNoSamples,
  kPotOutsideTable,
  kDidNotMove,
  kIndexLost,
  kIndexSpacing,
  kPotDoesNotFollow,
  kAmbiguous,
  kBeyondLimits
};
const char* to_string(CalibrationFailure failure) noexcept;

struct CalibrationStep {
  CalibrationPhase phase = CalibrationPhase::kMeasuring;
  std::array<double, 6> coarse{};          ///< rad, coarse position at the start
  std::array<double, 6> q{}, qd{}, qdd{};  ///< reference, in the same coordinates
  int joint = -1;                          ///< that moves
  double progress = 0;                     ///< 0 … 1
};

/// Construction allocates and throws CardError for an invalid table or invalid options; the rest is
/// real-time safe, except reason().
class Calibrator {
 public:
  Calibrator(const ArmSettings& settings, const CalibrationTable& table,
             const CalibrationOptions& options = {});

  /// One cycle of dt [s].
  const CalibrationStep& step(const ArmReading& reading, double dt) noexcept;
  const CalibrationStep& present() const noexcept { return step_; }  ///< the last one
  /// When done: offsets from the motors' counts to the true counts.
  const std::array<std::int64_t, 6>& offsets() const noexcept { return offsets_; }
  CalibrationFailure failure() const noexcept { return failure_; }
  /// Cause and remedy; allocates.
  std::string reason() const;

 private:
  static constexpr int kBinsPerTurn = 4;
  static constexpr std::size_t kBins = 64, kMostPulses = 32;

  struct Bin {
    double counts = 0, volts = 0;  ///< sums
    int samples = 0;
  };
  struct Motor {
    std::int64_t start = 0, last = 0;  ///< counts
    double volts = 0;                  ///< sum while measuring
    int samples = 0;
    int direction = 1;              ///< of the first leg
    std::int64_t reached = 0;       ///< most counts away from the start
    std::array<Bin, kBins> bins{};  ///< quarter turns around the start
    std::array<std::int64_t, kMostPulses> pulses{};
    std::size_t pulse_count = 0;
  };

  void measure(const ArmReading& reading, double dt) noexcept;
  void end_measuring() noexcept;
  void record(const ArmReading& reading) noexcept;
  void move(double dt) noexcept;
  void start_leg() noexcept;
  bool positive_leg() const noexcept;
  void match(std::size_t joint) noexcept;
  bool check_pulses(std::size_t joint) noexcept;
  double residual(std::size_t joint, double offset, double& spread) const noexcept;
  void check_limits(const std::array<double, 6>& q) noexcept;
  void finish() noexcept;
  void fail(CalibrationFailure failure, std::size_t joint, double value, double limit) noexcept;

  ArmSettings settings_;
  CalibrationTable table_;
  CalibrationOptions options_;
  Transmission transmission_;
  CalibrationStep step_;
  std::array<Motor, 6> motors_;
  std::array<std::int64_t, 6> offsets_{};
  TrapezoidalProfile profile_;
  bool first_ = true;
  double time_ = 0;  ///< s in this phase, or since the end of a leg
  std::size_t joint_ = 0;
  int leg_ = 0;

  CalibrationFailure failure_ = CalibrationFailure::kNone;
  std::size_t failed_joint_ = 0;
  double value_ = 0, limit_ = 0;
};

}  // namespace puma_hardware

#endif  // ARM__CALIBRATOR_HPP_
