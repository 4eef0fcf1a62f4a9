// SPDX-License-Identifier: Apache-2.0
#ifndef CARDS__PCL818_HPP_
#define CARDS__PCL818_HPP_

// PCL-818 (818, L, H, HD, HG): A/D by software trigger, digital inputs.

#include <cstdint>

#include "cards/card_settings.hpp"
#include "cards/pcl818_ranges.hpp"
#include "cards/port_io.hpp"

namespace puma_hardware {

enum class AdStatus {
  kOk,
  kPending,       ///< not converted yet
  kTimeout,       ///< no end of conversion within the time-out
  kWrongChannel,  ///< the sample is another channel's, or the card no longer answers
};

struct AdSample {
  AdStatus status = AdStatus::kPending;
  int channel = 0;  ///< of the card, as requested
  int code = 0;     ///< 0 … 4095
  double volts = 0;
  std::int64_t triggered_ns = 0;  ///< on the bus's clock
};

class Pcl818 {
 public:
  /// Tests the card's presence and configures it: all channels get the settings' range. Does not
  /// touch the D/A and the digital outputs. Throws CardError.
  Pcl818(PortIo& io, const Pcl818Settings& settings);

  // One conversion per cycle, without waiting. trigger() at the beginning of a cycle converts the
  // channel that the previous collect() selected, so that the multiplexer has a cycle to settle;
  // collect() at its end returns the sample and selects the next channel. Real-time safe, at most 8
  // port accesses (trigger 2, collect 5). Channels are 0 … 15; the card ignores higher bits.

  /// Selects the channel of the next conversion; discards one in progress. One port access.
  void select(int channel) noexcept;
  /// No effect during a conversion.
  void trigger() noexcept;
  /// kPending, with the channel unchanged, until the time-out; then kTimeout. Without a trigger also
  /// kPending, but selects `next_channel`.
  AdSample collect(int next_channel) noexcept;

  /// One conversion with channel selection and settling conversions; waits for its end. Not for the
  /// control loop. Does not throw: see the status.
  AdSample convert(int channel) noexcept { return convert(channel, range_.settling); }
  /// The same with so many settling conversions.
  AdSample convert(int channel, int settling) noexcept;

  /// Digital inputs 7…0 and 15…8; one access each.
  std::uint8_t read_inputs_low() noexcept;
  std::uint8_t read_inputs_high() noexcept;
  /// Thermal switches: bit 0 … 5 is set if joint 1 … 6 is too hot. One access if all are wired to the
  /// same eight inputs, otherwise two.
  std::uint8_t read_thermal() noexcept;
  /// Whether a register still reads back as written. Real-time safe, one port access.
  bool answers() noexcept;

  double volts_per_code() const noexcept;
  int settling() const noexcept { return range_.settling; }     ///< conversions of convert()
  bool differential() const noexcept { return differential_; }  ///< switch setting at the start

 private:
  void test_presence();
  AdSample fetch() noexcept;
  std::uint8_t read(int offset) noexcept;
  void write(int offset, int value) noexcept;

  PortIo& io_;
  Pcl818Settings settings_;
  AdRange range_;
  std::int64_t timeout_ns_ = 0;
  bool differential_ = false;
  bool thermal_low_ = false, thermal_high_ = false;  ///< inputs 7…0, 15…8 hold thermal switches

  int channel_ = 0;
  bool pending_ = false;
  std::int64_t triggered_ns_ = 0;
};

}  // namespace puma_hardware

#endif  // CARDS__PCL818_HPP_
