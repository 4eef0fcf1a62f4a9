// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__SIMULATED_ARM_HPP_
#define GA_HARDWARE__SIMULATED_ARM_HPP_

// A simulated arm with drives, brakes, sensors and faults, one cycle at a time, with the safety
// machine of a real arm (safety_machine.hpp) between commanded torques and motors. Any serial
// chain. A cycle is advance(), then command() or idle() once.
//
// With power on, the brakes stay closed until the first command. They open `brake_release_time`
// after it, when the drives carry the load. A ramp-down closes them at once, a hold keeps them open.
// Units: rad, s, N m (m and N for prismatic joints).

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ga_dynamics/plant.hpp"
#include "ga_hardware/arm_model.hpp"
#include "ga_hardware/safety_machine.hpp"

namespace ga_hardware {

class ParameterText;

// --- how the arm differs from its description, unknown to the laws: errors of the model and
// imperfect drives. One table has the names, ranges and units of all of them, for the options of
// `ga sim` (--friction-error) and the parameters of SimSystem (friction_error). All of this
// allocates, and throws std::invalid_argument naming the value and the remedy.

/// Errors are uniformly distributed within plus and minus the value, for each joint or body by
/// itself. Parts of 1 where a percentage is displayed.
struct Disturbances {
  // --- errors of the description
  double mismatch = 0;               ///< of masses and inertia tensors, part of 1
  double com_error = 0;              ///< of the centers of mass, m along each axis
  double friction_error = 0;         ///< of viscous and Coulomb friction, part of 1
  double armature_error = 0;         ///< of the rotor inertias, part of 1
  double torque_constant_error = 0;  ///< of the motors' torque constants, part of 1
  double stiction = 1;               ///< break-away over Coulomb friction
  // --- drives
  double delay = 0;         ///< whole cycles from the command to the amplifier
  double lag = 0;           ///< s, time constant of the amplifier's current
  double torque_limit = 1;  ///< what the motors give at most, part of the effort limit
  /// Hz, resonance of motor and link on the elastic drive, both free and the other joints held, at
  /// the initial posture; 0: rigid drives. The encoder is on the motor.
  double elastic_frequency = 0;
  double elastic_ratio = 0.2;     ///< motor inertia over link inertia, of elastic drives
  double elastic_damping = 0.05;  ///< damping ratio of the resonance

  bool operator==(const Disturbances&) const = default;
};

/// One of them as users know it.
struct DisturbanceOption {
  const char* name;  ///< of the parameter; the option has hyphens
  double Disturbances::*value;
  double least, most;  ///< as displayed
  double scale;        ///< the value is the displayed number times this
  const char* unit;    ///< with a leading blank, or empty
  const char* meaning;
  bool whole = false;
};
std::span<const DisturbanceOption> disturbance_options() noexcept;

/// "give 0 to 99 %" if the displayed value is not finite, out of range, or not whole where it has to
/// be; else empty.
std::string refusal(const DisturbanceOption& option, double displayed);

/// From the parameters of these names, all or only the named ones. Throws std::runtime_error, naming
/// `where`, parameter and value.
Disturbances read_disturbances(const std::string& where, ParameterText& parameters,
                               std::span<const std::string_view> only = {});

/// Throws for the first value that is out of range.
void check(const Disturbances& disturbances);

/// Actual over described values of one joint and its body.
struct JointErrors {
  double mass = 1, inertia = 1;       ///< factors
  ga_dynamics::Vector3 com{0, 0, 0};  ///< m, added in the body's frame
  double friction = 1, armature = 1;  ///< factors
  double torque_constant = 1;         ///< factor

