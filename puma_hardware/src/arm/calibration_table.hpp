// SPDX-License-Identifier: Apache-2.0
#ifndef ARM__CALIBRATION_TABLE_HPP_
#define ARM__CALIBRATION_TABLE_HPP_

// Which potentiometer voltage belongs to which index pulse of each motor. Built once, with the arm
// at a known position; at every power-up it tells from the potentiometers which turn the motors are
// in, and from their index pulses where in the turn (the two steps of Trident's trajq.c). Counts
// are of the motors, before the wrist's coupling, and zero where all joint angles are zero.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "arm/arm_settings.hpp"

namespace puma_hardware {

struct IndexEntry {
  std::int64_t count = 0;  ///< of the index pulse
  double volts = 0;        ///< of the potentiometer there
};

/// Of one motor; entries rise by count, and by volts all the same way. At least two entries. The
/// functions are real-time safe and do not throw; outside the table they continue its ends.
struct JointTable {
  std::vector<IndexEntry> entries;

  double volts_at(double count) const noexcept;
  double count_at(double volts) const noexcept;
  double volts_per_count(double count) const noexcept;  ///< slope there, signed
  double lowest_volts() const noexcept;
  double highest_volts() const noexcept;
};

struct CalibrationTable {
  std::array<JointTable, 6> joints;

  /// Throws CardError naming the joint: fewer than two entries, index pulses that are not whole
  /// turns apart, volts that do not rise or fall all the way, or not as the settings say.
  void validate(const ArmSettings& settings) const;
};

// The file: JSON with a version, the settings that the table depends on, and the table.

/// Written beside the target, synced and renamed over it, so that there is always a whole file.
/// Throws CardError naming the file.
void save_calibration(const std::string& path, const CalibrationTable& table,
                      const ArmSettings& settings);
/// Throws CardError naming the file and what does not fit.
CalibrationTable load_calibration(const std::string& path, const ArmSettings& settings);

}  // namespace puma_hardware

#endif  // ARM__CALIBRATION_TABLE_HPP_
