// SPDX-License-Identifier: Apache-2.0
#ifndef RUNTIME__CALIBRATION_RUN_HPP_
#define RUNTIME__CALIBRATION_RUN_HPP_

// A calibration cycle by cycle: the calibrator, the law that follows its reference, and the stop at
// the end. For callers that run their own control loop: never blocks.

#include <atomic>
#include <span>
#include <string>

#include "arm/calibrator.hpp"
#include "arm/puma_arm.hpp"
#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"
#include "ga_hardware/arm_model.hpp"
#include "runtime/arm_law.hpp"

namespace puma_hardware {

/// A soft law for the slow motions of an arm whose position is not yet known.
ga_controllers::LawParameters calibration_law(const ga_dynamics::Chain& model);

/// Construction allocates and throws CardError for an invalid table. Everything else except reason()
/// is real-time safe and does not throw.
class CalibrationRun {
 public:
  enum class End {
    kNone,  ///< in progress
    kDone,
    kFailed,       ///< no match with the table, or the arm did not move as expected
    kRefused,      ///< the arm's state does not allow it
    kFault,        ///< of the safety machine; the cause is in PumaArm::safety()
    kCancelled,    ///< on request
    kOtherDrives,  ///< another process drives the arm
    kNoGuard       ///< the guard has ended
  };

  CalibrationRun(const ArmSettings& settings, const CalibrationTable& table,
                 const ga_dynamics::Chain& model, const ga_controllers::LawParameters& law,
                 const CalibrationOptions& options = {});

  /// One cycle after arm.read(), `elapsed` [s] after the last one: writes to the arm. The motion
  /// advances by `period` [s]. Starts `hold` with the first
  /// torque. An earlier calibration of the arm becomes invalid. Another thread may delete the run as
  /// soon as end() is set, so that the control thread must use the returned value.
  End cycle(PumaArm& arm, ga_hardware::HoldLaw& hold, double period, double elapsed) noexcept;
  /// From any thread: a controlled stop, then the end.
  void cancel() noexcept { cancelled_ = true; }
  /// Ends it at once because the cycles have stopped or cannot begin.
  void abandon(End why = End::kCancelled) noexcept;

  // For other threads as well.
  End end() const noexcept { return end_; }
  double progress() const noexcept { return progress_; }  ///< 0 … 1

  /// rad/s² that the law expects of the arm until the next cycle; empty without torque.
  std::span<const double> acceleration() const noexcept;
  /// After the end: cause and remedy; empty after kDone. Allocates.
  std::string reason(const ArmSettings& settings) const;

 private:
  End advance(PumaArm& arm, ga_hardware::HoldLaw& hold, double period) noexcept;
  End drive(PumaArm& arm, ga_hardware::HoldLaw& hold, const CalibrationStep& step,
            double period) noexcept;
  std::span<const double> holding_torque(const PumaArm& arm, ga_hardware::HoldLaw& hold,
                                         double period) const noexcept;
  End stop(PumaArm& arm, ga_hardware::HoldLaw& hold, double period) noexcept;

  Calibrator calibrator_;
  ArmLaw law_;
  double elapsed_ = 0;  ///< s, since the last cycle
  bool started_ = false, driving_ = false, stopping_ = false;
  double stop_left_ = 0;  ///< s
  SafetyState refused_in_ = SafetyState::kOff;
  FaultRecord fault_;
  std::atomic<bool> cancelled_ = false;
  std::atomic<double> progress_ = 0;
  std::atomic<End> end_ = End::kNone;
};

}  // namespace puma_hardware

#endif  // RUNTIME__CALIBRATION_RUN_HPP_
