// SPDX-License-Identifier: Apache-2.0
#include "ga_hardware/safety_machine.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace ga_hardware {

namespace {

/// s, time constant of the blend to the holding torque: a torque step would shake the arm, and the
/// old torque would drive it on.
constexpr double kHoldBlendTime = 0.02;
/// Of the distance between soft and hard limit: where the torque is limited.
constexpr double kSoftShare = 0.8;
/// Of a joint's speed limit, and rad/s: slower is standing still for a stall.
constexpr double kStandstillShare = 0.005, kStandstill = 0.05;
/// s that the arm-power input may show no power: contacts bounce. Time with power counts half, so
/// that a loose contact adds up.
constexpr double kPowerGap = 0.005, kPowerFade = 0.5;

}  // namespace

SafetyMachine::SafetyMachine(std::span<const SafetyJoint> joints, const SafetySettings& settings,
                             bool brakes_wired, double nominal_period)
    : joints_(joints.begin(), joints.end()),
      settings_(settings),
      nominal_period_(nominal_period),
      brakes_wired_(brakes_wired) {
  if (joints.size() > kMostJoints) {
    throw std::invalid_argument("SafetyMachine: " + std::to_string(joints.size()) +
                                " joints; an arm has up to " + std::to_string(kMostJoints));
  }
}

const FaultRecord& SafetyMachine::fault(int index) const noexcept {
  static const FaultRecord kEmpty;
  if (index < 0 || index >= std::min(fault_count_, static_cast<int>(kMaxRecords))) return kEmpty;
  return faults_[static_cast<std::size_t>(index)];
}

bool SafetyMachine::torque_state() const noexcept {
  return state_ == SafetyState::kActive || state_ == SafetyState::kCalibrating;
}

bool SafetyMachine::open() noexcept {
  if (state_ != SafetyState::kOff) return false;
  state_ = SafetyState::kReady;
  return true;
}

bool SafetyMachine::begin_calibration() noexcept {
  if (state_ != SafetyState::kReady) return false;
  start_torque_state(SafetyState::kCalibrating);
  return true;
}

bool SafetyMachine::calibrated() noexcept {
  if (state_ != SafetyState::kReady) return false;
  calibration_valid_ = true;
  state_ = SafetyState::kCalibrated;
  return true;
}

bool SafetyMachine::activate() noexcept {
  if (state_ != SafetyState::kCalibrated) return false;
  start_torque_state(SafetyState::kActive);
  return true;
}

void SafetyMachine::start_torque_state(SafetyState state) noexcept {
  state_ = state;
  reaction_ = Reaction::kNone;
  first_cycle_ = true;
  command_seen_ = false;
  waiting_ = false;
  waited_ = 0;
  missed_deadlines_ = 0;
  frozen_checks_ = {};
  stall_times_ = {};
  asking_ = opened_ = power_seen_ = last_power_ = position_kept_ = false;
  on_time_ = torque_time_ = power_wait_ = power_gap_ = release_left_ = 0;
  last_torque_ = last_wanted_ = {};
}

bool SafetyMachine::deactivate() noexcept {
  if (!torque_state()) return false;
  if (reaction_ == Reaction::kNone) begin_ramp();
  return true;
}

bool SafetyMachine::clear_faults() noexcept {
  if (state_ == SafetyState::kFault) {
    if (reaction_ != Reaction::kNone) return false;
    state_ = calibration_valid_ ? SafetyState::kCalibrated : SafetyState::kReady;
  }
  cause_ = {};
  fault_count_ = 0;
  seen_ = {};
  ad_timeouts_ = 0;
  power_stuck_ = 0;
  return true;
}

bool SafetyMachine::forget_calibration() noexcept {
  if (state_ != SafetyState::kCalibrated) return false;
  calibration_valid_ = false;
  state_ = SafetyState::kReady;
  return true;
}

void SafetyMachine::close() noexcept {
  state_ = SafetyState::kOff;
  reaction_ = Reaction::kNone;
  calibration_valid_ = false;
  last_torque_ = last_wanted_ = {};
}

