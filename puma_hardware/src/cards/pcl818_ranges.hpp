// SPDX-License-Identifier: Apache-2.0
#ifndef CARDS__PCL818_RANGES_HPP_
#define CARDS__PCL818_RANGES_HPP_

// The input ranges of the PCL-818's variants. All functions are real-time safe and do not throw.

#include <cstdint>
#include <optional>

#include "cards/card_settings.hpp"

namespace puma_hardware {

struct AdRange {
  double lower = 0, upper = 0;  ///< V; code 0 is `lower`, code 4096 (never reached) is `upper`
  int settling = 1;             ///< conversions to discard after a channel change

  constexpr double volts(int code) const noexcept {
    return lower + (upper - lower) * code / 4096.0;
  }
};

constexpr int kRangeCodes = 12;  ///< codes are 0 … 11

/// Nothing if the variant has no such code. Only the 818L has `jumper_10v`.
std::optional<AdRange> ad_range(Pcl818Variant variant, bool jumper_10v, int code) noexcept;

/// The shortest time between two conversions [µs].
double conversion_us(Pcl818Variant variant) noexcept;

}  // namespace puma_hardware

#endif  // CARDS__PCL818_RANGES_HPP_
