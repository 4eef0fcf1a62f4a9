// SPDX-License-Identifier: Apache-2.0
#include "ga_hardware/simulated_arm.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

#include "ga_hardware/acceleration_model.hpp"
#include "ga_hardware/velocity_observer.hpp"

namespace ga_hardware {

using ga_dynamics::Chain;
using ga_dynamics::Plant;

namespace {

constexpr double kLongestStep = 0.2;  // s
/// Where a joint has no velocity limit: faster than any joint turns, rad/s.
constexpr double kNoSpeedLimit = 100;
/// What a joint may move, rad or m, while its encoder stands still.
constexpr double kFrozenTravel = 0.02;

void check(const Chain& chain, const SimulatedArmSettings& s) {
  const auto need = [](bool ok, const char* what) {
    if (!ok) throw std::invalid_argument(std::string("SimulatedArm: ") + what);
  };
  const std::size_t n = chain.joints().size();
  need(n >= 1 && n <= 52, "needs 1 to 52 joints");  // alarms are bits of a double
  need(s.signals.empty() || s.signals.size() == n, "signals: give one per joint, or none");
  need(s.start.empty() || s.start.size() == n, "start: give one value per joint, or none");
  need(s.observer_bandwidth > 0, "observer_bandwidth must be positive");
  need(s.ramp_time >= 0, "ramp_time must not be negative");
  need(s.brake_release_time >= 0, "brake_release_time must not be negative");
  need(s.overspeed_ratio >= 0, "overspeed_ratio must not be negative");
  need(s.jump_ratio > 0, "jump_ratio must be positive");
  need(s.period > 0, "period must be positive");
  need(s.deadline_ratio == 0 || s.deadline_ratio > 1, "deadline_ratio must be above 1, or 0");
  need(s.command_timeout > 0, "command_timeout must be positive");
  need(s.max_missed_deadlines >= 1, "max_missed_deadlines must be at least 1");
  need(s.payload.mass >= 0, "the payload's mass must not be negative");
}

}  // namespace

const char* to_string(DriveState state) noexcept {
  switch (state) {
    case DriveState::kOff:
      return "off";
    case DriveState::kStanding:
      return "standing";
    case DriveState::kStarting:
      return "starting";
    case DriveState::kRunning:
      return "running";
    case DriveState::kStopping:
      return "stopping";
  }
  return "unknown";
}

struct SimulatedArm::Impl {
  Impl(const Chain& nominal, const SimulatedArmSettings& given)
      : settings(given),
        n(nominal.joints().size()),
        plant(given.payload.mass > 0 ? nominal.with_payload(given.payload) : nominal, given.plant),
        model(nominal, given.plant.friction),
        q(n),
        qd(n),
        wanted(n),
        torque(n),
        reading(n),
        offset(n),
        observers(n, VelocityObserver(given.observer_bandwidth, given.period)),
        random(given.seed) {
    if (settings.signals.empty()) settings.signals.resize(n);
    if (settings.start.empty()) settings.start.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      limits.push_back(nominal.joints()[i].limits);
      has_brake.push_back(!given.plant.brake_torque.empty() && given.plant.brake_torque[i] > 0);
    }
    plant.reset(settings.start, std::vector<double>(n, 0.0));
    set_brakes(true);
    for (std::size_t i = 0; i < n; ++i) {
      reading[i] = q[i] = encoder_reading(settings.signals[i], plant.q()[i]);
      observers[i].reset(q[i]);
    }
  }

  bool torque_flows() const noexcept {
    return state == DriveState::kStarting || state == DriveState::kRunning ||
           state == DriveState::kStopping;
  }
  void set_brakes(bool closed) noexcept {
    brakes_closed = closed;
    for (std::size_t i = 0; i < n; ++i) plant.set_brake(static_cast<int>(i), closed);
  }
  void cut() noexcept {
    state = DriveState::kOff;
    set_brakes(true);
    std::fill(wanted.begin(), wanted.end(), 0.0);
    std::fill(torque.begin(), torque.end(), 0.0);
  }
  void stop(bool then_off) noexcept {
    off_after_stop = off_after_stop || then_off;
    if (torque_flows()) {
      if (state == DriveState::kStopping) return;
      state = DriveState::kStopping;
      elapsed = 0;
      set_brakes(true);
    } else if (off_after_stop) {
      cut();
    }
  }
  void trip(Fault fault, int joint, double value, double threshold) noexcept {
    if (record.fault != Fault::kNone) return;
    record = {fault, joint, value, threshold, cycles};
    if (reaction_to(fault) == Reaction::kCut) {
      cut();
    } else {
      stop(true);
    }
  }

