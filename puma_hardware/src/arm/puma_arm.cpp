// SPDX-License-Identifier: Apache-2.0
#include "arm/puma_arm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace puma_hardware {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// Weight of a new sample in the running mean of potentiometers at rest.
constexpr double kPotShare = 0.1;
/// Periods; a longer cycle is a gap after which the observers restart.
constexpr double kLongestCycle = 50;
/// Maximum age of a potentiometer sample when it is compared with the encoders, in periods. After a
/// stall of the computer an older sample would differ because the arm has moved on.
constexpr double kPotAge = 2.5;
/// A read-back of the watchdog output that differs counts 2, one that agrees −1: an input that always
/// reads the same differs in every second cycle.
constexpr int kWatchdogMissed = 6;

std::uint16_t bit_of(int input) noexcept {
  return static_cast<std::uint16_t>(input >= 0 ? 1 << input : 0);
}

}  // namespace

PumaArm::PumaArm(PortIo& io, const ArmSettings& settings, double period)
    : io_(io),
      settings_(settings),
      nominal_period_(period),
      transmission_(settings),
      safety_(safety_machine(settings, period)),
      dacs_(io, settings.cards.pcl726),
      analog_(io, settings.cards.pcl818),
      counters_{Pcl833(io, settings.cards.pcl833, 0), Pcl833(io, settings.cards.pcl833, 1)},
      observers_{ga_hardware::VelocityObserver(settings.observer_bandwidth, period),
                 ga_hardware::VelocityObserver(settings.observer_bandwidth, period),
                 ga_hardware::VelocityObserver(settings.observer_bandwidth, period),
                 ga_hardware::VelocityObserver(settings.observer_bandwidth, period),
                 ga_hardware::VelocityObserver(settings.observer_bandwidth, period),
                 ga_hardware::VelocityObserver(settings.observer_bandwidth, period)} {
  const Pcl726Settings& wiring = settings_.cards.pcl726;
  inputs_wanted_ = bit_of(wiring.power_feedback_input) | bit_of(wiring.watchdog_input);
  seen_.power_known = wiring.power_feedback_input >= 0;
  seen_.power_switched = wiring.power_output >= 0;
  analog_.select(settings_.cards.pcl818.pot_channel[0]);
  seen_.command_age = kNever;
  safety_.open();
}

PumaArm::~PumaArm() { all_off(); }

void PumaArm::all_off() noexcept {
  dacs_.zero();
  dacs_.write_output(settings_.cards.pcl726.brake_output, false);
  dacs_.write_output(settings_.cards.pcl726.power_output, false);
  dacs_.write_output(settings_.cards.pcl726.watchdog_output, false);
  watchdog_ = false;
  power_ = brakes_released_ = false;
  reading_.torque = {};
}

bool PumaArm::at_rest() const noexcept {
  return safety_.state() == SafetyState::kReady || safety_.state() == SafetyState::kCalibrated;
}

Pcl833& PumaArm::counter(std::size_t joint, int& channel) noexcept {
  const int wired = settings_.cards.pcl833.channel[joint];
  channel = wired % 3;
  return counters_[static_cast<std::size_t>(wired / 3)];
}

const ArmReading& PumaArm::read(double period, std::span<const double> acceleration) noexcept {
  seen_.period = period;
  seen_.card_lost = false;
  analog_.trigger();  // converts while the encoders are read
  read_encoders(period);
  reading_.thermal = analog_.read_thermal();
  read_inputs();
  observe(acceleration, first_read_);
  read_pot();
  seen_.thermal = reading_.thermal;
  // A lost card may read as six hot motors.
  if ((seen_.ad_timeout || reading_.thermal != 0) && !analog_.answers()) {
    seen_.card_lost = true;
    seen_.lost_card = settings_.cards.pcl818.base;
  }
  first_read_ = false;
  return reading_;
}

void PumaArm::read_inputs() noexcept {
  if (inputs_wanted_ == 0) return;
  const Pcl726Settings& wiring = settings_.cards.pcl726;
  const std::uint16_t inputs = dacs_.read_inputs(inputs_wanted_);
  const auto high = [inputs](int input) { return (inputs & bit_of(input)) != 0; };
  seen_.power_present =
      seen_.power_known && high(wiring.power_feedback_input) == wiring.power_feedback_active_high;
  if (wiring.watchdog_input < 0) return;
  const bool differs = high(wiring.watchdog_input) != watchdog_;
  watchdog_missed_ = std::max(watchdog_missed_ + (differs ? 2 : -1), 0);
  if (watchdog_missed_ >= kWatchdogMissed) {
    seen_.card_lost = true;
    seen_.lost_card = wiring.base;
  }
}

