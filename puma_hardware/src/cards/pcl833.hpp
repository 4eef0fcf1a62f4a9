// SPDX-License-Identifier: Apache-2.0
#ifndef CARDS__PCL833_HPP_
#define CARDS__PCL833_HPP_

// PCL-833: three 24-bit quadrature counters. Counting x4, free running; the driver extends the
// counts to 64 bits.

#include <array>
#include <cstdint>

#include "cards/card_settings.hpp"
#include "cards/port_io.hpp"

namespace puma_hardware {

class Pcl833 {
 public:
  /// `card` 0 or 1 of the settings. Tests that something answers and starts all three counters from
  /// zero. Keep the arm at rest meanwhile. Throws CardError.
  Pcl833(PortIo& io, const Pcl833Settings& settings, int card);

  // All real-time safe, none throws. `channel` 0 … 2.

  /// Latches and reads the counter (three accesses, high byte first as the documented order wants)
  /// and extends it: right as long as it is called before the counter has gone 2^23 counts.
  std::int64_t read(int channel) noexcept;
  /// The same while looking for index pulses: between two calls the index, not the read, latches
  /// the counter, so a pulse leaves the count at which it came. Eight accesses. A pulse within the
  /// few microseconds of the call itself is missed: callers check distances against the counts per
  /// revolution. Of several pulses between two calls the last is seen; one at the very count of the
  /// call before is not. read() and reset() end the search.
  struct IndexReading {
    std::int64_t count = 0;
    bool index_seen = false;
    std::int64_t index_count = 0;
  };
  void begin_index_search(int channel) noexcept;
  IndexReading read_with_index(int channel) noexcept;
  void end_index_search(int channel) noexcept;
  /// Software offset: makes the present count read as `value`. No port access.
  void set_count(int channel, std::int64_t value) noexcept;
  void reset(int channel) noexcept;       ///< the counter itself; reads as zero then
  bool overflowed(int channel) noexcept;  ///< the status byte is not zero; layout undocumented
  /// Whether the card has gone: the last reads of all three channels were FFFFFFh, and so is the
  /// status byte of the first. A port access only in the rare case of the former.
  bool lost() noexcept;
  /// The bytes at the channel's three read offsets as read() or read_with_index() last saw them:
  /// for finding out Pcl833Settings::byte_offset.
  std::array<std::uint8_t, 3> last_bytes(int channel) const noexcept;

 private:
  struct Channel {
    std::array<std::uint8_t, 3> bytes{};  ///< by offset, as read last
    std::uint32_t raw = 0;                ///< 24 bits, the last live count
    std::int64_t total = 0;               ///< the same without wrap, since the last reset
    std::int64_t offset = 0;              ///< of set_count()
    bool searching = false;
  };

  void configure() noexcept;
  void test_presence();
  std::uint32_t read_raw(int channel) noexcept;
  std::int64_t read_live(int channel) noexcept;
  void set_latch(int channel, int source) noexcept;
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
