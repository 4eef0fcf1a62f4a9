// SPDX-License-Identifier: Apache-2.0
#ifndef RUNTIME__CALIBRATION_RUN_HPP_
#define RUNTIME__CALIBRATION_RUN_HPP_

// A calibration, one cycle at a time: the calibrator, the law that follows it, and the stop at its
// end. For whoever has a cycle of his own and cannot wait.

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

/// Slow motions of an arm that does not know where it is: soft.
ga_controllers::LawParameters calibration_law(const ga_dynamics::Chain& model);

/// Construction allocates and throws CardError for a table that does not fit. Everything else but
/// reason() is real-time safe and does not throw.
class CalibrationRun {
 public:
  enum class End {
    kNone,  ///< still under way
    kDone,
    kFailed,      ///< the arm is not where the table says, or does not move as it should
    kRefused,     ///< the arm's state does not allow it
    kFault,       ///< of the safety machine; the cause is in PumaArm::safety()
    kCancelled,   ///< asked for
    kOtherDrives  ///< another process drives the arm
  };

  CalibrationRun(const ArmSettings& settings, const CalibrationTable& table,
                 const ga_dynamics::Chain& model, const ga_controllers::LawParameters& law,
                 const CalibrationOptions& options = {});

  /// What follows arm.read() in a cycle of `period` [s]: writes to the arm. `hold` is started when
  /// torque begins to flow. An arm that was calibrated is no longer. Whoever sees the end may
  /// delete the run, so the cycling thread goes by what this returns.
  End cycle(PumaArm& arm, ga_hardware::HoldLaw& hold, double period) noexcept;
  /// From any thread: a controlled stop, then the end.
  void cancel() noexcept { cancelled_ = true; }
  /// The cycles have stopped or cannot begin: it ends here and now.
  void abandon(End why = End::kCancelled) noexcept;

  // For other threads as well.
  End end() const noexcept { return end_; }
  double progress() const noexcept { return progress_; }  ///< 0 … 1

  /// rad/s² that the law expects of the arm until the next cycle; empty while no torque flows.
  std::span<const double> acceleration() const noexcept;
  /// When it has ended: what went wrong and what to look for; empty after kDone. Allocates.
  std::string reason(const ArmSettings& settings) const;

 private:
  End advance(PumaArm& arm, ga_hardware::HoldLaw& hold, double period) noexcept;
  End drive(PumaArm& arm, ga_hardware::HoldLaw& hold, const CalibrationStep& step,
            double period) noexcept;
  End stop(PumaArm& arm, ga_hardware::HoldLaw& hold, double period) noexcept;

  Calibrator calibrator_;
  ArmLaw law_;
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
