// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__SAFETY_MACHINE_HPP_
#define GA_HARDWARE__SAFETY_MACHINE_HPP_

// Safety state machine: decides alone whether torque may flow. States: off → ready → calibrated →
// active → fault, and ready → calibrating → ready for the small motions of the calibration. It is
// independent of the cards: in each cycle it takes measurements and requests, and returns the
// outputs that are allowed. All functions except describe() and the constructor are real-time safe
// and do not throw.
//
// fault              reaction   trips when                                       calibration lost
// thermal            ramp down  a thermal switch has opened
// encoder-jump       cut        counts move faster than jump_ratio times the speed limit    yes
// encoder-frozen     cut        counts do not change under torque while the
//                               potentiometer moves by frozen_turns, or for frozen_time     yes
//                               without a potentiometer
// pot-mismatch       cut        potentiometer and encoder differ by pot_tolerance_turns     yes
// overspeed          cut        faster than overspeed_ratio times the speed limit
// soft-limit         limit      within soft_limit_margin of a hard limit (at most 5 % of the range,
//                               and four fifths of the distance between soft and hard limit).
//                               From there the outward torque limit decreases to zero at the hard
//                               limit
// hard-limit         cut        beyond a hard limit. An arm that is activated beyond it may only
//                               move back
// ad-timeout         ramp down  max_ad_timeouts consecutive conversions failed
// command-timeout    hold       the last command is older than command_timeout. During a hand-over the
//                               arm is held without a fault, for up to hold_time
// torque-not-finite  ramp down  a command is not finite
// torque-excessive   ramp down  a command exceeds torque_ratio times the limit (less is clamped)
// deadline-missed    ramp down  max_missed_deadlines consecutive deadlines were missed
// card-lost          cut        a card does not respond                                     yes
// guard-lost         ramp down  the guard process does not run: no watchdog for this process
// guard-cut          cut        the guard has written 0 V: this process was too late for it
// claim-lost         ramp down  the files that keep other programs off this arm were removed
// power-lost         cut        the arm-power input shows no power for 5 ms although it is switched on
//                               (more than a third of the time adds up), or not power_timeout after
//                               it was
// power-stuck        cut        the arm-power input shows power power_timeout after it was switched off
// stall              ramp down  at least stall_torque_ratio of the torque limit without motion for
//                               stall_time
// following-error    ramp down  a joint is further than following_error from its reference, where the
//                               caller gives one
// emergency-stop     cut        requested
//
// A joint has three limits at each end. Goals and references stay within the soft limits, of
// <safety_controller> in the URDF, where all torque is available. The hard limits, of <limit>, are a
// fault. The mechanical stops are beyond them.
//
// A hold or ramp-down uses a holding torque, which the caller may provide in each cycle (gravity
// compensation with damping). The output blends to it from the last torque without a step, or
// switches to it if the command itself is the fault. Without a holding torque, a hold becomes a
// ramp-down, and the last torque ramps down. After hold_time a hold becomes a ramp-down: on the
// PUMA, brakes hold joints 1–3 better than motors, and friction holds joints 4–6.
//
// Start: the arm-power input, if there is one, must show that the power is off: an input that always
// shows power proves nothing. Then power, and torque only power_delay later (after the input shows
// it); brake_delay later the brakes open. Until then the torque is the holding torque; from then on it
// blends to the command within release_time, because a command on closed brakes may have grown. Brakes
// that follow the power open with it: there the torque comes first.
//
// Brakes that a person switches (manual_stop_time > 0): a start holds the arm until confirm_brakes(),
// every hold or ramp-down does for that time, or until confirm_brakes(). A cut cannot wait. While a
// person is asked, the holding torque should keep the position, see keeps_position().

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace ga_hardware {

enum class SafetyState { kOff, kReady, kCalibrating, kCalibrated, kActive, kFault };
const char* to_string(SafetyState state) noexcept;

enum class Fault {
  kNone,
  kThermal,
  kEncoderJump,
  kEncoderFrozen,
  kPotMismatch,
  kOverspeed,
  kSoftLimit,
  kHardLimit,
  kAdTimeout,
  kCommandTimeout,
  kTorqueNotFinite,
  kTorqueExcessive,
  kDeadlineMissed,
  kCardLost,
  kGuardLost,
  kGuardCut,
  kClaimLost,
  kPowerLost,
  kPowerStuck,
  kStall,
  kFollowingError,
  kEmergencyStop
};
const char* to_string(Fault fault) noexcept;

/// Reaction to a fault. kLimit does not leave the active state.
enum class Reaction {
  kNone,
  kLimit,     ///< the torque is limited (soft limits: none outward), the motion continues
  kHold,      ///< the caller's holding torque holds the arm, commands are ignored
  kRampDown,  ///< the torque ramps down while the brakes close, then 0 V and power off
  kCut        ///< 0 V in this cycle, brakes closed, power off
};
const char* to_string(Reaction reaction) noexcept;
Reaction reaction_to(Fault fault) noexcept;
/// True if the position of the arm is no longer known after the fault.
bool spoils_calibration(Fault fault) noexcept;

struct FaultRecord {
  Fault fault = Fault::kNone;
  int joint = -1;        ///< −1: no particular joint
  double value = 0;      ///< that tripped the fault
  double threshold = 0;  ///< that it exceeded
  std::uint64_t cycle = 0;
};
/// "joint2: overspeed: 2.31 rad/s, allowed 1.81"; allocates. `joint`: the name of record.joint.
std::string describe(const FaultRecord& record, const std::string& joint);

/// What an arm asks of a person whose hand switches its brakes.
enum class BrakeRequest { kNone, kOpen, kClose };

/// Maximum number of joints.
inline constexpr std::size_t kMostJoints = 52;
/// One value per joint of the arm; the rest is unused.
template <class T>
using PerJoint = std::array<T, kMostJoints>;

/// Limits of a joint. Infinite: no limit.
struct SafetyJoint {
  double lower = 0, upper = 0;  ///< hard limits, rad
  double max_speed = 0;         ///< rad/s
  double max_torque = 0;        ///< N m
  /// Soft limits, rad. Infinite, or not inside the hard limits: none.
  double soft_lower = -std::numeric_limits<double>::infinity();
  double soft_upper = std::numeric_limits<double>::infinity();
};

struct SafetySettings {
  double soft_limit_margin = 0.035;  ///< rad inside hard limits
  double overspeed_ratio = 1.2;      ///< of a joint's speed limit
  double jump_ratio = 3.0;           ///< of a joint's speed limit, for encoder steps
  double torque_ratio = 1.5;         ///< of max_torque, where commands are clamped; more is a fault
  double pot_tolerance_turns = 0.45;      ///< motor revolutions between potentiometer and encoder
  double frozen_torque_ratio = 0.5;       ///< of max_torque: from here on the joint must move
  double frozen_time = 0.25;              ///< s
  double frozen_turns = 0.25;             ///< of the potentiometer without a change of the encoder
  double command_timeout = 0.010;         ///< s
  double deadline_ratio = 1.5;            ///< of the period; a longer cycle misses its deadline
  int max_missed_deadlines = 3;           ///< consecutive
  int max_ad_timeouts = 3;                ///< consecutive
  double ramp_time = 0.25;                ///< s, of a ramp-down while the brakes close
  double hold_time = 2.0;                 ///< s, of a hold before the ramp-down
  double calibration_speed_ratio = 0.25;  ///< of a joint's speed limit, before the calibration
  double stall_torque_ratio = 0.9;        ///< of max_torque: from here on the joint must move
  /// s. Short, so that the command cannot grow far while the arm has no power.
  double stall_time = 0.1;
  double following_error = 0.15;  ///< rad (m) between a joint and its reference
  double power_timeout = 0.5;     ///< s until the arm-power input must follow its output
  double power_delay = 0;         ///< s between power and torque, for the amplifiers
  double brake_delay = 0;         ///< s of torque on closed brakes, for its build-up
  double release_time = 0.1;      ///< s of the blend from there to the command
  double manual_stop_time = 0;    ///< s for a person to close the brakes; 0: an output does
};

struct SafetyInputs {
  PerJoint<double> q{}, qd{};         ///< rad, rad/s
  PerJoint<double> count_speed{};     ///< rad/s of the drives in this cycle, unfiltered
  PerJoint<double> pot_turns{};       ///< motor revolutions, potentiometer minus encoder
  PerJoint<bool> pot_fresh{};         ///< sampled in this cycle
  PerJoint<double> torque_command{};  ///< N m
  double command_age = 0;             ///< s; infinite: no command yet
  /// The command is a predecessor's; its successor has been started, but has not commanded yet.
  bool handover = false;
  PerJoint<double> hold_torque{};  ///< N m, holding torque
  bool hold_available = false;
  std::uint64_t thermal = 0;  ///< bit per joint
  bool ad_timeout = false;    ///< a conversion failed in this cycle
  bool ad_sample = true;      ///< a conversion succeeded; neither while one is in progress
  bool card_lost = false, guard_lost = false, guard_cut = false, emergency_stop = false;
  bool claim_lost = false;       ///< other programs are no longer kept off this arm
  int lost_card = 0;             ///< base address of the lost card
  bool deadline_missed = false;  ///< in addition to those that `period` shows
  double period = 0;             ///< s since the last cycle
  bool power_known = false;      ///< there is an arm-power input
  bool power_present = false;    ///< as it shows
  bool power_switched = true;    ///< by the output `power`; otherwise a person switches it
  /// The joints' references minus their positions, rad; NaN: no reference.
  PerJoint<double> following_error = none();

 private:
  static constexpr PerJoint<double> none() noexcept {
    PerJoint<double> unknown{};
    unknown.fill(std::numeric_limits<double>::quiet_NaN());
    return unknown;
  }
};

struct SafetyOutputs {
  PerJoint<double> torque{};  ///< N m, allowed output
  bool power = false;
  bool brakes_released = false;
};

class SafetyMachine {
 public:
  /// `brakes_wired`: the brakes have an output of their own; otherwise they follow the power.
  /// `nominal_period`: cycle time [s]. Allocates. Throws std::invalid_argument for more than
  /// kMostJoints joints.
  SafetyMachine(std::span<const SafetyJoint> joints, const SafetySettings& settings,
                bool brakes_wired, double nominal_period);

  SafetyState state() const noexcept { return state_; }
  /// A hold or ramp-down in progress, or kNone.
  Reaction reaction() const noexcept { return reaction_; }
  /// True if the position of the arm is known: after calibration, until a fault that spoils it.
  bool calibration_valid() const noexcept { return calibration_valid_; }
  /// The first fault, which led to the fault state; latched until cleared.
  const FaultRecord& cause() const noexcept { return cause_; }
  /// All faults since the last clearing, oldest first, including limits; each once per joint.
  int fault_count() const noexcept { return fault_count_; }
  const FaultRecord& fault(int index) const noexcept;  ///< the first 16; others are empty

  // Transitions; false if the state does not allow them.
  bool open() noexcept;               ///< off → ready: cards respond, outputs are 0 V
  bool begin_calibration() noexcept;  ///< ready → calibrating: torque for small, slow motions
  bool calibrated() noexcept;         ///< ready → calibrated
  bool activate() noexcept;           ///< calibrated → active
  /// Active → calibrated, calibrating → ready, by a ramp-down with closing brakes; the state
  /// changes at its end.
  bool deactivate() noexcept;
  /// Fault → calibrated, or ready if the calibration is lost; not during a hold or ramp-down. In
  /// other states it clears the record of reached limits.
  bool clear_faults() noexcept;
  bool forget_calibration() noexcept;  ///< calibrated → ready
  void close() noexcept;               ///< → off
  /// What a person is to do with the brakes now (manual_stop_time).
  BrakeRequest brake_request() const noexcept;
  /// It is done: the start or the stop goes on.
  void confirm_brakes() noexcept;
  /// The holding torque of the next cycle should keep the position, with stiffness: a person is at the
  /// brakes, and an unknown payload must not sink meanwhile. False where the cause of the stop lets
  /// the measured position or the arm's answer to torque be in doubt.
  bool keeps_position() const noexcept;

  /// One cycle. Outputs torque only in states that allow it. After activate() the brakes stay
  /// closed until the first command; if they follow the power, the power stays off until then.
  SafetyOutputs update(const SafetyInputs& inputs) noexcept;

 private:
  static constexpr std::size_t kMaxRecords = 16;

  struct JointLimitsInForce {
    double lower = 0, upper = 0;  ///< wider than the limits while the arm returns from outside
  };
  struct FrozenCheck {
    double push_time = 0;  ///< s of large torque without a change of the counts
    bool pushed = false;
    bool pot_known = false;
    double pot = 0;  ///< turns, when the counts stopped changing
  };

  bool torque_state() const noexcept;
  void trip(Fault fault, int joint, double value, double threshold) noexcept;
  void start_torque_state(SafetyState state) noexcept;
  void check_always(const SafetyInputs& in) noexcept;
  void check_joint(const SafetyInputs& in, std::size_t joint) noexcept;
  void check_frozen(const SafetyInputs& in, std::size_t joint) noexcept;
  void check_motion(const SafetyInputs& in) noexcept;
  void check_stall(const SafetyInputs& in, std::size_t joint) noexcept;
  void check_power(const SafetyInputs& in) noexcept;
  void check_power_off(const SafetyInputs& in) noexcept;
  void check_timing(const SafetyInputs& in) noexcept;
  void check_command(const SafetyInputs& in) noexcept;
  void widen_limits(const SafetyInputs& in) noexcept;
  struct Margins {
    double lower = 0, upper = 0;
  };
  Margins soft_margins(std::size_t joint) const noexcept;
  double limited(std::size_t joint, double torque, double q) const noexcept;
  bool hold_usable(const SafetyInputs& in) const noexcept;
  bool wait_for_successor(const SafetyInputs& in) noexcept;
  void begin_reaction(Reaction reaction) noexcept;
  void begin_ramp() noexcept;
  void start_ramp() noexcept;
  void end_stop() noexcept;
  SafetyOutputs decide(const SafetyInputs& in) noexcept;
  void blend_to_hold(const SafetyInputs& in) noexcept;
  void hold(const SafetyInputs& in, SafetyOutputs& out) noexcept;
  bool by_hand() const noexcept { return settings_.manual_stop_time > 0; }
  bool had(Fault fault) const noexcept { return seen_[static_cast<std::size_t>(fault)] != 0; }
  bool power_proven_off(const SafetyInputs& in) const noexcept;
  void drive(const SafetyInputs& in, SafetyOutputs& out) noexcept;
  void command_torque(const SafetyInputs& in, bool starting, SafetyOutputs& out) noexcept;
  void ramp_down(const SafetyInputs& in, SafetyOutputs& out) noexcept;

  std::vector<SafetyJoint> joints_;
  SafetySettings settings_;
  double nominal_period_;
  bool brakes_wired_;  ///< to an output of their own; otherwise they follow the power

  SafetyState state_ = SafetyState::kOff;
  Reaction reaction_ = Reaction::kNone;
  bool calibration_valid_ = false;
  bool first_cycle_ = false;   ///< in a state with torque
  bool command_seen_ = false;  ///< since activate()
  std::uint64_t cycle_ = 0;
  int missed_deadlines_ = 0, ad_timeouts_ = 0;
  bool asking_ = false;                    ///< a person for the brakes
  double on_time_ = 0;                     ///< s since the power is on
  bool opened_ = false;                    ///< by a person
  double torque_time_ = 0;                 ///< s of torque on closed brakes
  bool power_seen_ = false;                ///< by the arm-power input, since it was switched on
  double power_wait_ = 0, power_gap_ = 0;  ///< s without power before and after it was seen
  bool power_off_seen_ = false;            ///< by the arm-power input, in this cycle
  double power_stuck_ = 0;                 ///< s with power although it is switched off
  double release_left_ = 0;                ///< s of the blend to the command
  bool last_power_ = false;                ///< last output
  bool waiting_ = false;                   ///< for the successor in a hand-over; the arm is held
  double waited_ = 0;                      ///< s
  double hold_left_ = 0, ramp_left_ = 0;   ///< s
  double period_ = 0;                      ///< s, validated cycle time
  PerJoint<double> last_torque_{};         ///< last output
  PerJoint<double> last_wanted_{};         ///< last commanded one, where a stop begins
  PerJoint<double> stop_torque_{};         ///< of a hold or ramp-down, before the ramp
  PerJoint<double> hold_blend_{};          ///< remaining difference to the holding torque
  bool blending_to_hold_ = false;          ///< hold_blend_ is valid
  bool position_kept_ = false;             ///< keeps_position() after the last cycle
  bool blended_kept_ = false;              ///< the same when hold_blend_ was computed
  PerJoint<double> release_blend_{};       ///< holding torque minus command when the brakes opened
  PerJoint<JointLimitsInForce> limits_;
  PerJoint<FrozenCheck> frozen_checks_;
  PerJoint<double> stall_times_{};      ///< s
  PerJoint<double> stall_positions_{};  ///< where the push began

  FaultRecord cause_;
  std::array<FaultRecord, kMaxRecords> faults_;
  int fault_count_ = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(Fault::kEmergencyStop) + 1>
      seen_{};  ///< bit 0: no particular joint, bit i + 1: joint i
};

}  // namespace ga_hardware

#endif  // GA_HARDWARE__SAFETY_MACHINE_HPP_