void SafetyMachine::trip(Fault fault, int joint, double value, double threshold) noexcept {
  const FaultRecord record{fault, joint, value, threshold, cycle_};
  std::uint64_t& seen = seen_[static_cast<std::size_t>(fault)];
  const std::uint64_t bit = std::uint64_t{1} << (joint + 1);
  if ((seen & bit) == 0) {
    seen |= bit;
    const auto next = static_cast<std::size_t>(fault_count_++);
    if (next < kMaxRecords) faults_[next] = record;
  }
  const Reaction reaction = reaction_to(fault);
  if (reaction == Reaction::kLimit) return;

  if (spoils_calibration(fault)) calibration_valid_ = false;
  const bool torque_may_flow = torque_state() || reaction_ != Reaction::kNone;
  if (state_ != SafetyState::kFault) {
    state_ = SafetyState::kFault;
    cause_ = record;
  }
  if (!torque_may_flow || reaction == Reaction::kCut) {
    reaction_ = Reaction::kNone;  // 0 V from this cycle on
  } else if (reaction == Reaction::kHold && reaction_ == Reaction::kNone) {
    begin_reaction(Reaction::kHold);
    hold_left_ = settings_.hold_time - waited_;
  } else if (reaction == Reaction::kRampDown && reaction_ != Reaction::kRampDown) {
    begin_ramp();
  }
  if (fault == Fault::kTorqueNotFinite || fault == Fault::kTorqueExcessive) {
    // The source of such a command is not trusted: do not blend from its last torque.
    hold_blend_ = {};
    blending_to_hold_ = true;
  }
}

void SafetyMachine::begin_reaction(Reaction reaction) noexcept {
  if (reaction_ == Reaction::kNone && !waiting_) {
    stop_torque_ = last_wanted_;
    blending_to_hold_ = false;
    blended_kept_ = position_kept_;
  }
  reaction_ = reaction;
}

/// Asks a person to close the brakes first, if a person was asked to open them.
void SafetyMachine::begin_ramp() noexcept {
  if (!by_hand() || !command_seen_ || !(torque_time_ > 0)) {
    start_ramp();
  } else if (!asking_) {
    begin_reaction(Reaction::kHold);
    asking_ = true;
    hold_left_ = settings_.manual_stop_time;
  }
}

BrakeRequest SafetyMachine::brake_request() const noexcept {
  if (asking_ && reaction_ == Reaction::kHold) return BrakeRequest::kClose;
  const bool opens = by_hand() && torque_time_ > 0 && !opened_;
  return opens && torque_state() && reaction_ == Reaction::kNone ? BrakeRequest::kOpen
                                                                 : BrakeRequest::kNone;
}

bool SafetyMachine::keeps_position() const noexcept {
  if (!by_hand() || had(Fault::kAdTimeout) || had(Fault::kStall) || had(Fault::kFollowingError)) {
    return false;
  }
  return (asking_ && reaction_ != Reaction::kNone) || brake_request() == BrakeRequest::kOpen;
}

void SafetyMachine::confirm_brakes() noexcept {
  switch (brake_request()) {
    case BrakeRequest::kOpen:
      opened_ = true;
      break;
    case BrakeRequest::kClose:
      hold_left_ = 0;
      break;
    case BrakeRequest::kNone:
      break;
  }
}

void SafetyMachine::start_ramp() noexcept {
  begin_reaction(Reaction::kRampDown);
  // An arm that was never commanded has no torque to fade: it gets none.
  ramp_left_ = command_seen_ ? settings_.ramp_time : 0;
}

void SafetyMachine::end_stop() noexcept {
  reaction_ = Reaction::kNone;
  asking_ = false;
  if (state_ == SafetyState::kActive) state_ = SafetyState::kCalibrated;
  if (state_ == SafetyState::kCalibrating) state_ = SafetyState::kReady;
}

