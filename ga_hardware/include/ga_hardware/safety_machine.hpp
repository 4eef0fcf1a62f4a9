// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__SAFETY_MACHINE_HPP_
#define GA_HARDWARE__SAFETY_MACHINE_HPP_

// Decides alone whether torque may flow: off → ready → calibrated → active → fault, and ready →
// calibrating → ready for the small motions that tell where the arm is. Knows nothing of cards;
// every cycle it is told what was seen and asked, and says what may go out. All functions but
// describe() and the constructor are real-time safe, none throws.
//
// fault              reaction   trips when                                       calibration lost
// thermal            ramp down  a thermal switch has opened
// encoder-jump       cut        counts go jump_ratio times faster than the joint            yes
// encoder-frozen     cut        counts stand still while torque pushes and the
//                               potentiometer moves frozen_turns, or for frozen_time        yes
//                               while there is no potentiometer to ask
// pot-mismatch       cut        potentiometer and encoder part by pot_tolerance_turns       yes
// overspeed          cut        faster than overspeed_ratio times the speed limit
// soft-limit         limit      within soft_limit_margin of a limit (at most 5 % of the range):
//                               torque outwards fades to none at the limit
// hard-limit         cut        beyond a limit. An arm that is activated beyond it may move
//                               back, no further out
// ad-timeout         ramp down  max_ad_timeouts conversions in a row failed
// command-timeout    hold       the newest command is older than command_timeout
// torque-not-finite  ramp down  a command is not a number
// torque-excessive   ramp down  a command exceeds torque_ratio times the limit (less is clamped)
// deadline-missed    ramp down  max_missed_deadlines cycles were missed in a row
// card-lost          cut        a card does not answer any more                             yes
// guard-lost         ramp down  nobody would write 0 V if this process died
// emergency-stop     cut        asked for
//
// A hold or a ramp-down needs a torque. The caller may give one each cycle, of a law that damps the
// arm and holds it against gravity; the torque goes over to it from the last one that went out,
// without a step, unless the command itself is the fault. Without it, a hold is a ramp-down, and
// what fades is that last torque. A hold becomes a ramp-down after hold_time: brakes hold joints
// 1–3 better than motors, and joints 4–6 stand by their friction.

#include <array>
#include <cstddef>
#include <cstdint>
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
  kEmergencyStop
};
const char* to_string(Fault fault) noexcept;

/// What a fault does. kLimit does not leave the active state.
enum class Reaction {
  kNone,
  kLimit,     ///< the torque is limited (soft limits: none outwards), the arm goes on
  kHold,      ///< the arm is held where it is (by the caller's holding law), commands are ignored
  kRampDown,  ///< the torque fades while the brakes come on, then 0 V and power off
  kCut        ///< 0 V within this cycle, brakes on, power off
};
const char* to_string(Reaction reaction) noexcept;
Reaction reaction_to(Fault fault) noexcept;
/// Does the fault leave it open where the arm is?
bool spoils_calibration(Fault fault) noexcept;

struct FaultRecord {
  Fault fault = Fault::kNone;
  int joint = -1;        ///< −1: none in particular
  double value = 0;      ///< that tripped it
  double threshold = 0;  ///< that it broke
  std::uint64_t cycle = 0;
};
/// "joint2: overspeed: 2.31 rad/s, allowed 1.81"; allocates. `joint`: the name of record.joint.
std::string describe(const FaultRecord& record, const std::string& joint);

/// Arms have up to so many joints.
inline constexpr std::size_t kMostJoints = 52;
/// The first values hold, one per joint of the arm.
template <class T>
using PerJoint = std::array<T, kMostJoints>;

/// What the machine has to know of a joint. Infinite: no limit.
struct SafetyJoint {
  double lower = 0, upper = 0;  ///< hard limits, rad
  double max_speed = 0;         ///< rad/s
  double max_torque = 0;        ///< N m
};

struct SafetySettings {
  double soft_limit_margin = 0.035;  ///< rad inside the hard limits
  double overspeed_ratio = 1.2;      ///< of a joint's speed limit
  double jump_ratio = 3.0;           ///< an encoder step faster than this many times its limit
  double torque_ratio = 1.5;  ///< commands are clamped at max_torque; more than this is a fault
  double pot_tolerance_turns = 0.45;  ///< motor revolutions between potentiometer and encoder
  double frozen_torque_ratio = 0.5;   ///< of max_torque: pushing this hard must move something
  double frozen_time = 0.25;          ///< s
  double frozen_turns = 0.25;         ///< of the potentiometer while the encoder stands still
  double command_timeout = 0.010;     ///< s
  double deadline_ratio = 1.5;        ///< of the period; later is a missed deadline
  int max_missed_deadlines = 3;       ///< in a row
  int max_ad_timeouts = 3;            ///< in a row
  double ramp_time = 0.25;            ///< s, of a ramp-down while the brakes come on
  double hold_time = 2.0;             ///< s that the arm is held after a fault before it ramps down
  double calibration_speed_ratio = 0.25;  ///< of a joint's speed limit, while not yet calibrated
};

struct SafetyInputs {
  PerJoint<double> q{}, qd{};         ///< rad, rad/s
  PerJoint<double> count_speed{};     ///< rad/s of the drives, unfiltered, of this cycle
  PerJoint<double> pot_turns{};       ///< motor revolutions, potentiometer minus encoder
  PerJoint<bool> pot_fresh{};         ///< sampled in this cycle
  PerJoint<double> torque_command{};  ///< N m asked for
  double command_age = 0;             ///< s; infinite: there was none yet
  PerJoint<double> hold_torque{};     ///< N m that would hold the arm
  bool hold_available = false;
  std::uint64_t thermal = 0;  ///< bit per joint
  bool ad_timeout = false;    ///< a conversion failed in this cycle
  bool ad_sample = true;      ///< or one ended well; neither while one is under way
  bool card_lost = false, guard_lost = false, emergency_stop = false;
  int lost_card = 0;             ///< base address of the card that was lost
  bool deadline_missed = false;  ///< beside those that `period` shows
  double period = 0;             ///< s since the last cycle
};

