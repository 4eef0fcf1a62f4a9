// SPDX-License-Identifier: Apache-2.0
#include "ga_hardware/simulated_arm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>

#include "ga_hardware/arm_model.hpp"
#include "simulated_drives.hpp"

namespace ga_hardware {

using ga_dynamics::Chain;
using ga_dynamics::Plant;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLongestStep = 0.2;  // s
/// Periods; a longer cycle is a gap in which nothing is known.
constexpr double kLongestCycle = 50;
/// rad/s, for joints without a velocity limit: faster than any joint.
constexpr double kNoSpeedLimit = 100;
/// Motor revolutions per rad or m, to compare encoder and potentiometer. The default thresholds
/// then are 0.02 rad for a frozen encoder and 0.036 rad for a mismatch.
constexpr double kTurns = 12.5;

void check(const Chain& chain, const SimulatedArmSettings& s) {
  const auto need = [](bool ok, const char* what) {
    if (!ok) throw std::invalid_argument(std::string("SimulatedArm: ") + what);
  };
  const std::size_t n = chain.joints().size();
  need(n >= 1 && n <= kMostJoints, "needs 1 to 52 joints");
  need(s.signals.empty() || s.signals.size() == n, "signals: give one per joint, or none");
  need(s.start.empty() || s.start.size() == n, "start: give one value per joint, or none");
  need(!s.actual || s.actual->joints().size() == n, "actual: give an arm with the same joints");
  need(s.observer_bandwidth > 0, "observer_bandwidth must be positive");
  need(s.brake_release_time >= 0, "brake_release_time must not be negative");
  need(s.period > 0, "period must be positive");
  need(s.payload.mass >= 0, "the payload's mass must not be negative");
  need(s.known_payload.mass >= 0, "the known payload's mass must not be negative");
  need(s.errors.empty() || s.errors.size() == n, "errors: give one per joint, or none");
  check(s.disturbances);
  const SafetySettings& safety = s.safety;
  need(safety.ramp_time >= 0, "ramp_time must not be negative");
  need(safety.overspeed_ratio >= 0, "overspeed_ratio must not be negative");
  need(safety.jump_ratio > 0, "jump_ratio must be positive");
  need(safety.deadline_ratio == 0 || safety.deadline_ratio > 1,
       "deadline_ratio must be above 1, or 0");
  need(safety.command_timeout > 0, "command_timeout must be positive");
  need(safety.max_missed_deadlines >= 1, "max_missed_deadlines must be at least 1");
  need(safety.soft_limit_margin >= 0, "soft_limit_margin must not be negative");
}

/// Position error due to noise and quantization, rad or m.
double uncertainty(const JointSignals& s) noexcept {
  return 8 * s.noise + (s.counts_per_rad > 0 ? 2 / s.counts_per_rad : 0);
}

double max_speed(const ga_dynamics::JointLimits& limits) noexcept {
  return std::isfinite(limits.velocity) ? limits.velocity : kNoSpeedLimit;
}

SafetyMachine machine_of(const Chain& chain, const SimulatedArmSettings& s) {
  std::vector<SafetyJoint> joints;
  for (const ga_dynamics::ChainJoint& joint : chain.joints()) {
    const auto& limits = joint.limits;
    // A joint at its stop, which is at its limit, must not appear to be beyond it.
    const double slack = s.signals.empty() ? 0 : uncertainty(s.signals[joints.size()]);
    joints.push_back(
        {limits.lower - slack, limits.upper + slack, max_speed(limits), limits.effort});
    if (limits.soft_lower > limits.lower) joints.back().soft_lower = limits.soft_lower;
    if (limits.soft_upper < limits.upper) joints.back().soft_upper = limits.soft_upper;
  }
  SafetySettings safety = s.safety;
  for (double* ratio : {&safety.overspeed_ratio, &safety.deadline_ratio}) {
    if (*ratio == 0) *ratio = kInfinity;
  }
  return {joints, safety, true, s.period};
}

/// The arm as its drives know it.
Chain as_known(const Chain& described, const SimulatedArmSettings& s) {
  return s.known_payload.mass > 0 ? described.with_payload(s.known_payload) : described;
}

}  // namespace

