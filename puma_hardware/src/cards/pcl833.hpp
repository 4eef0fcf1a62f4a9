// SPDX-License-Identifier: Apache-2.0
#ifndef CARDS__PCL833_HPP_
#define CARDS__PCL833_HPP_

// PCL-833: three 24-bit quadrature counters, x4 and free running. The driver extends the counts to
// 64 bits.

#include <array>
#include <cstdint>

#include "cards/card_settings.hpp"
#include "cards/port_io.hpp"

namespace puma_hardware {

class Pcl833 {
 public:
  /// `card` 0 or 1 of the settings. Tests the card's presence and starts all counters from zero; the
  /// arm must be at rest. Throws CardError.
  Pcl833(PortIo& io, const Pcl833Settings& settings, int card);

  // All real-time safe, none throws. `channel` 0 … 2.

  /// Latches, reads and extends the counter. Three accesses in the documented order, high byte
  /// first; up to nine after a step of more than 100 counts, of which one read may be torn (a card
  /// whose latch follows the counter). Needs a call at least every 2^23 counts.
  std::int64_t read(int channel) noexcept;
  /// The same during an index search: between two calls the index latches the counter instead of the
  /// read, which gives the count of the pulse: that of its leading edge, or of its last count if the
  /// card latches during the pulse. It is reported once, as soon as the counter is three counts
  /// beyond it, and not if the counter turned back within the pulse. Eleven accesses. A pulse within
  /// the few microseconds of the call itself is missed: callers check distances against the counts
  /// per revolution. Of several pulses between two calls only the last is seen; a pulse at the count
  /// of the previous call is not. read() and reset() end the search.
  struct IndexReading {
    std::int64_t count = 0;
    bool index_seen = false;
    std::int64_t index_count = 0;
  };
  void begin_index_search(int channel) noexcept;
  IndexReading read_with_index(int channel) noexcept;
  void end_index_search(int channel) noexcept;
  /// Sets the present count to `value` by a software offset. No port access.
  void set_count(int channel, std::int64_t value) noexcept;
  void reset(int channel) noexcept;       ///< the counter itself; reads as zero then
  bool overflowed(int channel) noexcept;  ///< the status byte is not zero; layout undocumented
  /// Whether the card is lost: the last reads of all three channels were FFFFFFh, and so is the
  /// status byte of the first, which is read only in this case.
  bool lost() noexcept;
  /// The last bytes at the channel's three read offsets, to determine Pcl833Settings::byte_offset.
  std::array<std::uint8_t, 3> last_bytes(int channel) const noexcept;

 private:
  struct Channel {
    std::array<std::uint8_t, 3> bytes{};  ///< by offset, as read last
    std::uint32_t raw = 0;                ///< 24 bits, the last live count
    std::int64_t total = 0;               ///< the same without wrap, since the last reset
    std::int64_t offset = 0;              ///< of set_count()
    std::uint32_t before_index = 0;       ///< what the latch holds without a pulse
    std::int64_t index_at = 0;            ///< as `total`, of the latched pulse
    bool index_forward = false;           ///< it was latched while counting up
    bool index_latched = false;           ///< and not reported yet
    bool searching = false;
  };

  void configure() noexcept;
  void test_presence();
  std::uint32_t read_raw(int channel) noexcept;
  std::uint32_t read_untorn(int channel) noexcept;
  std::int64_t read_live(int channel) noexcept;
  void set_latch(int channel, int source) noexcept;
  void await_index(int channel) noexcept;
  void write(int offset, int value) noexcept;
  std::uint8_t read_byte(int offset) noexcept;
  Channel& at(int channel) noexcept;

  PortIo& io_;
  Pcl833Settings settings_;
  std::uint16_t base_ = 0;
  int card_ = 0;
  std::array<Channel, 3> channels_{};
};

}  // namespace puma_hardware

#endif  // CARDS__PCL833_HPP_