void SafetyMachine::check_always(const SafetyInputs& in) noexcept {
  if (in.emergency_stop) trip(Fault::kEmergencyStop, -1, 1, 0);
  if (in.guard_cut) trip(Fault::kGuardCut, -1, 1, 0);
  if (in.card_lost) trip(Fault::kCardLost, -1, in.lost_card, 0);
  if (in.ad_timeout) {
    ++ad_timeouts_;
  } else if (in.ad_sample) {
    ad_timeouts_ = 0;
  }
  if (ad_timeouts_ >= settings_.max_ad_timeouts) {
    trip(Fault::kAdTimeout, -1, ad_timeouts_, settings_.max_ad_timeouts);
  }
  for (std::size_t i = 0; i < joints_.size(); ++i) check_joint(in, i);
}

void SafetyMachine::check_joint(const SafetyInputs& in, std::size_t i) noexcept {
  const int joint = static_cast<int>(i);
  if ((in.thermal >> i) & 1) trip(Fault::kThermal, joint, 1, 0);
  const double fastest = settings_.jump_ratio * joints_[i].max_speed;
  // Written so that NaN trips as well.
  if (!(std::abs(in.count_speed[i]) <= fastest)) {
    trip(Fault::kEncoderJump, joint, in.count_speed[i], fastest);
  }
  const bool compared = state_ != SafetyState::kReady && in.pot_fresh[i];
  if (compared && !(std::abs(in.pot_turns[i]) <= settings_.pot_tolerance_turns)) {
    trip(Fault::kPotMismatch, joint, in.pot_turns[i], settings_.pot_tolerance_turns);
  }
}

/// A dead encoder makes the arm run away: the law sees no motion and increases the torque.
void SafetyMachine::check_frozen(const SafetyInputs& in, std::size_t i) noexcept {
  FrozenCheck& check = frozen_checks_[i];
  const double strong = settings_.frozen_torque_ratio * joints_[i].max_torque;
  if (in.count_speed[i] != 0) {
    check = {};
    return;
  }
  if (std::abs(last_torque_[i]) >= strong) {
    check.pushed = true;
    check.push_time += period_;
  } else {
    check.push_time = 0;
  }
  if (in.pot_fresh[i] && !check.pot_known) {
    check.pot_known = true;
    check.pot = in.pot_turns[i];
  }
  const double moved = check.pot_known && in.pot_fresh[i] ? in.pot_turns[i] - check.pot : 0;
  if (check.pushed && std::abs(moved) > settings_.frozen_turns) {
    trip(Fault::kEncoderFrozen, static_cast<int>(i), moved, settings_.frozen_turns);
  } else if (!check.pot_known && check.push_time > settings_.frozen_time) {
    trip(Fault::kEncoderFrozen, static_cast<int>(i), last_torque_[i], strong);
  }
}

/// Against an obstacle or a closed brake the motor overheats; without power, the arm would jump when
/// it returns. By the position: an observer that expects the torque to accelerate the joint shows
/// motion where there is none.
void SafetyMachine::check_stall(const SafetyInputs& in, std::size_t i) noexcept {
  const double strong = settings_.stall_torque_ratio * joints_[i].max_torque;
  const bool pushes = std::abs(last_torque_[i]) >= strong;
  const double still = std::min(kStandstillShare * joints_[i].max_speed, kStandstill);
  if (pushes && std::abs(in.q[i] - stall_positions_[i]) <= still * settings_.stall_time) {
    stall_times_[i] += period_;
  } else {
    stall_times_[i] = 0;
    stall_positions_[i] = in.q[i];
  }
  if (stall_times_[i] > settings_.stall_time) {
    trip(Fault::kStall, static_cast<int>(i), last_torque_[i], strong);
  }
}

/// A welded contact, or an input that always shows power, would hide that the power is cut.
void SafetyMachine::check_power_off(const SafetyInputs& in) noexcept {
  if (!in.power_known || !in.power_switched) return;
  if (last_power_) {
    power_off_seen_ = false;
    power_stuck_ = 0;
  } else if (!in.power_present) {
    power_off_seen_ = true;
    power_stuck_ = 0;
  } else {
    power_off_seen_ = false;
    power_stuck_ += period_;
    if (power_stuck_ > settings_.power_timeout) {
      trip(Fault::kPowerStuck, -1, power_stuck_, settings_.power_timeout);
    }
  }
}

