// SPDX-License-Identifier: Apache-2.0
#include "arm/calibration_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace puma_hardware {

namespace {

/// First entry of the segment to use; the end segments extrapolate.
template <typename Before>
std::size_t segment(const std::vector<IndexEntry>& entries, const Before& before) noexcept {
  const auto after = std::partition_point(entries.begin(), entries.end(), before);
  const auto at = static_cast<std::size_t>(after - entries.begin());
  return std::clamp<std::size_t>(at, 1, entries.size() - 1) - 1;
}

double slope(const IndexEntry& from, const IndexEntry& to) noexcept {
  return (to.volts - from.volts) / static_cast<double>(to.count - from.count);
}

std::size_t segment_at_count(const std::vector<IndexEntry>& entries, double count) noexcept {
  return segment(entries, [count](const IndexEntry& entry) {
    return static_cast<double>(entry.count) <= count;
  });
}

}  // namespace

double JointTable::volts_per_count(double count) const noexcept {
  const std::size_t k = segment_at_count(entries, count);
  return slope(entries[k], entries[k + 1]);
}

double JointTable::volts_at(double count) const noexcept {
  const std::size_t k = segment_at_count(entries, count);
  return entries[k].volts +
         slope(entries[k], entries[k + 1]) * (count - static_cast<double>(entries[k].count));
}

double JointTable::count_at(double volts) const noexcept {
  const bool rising = entries.back().volts > entries.front().volts;
  const std::size_t k = segment(entries, [volts, rising](const IndexEntry& entry) {
    return rising ? entry.volts <= volts : entry.volts >= volts;
  });
  return static_cast<double>(entries[k].count) +
         (volts - entries[k].volts) / slope(entries[k], entries[k + 1]);
}

double JointTable::lowest_volts() const noexcept {
  return std::min(entries.front().volts, entries.back().volts);
}

double JointTable::highest_volts() const noexcept {
  return std::max(entries.front().volts, entries.back().volts);
}

void CalibrationTable::validate(const ArmSettings& settings) const {
  for (std::size_t i = 0; i < 6; ++i) {
    const JointSettings& joint = settings.joints[i];
    const auto& entries = joints[i].entries;
    const std::string what = "calibration table of " + joint.name + ": ";
    if (entries.size() < 2) {
      throw CardError(what + "it has " + std::to_string(entries.size()) +
                      " index pulses, at least 2 are needed; move the joint further when building");
    }
    const auto per_rev = static_cast<std::int64_t>(joint.counts_per_rev);
    const int direction = joint.encoder_direction * joint.pot_direction;
    for (std::size_t k = 1; k < entries.size(); ++k) {
      const IndexEntry &before = entries[k - 1], &entry = entries[k];
      const std::int64_t step = entry.count - before.count;
      const std::string between = "between the index pulses at counts " +
                                  std::to_string(before.count) + " and " +
                                  std::to_string(entry.count);
      if (step <= 0 || step % per_rev != 0) {
        throw CardError(what + between + " the distance is not a multiple of " +
                        std::to_string(per_rev) +
                        " counts; check encoder_counts_per_rev and the index wire");
      }
      const double volts = direction * (entry.volts - before.volts);
      const double expected =
          joint.pot_volts_per_rev * static_cast<double>(step) / joint.counts_per_rev;
      if (!(volts > 0.5 * expected && volts < 2 * expected)) {
        char numbers[160];
        std::snprintf(numbers, sizeof numbers,
                      " the potentiometer changes by %.4f V, %.4f V expected; check pot_direction, "
                      "pot_volts_per_rev and pcl818.pot_channel",
                      direction * volts, direction * expected);
        throw CardError(what + between + numbers);
      }
    }
  }
}

}  // namespace puma_hardware
