// SPDX-License-Identifier: Apache-2.0
#ifndef EMULATOR__EMULATED_ARM_HPP_
#define EMULATOR__EMULATED_ARM_HPP_

// The simulated arm behind the emulated cards. DAC voltages become joint torques; joint angles become
// motor counts (gears, wrist coupling), index pulses and potentiometer voltages with noise; power and
// brakes follow the digital outputs.
//
// Without a power output the arm is always powered, unless a person switches it (manual_power);
// without a brake output, power releases the brakes, unless that person does. Without power there
// is no motor torque, and brakes with an output or on the power hold. A person opens brakes by hand,
// with or without power, and then nothing holds the arm. An open emergency-stop chain
// (CardFault::kPowerLost), and a watchdog output that has not changed for watchdog_time, cut the
// power whatever the outputs say. The arm-power input, if wired, shows the power.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "arm/calibration_table.hpp"
#include "emulator/emulated_cards.hpp"
#include "ga_dynamics/plant.hpp"
#include "ga_hardware/simulated_arm.hpp"

namespace puma_hardware::emulator {

/// Disturbances of a simulated arm that an emulated one may have. A cycle of the delay is a step of
/// the emulated arm, 1 ms in `puma emulate`.
inline constexpr std::string_view kEmulatedDisturbances[] = {
    "mismatch", "com_error", "friction_error", "armature_error", "stiction", "delay", "lag"};

struct EmulatedArmOptions {
  /// If there are no brake torques: 1.5 times the torque limit of each joint with a brake (those of
  /// the PUMA are unknown).
  ga_dynamics::PlantOptions plant = {};
  std::array<double, 6> start{};     ///< rad
  std::array<int, 6> index_phase{};  ///< counts from q = 0 to an index pulse
  /// Offset [motor turns] of the potentiometers from 2.5 V at mid-travel. They sit on the motors, so
  /// that those of joints 5 and 6 see the wrist coupling.
  std::array<double, 6> pot_offset_turns{};
  double pot_noise = 0.002;      ///< V, standard deviation
  double relay_time = 0;         ///< s until the power follows its output
  double brake_time = 0;         ///< s until the brakes follow theirs
  double watchdog_time = 0.025;  ///< s that the watchdog relay holds without a change
  /// What the arm differs in from its description: kEmulatedDisturbances; the others have no effect.
  ga_hardware::Disturbances disturbances = {};
  double payload = 0;  ///< kg, at the tip link
  unsigned seed = 1;   ///< of noise and errors
};

/// The table that `puma calibrate --build` finds on an emulated arm with these options, but without
/// noise and over all positions that the joint limits allow. Allocates.
CalibrationTable emulated_calibration(const ArmSettings& settings,
                                      const EmulatedArmOptions& options,
                                      const CardBehavior& behavior = {});

/// Construction allocates and throws std::invalid_argument for invalid options; advance() does not
/// allocate with the Runge–Kutta integrator and does not throw.
class EmulatedArm {
 public:
  EmulatedArm(const ga_dynamics::Chain& chain, const ArmSettings& settings, EmulatedCards& cards,
              const EmulatedArmOptions& options = {});
  ~EmulatedArm();

  /// Simulates `dt` [s]: reads the outputs, moves the arm, sets the inputs. Counters start at 0 at
  /// the start position, as after power-up. Unless the cards have a wall clock, their time follows
  /// the arm's: port accesses since the last call are part of `dt`. False if the simulation failed,
  /// see plant().error(): encoders and potentiometers then keep their values.
  bool advance(double dt);
  ga_dynamics::Plant& plant() noexcept;
  bool powered() const noexcept;                          ///< at the last advance()
  std::span<const double> drive_torque() const noexcept;  ///< N m at the last advance()
  /// Absolute quadrature counts of the motors, 0 at q = 0.
  std::span<const std::int64_t> counts() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace puma_hardware::emulator

#endif  // EMULATOR__EMULATED_ARM_HPP_
