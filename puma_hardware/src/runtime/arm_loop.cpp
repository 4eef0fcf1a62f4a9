// SPDX-License-Identifier: Apache-2.0
#include "runtime/arm_loop.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace puma_hardware {

using ga_controllers::LawParameters;
using ga_controllers::Reference;
using ga_dynamics::Chain;
using ga_motion::Trajectory;

namespace {

/// s; a stop that takes longer becomes an emergency stop.
constexpr double kLongestStop = 5;

}  // namespace

ArmLoop::ArmLoop(ArmDriver& driver, const Chain& model, const LawParameters& law,
                 const ArmLoopOptions& options, NextCycle next_cycle, const std::atomic<bool>& stop)
    : driver_(driver),
      arm_(driver.arm()),
      model_(model),
      parameters_(law),
      law_(model, law),
      options_(options),
      next_cycle_(std::move(next_cycle)),
      stop_(stop) {}

bool ArmLoop::interrupted() const noexcept {
  return stop_.load() || arm_.safety().state() == SafetyState::kFault;
}

LoopEnd ArmLoop::how_it_ended() const noexcept {
  if (arm_.safety().state() == SafetyState::kFault) return LoopEnd::kFault;
  return stop_.load() ? LoopEnd::kStopped : LoopEnd::kDone;
}

LoopEnd ArmLoop::refuse(const std::string& why) {
  reason_ = why;
  return LoopEnd::kRefused;
}

void ArmLoop::read() { driver_.read(next_cycle_()); }

void ArmLoop::drive(const Reference& reference) noexcept {
  const auto torque = law_.update(arm_.reading(), reference, driver_.elapsed());
  if (options_.follows) arm_.set_reference(reference.q);
  driver_.command(torque, 0, law_.expected_acceleration());
}

void ArmLoop::record(double t, ga_motion::Recording& recording) noexcept {
  if (recording.time.size() == recording.time.capacity()) return;
  const ArmReading& reading = arm_.reading();
  std::array<double, 6> q = reading.q, qd = reading.qd;
  if (options_.truth) options_.truth(q, qd);
  recording.time.push_back(t);
  for (std::size_t i = 0; i < 6; ++i) {
    recording.q[i].push_back(q[i]);
    recording.q_ref[i].push_back(q_ref_[i]);
    recording.qd[i].push_back(qd[i]);
    recording.tau[i].push_back(reading.torque[i]);
  }
}

void ArmLoop::reserve(ga_motion::Recording* recording, double length) const {
  if (recording == nullptr) return;
  const auto cycles = static_cast<std::size_t>(length / driver_.nominal_period() * 1.1) + 16;
  recording->time.reserve(cycles);
  for (auto* values : {&recording->q, &recording->q_ref, &recording->qd, &recording->tau}) {
    values->resize(6);
    for (auto& joint : *values) joint.reserve(cycles);
  }
}

LoopEnd ArmLoop::watch(double time) {
  phase_ = "reading";
  const auto cycles = std::llround(time / driver_.nominal_period());
  for (std::int64_t k = 0; k < cycles && !interrupted(); ++k) {
    read();
    driver_.idle();
    share_ = static_cast<double>(k) / static_cast<double>(cycles);
  }
  return how_it_ended();
}

LoopEnd ArmLoop::prepare() {
  if (const LoopEnd end = watch(options_.settle_time); end != LoopEnd::kDone) return end;
  if (arm_.safety().state() != SafetyState::kCalibrated) {
    return refuse(std::string("the arm is ") + to_string(arm_.safety().state()) +
                  ", not calibrated: calibrate it first");
  }
  return LoopEnd::kDone;
}

LoopEnd ArmLoop::power_on() {
  if (const std::string why = driver_.power_refusal(); !why.empty()) return refuse(why);
  if (!driver_.arm_guard()) return refuse(driver_.arm_refusal());
  driver_.allow_power(true);
  law_.start(arm_.reading().q, driver_.power_on());
  return LoopEnd::kDone;
}

LoopEnd ArmLoop::run_motion(const Trajectory& motion, double duration,
                            ga_motion::Recording* recording, const char* phase) {
  phase_ = phase;
  double t = 0;
  while (t <= duration && !interrupted()) {
    read();
    motion.sample(t, q_ref_, qd_ref_, qdd_ref_);
    drive({q_ref_, qd_ref_, qdd_ref_});
    if (recording != nullptr) record(t, *recording);
    // Nothing moves before the brakes are open.
    if (t == 0 && !arm_.brakes_released()) continue;
    t += driver_.period();
    share_ = t / duration;
  }
  return how_it_ended();
}