void PumaArm::read_encoders(double period) noexcept {
  // A short cycle follows a late one: a single count must not look like a jump.
  const double dt = period > 0.5 * nominal_period_ ? period : 0.5 * nominal_period_;
  for (std::size_t i = 0; i < 6; ++i) {
    int channel = 0;
    Pcl833& card = counter(i, channel);
    const std::int64_t before = reading_.counts[i];
    if (searching_) {
      const Pcl833::IndexReading found = card.read_with_index(channel);
      reading_.counts[i] = found.count;
      reading_.index_seen[i] = found.index_seen;
      reading_.index_count[i] = found.index_count;
    } else {
      reading_.counts[i] = card.read(channel);
      reading_.index_seen[i] = false;
    }
    const auto step = static_cast<double>(first_read_ ? 0 : reading_.counts[i] - before);
    seen_.count_speed[i] = step / transmission_.counts_per_rad(i) / dt;
  }
  encoders_ns_ = io_.now_ns();
  for (std::size_t card = 0; card < 2; ++card) {
    if (counters_[card].lost()) {
      seen_.card_lost = true;
      seen_.lost_card = settings_.cards.pcl833.base[card];
    }
  }
}

std::array<double, 6> PumaArm::true_counts() const noexcept {
  std::array<double, 6> counts;
  for (std::size_t i = 0; i < 6; ++i) {
    counts[i] = static_cast<double>(reading_.counts[i]) + count_offset_[i];
  }
  return counts;
}

void PumaArm::observe(std::span<const double> acceleration, bool restart) noexcept {
  std::array<double, 6> q;
  transmission_.counts_to_joints(true_counts(), q);
  // Without its torque on the output, a law does not accelerate the arm.
  const bool in_charge =
      !acceleration.empty() && brakes_released_ && safety_.reaction() == Reaction::kNone;
  if (in_charge != std::exchange(acceleration_fed_, in_charge)) {
    for (auto& observer : observers_) observer.reset_error();
  }
  // An observer that ignored the length of a late cycle would see it as speed.
  const double period = seen_.period > 0 ? seen_.period : nominal_period_;
  const double dt = std::max(period, 0.5 * nominal_period_);
  for (std::size_t i = 0; i < 6; ++i) {
    if (restart) {
      observers_[i].reset(q[i]);
    } else if (dt > kLongestCycle * nominal_period_) {
      // After a gap only the mean velocity is known.
      observers_[i].reset(q[i], (q[i] - observers_[i].position()) / dt);
    } else {
      observers_[i].set_period(dt);
      const double fed = in_charge ? acceleration[i] : 0;
      observers_[i].update(q[i], std::isfinite(fed) ? fed : 0);
    }
    reading_.q[i] = seen_.q[i] = q[i];  // the laws have observers of their own
    reading_.qd[i] = seen_.qd[i] = observers_[i].velocity();
  }
}

void PumaArm::read_pot() noexcept {
  reading_.pot_fresh = {};
  seen_.pot_fresh = {};
  const std::size_t joint = pot_joint_, next = (joint + 1) % 6;
  const AdSample sample = analog_.collect(settings_.cards.pcl818.pot_channel[next]);
  seen_.ad_timeout = seen_.ad_sample = false;
  if (sample.status == AdStatus::kPending) return;  // the card keeps the channel
  pot_joint_ = next;
  seen_.ad_sample = sample.status == AdStatus::kOk;
  seen_.ad_timeout = !seen_.ad_sample;
  if (seen_.ad_timeout) return;
  reading_.pot_volts[joint] = sample.volts;
  reading_.pot_fresh[joint] = true;
  const auto age = static_cast<double>(encoders_ns_ - sample.triggered_ns) * 1e-9;
  if (age <= kPotAge * nominal_period_) compare_pot(joint);
}

/// When calibrated, compares with the table if there is one; while calibrating, with the motion
/// since its start: the nominal scale of a potentiometer is accurate enough for a few motor turns.
void PumaArm::compare_pot(std::size_t i) noexcept {
  const JointSettings& joint = settings_.joints[i];
  const double turns_by_encoder =
      joint.encoder_direction * static_cast<double>(reading_.counts[i]) / joint.counts_per_rev;
  const double turns_by_pot = joint.pot_direction * reading_.pot_volts[i] / joint.pot_volts_per_rev;
  const double difference = turns_by_pot - turns_by_encoder;
  switch (safety_.state()) {
    case SafetyState::kReady:
      pot_reference_[i] += (pot_known_[i] ? kPotShare : 1.0) * (difference - pot_reference_[i]);
      pot_known_[i] = true;
      return;
    case SafetyState::kCalibrating:
      seen_.pot_turns[i] = difference - pot_reference_[i];
      seen_.pot_fresh[i] = pot_known_[i];
      return;
    case SafetyState::kCalibrated:
    case SafetyState::kActive:
      if (table_) {
        const JointTable& table = table_->joints[i];
        const double count = true_counts()[i];
        const double counts_off =
            (reading_.pot_volts[i] - table.volts_at(count)) / table.volts_per_count(count);
        seen_.pot_turns[i] = joint.encoder_direction * counts_off / joint.counts_per_rev;
        seen_.pot_fresh[i] = true;
        pots_compared_ |= 1U << i;
      }
      return;
    case SafetyState::kOff:
    case SafetyState::kFault:
      return;
  }
}