SafetySettings simulated_safety() noexcept {
  SafetySettings settings;
  settings.deadline_ratio = 0;
  return settings;
}

const char* to_string(DriveState state) noexcept {
  constexpr const char* kNames[] = {"off", "standing", "starting", "running", "stopping"};
  return kNames[static_cast<std::size_t>(state)];
}

struct SimulatedArm::Impl {
  Impl(const Chain& described, const SimulatedArmSettings& given)
      : settings(given),
        n(described.joints().size()),
        drives(described, given),
        model(as_known(described, given), given.plant.friction),
        hold(as_known(described, given)),
        safety(machine_of(described, given)),
        q(n),
        qd(n),
        torque(n),
        shown(n),
        jump(n),
        observers(n, VelocityObserver(given.observer_bandwidth, given.period)),
        random(given.seed) {
    if (settings.signals.empty()) settings.signals.resize(n);
    for (const auto& joint : described.joints()) limits.push_back(joint.limits);
    drives.set_brakes(true);
    seen.period = settings.period;
    start_sensors();
    safety.open();
    safety.calibrated();
  }

  /// Resets the sensors to the position of the arm, at rest.
  void start_sensors() noexcept {
    std::fill(jump.begin(), jump.end(), 0.0);
    seen.pot_turns = seen.count_speed = {};
    for (std::size_t i = 0; i < n; ++i) {
      shown[i] = q[i] = seen.q[i] = encoder_reading(settings.signals[i], drives.q()[i]);
      qd[i] = seen.qd[i] = 0;
      seen.pot_fresh[i] = true;
      observers[i].reset(q[i]);
    }
  }

  bool busy() const noexcept {
    return safety.state() == SafetyState::kActive || safety.reaction() != Reaction::kNone;
  }
  void set_brakes(bool closed) noexcept {
    if (closed == brakes_closed) return;
    brakes_closed = closed;
    drives.set_brakes(closed);
  }

  bool activate_if_allowed() noexcept {
    if (!power_allowed || !safety.activate()) return false;
    seen.command_age = kInfinity;
    hold.start(q);
    return true;
  }

  /// Computes the output of the cycle.
  void output() noexcept {
    seen.hold_available = busy();
    if (seen.hold_available) {
      const double dt = std::clamp(seen.period, 0.5 * settings.period, 2 * settings.period);
      const auto holding = hold.update(q, qd, dt);
      std::copy(holding.begin(), holding.end(), seen.hold_torque.begin());
    }
    seen.thermal = injection.fault == Fault::kThermal ? std::uint64_t{1} << injection.joint : 0;
    seen.emergency_stop = injection.fault == Fault::kEmergencyStop;
    seen.deadline_missed = injection.fault == Fault::kDeadlineMissed;
    seen.card_lost = injection.fault == Fault::kCardLost || diverged;
    apply(safety.update(seen));
    if (safety.state() == SafetyState::kFault) power_allowed = false;
    if (activate_if_allowed()) powered = true;
  }

  void apply(const SafetyOutputs& allowed) noexcept {
    powered = allowed.power;
    for (std::size_t i = 0; i < n; ++i) {
      const double given = dac_torque(settings.signals[i], allowed.torque[i]);
      torque[i] = std::clamp(given, -limits[i].effort, limits[i].effort);
    }
    // The brakes open when the first torque has arrived at the motors; without power there is none.
    if (!powered || (allowed.brakes_released && !brakes_released)) drives.settle(torque);
    if (!allowed.brakes_released) release_time = 0;
    brakes_released = allowed.brakes_released;
    set_brakes(!brakes_released || release_time < settings.brake_release_time);
  }