  /// What the motors give in the coming cycle.
  void set_torque() noexcept {
    double share = 0;
    if (state == DriveState::kStopping) {
      share = settings.ramp_time > 0 ? std::max(0.0, 1 - elapsed / settings.ramp_time) : 0;
    } else if (state == DriveState::kStarting || state == DriveState::kRunning) {
      share = commanded ? 1 : 0;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double given = dac_torque(settings.signals[i], share * wanted[i]);
      torque[i] = std::clamp(given, -limits[i].effort, limits[i].effort);
    }
  }

  void next_state(double dt) noexcept {
    if (state == DriveState::kStarting && commanded) {
      elapsed += dt;
      if (elapsed >= settings.brake_release_time) {
        state = DriveState::kRunning;
        set_brakes(false);
      }
    } else if (state == DriveState::kStopping) {
      elapsed += dt;
      if (elapsed < settings.ramp_time) return;
      state = off_after_stop ? DriveState::kOff : DriveState::kStanding;
    }
  }

  /// Positions through the encoders, velocities by the observers, which are told the acceleration
  /// that the torques give the arm of the description. Without encoder counts and noise: as it is.
  void measure(double dt) noexcept {
    const std::span<const double> acceleration = model.predict(q, qd, torque);
    for (std::size_t i = 0; i < n; ++i) {
      const JointSignals& s = settings.signals[i];
      const double noise = s.noise > 0 ? s.noise * normal(random) : 0;
      const double before = reading[i];
      reading[i] = encoder_reading(s, plant.q()[i] + noise) + offset[i];
      if (injection.fault == Fault::kEncoderFrozen && injection.joint == static_cast<int>(i)) {
        const double unseen = reading[i] - before;
        reading[i] = before;
        if (std::abs(unseen) > kFrozenTravel) {
          trip(Fault::kEncoderFrozen, static_cast<int>(i), unseen, kFrozenTravel);
        }
      }
      const double allowed = settings.jump_ratio * speed_limit(i) * dt + 8 * s.noise +
                             (s.counts_per_rad > 0 ? 2 / s.counts_per_rad : 0);
      if (std::abs(reading[i] - before) > allowed) {
        trip(Fault::kEncoderJump, static_cast<int>(i), std::abs(reading[i] - before), allowed);
        observers[i].reset(reading[i]);
      }
      if (s.counts_per_rad > 0 || s.noise > 0) {
        observers[i].set_period(dt);
        observers[i].update(reading[i], brakes_closed ? 0 : acceleration[i]);
        q[i] = observers[i].position();
        qd[i] = observers[i].velocity();
      } else {
        q[i] = reading[i];
        qd[i] = plant.qd()[i];
      }
    }
  }

  double speed_limit(std::size_t i) const noexcept {
    return std::isfinite(limits[i].velocity) ? limits[i].velocity : kNoSpeedLimit;
  }

  void look_for_faults(double dt) noexcept {
    if (injection.fault == Fault::kThermal) trip(Fault::kThermal, injection.joint, 1, 0);
    if (injection.fault == Fault::kEmergencyStop) trip(Fault::kEmergencyStop, -1, 1, 0);
    const double longest = settings.deadline_ratio * settings.period;
    const bool late = settings.deadline_ratio > 0 && dt > longest;
    missed = late || injection.fault == Fault::kDeadlineMissed ? missed + 1 : 0;
    if (missed >= settings.max_missed_deadlines && torque_flows()) {
      trip(Fault::kDeadlineMissed, -1, dt, longest);
    }
    if (settings.overspeed_ratio <= 0) return;
    for (std::size_t i = 0; i < n; ++i) {
      const double allowed = settings.overspeed_ratio * limits[i].velocity;
      if (std::abs(qd[i]) > allowed) {
        trip(Fault::kOverspeed, static_cast<int>(i), qd[i], allowed);
      }
    }
  }

  SimulatedArmSettings settings;
  std::size_t n;
  Plant plant;
  AccelerationModel model;
  std::vector<ga_dynamics::JointLimits> limits;
  std::vector<bool> has_brake;
  std::vector<double> q, qd, wanted, torque, reading;
  std::vector<double> offset;  ///< what an encoder is wrong by since it jumped
  std::vector<VelocityObserver> observers;
  std::mt19937 random;
  std::normal_distribution<double> normal;

  DriveState state = DriveState::kOff;
  bool brakes_closed = true, off_after_stop = false, commanded = false, diverged = false;
  double elapsed = 0;  ///< s, in starting or stopping
  FaultRecord record;
  Injection injection;
  int missed = 0;
  std::uint64_t cycles = 0, late_cycles = 0;
};

SimulatedArm::SimulatedArm(const Chain& chain, const SimulatedArmSettings& settings) {
  check(chain, settings);
  impl_ = std::make_unique<Impl>(chain, settings);
}
SimulatedArm::~SimulatedArm() = default;

DriveState SimulatedArm::state() const noexcept { return impl_->state; }