void PumaArm::write(std::span<const double> torque, double age, std::span<const double> hold,
                    bool handover) noexcept {
  std::copy_n(torque.begin(), 6, seen_.torque_command.begin());
  seen_.command_age = age;
  seen_.handover = handover;
  cycle(true, hold);
}

void PumaArm::write_none(std::span<const double> hold) noexcept { cycle(false, hold); }

void PumaArm::cycle(bool fresh, std::span<const double> hold) noexcept {
  if (!fresh) {
    seen_.command_age += seen_.period;
    seen_.handover = false;
  }
  seen_.hold_available = !hold.empty();
  if (seen_.hold_available) std::copy_n(hold.begin(), 6, seen_.hold_torque.begin());
  seen_.guard_lost = !guard_alive_;
  seen_.claim_lost = !claimed_;
  seen_.emergency_stop = stop_requested_;
  seen_.guard_cut = guard_cut_;
  stop_requested_ = guard_cut_ = false;
  if (brakes_confirmed_.exchange(false)) safety_.confirm_brakes();
  output(safety_.update(seen_));
  const BrakeRequest request = safety_.brake_request();
  if (request != brake_request_.exchange(request)) brakes_confirmed_ = false;
  seen_.following_error = SafetyInputs().following_error;
}

void PumaArm::output(const SafetyOutputs& allowed) noexcept {
  std::array<double, 6> drive;
  transmission_.joint_to_drive_torque(allowed.torque, drive);
  const Pcl726Settings& wiring = settings_.cards.pcl726;
  for (std::size_t i = 0; i < 6; ++i) {
    const JointSettings& joint = settings_.joints[i];
    const double scale = joint.voltage_direction * joint.torque_per_volt;
    const double volts = std::clamp(drive[i] / scale, -joint.max_voltage, joint.max_voltage);
    dacs_.write_volts(wiring.channel[i], volts);
    drive[i] = dacs_.volts(wiring.channel[i]) * scale;
  }
  transmission_.drive_to_joint_torque(drive, reading_.torque);
  if (allowed.power != power_) {
    power_ = allowed.power;
    dacs_.write_output(wiring.power_output, power_);
  }
  if (allowed.brakes_released != brakes_released_) {
    brakes_released_ = allowed.brakes_released;
    dacs_.write_output(wiring.brake_output, brakes_released_);
  }
  // Without power it stands still as well: one more contact that opens.
  if (wiring.watchdog_output >= 0 && power_) {
    watchdog_ = !watchdog_;
    dacs_.write_output(wiring.watchdog_output, watchdog_);
  }
}

void PumaArm::set_reference(std::span<const double> q) noexcept {
  for (std::size_t i = 0; i < 6; ++i) seen_.following_error[i] = q[i] - reading_.q[i];
}

bool PumaArm::power_on() noexcept {
  constexpr unsigned kAll = 0x3F;
  const bool compared = !table_ || pots_compared_ == kAll;
  if (!settings_.power_controlled() || !compared || !safety_.activate()) return false;
  seen_.command_age = kNever;
  return true;
}

bool PumaArm::power_off() noexcept { return safety_.deactivate(); }

void PumaArm::emergency_stop() noexcept {
  all_off();
  stop_requested_ = true;
}

void PumaArm::cut_by_guard() noexcept {
  all_off();
  guard_cut_ = true;
}

void PumaArm::set_tool(int output, bool on) noexcept {
  if (output < 0 || output > 1) return;
  dacs_.write_output(settings_.cards.pcl726.tool_output[static_cast<std::size_t>(output)], on);
}

void PumaArm::set_offsets(std::span<const double> q) noexcept {
  std::array<double, 6> wanted;
  transmission_.joints_to_counts(q, wanted);
  for (std::size_t i = 0; i < 6; ++i) {
    count_offset_[i] = wanted[i] - static_cast<double>(reading_.counts[i]);
  }
  observe({}, true);
}

bool PumaArm::set_position(std::span<const double> q) noexcept {
  if (!at_rest() || first_read_) return false;
  for (std::size_t i = 0; i < 6; ++i) {
    if (!std::isfinite(q[i])) return false;
  }
  set_offsets(q);
  pots_compared_ = 0;
  if (safety_.state() == SafetyState::kReady) safety_.calibrated();
  return true;
}

bool PumaArm::begin_calibration(std::span<const double> q) noexcept {
  if (first_read_ || !settings_.power_controlled() || !safety_.begin_calibration()) return false;
  set_offsets(q);
  seen_.command_age = kNever;
  begin_index_search();
  return true;
}

bool PumaArm::finish_calibration(std::span<const std::int64_t> offsets) noexcept {
  if (first_read_ || !safety_.calibrated()) return false;
  end_index_search();
  pots_compared_ = 0;
  for (std::size_t i = 0; i < 6; ++i) count_offset_[i] = static_cast<double>(offsets[i]);
  observe({}, true);
  return true;
}

void PumaArm::begin_index_search() noexcept { searching_ = true; }

void PumaArm::end_index_search() noexcept { searching_ = false; }

}  // namespace puma_hardware