bool SafetyMachine::power_proven_off(const SafetyInputs& in) const noexcept {
  return last_power_ || power_off_seen_ || !in.power_known || !in.power_switched;
}

/// The emergency stop cuts the power without this software.
void SafetyMachine::check_power(const SafetyInputs& in) noexcept {
  if (!in.power_known || !last_power_) return;
  if (in.power_present) {
    power_seen_ = true;
    power_gap_ = std::max(power_gap_ - kPowerFade * period_, 0.0);
    return;
  }
  (power_seen_ ? power_gap_ : power_wait_) += period_;
  if (power_gap_ > kPowerGap) trip(Fault::kPowerLost, -1, power_gap_, kPowerGap);
  if (power_wait_ > settings_.power_timeout) {
    trip(Fault::kPowerLost, -1, power_wait_, settings_.power_timeout);
  }
}

void SafetyMachine::widen_limits(const SafetyInputs& in) noexcept {
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    const SafetyJoint& joint = joints_[i];
    const Margins margins = soft_margins(i);
    const double margin = std::min(margins.lower, margins.upper);
    JointLimitsInForce& limit = limits_[i];
    if (first_cycle_) limit = {in.q[i] - margin, in.q[i] + margin};
    limit.lower = std::min(joint.lower, std::max(limit.lower, in.q[i] - margin));
    limit.upper = std::max(joint.upper, std::min(limit.upper, in.q[i] + margin));
  }
  first_cycle_ = false;
}

void SafetyMachine::check_motion(const SafetyInputs& in) noexcept {
  const double ratio = state_ == SafetyState::kCalibrating ? settings_.calibration_speed_ratio
                                                           : settings_.overspeed_ratio;
  widen_limits(in);
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    const int joint = static_cast<int>(i);
    const double q = in.q[i], fastest = ratio * joints_[i].max_speed;
    check_frozen(in, i);
    check_stall(in, i);
    if (reaction_ == Reaction::kNone &&
        std::abs(in.following_error[i]) > settings_.following_error) {
      trip(Fault::kFollowingError, joint, in.following_error[i], settings_.following_error);
    }
    if (!(std::abs(in.qd[i]) <= fastest)) trip(Fault::kOverspeed, joint, in.qd[i], fastest);
    if (!(q >= limits_[i].lower)) trip(Fault::kHardLimit, joint, q, limits_[i].lower);
    if (!(q <= limits_[i].upper)) trip(Fault::kHardLimit, joint, q, limits_[i].upper);
    const Margins margins = soft_margins(i);
    const double low = joints_[i].lower + margins.lower, high = joints_[i].upper - margins.upper;
    if (q < low) trip(Fault::kSoftLimit, joint, q, low);
    if (q > high) trip(Fault::kSoftLimit, joint, q, high);
  }
}

void SafetyMachine::check_timing(const SafetyInputs& in) noexcept {
  const double late = settings_.deadline_ratio * nominal_period_;
  if (in.period > late || in.deadline_missed) {
    // A gap of several periods counts as several missed deadlines.
    missed_deadlines_ +=
        std::max(1, static_cast<int>(std::min(in.period / nominal_period_, 1e6)) - 1);
  } else {
    missed_deadlines_ = 0;
  }
  if (missed_deadlines_ >= settings_.max_missed_deadlines) {
    trip(Fault::kDeadlineMissed, -1, in.period, late);
  }
  if (in.guard_lost) trip(Fault::kGuardLost, -1, 1, 0);
  if (in.claim_lost) trip(Fault::kClaimLost, -1, 1, 0);
}

