// SPDX-License-Identifier: Apache-2.0
#include "runtime/arm_loop.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "puma_hardware/process/guard.hpp"

namespace puma_hardware {

using ga_controllers::ControlLaw;
using ga_controllers::LawKind;
using ga_controllers::LawParameters;
using ga_controllers::Reference;
using ga_dynamics::Chain;
using ga_motion::Trajectory;

namespace {

/// s after which a stop that does not come to its end is given up for a cut.
constexpr double kLongestStop = 5;

std::vector<double> integral_gains(const LawParameters& law, std::size_t n) {
  std::vector<double> ki(n, 0.0);
  for (std::size_t i = 0; i < n && law.kind == LawKind::kTrackingIntegral; ++i) {
    ki[i] = law.gains[law.gains.size() == 1 ? 0 : i].ki;
  }
  return ki;
}

void reserve(ga_hardware::Recording& recording, std::size_t cycles) {
  recording.time.reserve(cycles);
  for (auto* values : {&recording.q, &recording.q_ref, &recording.qd, &recording.tau}) {
    values->resize(6);
    for (auto& joint : *values) joint.reserve(cycles);
  }
}

}  // namespace

ArmLoop::ArmLoop(PumaArm& arm, const Chain& model, const LawParameters& law,
                 const ArmLoopOptions& options, Heartbeat* heartbeat, NextCycle next_cycle,
                 const std::atomic<bool>& stop)
    : arm_(arm),
      model_(model),
      parameters_(law),
      law_(model, law),
      hold_(model),
      options_(options),
      heartbeat_(heartbeat),
      next_cycle_(std::move(next_cycle)),
      stop_(stop),
      torque_(6),
      q_ref_(6),
      qd_ref_(6),
      qdd_ref_(6),
      expected_(6),
      ki_(integral_gains(law, 6)) {
  if (model.size() != 6) {
    throw std::invalid_argument("arm loop: the model has " + std::to_string(model.size()) +
                                " joints, the arm has 6");
  }
}

bool ArmLoop::torque_flows() const noexcept {
  const SafetyState state = arm_.safety().state();
  return state == SafetyState::kActive || state == SafetyState::kCalibrating;
}

bool ArmLoop::interrupted() const noexcept {
  return stop_.load() || arm_.safety().state() == SafetyState::kFault;
}

LoopEnd ArmLoop::how_it_ended(LoopEnd otherwise) const noexcept {
  if (arm_.safety().state() == SafetyState::kFault) return LoopEnd::kFault;
  return stop_.load() ? LoopEnd::kStopped : otherwise;
}

LoopEnd ArmLoop::refuse(const std::string& why) {
  reason_ = why;
  return LoopEnd::kRefused;
}

void ArmLoop::read() noexcept {
  const double nominal = 1 / options_.rate;
  const double elapsed = next_cycle_();
  woke_ns_ = monotonic_ns();
  periods_.add(static_cast<std::int64_t>(elapsed * 1e9));
  period_ = std::clamp(elapsed, 0.5 * nominal, 2 * nominal);
  if (heartbeat_ != nullptr) {
    const auto timeout = static_cast<std::int64_t>(options_.guard_timeout * 1e9);
    const bool fits = heartbeat_->guard_settings() == cut_settings(arm_.settings().cards.pcl726);
    arm_.set_guard_alive(heartbeat_->guard_alive(timeout) && fits && !heartbeat_->overruled());
    if (heartbeat_->tripped()) arm_.emergency_stop();
  }
  arm_.read(elapsed, driving_ ? std::span<const double>(expected_) : std::span<const double>());
}

void ArmLoop::finish_cycle() noexcept {
  if (heartbeat_ != nullptr) heartbeat_->beat(arm_.digital_outputs());
  work_.add(monotonic_ns() - woke_ns_);
}

void ArmLoop::write(const Reference& reference) noexcept {
  const ArmReading& reading = arm_.reading();
  law_.update(reading.q, reading.qd, reference, period_, torque_);
  // The integral's part makes up for torques that the model lacks: it accelerates nothing.
  for (std::size_t i = 0; i < 6; ++i) {
    expected_[i] = law_.acceleration()[i] + ki_[i] * law_.integral()[i];
  }
  arm_.write(torque_, 0, hold_.update(reading.q, reading.qd, period_));
  finish_cycle();
}

void ArmLoop::write_none() noexcept {
  if (driving_) {
    std::fill(expected_.begin(), expected_.end(), 0.0);
    arm_.write_none(hold_.update(arm_.reading().q, arm_.reading().qd, period_));
  } else {
    arm_.write_none();
  }
  finish_cycle();
}

void ArmLoop::record(double t, ga_hardware::Recording& recording) noexcept {
  if (recording.time.size() == recording.time.capacity()) return;
  const ArmReading& reading = arm_.reading();
  true_q_ = reading.q;
  true_qd_ = reading.qd;
  if (options_.truth) options_.truth(true_q_, true_qd_);
  recording.time.push_back(t);
  for (std::size_t i = 0; i < 6; ++i) {
    recording.q[i].push_back(true_q_[i]);
    recording.q_ref[i].push_back(q_ref_[i]);
    recording.qd[i].push_back(true_qd_[i]);
    recording.tau[i].push_back(reading.torque[i]);
  }
}

void ArmLoop::start_law() noexcept {
  // The brakes held the arm: the first torque is the one that holds it without them.
  const ArmReading& reading = arm_.reading();
  const std::array<double, 6> rest{};
  law_.start(reading.q, rest, hold_.start(reading.q));
  std::fill(expected_.begin(), expected_.end(), 0.0);
  driving_ = true;
}

LoopEnd ArmLoop::watch(double time) {
  phase_ = "reading";
  const auto cycles = static_cast<std::int64_t>(time * options_.rate);
  for (std::int64_t k = 0; k < cycles && !interrupted(); ++k) {
    read();
    write_none();
    share_ = static_cast<double>(k) / static_cast<double>(cycles);
  }
  return how_it_ended(LoopEnd::kDone);
}

LoopEnd ArmLoop::power_on() {
  if (heartbeat_ != nullptr && !heartbeat_->arm()) {
    return refuse("another process, " + std::to_string(heartbeat_->controller_pid()) +
                  ", drives this arm; stop it first");
  }
  if (const LoopEnd end = watch(options_.settle_time); end != LoopEnd::kDone) return end;
  if (arm_.safety().state() != SafetyState::kCalibrated) {
    return refuse(std::string("the arm is ") + to_string(arm_.safety().state()) +
                  ", not calibrated: calibrate it first");
  }
  return LoopEnd::kDone;
}

LoopEnd ArmLoop::run_motion(const Trajectory& motion, double duration,
                            ga_hardware::Recording* recording, const char* phase) noexcept {
  phase_ = phase;
  double t = 0;
  while (t <= duration && !interrupted()) {
    read();
    motion.sample(t, q_ref_, qd_ref_, qdd_ref_);
    write({q_ref_, qd_ref_, qdd_ref_});
    if (recording != nullptr) record(t, *recording);
    t += period_;
    share_ = t / duration;
  }
  return how_it_ended(LoopEnd::kDone);
}

LoopEnd ArmLoop::follow(const Trajectory& motion, double settle_time,
                        ga_hardware::Recording* recording) {
  LoopEnd end = power_on();
  if (end == LoopEnd::kDone) {
    motion.sample(0, q_ref_, qd_ref_, qdd_ref_);
    double duration = 0.5;
    for (std::size_t i = 0; i < 6; ++i) {
      // A quintic's largest speed is 1.875 times its mean.
      const double speed = options_.approach_speed * arm_.settings().joints[i].max_speed;
      duration = std::max(duration, 1.875 * std::abs(q_ref_[i] - arm_.reading().q[i]) / speed);
    }
    const auto approach = ga_motion::make_quintic(arm_.reading().q, q_ref_, duration);
    if (recording != nullptr) {
      const double length = motion.duration() + settle_time;
      reserve(*recording, static_cast<std::size_t>(length * options_.rate * 1.1) + 16);
    }
    arm_.power_on();
    start_law();
    end = run_motion(*approach, duration + options_.rest_time, nullptr, "to the start");
    if (end == LoopEnd::kDone) {
      end = run_motion(motion, motion.duration() + settle_time, recording, "motion");
    }
  }
  stop_arm();
  return end;
}

LoopEnd ArmLoop::calibrate(const CalibrationTable& table, const CalibrationOptions& options) {
  CalibrationRun run(arm_.settings(), table, model_, parameters_, options);
  arm_.use_table(table);
  if (heartbeat_ != nullptr && !heartbeat_->arm()) {
    return refuse("another process drives this arm; stop it first");
  }
  phase_ = "calibration";
  while (run.end() == CalibrationRun::End::kNone) {
    const auto expected = run.acceleration();
    driving_ = !expected.empty();
    std::copy(expected.begin(), expected.end(), expected_.begin());
    read();
    if (stop_.load()) run.cancel();
    run.cycle(arm_, hold_, period_);
    share_ = run.progress();
    finish_cycle();
  }
  stop_arm();
  if (run.end() == CalibrationRun::End::kFailed || run.end() == CalibrationRun::End::kRefused) {
    return refuse(run.reason(arm_.settings()));
  }
  return how_it_ended(LoopEnd::kDone);
}

LoopEnd ArmLoop::sweep(CalibrationBuilder& builder, const std::array<double, 6>& low,
                       const std::array<double, 6>& high) {
  LoopEnd end = power_on();
  if (end == LoopEnd::kDone) {
    Sweep sweep(arm_.settings(), arm_.reading().q, low, high);
    arm_.begin_index_search();
    arm_.power_on();
    start_law();
    phase_ = "sweep";
    while (!sweep.done() && !interrupted()) {
      read();
      builder.add(arm_);
      sweep.advance(period_);
      std::copy(sweep.q().begin(), sweep.q().end(), q_ref_.begin());
      write({sweep.q(), sweep.qd(), sweep.qdd()});
      share_ = sweep.progress();
    }
    arm_.end_index_search();
    end = how_it_ended(LoopEnd::kDone);
  }
  stop_arm();
  return end;
}

void ArmLoop::stop_arm() noexcept {
  phase_ = "stop";
  if (torque_flows()) arm_.power_off();
  const auto stopping = [this] {
    return torque_flows() || arm_.safety().reaction() != Reaction::kNone;
  };
  double left = kLongestStop;
  while (stopping() && left > 0) {
    read();
    write_none();
    left -= period_;
  }
  if (stopping()) arm_.emergency_stop();
  driving_ = false;
  read();
  write_none();
  if (heartbeat_ != nullptr) heartbeat_->disarm();
}

}  // namespace puma_hardware
