// SPDX-License-Identifier: Apache-2.0
#ifndef ARM__PUMA_ARM_HPP_
#define ARM__PUMA_ARM_HPP_

// The arm on its four cards. Its interface is joint angles, velocities and torques; inside are
// counts, volts and codes, and the safety machine between a commanded torque and the DAC.
//
// A lost PCL-726 cannot be detected, and software cannot remove its last voltage: this needs the
// hardwired emergency stop.
//
// Call one object from one thread only, the one with access to the ports.

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "arm/arm_settings.hpp"
#include "arm/calibration_table.hpp"
#include "arm/transmission.hpp"
#include "cards/pcl726.hpp"
#include "cards/pcl818.hpp"
#include "cards/pcl833.hpp"
#include "cards/port_io.hpp"
#include "ga_hardware/arm_model.hpp"
#include "ga_hardware/safety_machine.hpp"

namespace puma_hardware {

struct ArmReading {
  std::array<double, 6> q{}, qd{};       ///< rad, rad/s; meaningful once calibrated
  std::array<double, 6> torque{};        ///< N m, as written to the DACs
  std::array<std::int64_t, 6> counts{};  ///< of the motors since the cards were opened
  std::array<double, 6> pot_volts{};     ///< the newest sample of each
  std::array<bool, 6> pot_fresh{};       ///< sampled in this cycle
  /// Index pulse in this cycle, and its count; only during an index search.
  std::array<bool, 6> index_seen{};
  std::array<std::int64_t, 6> index_count{};
  std::uint8_t thermal = 0;  ///< bit per joint
};

class PumaArm {
 public:
  /// Opens and tests the cards: 0 V, power off, state ready. `period`: nominal cycle time [s].
  /// Throws CardError.
  PumaArm(PortIo& io, const ArmSettings& settings, double period);
  /// 0 V, power off.
  ~PumaArm();

  const ArmSettings& settings() const noexcept { return settings_; }
  const Transmission& transmission() const noexcept { return transmission_; }
  SafetyMachine& safety() noexcept { return safety_; }
  const SafetyMachine& safety() const noexcept { return safety_; }
  const ArmReading& reading() const noexcept { return reading_; }  ///< of the last read()

  // A cycle is read(), then write() or write_none(). Real-time safe. 31 port accesses, and at most 8
  // for one potentiometer; one more to switch power or brakes, one more to confirm a lost card, five
  // more per joint during an index search. One each for the arm-power input, the watchdog output and
  // its read-back, where they are wired.

  /// `period`: s since the last read. `acceleration`: rad/s² expected of the last cycle's torque,
  /// for the velocity observers; empty if unknown.
  const ArmReading& read(double period, std::span<const double> acceleration = {}) noexcept;
  /// Joint torques [N m]; `age` [s] of the command; `hold`: holding torques that also damp the
  /// motion, empty if there are none. `handover`: the torques are those of a predecessor, whose
  /// successor has not commanded yet. Outputs what the safety machine allows.
  void write(std::span<const double> torque, double age = 0, std::span<const double> hold = {},
             bool handover = false) noexcept;
  /// No command in this cycle: the last one is used until the command timeout.
  void write_none(std::span<const double> hold = {}) noexcept;

  // Real-time safe.

