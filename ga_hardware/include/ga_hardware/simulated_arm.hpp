// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__SIMULATED_ARM_HPP_
#define GA_HARDWARE__SIMULATED_ARM_HPP_

// An arm with its drives, brakes, sensors and faults in simulation, as a controller meets it:
// torque commands in, measured positions, velocities and torques out, one cycle at a time. Any
// serial chain; nothing in it is particular to one robot.
//
//   off ──power_on──► standing ──engage──► starting ──brakes open──► running
//    ▲                   ▲                    └──────── release ────────┤
//    └── cut, power_off ─┴──────── ramp over, brakes closed ◄── stopping┘
//
// Torque flows in starting, running and stopping only. Starting: the brakes hold until the drives
// have had `brake_release_time` to take the load over, so that the arm does not sag. Stopping: the
// brakes close and the torque fades over `ramp_time`; joints without a brake are left to their
// friction. Units: rad, s, N m (m and N for prismatic joints).

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ga_dynamics/plant.hpp"
#include "ga_hardware/injection.hpp"
#include "ga_hardware/joint_signals.hpp"
#include "ga_hardware/safety_machine.hpp"

namespace ga_hardware {

enum class DriveState { kOff, kStanding, kStarting, kRunning, kStopping };
const char* to_string(DriveState state) noexcept;

struct SimulatedArmSettings {
  ga_dynamics::PlantOptions plant = {};    ///< brake_torque 0: the joint has no brake
  ga_dynamics::LinkInertia payload = {};   ///< at the tip link, unknown to whoever reads the URDF
  std::vector<JointSignals> signals = {};  ///< one per joint; empty: none
  std::vector<double> start = {};          ///< empty: zero, or the nearest that the limits allow
  double observer_bandwidth = 150;         ///< rad/s, of the velocity from encoder counts
  unsigned seed = 1;                       ///< of the noise
  double ramp_time = 0.25;                 ///< s
  double brake_release_time = 0.2;         ///< s
  double overspeed_ratio = 1.2;            ///< of a joint's velocity limit; 0: not watched
  double jump_ratio = 3;      ///< an encoder step faster than this many times that limit is a fault
  double period = 1e-3;       ///< s, what a cycle should take
  double deadline_ratio = 0;  ///< of the period; longer cycles are missed; 0: not watched
  int max_missed_deadlines = 3;    ///< in a row
  double command_timeout = 0.010;  ///< s; an older command is a fault
};

/// Construction allocates and throws std::invalid_argument. All else is real-time safe and does not
/// throw. One thread at a time.
class SimulatedArm {
 public:
  SimulatedArm(const ga_dynamics::Chain& chain, const SimulatedArmSettings& settings);
  ~SimulatedArm();

  DriveState state() const noexcept;
  bool power_on() noexcept;   ///< off → standing; false while a fault is latched
  bool engage() noexcept;     ///< standing → starting
  void release() noexcept;    ///< → stopping → standing: a controlled stop
  void power_off() noexcept;  ///< the same, then off
  void cut() noexcept;        ///< → off at once: no torque, brakes closed

  /// Torques for the next advance(), `age` [s] old. Before the first command after engage() that is
  /// finite on all joints there is no torque and the brakes stay closed; after it a value that is
  /// not finite is a fault, and so is one that is too old. Ignored where the state gives no torque.
  void command(std::span<const double> torque, double age = 0) noexcept;
  /// Lets dt pass, at most 0.2 s: a longer pause does not pass in the simulation. Then measures and
  /// looks for faults.
  void advance(double dt) noexcept;

  std::span<const double> position() const noexcept;  ///< as measured
  std::span<const double> velocity() const noexcept;
  std::span<const double> torque() const noexcept;  ///< of the motors
  bool brake_closed(int joint) const noexcept;
  std::uint64_t thermal() const noexcept;  ///< bit per joint

  /// The first fault since the last reset. After one there is no torque beyond the ramp.
  const FaultRecord& fault() const noexcept;
  /// False while what caused the fault lasts. After an encoder jump the position is right again.
  bool reset_fault() noexcept;
  void inject(const Injection& injection) noexcept;
  bool card_lost() const noexcept;  ///< nothing answers: neither states nor commands mean anything
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