struct SafetyOutputs {
  PerJoint<double> torque{};  ///< N m that may go out
  bool power = false;
  bool brakes_released = false;
};

class SafetyMachine {
 public:
  /// `brakes_wired`: on an output of their own; otherwise they follow the power. `nominal_period`:
  /// s of a cycle. Allocates. Throws std::invalid_argument for more than kMostJoints joints.
  SafetyMachine(std::span<const SafetyJoint> joints, const SafetySettings& settings,
                bool brakes_wired, double nominal_period);

  SafetyState state() const noexcept { return state_; }
  /// What the machine is doing beside its state: kNone, or a hold or ramp under way.
  Reaction reaction() const noexcept { return reaction_; }
  /// Is it known where the arm stands? Not before the calibration has ended, nor after a fault that
  /// leaves it open.
  bool calibration_valid() const noexcept { return calibration_valid_; }
  /// The fault that led to the fault state; kept until cleared.
  const FaultRecord& cause() const noexcept { return cause_; }
  /// All since the last clearing, oldest first, limits included; each fault once per joint.
  int fault_count() const noexcept { return fault_count_; }
  const FaultRecord& fault(int index) const noexcept;  ///< the first 16; others are empty

  // Transitions; false where the state does not allow them.
  bool open() noexcept;               ///< off → ready: cards answer, outputs are 0 V
  bool begin_calibration() noexcept;  ///< ready → calibrating: torque for small, slow motions
  bool calibrated() noexcept;         ///< ready → calibrated
  bool activate() noexcept;           ///< calibrated → active
  /// Active → calibrated, calibrating → ready, by a ramp with the brakes: the state changes at its
  /// end.
  bool deactivate() noexcept;
  /// Fault → calibrated, or ready if the calibration is lost. Not while a hold or ramp is under
  /// way. In other states it forgets the limits that were reached.
  bool clear_faults() noexcept;
  bool forget_calibration() noexcept;  ///< calibrated → ready
  void close() noexcept;               ///< → off

  /// One cycle. Never gives torque in a state that does not allow it. After activate() the brakes
  /// stay on until the first command has come; where they follow the power, so does that.
  SafetyOutputs update(const SafetyInputs& inputs) noexcept;

 private:
  static constexpr std::size_t kKept = 16;

  struct JointLimitsInForce {
    double lower = 0, upper = 0;  ///< wider than the limits while an arm comes back from beyond
  };
  struct Stillness {
    double push_time = 0;  ///< s of large torque while the counts stood still
    bool pushed = false;
    bool pot_known = false;
    double pot = 0;  ///< turns, when the standing still began
  };

  bool torque_state() const noexcept;
  void trip(Fault fault, int joint, double value, double threshold) noexcept;
  void start_torque_state(SafetyState state) noexcept;
  void check_always(const SafetyInputs& in) noexcept;
  void check_joint(const SafetyInputs& in, std::size_t joint) noexcept;
  void check_frozen(const SafetyInputs& in, std::size_t joint) noexcept;
  void check_motion(const SafetyInputs& in) noexcept;
  void check_timing(const SafetyInputs& in) noexcept;
  void check_command(const SafetyInputs& in) noexcept;
  void widen_limits(const SafetyInputs& in) noexcept;
  double soft_margin(std::size_t joint) const noexcept;
  double limited(std::size_t joint, double torque, double q) const noexcept;
  bool hold_usable(const SafetyInputs& in) const noexcept;
  void begin_reaction(Reaction reaction) noexcept;
  void begin_ramp() noexcept;
  void end_stop() noexcept;
  SafetyOutputs decide(const SafetyInputs& in) noexcept;
  void go_over_to_hold(const SafetyInputs& in) noexcept;
  void fade(const SafetyInputs& in, SafetyOutputs& out) noexcept;

  std::vector<SafetyJoint> joints_;
  SafetySettings settings_;
  double nominal_period_;
  bool brakes_wired_;  ///< on an output of their own; otherwise they follow the power

  SafetyState state_ = SafetyState::kOff;
  Reaction reaction_ = Reaction::kNone;
  bool calibration_valid_ = false;
  bool first_cycle_ = false;   ///< of a state with torque
  bool command_seen_ = false;  ///< since activate()
  std::uint64_t cycle_ = 0;
  int missed_deadlines_ = 0, ad_timeouts_ = 0;
  double hold_left_ = 0, ramp_left_ = 0;  ///< s
  double period_ = 0;                     ///< s of this cycle, made plausible
  PerJoint<double> last_torque_{};        ///< that went out
  PerJoint<double> stop_torque_{};        ///< of a hold, or that fades in a ramp
  PerJoint<double> beyond_hold_{};        ///< what is left of the torque before, on that to hold
  bool holds_ = false;                    ///< beyond_hold_ is of the cycle before
  PerJoint<JointLimitsInForce> limits_;
  PerJoint<Stillness> still_;

  FaultRecord cause_;
  std::array<FaultRecord, kKept> faults_;
  int fault_count_ = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(Fault::kEmergencyStop) + 1>
      seen_{};  ///< bit 0: no joint in particular, bit i: joint i
};

}  // namespace ga_hardware

#endif  // GA_HARDWARE__SAFETY_MACHINE_HPP_
