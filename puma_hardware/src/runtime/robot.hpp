// SPDX-License-Identifier: Apache-2.0
#ifndef RUNTIME__ROBOT_HPP_
#define RUNTIME__ROBOT_HPP_

// The robot that a program is to drive: its description, its settings and the bus to its cards, be
// they real, emulated in this process, or emulated by another one.

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "arm/arm_settings.hpp"
#include "cards/linux_port_io.hpp"
#include "cards/port_io.hpp"
#include "emulator/emulated_arm.hpp"
#include "ga_dynamics/chain.hpp"
#include "runtime/card_claim.hpp"

namespace puma_hardware {

/// What the emulated arm is unless told otherwise: it stands upright, its index pulses come
/// anywhere in a turn, and power and brakes hang on a digital output of the PCL-726.
emulator::EmulatedArmOptions default_emulated_arm();
/// Parameters of the <hardware> tag that say how the ROS 2 plugin is to run, and nothing of the arm
/// and its cards: the commands have options for them.
bool concerns_plugin(const std::string& parameter);
/// Adds what an emulated robot's wiring needs and the parameters do not give.
Parameters with_emulated_wiring(Parameters parameters);

/// Opens the bus and writes nothing. Construction allocates and throws CardError, DescriptionError
/// or std::runtime_error naming what does not fit. With real ports, construct it before the thread
/// that drives the arm is started: that one inherits the right to access them.
class Robot {
 public:
  /// `cell`: name of the shared cards; `emulated`: the emulated arm.
  Robot(const ga_dynamics::Chain& chain, const Parameters& parameters, Bus bus,
        const std::string& cell = {},
        const emulator::EmulatedArmOptions& emulated = default_emulated_arm());

  const ga_dynamics::Chain& chain() const noexcept { return chain_; }
  const ArmSettings& settings() const noexcept { return settings_; }
  /// The table of settings().calibration_file; without a file that of the emulated arm. Allocates.
  /// Throws CardError naming the file, or, for real cards, that there is none.
  CalibrationTable calibration() const;
  /// Takes the cards for the caller alone, for as long as the claim lives. Throws CardError naming
  /// the process that has them.
  CardClaim claim() const { return {bus_, cell_, settings_.cards}; }
  /// Only for those who have claimed the cards: opening one already writes to it.
  PortIo& io(const CardClaim&) noexcept { return *io_; }
  /// Lets this thread access the ports, if they are real: once per thread but the constructing one
  /// and those it starts. Throws CardError.
  void enter_thread();
  Bus bus() const noexcept { return bus_; }
  /// See cards_name().
  std::string name() const { return cards_name(bus_, cell_, settings_.cards); }
  /// Of an emulated robot, else null.
  emulator::EmulatedCards* cards() noexcept { return cards_; }
  /// Only of a private emulated robot, else null.
  emulator::EmulatedArm* arm() noexcept { return arm_.get(); }

 private:
  ga_dynamics::Chain chain_;
  ArmSettings settings_;
  Bus bus_;
  std::string cell_;
  emulator::EmulatedArmOptions emulated_;
  std::unique_ptr<PortIo> io_;
  LinuxPortIo* ports_ = nullptr;
  emulator::EmulatedCards* cards_ = nullptr;
  std::unique_ptr<emulator::EmulatedArm> arm_;
};

}  // namespace puma_hardware

#endif  // RUNTIME__ROBOT_HPP_