  /// Positions as the encoders read them (the laws have observers of their own), velocities from the
  /// observers with the model's acceleration as feed-forward. Ideal sensors: the true state.
  void measure(double dt) noexcept {
    const std::span<const double> acceleration = model.predict(q, qd, torque);
    for (std::size_t i = 0; i < n; ++i) {
      const JointSignals& s = settings.signals[i];
      const double noise = s.noise > 0 ? s.noise * normal(random) : 0;
      const double right = encoder_reading(s, drives.q()[i] + noise);
      const bool frozen = injection.fault == Fault::kEncoderFrozen && injection.joint == int(i);
      const double before = shown[i];
      if (!frozen) shown[i] = right + jump[i];
      const double step = shown[i] - before, beyond = std::abs(step) - uncertainty(s);
      seen.count_speed[i] = std::copysign(std::max(beyond, 0.0), step) / dt;
      seen.pot_turns[i] = kTurns * (right - shown[i]);
      if (beyond > settings.safety.jump_ratio * max_speed(limits[i]) * dt) {
        observers[i].reset(shown[i]);
      } else if (dt > kLongestCycle * settings.period) {
        observers[i].reset(shown[i], step / dt);
      }
      if (s.counts_per_rad > 0 || s.noise > 0) {
        observers[i].set_period(dt);
        observers[i].update(shown[i], brakes_closed ? 0 : acceleration[i]);
        q[i] = shown[i];
        qd[i] = observers[i].velocity();
      } else {
        q[i] = shown[i];
        qd[i] = frozen ? 0 : drives.qd()[i];
      }
      seen.q[i] = q[i];
      seen.qd[i] = qd[i];
    }
  }

  SimulatedArmSettings settings;
  std::size_t n;
  SimulatedDrives drives;
  AccelerationModel model;
  HoldLaw hold;
  SafetyMachine safety;
  std::vector<ga_dynamics::JointLimits> limits;
  std::vector<double> q, qd, torque;
  std::vector<double> shown;  ///< encoder readings
  std::vector<double> jump;   ///< encoder error after a jump
  std::vector<VelocityObserver> observers;
  std::mt19937 random;
  std::normal_distribution<double> normal;

  SafetyInputs seen;
  Injection injection;
  bool power_allowed = false, powered = false, diverged = false;
  bool brakes_released = false, brakes_closed = true;
  double release_time = 0;  ///< s since the brakes were commanded to open
  std::uint64_t cycles = 0, late_cycles = 0;
};

SimulatedArm::SimulatedArm(const Chain& chain, const SimulatedArmSettings& settings) {
  check(chain, settings);
  impl_ = std::make_unique<Impl>(chain, settings);
}
SimulatedArm::~SimulatedArm() = default;

DriveState SimulatedArm::state() const noexcept {
  const Impl& m = *impl_;
  if (m.safety.reaction() != Reaction::kNone) return DriveState::kStopping;
  if (m.safety.state() != SafetyState::kActive) return DriveState::kOff;
  if (!m.brakes_released) return DriveState::kStanding;
  return m.brakes_closed ? DriveState::kStarting : DriveState::kRunning;
}

bool SimulatedArm::power_on() noexcept {
  if (impl_->safety.state() == SafetyState::kFault) return false;
  impl_->power_allowed = true;
  if (impl_->activate_if_allowed()) impl_->powered = true;
  return true;
}

void SimulatedArm::stop() noexcept { impl_->safety.deactivate(); }

void SimulatedArm::power_off() noexcept {
  impl_->power_allowed = false;
  stop();
}

void SimulatedArm::cut() noexcept {
  Impl& m = *impl_;
  m.power_allowed = false;
  if (m.safety.state() == SafetyState::kFault) {
    SafetyInputs now = m.seen;
    now.emergency_stop = true;
    m.safety.update(now);
  } else {
    m.safety.close();
    m.safety.open();
    m.safety.calibrated();
  }
  m.apply({});
}

