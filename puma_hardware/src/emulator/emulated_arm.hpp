// SPDX-License-Identifier: Apache-2.0
#ifndef EMULATOR__EMULATED_ARM_HPP_
#define EMULATOR__EMULATED_ARM_HPP_

// The simulated arm behind the emulated cards: DAC volts become joint torque, joint angles become
// motor counts (gears, wrist coupling), index pulses and potentiometer volts with noise, brakes and
// power follow the digital outputs.
//
// Without an output for the power, the arm is powered by hand: always. Without one for the brakes,
// they are released by the power. Without power the motors give nothing and the brakes hold.

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "arm/calibration_table.hpp"
#include "emulator/emulated_cards.hpp"
#include "ga_dynamics/plant.hpp"

namespace puma_hardware::emulator {

struct EmulatedArmOptions {
  /// Without brake torques: 1.5 times the largest torque of each joint that has a brake (no source
  /// tells the PUMA's).
  ga_dynamics::PlantOptions plant = {};
  std::array<double, 6> start{};     ///< rad
  std::array<int, 6> index_phase{};  ///< where in a motor revolution the index pulse comes, counts
                                     ///< from q = 0
  /// Motor revolutions by which the potentiometers are off 2.5 V at the middle of the travel. They
  /// sit on the motors: those of joints 5 and 6 also see the joints before them.
  std::array<double, 6> pot_offset_turns{};
  double pot_noise = 0.002;  ///< V, standard deviation
  unsigned seed = 1;
};

/// The table that `puma calibrate --build` finds on an emulated arm with these options, but without
/// noise and over all positions that the joint limits allow. Allocates.
CalibrationTable emulated_calibration(const ArmSettings& settings,
                                      const EmulatedArmOptions& options);

/// Construction allocates and throws std::invalid_argument for impossible options; advance() does
/// not allocate with the Runge–Kutta integrator and does not throw.
class EmulatedArm {
 public:
  EmulatedArm(const ga_dynamics::Chain& chain, const ArmSettings& settings, EmulatedCards& cards,
              const EmulatedArmOptions& options = {});
  ~EmulatedArm();

  /// Lets `dt` [s] pass: reads the outputs, moves the arm, sets the inputs. Counters start at 0 at
  /// the start position, as after power-up: the counts do not tell where the arm is. The cards'
  /// clock, unless it is the wall's, is brought to the arm's time: port accesses since the last
  /// call are part of `dt`. False if the simulated motion failed, for which plant().error() gives
  /// the reason: encoders and potentiometers then stay as they were.
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
