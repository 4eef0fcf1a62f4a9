// SPDX-License-Identifier: Apache-2.0

// Emulated PCL-833.
//
//   offset       read                          write
//   +0, +1, +2   channel 1, count bytes        mode of channel 1, 2, 3
//   +3           channel 1, overflow           latch source of channel 1
//   +4, +5, +6   channel 2, count bytes        latch source 2; latch source 3; +6: free running
//   +7           channel 2, overflow           reset
//   +8, +9, +A   channel 3, count bytes        filter clock and width; timer base; timer divider
//   +B           channel 3, overflow
//   +E           general status
//
// Source: the S.Ha.R.K. kernel's driver, a port of Advantech's DOS driver; codes also in
// Advantech's SDK header. Latch, reset and width of the index pulse are unknown: see CardBehavior.
// Other unknown behavior is emulated in the way that exposes driver errors:
//   - holding on overflow also holds at an underflow, so a counter that starts at 0 cannot count
//     down;
//   - the overflow byte is set by every wrap, of free-running counters too, until the reset.

#include <algorithm>
#include <optional>

#include "emulator/cards_state.hpp"

namespace puma_hardware::emulator {

namespace {

using Channel = Pcl833State::Channel;
constexpr std::int64_t kTop = 0xFFFFFF;
constexpr std::uint8_t kBit3 = 8;
enum LatchSource : unsigned { kSoftware = 0, kIndex = 1, kTimer = 4 };

std::int64_t floor_divide(std::int64_t a, std::int64_t b) noexcept {
  return a / b - (a % b < 0 ? 1 : 0);
}

void reset(Channel& channel) noexcept {
  channel.count = (channel.mode & kBit3) != 0 ? 0x800000 : 0;
  channel.overflow = channel.held = false;
}

/// Counts the edges between two positions of the encoder.
void count_edges(const CardsState& state, const Pcl833State& card, std::size_t number,
                 Channel& channel, std::int64_t from, std::int64_t to) noexcept {
  static constexpr int kEdges[] = {0, 4, 2, 1};  // per count: modes off, x1, x2, x4
  const unsigned mode = channel.mode & 7u;
  const bool held_at_reset =
      state.behavior.counter_reset == CounterReset::kLevel && (card.reset >> number & 1) != 0;
  if (mode == 0 || mode > 3 || channel.held || held_at_reset) return;
  const std::int64_t count =
      channel.count + floor_divide(to, kEdges[mode]) - floor_divide(from, kEdges[mode]);
  if (count < 0 || count > kTop) {
    channel.overflow = true;
    if ((card.free_running >> number & 1) == 0) {
      channel.held = true;
      channel.count = static_cast<std::uint32_t>(count < 0 ? 0 : kTop);
      return;
    }
  }
  channel.count = static_cast<std::uint32_t>(count & kTop);
}

void latch(Channel& channel, bool stuck_bit) noexcept {
  channel.latch = channel.count | (stuck_bit ? kBit3 : 0u);
  if ((channel.latch_source & kBit3) != 0) reset(channel);
}

int joint_of(const CardsState& state, int card, unsigned channel) noexcept {
  for (int joint = 0; joint < 6; ++joint) {
    const int wire = state.settings.pcl833.channel[static_cast<std::size_t>(joint)];
    if (wire == card * 3 + static_cast<int>(channel)) return joint;
  }
  return -1;
}

bool stuck_bit(const CardsState& state, int joint) noexcept {
  return joint >= 0 && state.faulty(CardFault::kEncoderStuckBit, joint);
}

Channel& wired(CardsState& state, int joint, Pcl833State*& card, std::size_t& number) noexcept {
  const auto wire =
      static_cast<std::size_t>(state.settings.pcl833.channel[static_cast<std::size_t>(joint)]);
  card = &state.pcl833[wire / 3];
  number = wire % 3;
  return card->channels[number];
}

bool index_arrives(const CardsState& state, int joint) noexcept {
  return joint >= 0 && !state.faulty(CardFault::kIndexLost, joint);
}

/// Start of the last pulse that begins at or below the position.
std::int64_t pulse_before(const Channel& channel, std::int64_t position) noexcept {
  return floor_divide(position - channel.index_phase, channel.counts_per_rev) *
             channel.counts_per_rev +
         channel.index_phase;
}

bool in_pulse(const Channel& channel, std::int64_t position, int width) noexcept {
  return channel.counts_per_rev > 0 && position - pulse_before(channel, position) <= width;
}

/// The last position within a pulse on the path to another position.
std::optional<std::int64_t> last_in_pulse(const Channel& channel, std::int64_t from,
                                          std::int64_t to, int width) noexcept {
  if (in_pulse(channel, to, width)) return to;
  const std::int64_t start = pulse_before(channel, to);
  const std::int64_t end = to > from ? start + width : start + channel.counts_per_rev;
  if (to > from ? end >= from : end <= from) return end;
  return std::nullopt;
}

void set_latch_source(CardsState& state, int card, unsigned number, std::uint8_t source) noexcept {
  Channel& channel = state.pcl833[static_cast<std::size_t>(card)].channels[number];
  channel.latch_source = source;
  const int joint = joint_of(state, card, number);
  if ((source & 7) == kIndex && state.behavior.index_latch == Latch::kFollow &&
      index_arrives(state, joint) &&
      in_pulse(channel, channel.position, state.behavior.index_width)) {
    latch(channel, stuck_bit(state, joint));
  }
}

}  // namespace

std::uint8_t read_pcl833(CardsState& state, int card, const Access& access) noexcept {
  if (access.offset == 0xE) return 0;  // general status: layout unknown
  if (access.offset > 0xB) {
    record(state, access, Illegal::kUnlisted);
    return 0xFF;
  }
  const unsigned number = access.offset / 4, offset = access.offset % 4;
  Channel& channel = state.pcl833[static_cast<std::size_t>(card)].channels[number];
  if (offset == 3) return channel.overflow ? 1 : 0;

  // The documented order is +2, +0, +1, whichever of them holds the high byte.
  const bool stuck = stuck_bit(state, joint_of(state, card, number));
  const bool by_software = (channel.latch_source & 7) == kSoftware;
  if (offset == 2) {
    if (by_software) latch(channel, stuck);
    channel.next_byte = 0;
  } else {
    if (by_software && state.behavior.read_latch == Latch::kFollow) {
      channel.latch = channel.count | (stuck ? kBit3 : 0u);
    }
    if (offset != channel.next_byte) record(state, access, Illegal::kCounterOrder);
    channel.next_byte = offset == 0 ? 1 : 2;
  }
  const std::array<int, 3>& bytes = state.settings.pcl833.byte_offset;
  const auto significance =
      std::find(bytes.begin(), bytes.end(), static_cast<int>(offset)) - bytes.begin();
  return static_cast<std::uint8_t>(channel.latch >> (8 * significance) & 0xFF);
}

void write_pcl833(CardsState& state, int card_number, const Access& access) noexcept {
  Pcl833State& card = state.pcl833[static_cast<std::size_t>(card_number)];
  const unsigned low = access.value & 7u;
  bool known = access.value < 16, emulated = true;
  switch (access.offset) {
    case 0x0:
    case 0x1:
    case 0x2:
      known = known && low != 6;
      emulated = low < 4;
      card.channels[access.offset].mode = access.value & 0xF;
      break;
    case 0x3:
    case 0x4:
    case 0x5:
      known = known && low <= 4;
      emulated = low != kTimer;
      set_latch_source(state, card_number, access.offset - 3, access.value & 0xF);
      break;
    case 0x6:
      known = access.value < 8;
      card.free_running = access.value & 7;
      break;
    case 0x7:
      known = access.value < 8;
      card.reset = access.value & 7;
      for (std::size_t i = 0; i < 3; ++i) {
        if ((card.reset >> i & 1) != 0) reset(card.channels[i]);
      }
      break;
    case 0x8:
      known = known && (access.value & 3) != 3;
      emulated = (access.value & 0xC) == 0;
      break;
    case 0x9:
      known = known && low <= 4;
      break;
    case 0xA:
      known = true;
      break;
    default:
      record(state, access, Illegal::kUnlisted);
      return;
  }
  if (!known) {
    record(state, access, Illegal::kValue);
  } else if (!emulated) {
    record(state, access, Illegal::kNotEmulated);
  }
}

void move_encoder(CardsState& state, int joint, std::int64_t to, int counts_per_rev,
                  int index_phase) noexcept {
  Pcl833State* card = nullptr;
  std::size_t number = 0;
  Channel& channel = wired(state, joint, card, number);
  channel.counts_per_rev = counts_per_rev;
  channel.index_phase = index_phase;
  const std::int64_t from = channel.position;
  channel.position = to;
  if (from == to || state.faulty(CardFault::kEncoderFrozen, joint)) return;

  std::int64_t at = from;
  const bool listening =
      counts_per_rev > 0 && (channel.latch_source & 7) == kIndex && index_arrives(state, joint);
  const bool stuck = stuck_bit(state, joint);
  if (listening && state.behavior.index_latch == Latch::kFollow) {
    if (const auto last = last_in_pulse(channel, from, to, state.behavior.index_width)) {
      count_edges(state, *card, number, channel, at, *last);
      latch(channel, stuck);
      at = *last;
    }
  } else if (listening) {
    // Only the leading edges of the first and the last pulse on the path matter and, if each resets
    // the counter, the distance of two.
    const bool up = to > from;
    const int edge = index_phase + (up ? 0 : state.behavior.index_width);
    const auto before = [&](std::int64_t position) {  // the last one at or below
      return floor_divide(position - edge, counts_per_rev) * counts_per_rev + edge;
    };
    const std::int64_t first = up ? before(from) + counts_per_rev : before(from - 1);
    const std::int64_t last = up ? before(to) : before(to - 1) + counts_per_rev;
    if (up ? last >= first : last <= first) {
      count_edges(state, *card, number, channel, at, first);
      at = first;
      if (last != first) {
        if ((channel.latch_source & kBit3) != 0) {
          reset(channel);
          at = last + (up ? -counts_per_rev : counts_per_rev);
        }
        count_edges(state, *card, number, channel, at, last);
        at = last;
      }
      latch(channel, stuck);
    }
  }
  count_edges(state, *card, number, channel, at, to);
}

void jump_encoder(CardsState& state, int joint, std::int32_t counts) noexcept {
  Pcl833State* card = nullptr;
  std::size_t number = 0;
  Channel& channel = wired(state, joint, card, number);
  channel.count = static_cast<std::uint32_t>((channel.count + counts) & kTop);
}

}  // namespace puma_hardware::emulator