  /// Calibrated → active; the first command releases the brakes. Refused before every potentiometer
  /// was compared with the table, if there is one.
  bool power_on() noexcept;
  bool power_off() noexcept;  ///< controlled stop over the next cycles
  /// 0 V and power off now, fault state in the next cycle.
  void emergency_stop() noexcept;
  /// The same after the guard has cut the outputs; another fault.
  void cut_by_guard() noexcept;
  /// Joint positions [rad] that the next write() is to follow: they are compared with the joints'.
  void set_reference(std::span<const double> q) noexcept;
  // From any thread: what a person is to do with the brakes, as of the last cycle, and that it is done.
  BrakeRequest brake_request() const noexcept { return brake_request_; }
  void confirm_brakes() noexcept { brakes_confirmed_ = true; }
  /// As the arm-power input showed it in the last read(); false without one.
  bool power_present() const noexcept { return seen_.power_present; }
  /// Whether other programs are kept off this arm; initially true.
  void set_claimed(bool claimed) noexcept { claimed_ = claimed; }
  /// Whether the guard process is alive; initially true.
  void set_guard_alive(bool alive) noexcept { guard_alive_ = alive; }
  void set_tool(int output, bool on) noexcept;      ///< 0, 1; others are ignored
  bool powered() const noexcept { return power_; }  ///< as written in the last cycle
  bool brakes_released() const noexcept { return brakes_released_; }
  /// State of the PCL-726's digital outputs, for the guard.
  std::uint16_t digital_outputs() const noexcept { return dacs_.outputs(); }

  /// Defines the present position as q. Only without torque: ready → calibrated.
  bool set_position(std::span<const double> q) noexcept;

  // Calibration after power-up (Calibrator).

  /// The present position is about q: ready → calibrating. Starts the index search.
  bool begin_calibration(std::span<const double> q) noexcept;
  /// After the stop (power_off()): counts + offsets are the true counts. Ready → calibrated.
  bool finish_calibration(std::span<const std::int64_t> offsets) noexcept;
  void begin_index_search() noexcept;
  void end_index_search() noexcept;
  /// Compares potentiometers with the encoders by this table from now on. Allocates.
  void use_table(const CalibrationTable& table) {
    table_ = table;
    pots_compared_ = 0;
  }
  /// The motors' true counts (zero where all joint angles are zero).
  std::array<double, 6> true_counts() const noexcept;

 private:
  void read_encoders(double period) noexcept;
  void read_pot() noexcept;
  void read_inputs() noexcept;
  void compare_pot(std::size_t joint) noexcept;
  void observe(std::span<const double> acceleration, bool restart) noexcept;
  void set_offsets(std::span<const double> q) noexcept;
  void cycle(bool fresh, std::span<const double> hold) noexcept;
  void output(const SafetyOutputs& allowed) noexcept;
  void all_off() noexcept;
  bool at_rest() const noexcept;
  Pcl833& counter(std::size_t joint, int& channel) noexcept;

  PortIo& io_;
  ArmSettings settings_;
  double nominal_period_;
  Transmission transmission_;
  SafetyMachine safety_;
  Pcl726 dacs_;  ///< first of the cards: 0 V before anything else
  Pcl818 analog_;
  std::array<Pcl833, 2> counters_;
  std::array<ga_hardware::VelocityObserver, 6> observers_;
  std::optional<CalibrationTable> table_;

  ArmReading reading_;
  SafetyInputs seen_;
  bool first_read_ = true;
  bool acceleration_fed_ = false;  ///< to the observers, in the last cycle
  bool searching_ = false;         ///< for index pulses
  bool guard_alive_ = true, claimed_ = true;
  bool stop_requested_ = false, guard_cut_ = false;
  std::atomic<BrakeRequest> brake_request_ = BrakeRequest::kNone;
  std::atomic<bool> brakes_confirmed_ = false;
  std::uint16_t inputs_wanted_ = 0;  ///< of the PCL-726, a bit each
  bool watchdog_ = false;            ///< level of the watchdog output
  int watchdog_missed_ = 0;          ///< of its read-backs, fading
  bool power_ = false, brakes_released_ = false;
  std::size_t pot_joint_ = 0;
  std::int64_t encoders_ns_ = 0;  ///< when they were read, on the bus's clock
  std::array<double, 6> count_offset_{};
  std::array<double, 6> pot_reference_{};  ///< potentiometer minus encoder, turns, at rest
  std::array<bool, 6> pot_known_{};
  unsigned pots_compared_ = 0;  ///< with the table since the calibration, a bit per joint
};

}  // namespace puma_hardware

#endif  // ARM__PUMA_ARM_HPP_
