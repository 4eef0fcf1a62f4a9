// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__SIMULATED_ARM_HPP_
#define GA_HARDWARE__SIMULATED_ARM_HPP_

// An arm with its drives, brakes, sensors and faults in simulation, one cycle at a time, with the
// safety machine of a real arm (safety_machine.hpp) between the commanded torques and the motors.
// Any serial chain. A cycle is advance(), then once command() or idle().
//
// With power the brakes stay closed until the first command. They open `brake_release_time` after
// it, so that the drives have taken over the load. A stop closes them at once while the torque
// fades. Units: rad, s, N m (m and N for prismatic joints).

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ga_dynamics/plant.hpp"
#include "ga_hardware/joint_signals.hpp"
#include "ga_hardware/safety_machine.hpp"

namespace ga_hardware {

enum class DriveState {
  kOff,       ///< no power, brakes closed
  kStanding,  ///< power, brakes closed, no torque
  kStarting,  ///< torque flows, the brakes are about to open
  kRunning,   ///< torque flows, brakes open
  kStopping   ///< a hold or ramp-down of the safety machine
};
const char* to_string(DriveState state) noexcept;

/// SafetySettings of a simulated arm: deadlines are not watched, because the computer that
/// simulates it need not be a real-time one.
SafetySettings simulated_safety() noexcept;

struct SimulatedArmSettings {
  ga_dynamics::PlantOptions plant = {};   ///< brake_torque 0: the joint has no brake
  ga_dynamics::LinkInertia payload = {};  ///< at the tip link, not in the description
  /// The arm as it is, if it differs from its description in more than the payload: the same
  /// joints, other inertias or drives.
  std::optional<ga_dynamics::Chain> actual = {};
  std::vector<JointSignals> signals = {};  ///< one per joint; empty: none
  std::vector<double> start = {};          ///< empty: zero, or the nearest that the limits allow
  double observer_bandwidth = 150;         ///< rad/s, of the velocity from encoder counts
  unsigned seed = 1;                       ///< of the noise
  double brake_release_time = 0.2;         ///< s
  double period = 1e-3;                    ///< s, nominal
  /// overspeed_ratio 0 or deadline_ratio 0: not watched.
  SafetySettings safety = simulated_safety();
};

/// A fault to simulate, by the names that the arm over the cards takes as well, less those of parts
/// that only cards have. Lasts until the next injection, but an encoder jumps once.
struct Injection {
  Fault fault = Fault::kNone;
  int joint = -1;
};

/// All names, for help texts: "thermal:JOINT, …".
std::string injection_names();
/// "thermal:joint2", "encoder-jump:joint1", "encoder-frozen:joint1", "deadline-missed",
/// "emergency-stop", "card-lost" or the name of any lost card, or "" for none. A joint is needed
/// where one is shown. Throws std::invalid_argument with what is known.
Injection parse_injection(std::string_view text, const ga_dynamics::Chain& chain);

/// Construction allocates and throws std::invalid_argument. All else is real-time safe and does not
/// throw. One thread at a time.
class SimulatedArm {
 public:
  SimulatedArm(const ga_dynamics::Chain& chain, const SimulatedArmSettings& settings);
  ~SimulatedArm();

  /// Lets dt pass, at most 0.2 s: a longer pause does not pass in the simulation. Then measures.
  void advance(double dt) noexcept;
  /// Torques that are `age` [s] old; what the safety machine allows acts in the next advance().
  void command(std::span<const double> torque, double age = 0) noexcept;
  /// No command in this cycle. Stops and holds go on; the last command grows old.
  void idle() noexcept;

  DriveState state() const noexcept;
  bool power_on() noexcept;   ///< false while a fault is latched
  void stop() noexcept;       ///< a controlled stop over the next cycles; the power stays
  void power_off() noexcept;  ///< the same, then no power
  void cut() noexcept;        ///< no torque, brakes closed, no power, now

  std::span<const double> position() const noexcept;  ///< as measured
  std::span<const double> velocity() const noexcept;
  std::span<const double> torque() const noexcept;  ///< of the motors
  bool powered() const noexcept;
  bool brake_closed(int joint) const noexcept;
  std::uint64_t thermal() const noexcept;  ///< bit per joint

  const SafetyMachine& safety() const noexcept;
  /// The fault that stopped the arm, until it is reset.
  const FaultRecord& fault() const noexcept { return safety().cause(); }
  /// False while a stop is under way or the cause of the fault lasts. After an encoder jump the
  /// position is right again.
  bool reset_fault() noexcept;
  void inject(const Injection& injection) noexcept;
  bool card_lost() const noexcept;  ///< injected: neither states nor commands mean anything
  bool diverged() const noexcept;   ///< the integration failed; a shorter sub-step helps

  std::uint64_t cycles() const noexcept;
  std::uint64_t late_cycles() const noexcept;  ///< longer than 1.5 periods
  ga_dynamics::Plant& plant() noexcept;        ///< the arm as it is, not as it is measured

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ga_hardware

#endif  // GA_HARDWARE__SIMULATED_ARM_HPP_
