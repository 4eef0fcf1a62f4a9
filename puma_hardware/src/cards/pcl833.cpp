// SPDX-License-Identifier: Apache-2.0

#include "cards/pcl833.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace puma_hardware {

namespace {

// Registers, relative to the base; reads and writes of one offset are different registers, so
// nothing written can be read back. No manual of this card was found. Offsets come from one source
// alone, the S.Ha.R.K. real-time kernel's drivers/pcl833 (2001), a port of Advantech's DOS driver;
// the code values agree with Advantech's Windows SDK header Driver.h.
enum WriteRegister {
  kMode = 0x0,  // +0 +1 +2, a channel each: bits 2-0 input mode, bit 3 reset value 0 or middle
  kLatchSource = 0x3,  // +3 +4 +5, a channel each: bits 2-0 source, bit 3 reset when latched
  kFreeRunning = 0x6,  // bit per channel: 0 hold on overflow, 1 count on
  kReset = 0x7,    // bit per channel: 1 reset. Strobe or level: unknown, so 0 is written after it
  kClock = 0x8,    // bits 1-0 filter clock 8, 4, 2 MHz; bits 3-2 width, 0 = 24 bits
  kTimer = 0x9,    // bits 2-0 time base; bit 3 interrupt source: 0 DI1, 1 timer
  kDivider = 0xA,  // of the timer
};
// Reads, a channel every four offsets: three count bytes and the overflow byte, whose bits are
// unknown. Which count byte is low, middle and high is unknown: a setting. +E, the general status,
// and the write offsets +B-+F are not touched.
constexpr int kStride = 4, kOverflow = 3;
// In this order; reading the first latches the count if the source is software (inferred: no latch
// command exists in any source).
constexpr int kReadOrder[] = {2, 0, 1};

constexpr int kModeOff = 0, kModeQuadratureX4 = 3;
constexpr int kLatchSoftware = 0, kLatchIndex = 1;
constexpr int kAllChannels = 7;
constexpr int kTimerInterrupt = 8;  // as Advantech's driver starts; the timer is not used

// Whether a software latch holds all three bytes is unknown. Bytes of a running counter may be torn:
// one of them is read before a carry and another one after it, which shows as a step of about 256 or
// 65 536 counts. Larger steps are therefore read again.
constexpr std::int64_t kSureStep = 100;
constexpr int kReads = 3;
// Whether the index latches at an edge or as long as its pulse lasts is unknown too. A latched count
// is reported once the counter is farther from it than it moves between the two reads of a call.
constexpr std::int64_t kClearOfIndex = 2;
// A counter that turns back within the pulse has latched the wrong one of its edges: the count is
// dropped at this distance, which is more than a stuck bit of the counter fakes.
constexpr std::int64_t kTurnedBack = 16;

constexpr int kChannels = 3;
constexpr std::uint32_t kMask24 = 0xFFFFFF;
constexpr int kAbsent = 0xFF;

/// Difference of two 24-bit counts, modulo 2^24.
std::int64_t difference(std::uint32_t to, std::uint32_t from) noexcept {
  const auto delta = static_cast<std::int32_t>((to - from) & kMask24);
  return delta < 0x800000 ? delta : delta - 0x1000000;
}

}  // namespace

Pcl833::Pcl833(PortIo& io, const Pcl833Settings& settings, int card)
    : io_(io), settings_(settings), card_(card) {
  validate(settings);
  if (card < 0 || card > 1) {
    throw CardError("PCL-833: there is no card " + std::to_string(card) + "; give 0 or 1");
  }
  base_ = settings.base[static_cast<std::size_t>(card)];
  configure();
  test_presence();
}

void Pcl833::configure() noexcept {
  for (int channel = 0; channel < kChannels; ++channel) {
    write(kMode + channel, kModeOff);
    set_latch(channel, kLatchSoftware);
  }
  write(kClock, static_cast<int>(settings_.filter));
  write(kTimer, kTimerInterrupt);
  write(kDivider, 0);
  write(kFreeRunning, kAllChannels);
  for (int channel = 0; channel < kChannels; ++channel) write(kMode + channel, kModeQuadratureX4);
  write(kReset, kAllChannels);
  write(kReset, 0);
}

/// After the reset the counters must be near zero: no other register identifies a PCL-833.
void Pcl833::test_presence() {
  bool answered = false, near_zero = true;
  std::string seen;
  for (int channel = 0; channel < kChannels; ++channel) {
    read(channel);
    const auto& bytes = at(channel).bytes;
    const int overflow = read_byte(kStride * channel + kOverflow);
    answered |= overflow != kAbsent;
    for (const int byte : bytes) answered |= byte != kAbsent;
    // Near zero, two of the three bytes are 00h or FFh, in any byte order.
    near_zero &= std::count(bytes.begin(), bytes.end(), 0x00) >= 2 ||
                 std::count(bytes.begin(), bytes.end(), kAbsent) >= 2;
    char text[32];
    std::snprintf(text, sizeof text, " %02X %02X %02X", unsigned{bytes[0]}, unsigned{bytes[1]},
                  unsigned{bytes[2]});
    seen += text;
  }
  if (answered && near_zero) return;
  char text[320];
  std::snprintf(
      text, sizeof text,
      "%s PCL-833: %s at 0x%X (count bytes%s after a reset); check pcl833.base against "
      "the card's switches",
      card_ == 0 ? "first" : "second",
      answered ? "a card answers, but its counters do not reset to zero," : "nothing answers",
      unsigned{base_}, seen.c_str());
  throw CardError(text);
}

