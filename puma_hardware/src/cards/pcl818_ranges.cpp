// SPDX-License-Identifier: Apache-2.0

#include "cards/pcl818_ranges.hpp"

#include <array>

namespace puma_hardware {

namespace {

// Range codes as written to +1. Linux comedi pcl818.c and MathWorks xPC adadvpcl818.c agree on
// every code; a Perl controller for the 818L (CTL_818) confirms its codes 0 to 3, the Advantech
// PCI-1718 manual confirms that code 3 is ±0.625 V. The 818L's ±10 V column: comedi alone.
// Settling: MathWorks xPC adadvpcl818.c alone; 1 conversion, on the 818HG 3, 15 or 100 by gain.
using Ranges = std::array<std::optional<AdRange>, kRangeCodes>;

constexpr AdRange bipolar(double volts, int settling = 1) { return {-volts, volts, settling}; }
constexpr AdRange unipolar(double volts, int settling = 1) { return {0, volts, settling}; }
constexpr std::optional<AdRange> kNone = std::nullopt;

constexpr Ranges kStandard{bipolar(5),   bipolar(2.5), bipolar(1.25), bipolar(0.625),
                           unipolar(10), unipolar(5),  unipolar(2.5), unipolar(1.25),
                           bipolar(10),  kNone,        kNone,         kNone};
constexpr Ranges kHighGain{bipolar(5, 3),   bipolar(0.5, 3), bipolar(0.05, 15), bipolar(0.005, 100),
                           unipolar(10, 3), unipolar(1, 3),  unipolar(0.1, 15), unipolar(0.01, 100),
                           bipolar(10, 3),  bipolar(1, 3),   bipolar(0.1, 15),  bipolar(0.01, 100)};
constexpr Ranges kLow5{bipolar(5), bipolar(2.5), bipolar(1.25), bipolar(0.625)};
constexpr Ranges kLow10{bipolar(10), bipolar(5), bipolar(2.5), bipolar(1.25)};

}  // namespace

std::optional<AdRange> ad_range(Pcl818Variant variant, bool jumper_10v, int code) noexcept {
  if (code < 0 || code >= kRangeCodes) return std::nullopt;
  const Ranges& ranges = variant == Pcl818Variant::k818HG  ? kHighGain
                         : variant != Pcl818Variant::k818L ? kStandard
                         : jumper_10v                      ? kLow10
                                                           : kLow5;
  return ranges[static_cast<std::size_t>(code)];
}

double conversion_us(Pcl818Variant variant) noexcept {
  // 40 and 100 kS/s: Linux comedi pcl818.c; Advantech data sheet PCL-818L/HD/HG.
  return variant == Pcl818Variant::k818L ? 25 : 10;
}

}  // namespace puma_hardware
