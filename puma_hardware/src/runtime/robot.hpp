// SPDX-License-Identifier: Apache-2.0
#ifndef RUNTIME__ROBOT_HPP_
#define RUNTIME__ROBOT_HPP_

// The robot that a program drives: its description, its settings and the bus to its cards, which are
// real, emulated in this process, or emulated by another process.

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "arm/arm_settings.hpp"
#include "cards/linux_port_io.hpp"
#include "cards/port_io.hpp"
#include "emulator/emulated_arm.hpp"
#include "ga_dynamics/chain.hpp"
#include "process/process_lock.hpp"

namespace puma_hardware {

enum class Bus {
  kPorts,    ///< the computer's I/O ports
  kPrivate,  ///< cards and arm emulated in this process
  kShared    ///< cards emulated by `puma emulate`, by name
};

/// Name of the heartbeat of a controlling process and its guard: `ports-2C0` by the PCL-726's
/// address, or the shared cards' name; empty for private cards.
std::string cards_name(Bus bus, const std::string& cell, const CardSettings& settings);

/// Exclusive right to write to a set of cards. Opening a card writes 0 V, opens the relays and resets
/// the counters, which is dangerous on an arm that another process moves. Access to the bus needs a
/// claim, and a computer has one claim per set of cards at a time.
///
/// Only the guard writes without a claim: it cuts the outputs that the holder left.
class CardClaim {
 public:
  /// Real ports are claimed in blocks of 16 for every card, so that programs whose settings overlap
  /// in one card only exclude each other too. Private cards need no claim. Allocates; throws
  /// CardError naming the process that holds the cards.
  CardClaim(Bus bus, const std::string& cell, const CardSettings& settings);
  /// False if a file of the claim was removed or replaced, so that another process could claim the same
  /// cards. Does not throw; not real-time safe.
  bool present() const noexcept;

 private:
  std::vector<ProcessLock> locks_;
};

/// Default of the emulated arm: upright, index pulses at arbitrary positions within a turn.
emulator::EmulatedArmOptions default_emulated_arm();
/// Parameters of the <hardware> tag that configure the ROS 2 plugin, not the arm or its cards; the
/// commands have options instead.
bool concerns_plugin(const std::string& parameter);
/// Adds the default wiring of an emulated robot: power and brakes on digital output 2, or the next one
/// that nothing else uses. Throws what the settings' reader throws.
Parameters with_emulated_wiring(Parameters parameters);
/// What that adds and real cards would miss, a line for people; empty if nothing.
std::string emulated_wiring_note(const Parameters& parameters);

/// Opens the bus without writing. Construction allocates and throws CardError, DescriptionError or
/// std::runtime_error naming the faulty element; with real ports also for relaxed limits
/// (ArmSettings::relaxed_limit()). With real ports, construct it before starting the
/// thread that drives the arm: that thread inherits the access rights.
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
  /// Exclusive access to the cards for the lifetime of the claim. Throws CardError naming the
  /// process that holds them.
  CardClaim claim() const { return {bus_, cell_, settings_.cards}; }
  /// Needs the claim: opening a card already writes to it.
  PortIo& io(const CardClaim&) noexcept { return *io_; }
  /// Grants this thread access to real ports; not needed in the constructing thread and threads that
  /// it starts. Throws CardError.
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
