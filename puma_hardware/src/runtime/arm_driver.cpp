// SPDX-License-Identifier: Apache-2.0
#include "runtime/arm_driver.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>

#include "process/guard.hpp"

namespace puma_hardware {

namespace {

/// s beyond the ramp after which stop_and_wait() cuts the outputs: other hardware waits meanwhile.
constexpr double kStopMargin = 0.25;
/// Heartbeats that must fit into the guard's timeout.
constexpr double kHeartbeats = 2;
constexpr std::chrono::milliseconds kClaimPeriod{100};
/// s without a sign of life of the guard; more is for emulated arms.
constexpr double kLongestGuardTimeout = 1;

constexpr const char* kNoGuard =
    "no guard is running: if this process died, the last voltages would stay on the amplifiers. Start "
    "`puma guard` first";

/// Sets `claimed` to false for good when the files of claim or heartbeat are no longer there.
void watch_claim(const std::stop_token& stop, const CardClaim& claim, const Heartbeat* heartbeat,
                 std::atomic<bool>& claimed) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);  // they are for the main thread
  // The guard sees that a process was killed when its last thread has ended: this one must not wait
  // for a busy computer.
  sched_param lowest{};
  lowest.sched_priority = 1;
  pthread_setschedparam(pthread_self(), SCHED_FIFO, &lowest);
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  while (!wake.wait_for(lock, stop, kClaimPeriod, [&stop] { return stop.stop_requested(); })) {
    if (!claim.present() || (heartbeat != nullptr && !heartbeat->present())) claimed = false;
  }
}

}  // namespace

ArmDriver::ArmDriver(Robot& robot, Heartbeat* heartbeat, const ArmDriverOptions& options)
    : robot_(robot),
      claim_(robot.claim()),
      heartbeat_(heartbeat),
      options_(options),
      arm_(robot.io(claim_), robot.settings(), options.period),
      hold_(robot.chain()),
      model_(robot.chain()),
      brakes_wired_(robot.settings().cards.pcl726.brake_output >= 0 ||
                    robot.settings().manual_brakes()),
      period_(options.period),
      elapsed_(options.period) {
  if (robot.bus() == Bus::kPrivate && heartbeat == nullptr) return;  // no other users
  claim_watch_ = std::jthread(
      [this](const std::stop_token& stop) { watch_claim(stop, claim_, heartbeat_, claimed_); });
}

bool ArmDriver::busy() const noexcept {
  const SafetyMachine& safety = arm_.safety();
  return safety.state() == SafetyState::kActive || safety.state() == SafetyState::kCalibrating ||
         safety.reaction() != Reaction::kNone;
}

bool ArmDriver::card_lost() const noexcept {
  const SafetyMachine& safety = arm_.safety();
  for (int i = 0; i < safety.fault_count(); ++i) {
    if (safety.fault(i).fault == Fault::kCardLost) return true;
  }
  return false;
}

bool ArmDriver::guard_alive() const noexcept {
  const auto timeout = static_cast<std::int64_t>(options_.guard_timeout * 1e9);
  return heartbeat_ != nullptr && heartbeat_->guard_alive(timeout) &&
         heartbeat_->guard_settings() == cut_settings(robot_.settings().cards.pcl726);
}

bool ArmDriver::arm_guard() noexcept {
  if (heartbeat_ == nullptr) return true;
  if (guard_alive() && heartbeat_->arm()) {
    guard_armed_ = true;
    tripped_ = false;
    return true;
  }
  release_guard();
  return false;
}

void ArmDriver::release_guard() noexcept {
  if (heartbeat_ == nullptr || !guard_armed_ || run_ != nullptr || busy()) return;
  heartbeat_->disarm();
  guard_armed_ = false;
  arm_.set_guard_alive(true);
}

void ArmDriver::keep_guard(bool keep) noexcept {
  guard_kept_ = keep;
  if (!keep && !power_allowed_) release_guard();
}

std::string ArmDriver::power_refusal() const {
  if (std::string why = robot_.settings().power_refusal(); !why.empty()) return why;
  if (!claimed_) {
    return "the lock or heartbeat files of this arm in /dev/shm were removed or replaced: another program "
           "could drive it at once. Stop all programs of this arm, guard included, and start them again; "
           "RemoveIPC=no in /etc/systemd/logind.conf keeps logind from removing them";
  }
  if (heartbeat_ == nullptr) return "";
  if (!guard_alive()) return kNoGuard;
  if (robot_.bus() == Bus::kPorts && options_.guard_timeout > kLongestGuardTimeout) {
    return "hardware parameter guard_timeout is " + std::to_string(options_.guard_timeout) +
           " s; on real cards it may be at most " + std::to_string(kLongestGuardTimeout);
  }
  const double timeout = static_cast<double>(heartbeat_->guard_timeout_ns()) * 1e-9;
  if (timeout >= kHeartbeats * options_.period) return "";
  char text[240];
  std::snprintf(text, sizeof text,
                "the loop rate is %g Hz, a heartbeat every %g ms, and the guard cuts after %g ms "
                "without one; raise the rate, or give `puma guard` a --timeout of at least %g ms",
                1 / options_.period, options_.period * 1e3, timeout * 1e3,
                kHeartbeats * options_.period * 1e3);
  return text;
}

