// SPDX-License-Identifier: Apache-2.0
#ifndef ARM__CALIBRATION_TABLE_HPP_
#define ARM__CALIBRATION_TABLE_HPP_

// Potentiometer voltage at each index pulse of each motor. Built once, with the arm at a known
// position. After power-up the potentiometers give the turn of each motor and the index pulses the
// position within the turn (the two steps of Trident's trajq.c). Counts are those of the motors,
// before the wrist coupling, and zero at zero joint angles.

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

/// Of one motor; counts increase, volts are monotonic; at least four entries. The functions are
/// real-time safe and do not throw; beyond the table they extrapolate.
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

  /// Throws CardError naming the joint: fewer than four entries, index pulses far beyond the joint's
  /// limits or not whole turns apart, volts that are not monotonic or contradict the settings.
  void validate(const ArmSettings& settings) const;
};

/// The motors' counts over all positions that the joint limits allow.
struct CountRange {
  std::array<double, 6> low, high;
};
CountRange count_range(const ArmSettings& settings);

// The file: JSON with a version, the settings that the table depends on, and the table.

/// Throws CardError if save_calibration() could not write the file: also if it is a folder or a device.
void check_writable(const std::string& path);
/// Written to a temporary file in the same folder, synced and renamed, so that the file is always
/// complete; a link stays, the file that it names is replaced. Throws CardError naming the file.
void save_calibration(const std::string& path, const CalibrationTable& table,
                      const ArmSettings& settings);
/// Throws CardError naming the file and the faulty element.
CalibrationTable load_calibration(const std::string& path, const ArmSettings& settings);

}  // namespace puma_hardware

#endif  // ARM__CALIBRATION_TABLE_HPP_