void SafetyMachine::check_command(const SafetyInputs& in) noexcept {
  const bool fresh = in.command_age <= settings_.command_timeout;
  if (!fresh && !command_seen_) return;
  if (!fresh) {
    if (!wait_for_successor(in)) {
      trip(Fault::kCommandTimeout, -1, in.command_age, settings_.command_timeout);
    }
    return;
  }
  waiting_ = false;
  waited_ = 0;
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    const double torque = in.torque_command[i];
    const double largest = settings_.torque_ratio * joints_[i].max_torque;
    if (!std::isfinite(torque)) {
      trip(Fault::kTorqueNotFinite, static_cast<int>(i), torque, joints_[i].max_torque);
    } else if (std::abs(torque) > largest) {
      trip(Fault::kTorqueExcessive, static_cast<int>(i), torque, largest);
    }
  }
  if (state_ != SafetyState::kFault) command_seen_ = true;
}

/// Distances to the hard limits within which the torque is limited: soft_limit_margin, less if soft
/// limits are nearer, so that an arm that follows a goal there has all torque. A joint with a short
/// range keeps 90 % of it.
SafetyMachine::Margins SafetyMachine::soft_margins(std::size_t i) const noexcept {
  const SafetyJoint& joint = joints_[i];
  const double none = std::min(settings_.soft_limit_margin, 0.05 * (joint.upper - joint.lower));
  const double lower = kSoftShare * (joint.soft_lower - joint.lower),
               upper = kSoftShare * (joint.upper - joint.soft_upper);
  return {lower > 0 ? std::min(lower, none) : none, upper > 0 ? std::min(upper, none) : none};
}

/// Clamps the torque to its limit, which decreases outward from the soft to the hard limit. Without
/// a torque limit, the torque itself decreases.
double SafetyMachine::limited(std::size_t i, double torque, double q) const noexcept {
  const SafetyJoint& joint = joints_[i];
  const Margins margins = soft_margins(i);
  const double largest = std::isfinite(joint.max_torque) ? joint.max_torque : std::abs(torque);
  const auto allowed = [&](double distance, double margin) {
    if (!(distance > 0)) return 0.0;
    return distance < margin ? distance / margin * largest : largest;
  };
  return std::clamp(torque, -allowed(q - joint.lower, margins.lower),
                    allowed(joint.upper - q, margins.upper));
}

bool SafetyMachine::hold_usable(const SafetyInputs& in) const noexcept {
  const auto torques = std::span(in.hold_torque).first(joints_.size());
  return in.hold_available && std::all_of(torques.begin(), torques.end(),
                                          [](double torque) { return std::isfinite(torque); });
}

/// In a hand-over, a late successor is no fault: the arm is held until it commands. False after
/// hold_time, and without a holding torque.
bool SafetyMachine::wait_for_successor(const SafetyInputs& in) noexcept {
  if (!in.handover || !hold_usable(in) || waited_ >= settings_.hold_time) return false;
  if (!waiting_) {
    stop_torque_ = last_wanted_;
    blending_to_hold_ = false;
  }
  waiting_ = true;
  waited_ += period_;
  return true;
}

/// Torque of a stop before the ramp: blends from the last torque to the holding torque. Without a
/// holding torque, or if it becomes invalid, the torque stays constant. If the holding torque begins
/// to keep the position, the blend starts again: it is another torque.
void SafetyMachine::blend_to_hold(const SafetyInputs& in) noexcept {
  if (std::exchange(blended_kept_, position_kept_) != position_kept_) blending_to_hold_ = false;
  const bool hold = hold_usable(in);
  // A late first cycle has already held the old torque for longer.
  const double time = blending_to_hold_ ? period_ : std::max(period_ - nominal_period_, 0.0);
  const double left = std::exp(-time / kHoldBlendTime);
  for (std::size_t i = 0; i < joints_.size() && hold; ++i) {
    if (!blending_to_hold_) hold_blend_[i] = stop_torque_[i] - in.hold_torque[i];
    hold_blend_[i] *= left;
    stop_torque_[i] = in.hold_torque[i] + hold_blend_[i];
  }
  blending_to_hold_ = hold;
}

void SafetyMachine::hold(const SafetyInputs& in, SafetyOutputs& out) noexcept {
  blend_to_hold(in);
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    out.torque[i] = limited(i, stop_torque_[i], in.q[i]);
  }
  out.power = out.brakes_released = true;
}