bool ArmDriver::other_drives() const noexcept {
  return heartbeat_ != nullptr && heartbeat_->armed() && heartbeat_->controller_pid() != getpid();
}

std::string ArmDriver::arm_refusal() const {
  if (!other_drives()) return kNoGuard;
  return "another process, " + std::to_string(heartbeat_->controller_pid()) +
         ", drives this arm; stop it first";
}

void ArmDriver::read(double elapsed) noexcept {
  if (robot_.arm() != nullptr) robot_.arm()->advance(elapsed);
  begin_ns_ = monotonic_ns();
  periods_.add(static_cast<std::int64_t>(elapsed * 1e9));
  elapsed_ = elapsed;
  arm_.set_claimed(claimed_);
  period_ = std::clamp(elapsed, 0.5 * options_.period, 2 * options_.period);
  if (heartbeat_ != nullptr && guard_armed_) {
    arm_.set_guard_alive(guard_alive() && !heartbeat_->guard_ended() && !heartbeat_->overruled());
    if (heartbeat_->tripped()) {
      tripped_ = true;
      arm_.cut_by_guard();
    }
  }
  std::span<const double> expected;
  if (run_ != nullptr) {
    expected = run_->acceleration();
  } else if (expected_given_) {
    expected = expected_;
  } else if (options_.feed_observer && arm_.brakes_released()) {
    expected = model_.predict(arm_.reading().q, arm_.reading().qd, arm_.reading().torque);
  }
  arm_.read(elapsed, expected);
  expected_given_ = false;
  read_ns_ = monotonic_ns() - begin_ns_;
}

std::span<const double> ArmDriver::power_on() noexcept {
  if (!power_allowed_ || !arm_.power_on()) return {};
  return hold_.start(arm_.reading().q);
}

std::span<const double> ArmDriver::holding_torque() noexcept {
  const ArmReading& reading = arm_.reading();
  return arm_.safety().keeps_position()
             ? hold_.keep_position(reading.q, reading.qd, reading.torque, period_)
             : hold_.update(reading.q, reading.qd, period_);
}

void ArmDriver::command(std::span<const double> torque, double age,
                        std::span<const double> expected_acceleration, bool handover) noexcept {
  const SafetyMachine& safety = arm_.safety();
  power_on();
  if (safety.state() != SafetyState::kActive || safety.reaction() != Reaction::kNone) {
    idle();
    return;
  }
  const auto hold = holding_torque();
  const std::int64_t begin = monotonic_ns();
  arm_.write(torque, age, hold, handover);
  expected_given_ = !expected_acceleration.empty();
  if (expected_given_) std::copy_n(expected_acceleration.begin(), 6, expected_.begin());
  finish_cycle(begin);
}

void ArmDriver::idle() noexcept {
  if (run_ != nullptr) {
    const std::int64_t begin = monotonic_ns();
    if (run_->cycle(arm_, hold_, period_, elapsed_) != CalibrationRun::End::kNone) run_ = nullptr;
    finish_cycle(begin);
    return;
  }
  if (brakes_wired_) power_on();
  std::span<const double> hold;
  if (busy()) hold = holding_torque();
  const std::int64_t begin = monotonic_ns();
  arm_.write_none(hold);
  finish_cycle(begin);
}

void ArmDriver::finish_cycle(std::int64_t begin_ns) noexcept {
  const std::int64_t written_ns = monotonic_ns();
  bus_.add(read_ns_ + written_ns - begin_ns);
  work_.add(written_ns - begin_ns_);
  if (arm_.safety().state() == SafetyState::kFault) power_allowed_ = false;
  if (heartbeat_ == nullptr || !guard_armed_) return;
  heartbeat_->beat(arm_.digital_outputs());
  if (!power_allowed_ && !guard_kept_) release_guard();
}

void ArmDriver::cut() noexcept {
  power_allowed_ = false;
  arm_.emergency_stop();
  if (run_ != nullptr) {
    run_->abandon();
    run_ = nullptr;
  }
  if (heartbeat_ != nullptr && guard_armed_) heartbeat_->disarm();
  guard_armed_ = false;
}

void ArmDriver::stop_and_wait() noexcept {
  power_allowed_ = false;
  if (run_ != nullptr) run_->cancel();
  stop();
  PeriodicTimer timer(static_cast<std::int64_t>(options_.period * 1e9));
  std::int64_t last = monotonic_ns();
  const std::int64_t end =
      last + static_cast<std::int64_t>((robot_.settings().safety.ramp_time +
                                        robot_.settings().safety.manual_stop_time + kStopMargin) *
                                       1e9);
  while ((busy() || run_ != nullptr) && last < end) {
    timer.wait();
    const std::int64_t now = monotonic_ns();
    read(static_cast<double>(now - last) * 1e-9);
    idle();
    last = now;
  }
  cut();
}

}  // namespace puma_hardware
