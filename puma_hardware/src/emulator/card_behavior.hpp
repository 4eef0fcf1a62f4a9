// SPDX-License-Identifier: Apache-2.0
#ifndef EMULATOR__CARD_BEHAVIOR_HPP_
#define EMULATOR__CARD_BEHAVIOR_HPP_

// Behavior of the cards that no source documents. The emulator can have it either way; the drivers
// work with all of it, or `puma cards probe` names what does not work.

#include <cstdint>

namespace puma_hardware::emulator {

/// A latch holds the value of one moment, or follows the counter.
enum class Latch { kHold, kFollow };
enum class CounterReset {
  kLevel,  ///< the counter stays at its reset value while its bit is set
  kStrobe  ///< it is reset once, when the bit is written
};

struct CardBehavior {
  /// PCL-833, latch source index. Hold: the count at the leading edge of the pulse. Follow: the count
  /// during the pulse, then the last one of it.
  Latch index_latch = Latch::kHold;
  /// PCL-833, latch source software. Hold: reading +2 latches all three bytes. Follow: each read gives
  /// its byte of the present count.
  Latch read_latch = Latch::kHold;
  CounterReset counter_reset = CounterReset::kLevel;
  int index_width = 0;             ///< PCL-833: counts from the first to the last of an index pulse
  bool inputs_float_high = false;  ///< PCL-726: digital inputs without a wire read 1
  std::uint16_t power_up_code = 0;  ///< PCL-726: of all six converters, 0 … 4095
  /// PCL-818: s until the voltage behind the multiplexer is within a quarter of a code after a change
  /// of channel. Below 0: as many conversions as xPC Target discards.
  double settling_time = -1;
  bool differential = false;  ///< PCL-818: switched to eight differential inputs
};

}  // namespace puma_hardware::emulator

#endif  // EMULATOR__CARD_BEHAVIOR_HPP_