bool SimulatedArm::power_on() noexcept {
  if (impl_->record.fault != Fault::kNone) return false;
  if (impl_->state == DriveState::kStopping) impl_->cut();
  if (impl_->state == DriveState::kOff) impl_->state = DriveState::kStanding;
  impl_->off_after_stop = false;
  return true;
}

bool SimulatedArm::engage() noexcept {
  Impl& m = *impl_;
  if (m.record.fault != Fault::kNone || m.state == DriveState::kOff || m.off_after_stop) {
    return false;
  }
  if (m.state == DriveState::kStarting || m.state == DriveState::kRunning) return true;
  m.state = DriveState::kStarting;
  m.elapsed = 0;
  m.commanded = false;
  std::fill(m.wanted.begin(), m.wanted.end(), 0.0);
  return true;
}

void SimulatedArm::release() noexcept { impl_->stop(false); }
void SimulatedArm::power_off() noexcept { impl_->stop(true); }
void SimulatedArm::cut() noexcept { impl_->cut(); }

void SimulatedArm::command(std::span<const double> torque, double age) noexcept {
  Impl& m = *impl_;
  if (m.state != DriveState::kStarting && m.state != DriveState::kRunning) return;
  if (!(age <= m.settings.command_timeout)) {
    m.trip(Fault::kCommandTimeout, -1, age, m.settings.command_timeout);
    return;
  }
  for (std::size_t i = 0; i < m.n; ++i) {
    if (std::isfinite(torque[i])) continue;
    if (m.commanded) m.trip(Fault::kTorqueNotFinite, static_cast<int>(i), torque[i], 0);
    return;
  }
  m.commanded = true;
  std::copy_n(torque.begin(), m.n, m.wanted.begin());
}

void SimulatedArm::advance(double dt) noexcept {
  Impl& m = *impl_;
  if (!(dt > 0) || m.diverged) return;
  ++m.cycles;
  if (dt > 1.5 * m.settings.period) ++m.late_cycles;
  const double step = std::min(dt, kLongestStep);
  m.set_torque();
  m.diverged = !m.plant.step(m.torque, step);
  if (m.diverged) {
    m.trip(Fault::kCardLost, -1, dt, 0);
    return;
  }
  m.next_state(step);
  m.measure(step);
  m.look_for_faults(dt);
}

std::span<const double> SimulatedArm::position() const noexcept { return impl_->q; }
std::span<const double> SimulatedArm::velocity() const noexcept { return impl_->qd; }
std::span<const double> SimulatedArm::torque() const noexcept { return impl_->torque; }
bool SimulatedArm::brake_closed(int joint) const noexcept {
  return impl_->brakes_closed && impl_->has_brake[static_cast<std::size_t>(joint)];
}
std::uint64_t SimulatedArm::thermal() const noexcept {
  const Injection& i = impl_->injection;
  return i.fault == Fault::kThermal && i.joint >= 0 ? std::uint64_t{1} << i.joint : 0;
}

const FaultRecord& SimulatedArm::fault() const noexcept { return impl_->record; }

bool SimulatedArm::reset_fault() noexcept {
  Impl& m = *impl_;
  if (m.injection.fault != Fault::kNone && m.injection.fault != Fault::kEncoderJump) return false;
  if (m.record.fault == Fault::kNone) return true;
  m.record = {};
  m.missed = 0;
  std::fill(m.offset.begin(), m.offset.end(), 0.0);
  if (m.diverged) m.plant.reset(m.settings.start, m.offset);
  m.diverged = false;
  for (std::size_t i = 0; i < m.n; ++i) {
    m.reading[i] = m.q[i] = encoder_reading(m.settings.signals[i], m.plant.q()[i]);
    m.qd[i] = 0;
    m.observers[i].reset(m.q[i]);
  }
  return true;
}

void SimulatedArm::inject(const Injection& injection) noexcept {
  Impl& m = *impl_;
  m.injection = injection;
  if (injection.fault == Fault::kEncoderJump && injection.joint >= 0) {
    const auto i = static_cast<std::size_t>(injection.joint);
    // Twice what a cycle of twenty periods may show: no cycle is late enough to hide it.
    m.offset[i] += 40 * m.settings.jump_ratio * m.speed_limit(i) * m.settings.period;
  }
  if (injection.fault == Fault::kCardLost) m.trip(Fault::kCardLost, -1, 1, 0);
}

bool SimulatedArm::card_lost() const noexcept { return impl_->injection.fault == Fault::kCardLost; }
bool SimulatedArm::diverged() const noexcept { return impl_->diverged; }
std::uint64_t SimulatedArm::cycles() const noexcept { return impl_->cycles; }
std::uint64_t SimulatedArm::late_cycles() const noexcept { return impl_->late_cycles; }
Plant& SimulatedArm::plant() noexcept { return impl_->plant; }

}  // namespace ga_hardware
