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
  kTimeout,       ///< not converted within the time-out
  kWrongChannel,  ///< the sample is another channel's, or the card no longer answers
};

struct AdSample {
  AdStatus status = AdStatus::kPending;
  int channel = 0;  ///< of the card, as asked for
  int code = 0;     ///< 0 … 4095
  double volts = 0;
  std::int64_t triggered_ns = 0;  ///< on the bus's clock
};

class Pcl818 {
 public:
  /// Tests that the card is there and prepares it; all channels get the settings' range. The D/A
  /// and the digital outputs are left alone. Throws CardError.
  Pcl818(PortIo& io, const Pcl818Settings& settings);

  // One conversion in a cycle, without waiting: trigger() at the cycle's begin converts the channel
  // that the collect() before selected (a cycle for the multiplexer to settle), collect() at its
  // end fetches the sample and selects `next`. Real-time safe, at most 8 port accesses together
  // (trigger 2, collect 5). Channels are 0 … 15; the card ignores higher bits.

  /// Selects the channel of the next conversion; forgets one under way. One port access.
  void select(int channel) noexcept;
  /// Nothing, while a conversion is under way.
  void trigger() noexcept;
  /// kPending, with the channel kept, until the time-out has passed; then kTimeout. kPending too if
  /// nothing was triggered; `next_channel` is selected then.
  AdSample collect(int next_channel) noexcept;

  /// One conversion from channel selection to value, settling conversions included; waits for it.
  /// Not for the control loop. Does not throw: see the status.
  AdSample convert(int channel) noexcept;

  /// Digital inputs 7…0 in one access; 15…8 in another.
  std::uint8_t read_inputs_low() noexcept;
  std::uint8_t read_inputs_high() noexcept;
  /// The thermal switches: bit 0 … 5 is set where the one of joint 1 … 6 says hot. One access if
  /// all are wired to the same eight inputs, otherwise two.
  std::uint8_t read_thermal() noexcept;
  /// Whether the card still gives back what was written. Real-time safe, one port access.
  bool answers() noexcept;

  double volts_per_code() const noexcept;
  bool differential() const noexcept { return differential_; }  ///< as its switch was at the start

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