  bool operator==(const JointErrors&) const = default;
};

/// The same seed gives the same errors; each kind has its own random numbers, so that one option
/// does not change the effect of another.
std::vector<JointErrors> draw_errors(const Disturbances& disturbances, std::size_t joints,
                                     unsigned seed);

/// The arm as it is: with these errors (one per joint, or none) and a payload, given in the tip
/// link's frame.
ga_dynamics::Chain actual_arm(const ga_dynamics::Chain& described,
                              std::span<const JointErrors> errors,
                              const ga_dynamics::LinkInertia& payload);

// --- the arm

enum class DriveState {
  kOff,       ///< no power, brakes closed
  kStanding,  ///< power, brakes closed, no torque
  kStarting,  ///< torque flows, the brakes are opening
  kRunning,   ///< torque flows, brakes open
  kStopping   ///< a hold or ramp-down of the safety machine
};
const char* to_string(DriveState state) noexcept;

/// SafetySettings of a simulated arm: deadlines are not monitored, because the host need not be
/// real-time capable.
SafetySettings simulated_safety() noexcept;

struct SimulatedArmSettings {
  ga_dynamics::PlantOptions plant = {};   ///< brake_torque 0: the joint has no brake
  ga_dynamics::LinkInertia payload = {};  ///< at the tip link, not in the description
  /// What the velocity observers and the holding law know of the payload.
  ga_dynamics::LinkInertia known_payload = {};
  /// The actual arm, if it differs from its description in more than the payload: the same joints,
  /// other inertias or drives.
  std::optional<ga_dynamics::Chain> actual = {};
  /// Errors of the description, and imperfect drives. The observers and the safety machine know the
  /// commanded torques and the description only.
  Disturbances disturbances = {};
  std::vector<JointErrors> errors = {};    ///< one per joint; empty: drawn with the seed
  std::vector<JointSignals> signals = {};  ///< one per joint; empty: none
  std::vector<double> start = {};          ///< empty: zero, or the nearest position in the limits
  double observer_bandwidth = 150;         ///< rad/s, of the velocity from encoder counts
  unsigned seed = 1;                       ///< of the noise and the errors
  double brake_release_time = 0.2;         ///< s
  double period = 1e-3;                    ///< s, nominal
  /// overspeed_ratio 0 or deadline_ratio 0: not monitored.
  SafetySettings safety = simulated_safety();
};

/// A fault to simulate, by the same names as for the arm over the cards, except for parts that only
/// cards have. Lasts until the next injection, but an encoder jumps only once.
struct Injection {
  Fault fault = Fault::kNone;
  int joint = -1;
};

/// All names, for help texts: "thermal:JOINT, …".
std::string injection_names();
/// "thermal:joint2", "encoder-jump:joint1", "encoder-frozen:joint1", "deadline-missed",
/// "emergency-stop", "card-lost" or the name of any lost card, or "" for none. The joint is
/// required where it is shown. Throws std::invalid_argument that lists the known names.
Injection parse_injection(std::string_view text, const ga_dynamics::Chain& chain);

/// A name of a table of faults. As text, the name is followed by ":JOINT" if the fault is of a joint.
template <class Kind>
struct NamedFault {
  std::string_view name;
  Kind fault;
  bool of_joint;
};

/// All names of a table, for help texts: "thermal:JOINT, …".
template <class Kind, std::size_t N>
std::string fault_names(const NamedFault<Kind> (&table)[N]) {
  std::string all;
  for (const auto& [name, fault, of_joint] : table) {
    all.append(all.empty() ? "" : ", ").append(name).append(of_joint ? ":JOINT" : "");
  }
  return all;
}

/// The fault and its joint: an index into `joints`, which have names, or -1. Throws
/// std::invalid_argument that lists the known names, or ends with `joint_remedy`.
template <class Kind, std::size_t N, class Joints>
std::pair<Kind, int> parse_fault(const std::string& text, const NamedFault<Kind> (&table)[N],
                                 const Joints& joints, const std::string& joint_remedy) {
  const std::size_t colon = text.find(':');
  const std::string joint = colon == std::string::npos ? "" : text.substr(colon + 1);
  for (const auto& [name, fault, of_joint] : table) {
    if (text.substr(0, colon) != name || of_joint == joint.empty()) continue;
    if (!of_joint) return {fault, -1};
    for (std::size_t i = 0; i < joints.size(); ++i) {
      if (joints[i].name == joint) return {fault, static_cast<int>(i)};
    }
    throw std::invalid_argument("fault '" + text + "': there is no joint '" + joint + "'; give " +
                                joint_remedy);
  }
  throw std::invalid_argument("fault '" + text + "' is unknown; give one of " + fault_names(table) +
                              ", or nothing for none");
}

/// Construction allocates and throws std::invalid_argument. All else is real-time safe and does not
/// throw. One thread at a time.
class SimulatedArm {
 public:
  SimulatedArm(const ga_dynamics::Chain& chain, const SimulatedArmSettings& settings);
  ~SimulatedArm();

  /// Simulates dt, at most 0.2 s: the simulation pauses during longer gaps. Then measures.
  void advance(double dt) noexcept;
  /// Torques with an age [s]; the allowed part acts in the next advance(). `handover`: those of a
  /// predecessor, whose successor has not commanded yet.
  void command(std::span<const double> torque, double age = 0, bool handover = false) noexcept;
  /// No command in this cycle. Stops and holds continue; the last command ages.
  void idle() noexcept;

  DriveState state() const noexcept;
  bool power_on() noexcept;   ///< false while a fault is latched
  void stop() noexcept;       ///< a controlled stop over the next cycles; the power stays on
  void power_off() noexcept;  ///< the same, then power off
  void cut() noexcept;        ///< no torque, brakes closed, power off, immediately

  /// As the encoders read it: quantized, with noise, unfiltered.
  std::span<const double> position() const noexcept;
  std::span<const double> velocity() const noexcept;  ///< as the observers estimate it
  std::span<const double> torque() const noexcept;    ///< as commanded to the amplifiers
  /// What the motors gave at the end of the last advance(): after delay, lag, limits and errors.
  std::span<const double> motor_torque() const noexcept;
  bool powered() const noexcept;
  bool brakes_closed() const noexcept;  ///< all of them, of the joints that have one
  bool brake_closed(int joint) const noexcept;
  std::uint64_t thermal() const noexcept;  ///< bit per joint

  const SafetyMachine& safety() const noexcept;
  /// The fault that stopped the arm, until it is reset.
  const FaultRecord& fault() const noexcept { return safety().cause(); }
  /// False while the arm is stopping or the cause of the fault persists. Corrects the position
  /// after an encoder jump.
  bool reset_fault() noexcept;
  /// Ignored if it is of a joint that the arm does not have.
  void inject(const Injection& injection) noexcept;
  bool card_lost() const noexcept;  ///< injected: states and commands are invalid
  bool diverged() const noexcept;   ///< the integration failed; reduce the sub-step

  std::uint64_t cycles() const noexcept;
  std::uint64_t late_cycles() const noexcept;  ///< longer than 1.5 periods
  ga_dynamics::Plant& plant() noexcept;        ///< the true state, not the measured one

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ga_hardware

#endif  // GA_HARDWARE__SIMULATED_ARM_HPP_