void SimulatedArm::command(std::span<const double> torque, double age, bool handover) noexcept {
  Impl& m = *impl_;
  m.activate_if_allowed();
  if (m.safety.state() != SafetyState::kActive || m.safety.reaction() != Reaction::kNone) {
    idle();
    return;
  }
  std::copy_n(torque.begin(), m.n, m.seen.torque_command.begin());
  m.seen.command_age = age;
  m.seen.handover = handover;
  m.output();
}

void SimulatedArm::idle() noexcept {
  impl_->seen.command_age += impl_->seen.period;
  impl_->seen.handover = false;
  impl_->output();
}

void SimulatedArm::advance(double dt) noexcept {
  Impl& m = *impl_;
  if (!(dt > 0) || m.diverged) return;
  ++m.cycles;
  if (dt > 1.5 * m.settings.period) ++m.late_cycles;
  const double step = std::min(dt, kLongestStep);
  m.seen.period = dt;
  m.diverged = !m.drives.move(m.torque, step);
  if (m.diverged) {
    m.output();  // latches the fault even if no further cycle follows
    return;
  }
  if (m.brakes_released) m.release_time += step;
  m.measure(step);
}

std::span<const double> SimulatedArm::position() const noexcept { return impl_->q; }
std::span<const double> SimulatedArm::velocity() const noexcept { return impl_->qd; }
std::span<const double> SimulatedArm::torque() const noexcept { return impl_->torque; }
std::span<const double> SimulatedArm::motor_torque() const noexcept {
  return impl_->drives.motor_torque();
}
bool SimulatedArm::powered() const noexcept { return impl_->powered; }
bool SimulatedArm::brakes_closed() const noexcept { return impl_->brakes_closed; }
bool SimulatedArm::brake_closed(int joint) const noexcept {
  const auto& brakes = impl_->settings.plant.brake_torque;
  return impl_->brakes_closed && !brakes.empty() && brakes[static_cast<std::size_t>(joint)] > 0;
}
std::uint64_t SimulatedArm::thermal() const noexcept { return impl_->seen.thermal; }
const SafetyMachine& SimulatedArm::safety() const noexcept { return impl_->safety; }

bool SimulatedArm::reset_fault() noexcept {
  Impl& m = *impl_;
  if (m.injection.fault != Fault::kNone && m.injection.fault != Fault::kEncoderJump) return false;
  const bool faulty = m.safety.state() == SafetyState::kFault;
  if (!m.safety.clear_faults()) return false;
  if (!faulty) return true;
  if (m.diverged) m.drives.reset();
  m.diverged = false;
  m.start_sensors();
  m.safety.calibrated();
  return true;
}

void SimulatedArm::inject(const Injection& injection) noexcept {
  Impl& m = *impl_;
  const bool of_joint = injection.fault == Fault::kThermal ||
                        injection.fault == Fault::kEncoderJump ||
                        injection.fault == Fault::kEncoderFrozen;
  if (of_joint && (injection.joint < 0 || injection.joint >= static_cast<int>(m.n))) return;
  m.injection = injection;
  if (injection.fault == Fault::kEncoderJump) {
    const auto i = static_cast<std::size_t>(injection.joint);
    // Twice the plausible step in a cycle of twenty periods: no late cycle can hide it.
    m.jump[i] += 40 * m.settings.safety.jump_ratio * max_speed(m.limits[i]) * m.settings.period;
  }
  // Update the safety machine now: with lost cards no further cycle does.
  if (injection.fault == Fault::kCardLost) m.output();
}

bool SimulatedArm::card_lost() const noexcept { return impl_->injection.fault == Fault::kCardLost; }
bool SimulatedArm::diverged() const noexcept { return impl_->diverged; }
std::uint64_t SimulatedArm::cycles() const noexcept { return impl_->cycles; }
std::uint64_t SimulatedArm::late_cycles() const noexcept { return impl_->late_cycles; }
Plant& SimulatedArm::plant() noexcept { return impl_->drives.plant(); }

}  // namespace ga_hardware
