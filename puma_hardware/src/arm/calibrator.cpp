// SPDX-License-Identifier: Apache-2.0
#include "arm/calibrator.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>

namespace puma_hardware {

namespace {

/// Counts by which an encoder at rest may toggle.
constexpr std::int64_t kFlicker = 4;
/// Least samples of a potentiometer at rest, least bins along a motion.
constexpr int kLeastSamples = 10;
constexpr int kLeastBins = 3;
/// Turns tried on both sides of the coarse position.
constexpr int kTurnsTried = 4;
/// rad/s² of the motor per rad/s: full speed after a quarter of a second.
constexpr double kAcceleration = 4;
/// Turns by which the potentiometer may be beyond the table.
constexpr double kBeyondTable = 1;

}  // namespace

Calibrator::Calibrator(const ArmSettings& settings, const CalibrationTable& table,
                       const CalibrationOptions& options)
    : settings_(settings), table_(table), options_(options), transmission_(settings) {
  table_.validate(settings_);
  if (!(options.turns >= 2.1 && options.turns <= 7)) {
    throw CardError("calibration: turns is " + std::to_string(options.turns) +
                    "; give 2.1 to 7, so that at least two index pulses are passed");
  }
  for (const double positive : {options.measure_time, options.turns_per_second,
                                options.match_tolerance, options.follow_tolerance}) {
    if (!(positive > 0)) throw CardError("calibration: times, speeds and tolerances are positive");
  }
}

const CalibrationStep& Calibrator::step(const ArmReading& reading, double dt) noexcept {
  if (first_) {
    for (std::size_t i = 0; i < 6; ++i) motors_[i].start = motors_[i].last = reading.counts[i];
    first_ = false;
  }
  if (step_.phase == CalibrationPhase::kMeasuring) {
    measure(reading, dt);
  } else if (step_.phase == CalibrationPhase::kMoving) {
    record(reading);
    move(dt);
  }
  for (std::size_t i = 0; i < 6; ++i) motors_[i].last = reading.counts[i];
  return step_;
}

void Calibrator::measure(const ArmReading& reading, double dt) noexcept {
  time_ += dt;
  for (std::size_t i = 0; i < 6; ++i) {
    Motor& motor = motors_[i];
    const std::int64_t moved = std::abs(reading.counts[i] - motor.start);
    if (moved > kFlicker) {
      fail(CalibrationFailure::kNotAtRest, i, static_cast<double>(moved), kFlicker);
      return;
    }
    if (reading.pot_fresh[i]) {
      motor.volts += reading.pot_volts[i];
      ++motor.samples;
    }
  }
  if (time_ >= options_.measure_time) end_measuring();
}

void Calibrator::end_measuring() noexcept {
  std::array<double, 6> counts{};
  for (std::size_t i = 0; i < 6; ++i) {
    const Motor& motor = motors_[i];
    const JointTable& table = table_.joints[i];
    if (motor.samples < kLeastSamples) {
      fail(CalibrationFailure::kNoSamples, i, motor.samples, kLeastSamples);
      return;
    }
    const double volts = motor.volts / motor.samples;
    const double spare = kBeyondTable * settings_.joints[i].pot_volts_per_rev;
    if (volts < table.lowest_volts() - spare) {
      fail(CalibrationFailure::kPotOutsideTable, i, volts, table.lowest_volts());
      return;
    }
    if (volts > table.highest_volts() + spare) {
      fail(CalibrationFailure::kPotOutsideTable, i, volts, table.highest_volts());
      return;
    }
    counts[i] = table.count_at(volts);
  }
  transmission_.counts_to_joints(counts, step_.coarse);
  check_limits(step_.coarse);
  if (step_.phase == CalibrationPhase::kFailed) return;
  step_.q = step_.coarse;
  for (std::size_t i = 0; i < 6; ++i) {
    const JointSettings& joint = settings_.joints[i];
    motors_[i].direction = 2 * step_.coarse[i] < joint.lower + joint.upper ? 1 : -1;
  }
  step_.phase = CalibrationPhase::kMoving;
  step_.joint = 0;
  start_leg();
}

bool Calibrator::positive_leg() const noexcept {
  return (leg_ == 0) == (motors_[joint_].direction > 0);
}

/// Towards the middle of the joint's range and back.
void Calibrator::start_leg() noexcept {
  const double turn = 2 * std::numbers::pi / settings_.joints[joint_].gear_ratio;
  const double here = step_.coarse[joint_];
  const double there = here + motors_[joint_].direction * options_.turns * turn;
  const double speed = options_.turns_per_second * turn;
  profile_.start(leg_ == 0 ? here : there, leg_ == 0 ? there : here, speed, kAcceleration * speed);
  time_ = 0;
}

void Calibrator::record(const ArmReading& reading) noexcept {
  Motor& motor = motors_[joint_];
  const std::int64_t count = reading.counts[joint_], away = count - motor.start;
  motor.reached = std::max(motor.reached, std::abs(away));
  if (reading.pot_fresh[joint_]) {
    const double width = settings_.joints[joint_].counts_per_rev / kBinsPerTurn;
    const auto bin = static_cast<std::int64_t>(std::floor(static_cast<double>(away) / width)) +
                     static_cast<std::int64_t>(kBins / 2);
    if (bin >= 0 && bin < static_cast<std::int64_t>(kBins)) {
      Bin& into = motor.bins[static_cast<std::size_t>(bin)];
      into.counts += static_cast<double>(count);
      into.volts += reading.pot_volts[joint_];
      ++into.samples;
    }
  }
  // The leading edge of the pulse, as in the table.
  const bool forward = settings_.joints[joint_].encoder_direction * (count - motor.last) > 0;
  if (reading.index_seen[joint_] && positive_leg() && forward && motor.pulse_count < kMostPulses) {
    motor.pulses[motor.pulse_count++] = reading.index_count[joint_];
  }
}

void Calibrator::move(double dt) noexcept {
  profile_.advance(dt);
  step_.q[joint_] = profile_.position();
  step_.qd[joint_] = profile_.done() ? 0 : profile_.velocity();
  step_.qdd[joint_] = profile_.acceleration();
  step_.progress = (static_cast<double>(joint_) + 0.5 * (leg_ + profile_.progress())) / 6;
  if (!profile_.done()) return;
  time_ += dt;
  if (time_ < options_.settle_time) return;
  if (leg_ == 0) {
    leg_ = 1;
    start_leg();
    return;
  }
  match(joint_);
  if (step_.phase == CalibrationPhase::kFailed) return;
  leg_ = 0;
  if (++joint_ == 6) {
    joint_ = 5;
    finish();
    return;
  }
  step_.joint = static_cast<int>(joint_);
  start_leg();
}

bool Calibrator::check_pulses(std::size_t i) noexcept {
  const Motor& motor = motors_[i];
  const auto per_rev = static_cast<std::int64_t>(settings_.joints[i].counts_per_rev);
  const double travel = options_.least_travel * options_.turns * settings_.joints[i].counts_per_rev;
  if (static_cast<double>(motor.reached) < travel) {
    fail(CalibrationFailure::kDidNotMove, i, static_cast<double>(motor.reached), travel);
    return false;
  }
  if (motor.pulse_count < 2) {
    fail(CalibrationFailure::kIndexLost, i, static_cast<double>(motor.pulse_count), 2);
    return false;
  }
  bool several = false;
  for (std::size_t k = 1; k < motor.pulse_count; ++k) {
    const std::int64_t distance = std::abs(motor.pulses[k] - motor.pulses[0]);
    const std::int64_t turns = (distance + per_rev / 2) / per_rev;
    several = several || turns > 0;
    if (std::abs(distance - turns * per_rev) > options_.index_tolerance) {
      fail(CalibrationFailure::kIndexSpacing, i, static_cast<double>(distance),
           static_cast<double>(per_rev));
      return false;
    }
  }
  if (!several) fail(CalibrationFailure::kIndexLost, i, 1, 2);  // the same pulse each time
  return several;
}

/// Mean difference of potentiometer and table [turns] if counts + offset are the true counts, and
/// its spread over the bins.
double Calibrator::residual(std::size_t i, double offset, double& spread) const noexcept {
  const Motor& motor = motors_[i];
  const JointTable& table = table_.joints[i];
  const double per_rev = settings_.joints[i].counts_per_rev;
  double sum = 0, low = 1e9, high = -1e9;
  int places = 0;
  for (const Bin& bin : motor.bins) {
    if (bin.samples < 3) continue;
    const double count = bin.counts / bin.samples + offset;
    const double off =
        (bin.volts / bin.samples - table.volts_at(count)) / table.volts_per_count(count) / per_rev;
    sum += off;
    low = std::min(low, off);
    high = std::max(high, off);
    ++places;
  }
  spread = places >= kLeastBins ? 0.5 * (high - low) : 1e9;
  return places > 0 ? sum / places : 1e9;
}

void Calibrator::match(std::size_t i) noexcept {
  if (!check_pulses(i)) return;
  const Motor& motor = motors_[i];
  const JointTable& table = table_.joints[i];
  const auto per_rev = static_cast<std::int64_t>(settings_.joints[i].counts_per_rev);
  const std::int64_t pulse = motor.pulses[0];
  const double roughly =
      table.count_at(motor.volts / motor.samples) + static_cast<double>(pulse - motor.start);
  const std::int64_t first = table.entries.front().count;
  const auto turns =
      std::llround((roughly - static_cast<double>(first)) / static_cast<double>(per_rev));
  double best = 1e9, second = 1e9, best_spread = 0;
  for (int k = -kTurnsTried; k <= kTurnsTried; ++k) {
    const std::int64_t offset = first + (turns + k) * per_rev - pulse;
    double spread = 0;
    const double off = residual(i, static_cast<double>(offset), spread);
    if (std::abs(off) < std::abs(best)) {
      second = best;
      best = off;
      best_spread = spread;
      offsets_[i] = offset;
    } else if (std::abs(off) < std::abs(second)) {
      second = off;
    }
  }
  if (best_spread > options_.follow_tolerance) {
    fail(CalibrationFailure::kPotDoesNotFollow, i, best_spread, options_.follow_tolerance);
  } else if (std::abs(best) > options_.match_tolerance) {
    fail(CalibrationFailure::kAmbiguous, i, std::abs(best), std::abs(second));
  }
}

void Calibrator::check_limits(const std::array<double, 6>& q) noexcept {
  for (std::size_t i = 0; i < 6; ++i) {
    const JointSettings& joint = settings_.joints[i];
    if (!(q[i] >= joint.lower - options_.limit_tolerance)) {
      fail(CalibrationFailure::kBeyondLimits, i, q[i], joint.lower);
    } else if (!(q[i] <= joint.upper + options_.limit_tolerance)) {
      fail(CalibrationFailure::kBeyondLimits, i, q[i], joint.upper);
    }
  }
}

void Calibrator::finish() noexcept {
  std::array<double, 6> counts, q;
  for (std::size_t i = 0; i < 6; ++i) {
    counts[i] = static_cast<double>(motors_[i].start + offsets_[i]);
  }
  transmission_.counts_to_joints(counts, q);
  check_limits(q);
  if (step_.phase == CalibrationPhase::kFailed) return;
  step_.phase = CalibrationPhase::kDone;
  step_.joint = -1;
  step_.progress = 1;
}

void Calibrator::fail(CalibrationFailure failure, std::size_t joint, double value,
                      double limit) noexcept {
  step_.phase = CalibrationPhase::kFailed;
  step_.qd = step_.qdd = {};
  failure_ = failure;
  failed_joint_ = joint;
  value_ = value;
  limit_ = limit;
}

const char* to_string(CalibrationPhase phase) noexcept {
  constexpr const char* kNames[] = {"measuring", "moving", "done", "failed"};
  return kNames[static_cast<std::size_t>(phase)];
}

const char* to_string(CalibrationFailure failure) noexcept {
  constexpr const char* kNames[] = {
      "none",       "not-at-rest",   "no-samples",          "pot-outside-table", "did-not-move",
      "index-lost", "index-spacing", "pot-does-not-follow", "ambiguous",         "beyond-limits"};
  return kNames[static_cast<std::size_t>(failure)];
}

std::string Calibrator::reason() const {
  constexpr const char* kReasons[] = {
      "nothing went wrong",
      "the motor moved by %.0f counts while the potentiometers were measured (allowed %.0f); keep "
      "the arm at rest",
      "%.0f potentiometer samples were read, %.0f are needed; see 'puma cards'",
      "the potentiometer reads %.3f V, the table ends at %.3f V; move the joint by hand towards "
      "the middle of its range, check pcl818.pot_channel and the potentiometer's supply",
      "the motor moved %.0f counts, at least %.0f were expected; is the power on, the brake "
      "released, the path free?",
      "%.0f index pulses were seen, at least %.0f were expected; check the index wire",
      "index pulses are %.0f counts apart, which is not a multiple of %.0f; check "
      "encoder_counts_per_rev and the encoder's wiring",
      "the potentiometer deviates by %.2f motor turns along the motion (allowed %.2f); is it "
      "stuck, or swapped with another (pcl818.pot_channel), or is the table another arm's?",
      "the best match to the table is %.2f motor turns off, the second best %.2f: ambiguous; the "
      "potentiometer has shifted or the table is another arm's: build it again",
      "it would be at %.3f rad, beyond its limit %.3f; the table does not fit this arm"};
  char text[320];
  std::snprintf(text, sizeof text, kReasons[static_cast<std::size_t>(failure_)], value_, limit_);
  if (failure_ == CalibrationFailure::kNone) return "nothing went wrong";
  return settings_.joints[failed_joint_].name + ": " + text;
}

}  // namespace puma_hardware