/// One cycle of a ramp-down. If the brakes are on the power relay, the power goes off first: the
/// brakes take longer to engage than the motor torque to vanish.
void SafetyMachine::ramp_down(const SafetyInputs& in, SafetyOutputs& out) noexcept {
  if (ramp_left_ <= 0) {
    end_stop();
    return;
  }
  const double share = ramp_left_ / settings_.ramp_time;
  blend_to_hold(in);
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    out.torque[i] = share * limited(i, stop_torque_[i], in.q[i]);
  }
  out.power = brakes_wired_;
  // A late cycle must not skip the rest of the ramp.
  ramp_left_ -= std::min(period_, std::max(2 * nominal_period_, settings_.ramp_time / 25));
}

/// The torque of a command, and before it the start: power, torque on closed brakes, brakes.
void SafetyMachine::drive(const SafetyInputs& in, SafetyOutputs& out) noexcept {
  if (!power_proven_off(in)) return;
  // Brakes that follow the power would open before there is a holding torque.
  out.power = brakes_wired_ || command_seen_;
  if (!command_seen_) return;
  bool starting = false;
  if (brakes_wired_) {
    const bool powered = !in.power_known || power_seen_;
    if (!powered || on_time_ < settings_.power_delay) {
      if (powered) on_time_ += period_;
      return;
    }
    starting = torque_time_ < settings_.brake_delay || (by_hand() && !opened_);
    if (starting) torque_time_ += period_;
  }
  out.brakes_released = !starting;
  if (waiting_) {
    hold(in, out);
    out.brakes_released = !starting;
    return;
  }
  command_torque(in, starting, out);
}

/// Holds on closed brakes, and blends from there to the command.
void SafetyMachine::command_torque(const SafetyInputs& in, bool starting,
                                   SafetyOutputs& out) noexcept {
  const bool holds = starting && hold_usable(in);
  if (holds) release_left_ = settings_.release_time;
  const double left = release_left_ > 0 ? release_left_ / settings_.release_time : 0;
  const double share = holds ? 1 : left;
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    if (holds) release_blend_[i] = in.hold_torque[i] - in.torque_command[i];
    const double wanted = in.torque_command[i] + share * release_blend_[i];
    out.torque[i] = limited(i, wanted, in.q[i]);
    // Without a torque limit, limited() scales: a stop must not scale the torque twice.
    last_wanted_[i] = std::isfinite(joints_[i].max_torque) ? out.torque[i] : wanted;
  }
  if (!starting) release_left_ = std::max(release_left_ - period_, 0.0);
}

SafetyOutputs SafetyMachine::decide(const SafetyInputs& in) noexcept {
  SafetyOutputs out;
  if (reaction_ == Reaction::kHold) {
    if (hold_left_ > 0 && hold_usable(in)) {
      hold_left_ -= period_;
      hold(in, out);
      return out;
    }
    asking_ ? start_ramp() : begin_ramp();
    if (reaction_ == Reaction::kHold && hold_usable(in)) {
      hold(in, out);  // for the person who closes the brakes
      return out;
    }
    if (reaction_ == Reaction::kHold) start_ramp();
  }
  if (reaction_ == Reaction::kRampDown) {
    ramp_down(in, out);
  } else if (torque_state()) {
    drive(in, out);
  }
  return out;
}

SafetyOutputs SafetyMachine::update(const SafetyInputs& in) noexcept {
  ++cycle_;
  period_ = in.period > 0 && std::isfinite(in.period) ? in.period : nominal_period_;
  if (state_ == SafetyState::kOff) return {};
  // A fault in one check may end the state; the other checks still record theirs.
  const bool with_torque = torque_state() || reaction_ != Reaction::kNone;
  const bool commanded = torque_state() && reaction_ == Reaction::kNone;
  check_always(in);
  check_power_off(in);
  if (with_torque) {
    check_power(in);
    check_motion(in);
    check_timing(in);
  }
  if (commanded) check_command(in);
  const SafetyOutputs out = decide(in);
  last_torque_ = out.torque;
  last_power_ = out.power;
  position_kept_ = keeps_position();
  return out;
}

}  // namespace ga_hardware