LoopEnd ArmLoop::follow(const Trajectory& motion, double settle_time,
                        ga_motion::Recording* recording) {
  const double length = motion.duration() + settle_time;
  reserve(recording, length);
  LoopEnd end = prepare();
  if (end == LoopEnd::kDone) {
    motion.sample(0, q_ref_, qd_ref_, qdd_ref_);
    double duration = 0.5;
    for (std::size_t i = 0; i < 6; ++i) {
      // A quintic's largest speed is 1.875 times its mean.
      const double speed = options_.approach_speed * arm_.settings().joints[i].max_speed;
      duration = std::max(duration, 1.875 * std::abs(q_ref_[i] - arm_.reading().q[i]) / speed);
    }
    const auto approach = ga_motion::make_quintic(arm_.reading().q, q_ref_, duration);
    end = power_on();
    if (end == LoopEnd::kDone) {
      end = run_motion(*approach, duration + options_.rest_time, nullptr, "to the start");
    }
    if (end == LoopEnd::kDone) end = run_motion(motion, length, recording, "motion");
  }
  stop_arm();
  return end;
}

LoopEnd ArmLoop::calibrate(const CalibrationTable& table, const CalibrationOptions& options) {
  CalibrationRun run(arm_.settings(), table, model_, parameters_, options);
  arm_.use_table(table);
  if (const std::string why = driver_.power_refusal(); !why.empty()) return refuse(why);
  if (!driver_.arm_guard()) return refuse(driver_.arm_refusal());
  driver_.calibrate(&run);
  // A simulation that fails throws in mid-run: the driver must not keep the run.
  const std::unique_ptr<ArmDriver, void (*)(ArmDriver*)> forget_run(
      &driver_, [](ArmDriver* driver) { driver->calibrate(nullptr); });
  phase_ = "calibration";
  while (run.end() == CalibrationRun::End::kNone) {
    read();
    if (stop_.load()) run.cancel();
    driver_.idle();
    share_ = run.progress();
  }
  stop_arm();
  if (run.end() == CalibrationRun::End::kFailed || run.end() == CalibrationRun::End::kRefused) {
    return refuse(run.reason(arm_.settings()));
  }
  return how_it_ended();
}

LoopEnd ArmLoop::calibrate_and_follow(const CalibrationTable& table, const Trajectory& motion,
                                      double settle_time, ga_motion::Recording* recording) {
  reserve(recording, motion.duration() + settle_time);  // not while the guard watches
  driver_.keep_guard(true);
  const std::unique_ptr<ArmDriver, void (*)(ArmDriver*)> release(
      &driver_, [](ArmDriver* driver) { driver->keep_guard(false); });
  const LoopEnd end = calibrate(table);
  return end == LoopEnd::kDone ? follow(motion, settle_time, recording) : end;
}

LoopEnd ArmLoop::sweep(CalibrationBuilder& builder, const std::array<double, 6>& low,
                       const std::array<double, 6>& high) {
  LoopEnd end = prepare();
  if (end == LoopEnd::kDone) end = power_on();
  if (end == LoopEnd::kDone) {
    Sweep sweep(arm_.settings(), arm_.reading().q, low, high);
    arm_.begin_index_search();
    phase_ = "sweep";
    while (!sweep.done() && !interrupted()) {
      read();
      builder.add(arm_);
      if (arm_.brakes_released()) sweep.advance(driver_.period());
      drive({sweep.q(), sweep.qd(), sweep.qdd()});
      share_ = sweep.progress();
    }
    arm_.end_index_search();
    end = how_it_ended();
  }
  stop_arm();
  return end;
}

void ArmLoop::stop_arm() {
  phase_ = "stop";
  driver_.allow_power(false);
  driver_.stop();
  double left = kLongestStop + arm_.settings().safety.manual_stop_time;
  while (driver_.busy() && left > 0) {
    read();
    driver_.idle();
    left -= driver_.period();
  }
  if (driver_.busy()) arm_.emergency_stop();
  read();
  driver_.idle();
}

}  // namespace puma_hardware