std::int64_t Pcl833::read(int channel) noexcept {
  // During an index search the latch holds an old count.
  if (at(channel).searching) end_index_search(channel);
  return read_live(channel);
}

std::int64_t Pcl833::read_live(int channel) noexcept {
  Channel& c = at(channel);
  const std::uint32_t raw = read_untorn(channel);
  c.total += difference(raw, c.raw);
  c.raw = raw;
  return c.total + c.offset;
}

/// Of three reads at most one is torn: carries are 256 counts apart.
std::uint32_t Pcl833::read_untorn(int channel) noexcept {
  std::uint32_t before = at(channel).raw, raw = before;
  for (int reads = 0; reads < kReads; ++reads) {
    raw = read_raw(channel);
    if (std::abs(difference(raw, before)) <= kSureStep) return raw;
    before = raw;
  }
  return raw;
}

void Pcl833::begin_index_search(int channel) noexcept {
  read(channel);
  await_index(channel);
  at(channel).searching = true;
}

/// What the latch holds until the next index pulse: usually the last count, but a card whose latch
/// follows the counter may have another one.
void Pcl833::await_index(int channel) noexcept {
  set_latch(channel, kLatchIndex);
  at(channel).before_index = read_raw(channel);
}

Pcl833::IndexReading Pcl833::read_with_index(int channel) noexcept {
  Channel& c = at(channel);
  if (!c.searching) begin_index_search(channel);
  IndexReading reading;
  if (const std::uint32_t latched = read_raw(channel); latched != c.before_index) {
    const std::int64_t step = difference(latched, c.raw);
    c.index_at = c.total + step;
    c.index_forward = step > 0;
    c.index_latched = true;
  }
  set_latch(channel, kLatchSoftware);
  reading.count = read_live(channel);
  await_index(channel);
  const std::int64_t beyond = c.index_forward ? c.total - c.index_at : c.index_at - c.total;
  reading.index_seen = c.index_latched && beyond > kClearOfIndex;
  reading.index_count = c.index_at + c.offset;
  c.index_latched = c.index_latched && beyond <= kClearOfIndex && beyond >= -kTurnedBack;
  return reading;
}

void Pcl833::end_index_search(int channel) noexcept {
  set_latch(channel, kLatchSoftware);
  at(channel).searching = at(channel).index_latched = false;
}

void Pcl833::set_count(int channel, std::int64_t value) noexcept {
  at(channel).offset = value - at(channel).total;
}

void Pcl833::reset(int channel) noexcept {
  Channel& c = at(channel);
  if (c.searching) end_index_search(channel);
  write(kReset, 1 << channel);
  write(kReset, 0);
  c = Channel{};
}

bool Pcl833::overflowed(int channel) noexcept {
  return read_byte(kStride * channel + kOverflow) != 0;
}

bool Pcl833::lost() noexcept {
  for (const Channel& c : channels_) {
    if (c.raw != kMask24) return false;
  }
  return read_byte(kOverflow) == kAbsent;
}

std::array<std::uint8_t, 3> Pcl833::last_bytes(int channel) const noexcept {
  return channels_[static_cast<std::size_t>(channel)].bytes;
}

std::uint32_t Pcl833::read_raw(int channel) noexcept {
  auto& bytes = at(channel).bytes;
  for (const int offset : kReadOrder) {
    bytes[static_cast<std::size_t>(offset)] = read_byte(kStride * channel + offset);
  }
  const auto byte = [&](int significance) {
    const int offset = settings_.byte_offset[static_cast<std::size_t>(significance)];
    return std::uint32_t{bytes[static_cast<std::size_t>(offset)]};
  };
  return byte(0) | byte(1) << 8 | byte(2) << 16;
}

void Pcl833::set_latch(int channel, int source) noexcept { write(kLatchSource + channel, source); }

void Pcl833::write(int offset, int value) noexcept {
  io_.write(static_cast<std::uint16_t>(base_ + offset), static_cast<std::uint8_t>(value));
}

std::uint8_t Pcl833::read_byte(int offset) noexcept {
  return io_.read(static_cast<std::uint16_t>(base_ + offset));
}

Pcl833::Channel& Pcl833::at(int channel) noexcept {
  return channels_[static_cast<std::size_t>(channel)];
}

}  // namespace puma_hardware
