// SPDX-License-Identifier: Apache-2.0
#include "runtime/calibration_run.hpp"

#include "ga_hardware/arm_model.hpp"

namespace puma_hardware {

using ga_controllers::LawKind;
using ga_controllers::LawParameters;

namespace {

/// s; a stop that takes longer becomes an emergency stop.
constexpr double kLongestStop = 5;
constexpr double kBandwidth = 20, kDamping = 1, kFriction = 0.8;

}  // namespace

LawParameters calibration_law(const ga_dynamics::Chain& model) {
  return ga_hardware::law_parameters(LawKind::kTrackingIntegral,
                                     {ga_controllers::gains_from_bandwidth(kBandwidth, kDamping)},
                                     kFriction, ga_hardware::signals_of(model));
}

CalibrationRun::CalibrationRun(const ArmSettings& settings, const CalibrationTable& table,
                               const ga_dynamics::Chain& model, const LawParameters& law,
                               const CalibrationOptions& options)
    : calibrator_(settings, table, options), law_(model, law) {}

std::span<const double> CalibrationRun::acceleration() const noexcept {
  return driving_ && !stopping_ ? law_.expected_acceleration() : std::span<const double>();
}

CalibrationRun::End CalibrationRun::cycle(PumaArm& arm, ga_hardware::HoldLaw& hold, double period,
                                          double elapsed) noexcept {
  elapsed_ = elapsed;
  const End end = advance(arm, hold, period);
  if (end != End::kNone) end_ = end;
  return end;
}

CalibrationRun::End CalibrationRun::advance(PumaArm& arm, ga_hardware::HoldLaw& hold,
                                            double period) noexcept {
  if (!started_) {
    arm.safety().forget_calibration();
    started_ = true;
  }
  if (!stopping_ && arm.safety().state() != SafetyState::kFault && !cancelled_) {
    // Nothing moves before the brakes are open.
    const bool waits = driving_ && !arm.brakes_released();
    const CalibrationStep& step =
        waits ? calibrator_.present() : calibrator_.step(arm.reading(), period);
    progress_ = step.progress;
    if (step.phase == CalibrationPhase::kMeasuring || step.phase == CalibrationPhase::kMoving) {
      return drive(arm, hold, step, period);
    }
  }
  return stop(arm, hold, period);
}

CalibrationRun::End CalibrationRun::drive(PumaArm& arm, ga_hardware::HoldLaw& hold,
                                          const CalibrationStep& step, double period) noexcept {
  if (step.phase == CalibrationPhase::kMoving && !driving_) {
    if (!arm.begin_calibration(step.coarse)) {
      refused_in_ = arm.safety().state();
      arm.write_none();
      return End::kRefused;
    }
    law_.start(arm.reading().q, hold.start(arm.reading().q));
    driving_ = true;
  }
  if (!driving_) {
    arm.write_none();
    return End::kNone;
  }
  const ArmReading& reading = arm.reading();
  const auto torque = law_.update(reading, {step.q, step.qd, step.qdd}, elapsed_);
  arm.set_reference(step.q);
  arm.write(torque, 0, holding_torque(arm, hold, period));
  return End::kNone;
}

/// An arm that did not move as expected may have a wrong sign: stiffness would drive it away.
std::span<const double> CalibrationRun::holding_torque(const PumaArm& arm,
                                                       ga_hardware::HoldLaw& hold,
                                                       double period) const noexcept {
  const ArmReading& reading = arm.reading();
  const bool sound = calibrator_.failure() == CalibrationFailure::kNone;
  return sound && arm.safety().keeps_position()
             ? hold.keep_position(reading.q, reading.qd, reading.torque, period)
             : hold.update(reading.q, reading.qd, period);
}

CalibrationRun::End CalibrationRun::stop(PumaArm& arm, ga_hardware::HoldLaw& hold,
                                         double period) noexcept {
  const SafetyMachine& safety = arm.safety();
  if (!stopping_) {
    stopping_ = true;
    stop_left_ = kLongestStop + arm.settings().safety.manual_stop_time;
    arm.power_off();
  }
  arm.write_none(driving_ ? holding_torque(arm, hold, period) : std::span<const double>());
  if (safety.state() == SafetyState::kCalibrating || safety.reaction() != Reaction::kNone) {
    stop_left_ -= period;
    if (stop_left_ < 0) arm.emergency_stop();
    return End::kNone;
  }
  driving_ = false;
  arm.end_index_search();
  if (safety.state() == SafetyState::kFault) {
    fault_ = safety.cause();
    return End::kFault;
  }
  if (calibrator_.failure() != CalibrationFailure::kNone) return End::kFailed;
  if (cancelled_) return End::kCancelled;
  if (!arm.finish_calibration(calibrator_.offsets())) {
    refused_in_ = safety.state();
    return End::kRefused;
  }
  progress_ = 1;
  return End::kDone;
}

void CalibrationRun::abandon(End why) noexcept {
  driving_ = false;
  if (end_ == End::kNone) end_ = why;
}

std::string CalibrationRun::reason(const ArmSettings& settings) const {
  switch (end_.load()) {
    case End::kFailed:
      return calibrator_.reason();
    case End::kRefused:
      return std::string("the arm is ") + to_string(refused_in_) +
             ": it can be calibrated only at rest and without a fault";
    case End::kFault:
      return describe(fault_, settings);
    case End::kCancelled:
      return "the calibration was cancelled; the arm is at rest with its brakes closed";
    case End::kOtherDrives:
      return "another process drives this arm; stop it first";
    case End::kNoGuard:
      return "no guard is running; start `puma guard` first";
    case End::kNone:
    case End::kDone:
      break;
  }
  return "";
}

}  // namespace puma_hardware
