// SPDX-License-Identifier: Apache-2.0

// Emulated PCL-818 (818, L, H, HD, HG).
//
//   offset  read                          write
//   +0      AD3…0 << 4 | channel          any: trigger
//   +1      AD11…4                        range code of the start channel
//   +2      multiplexer                   stop channel << 4 | start channel
//   +3, +B  digital inputs 7…0, 15…8      digital outputs 7…0, 15…8
//   +4, +5                                D/A low << 4, high
//   +6, +7                                second D/A (818); +6: FIFO on or off (HD, HG)
//   +8      status                        any: clear data-ready
//   +9      control                       control
//   +A                                    counter enable
//   +C…+F   8254
//   +14, +17…+19                          FIFO (HD, HG)
//
// Sources: Linux comedi pcl818.c, MathWorks xPC Target's PCL-818 drivers, the PCM-3718 and PCI-1718
// manuals. That a range write disturbs the multiplexer: PCI-1718 manual.

#include <algorithm>
#include <cmath>

#include "emulator/cards_state.hpp"

namespace puma_hardware::emulator {

namespace {

constexpr std::uint8_t kDataReady = 1 << 4, kSingleEnded = 1 << 5, kUnipolar = 1 << 6,
                       kConverting = 1 << 7;

struct Range {
  double full_scale = 5;
  bool unipolar = false;
  bool exists = true;
};

bool has_fifo(Pcl818Variant variant) noexcept {
  return variant == Pcl818Variant::k818HD || variant == Pcl818Variant::k818HG;
}

Range range_of(const Pcl818Settings& settings, unsigned code) noexcept {
  const double step = settings.variant == Pcl818Variant::k818HG ? 10 : 2;
  if (settings.variant == Pcl818Variant::k818L) {
    const double base = settings.jumper_10v ? 10 : 5;
    return {base / std::pow(step, code & 3), false, code < 4};
  }
  if (code < 4) return {5 / std::pow(step, code), false, true};
  if (code < 8) return {10 / std::pow(step, code - 4), true, true};
  if (code == 8) return {10, false, true};
  if (settings.variant == Pcl818Variant::k818HG && code < 12) {
    return {10 / std::pow(step, code - 8), false, true};
  }
  return {5, false, false};
}

/// The shortest interval between two conversions; no source gives the conversion time itself.
std::int64_t conversion_ns(const Pcl818Settings& settings) noexcept {
  return settings.variant == Pcl818Variant::k818L ? 25'000 : 10'000;
}

/// Conversions that xPC Target discards after a change of channel.
int settling_conversions(const Pcl818Settings& settings, const Range& range) noexcept {
  if (settings.variant != Pcl818Variant::k818HG) return 1;
  return range.full_scale < 0.02 ? 100 : range.full_scale < 0.2 ? 15 : 3;
}

/// Input of the converter: settles exponentially from the old channel's voltage, to a quarter of a
/// code within the settling conversions.
double voltage_behind_mux(const CardsState& state, std::int64_t now_ns) noexcept {
  const Pcl818State& card = state.pcl818;
  const Pcl818Settings& settings = state.settings.pcl818;
  const Range range = range_of(settings, card.range[card.channel]);
  const double time_constant =
      static_cast<double>(conversion_ns(settings)) * settling_conversions(settings, range) / 9;
  const double rest = std::exp(-static_cast<double>(now_ns - card.settle_begin_ns) / time_constant);
  const double volts = card.volts[card.channel];
  return volts + (card.settle_from - volts) * rest;
}

void select_channel(CardsState& state, unsigned channel, std::int64_t now_ns) noexcept {
  Pcl818State& card = state.pcl818;
  if (channel == card.channel) return;
  card.settle_from = voltage_behind_mux(state, now_ns);
  card.settle_begin_ns = now_ns;
  card.channel = static_cast<std::uint8_t>(channel);
}

/// Completes a conversion whose time has passed.
void finish(CardsState& state, std::int64_t now_ns) noexcept {
  Pcl818State& card = state.pcl818;
  if (!card.converting || now_ns < card.ready_at_ns || state.faulty(CardFault::kAdStuck)) return;
  card.converting = false;
  card.data = card.converted;
  card.data_ready = true;
}

void trigger(CardsState& state, const Access& access) noexcept {
  Pcl818State& card = state.pcl818;
  const Pcl818Settings& settings = state.settings.pcl818;
  if ((card.control & 3) > 1) {
    record(state, access, Illegal::kAdTriggerSource);
    return;
  }
  if (card.converting) {
    // A driver cannot know that a conversion takes longer than specified.
    if (access.now_ns < card.busy_until_ns) record(state, access, Illegal::kAdBusy);
    return;
  }
  if (card.mux_disturbed) {
    record(state, access, Illegal::kAdMuxDisturbed);
    select_channel(state, (card.channel + 1u) & 0xF, access.now_ns);
  }
  const Range range = range_of(settings, card.range[card.channel]);
  const double ratio = voltage_behind_mux(state, access.now_ns) / range.full_scale;
  const double code = std::round(range.unipolar ? 4096 * ratio : 2048 * (ratio + 1));
  const unsigned label =
      state.faulty(CardFault::kAdWrongChannel) ? (card.channel + 1u) & 0xF : card.channel;
  card.converted =
      static_cast<std::uint16_t>(static_cast<unsigned>(std::clamp(code, 0.0, 4095.0)) << 4 | label);
  card.converting = true;
  card.busy_until_ns = access.now_ns + conversion_ns(settings);
  card.ready_at_ns =
      access.now_ns + conversion_ns(settings) * (state.faulty(CardFault::kSlowAd) ? 1000 : 1);
  // The sample is held: the multiplexer steps to the next channel from start to stop.
  const unsigned stop = card.mux >> 4, start = card.mux & 0xFu;
  select_channel(state, card.channel == stop ? start : (card.channel + 1u) & 0xF, access.now_ns);
}

std::uint8_t status(const CardsState& state) noexcept {
  const Pcl818State& card = state.pcl818;
  unsigned bits = card.channel | kSingleEnded;
  if (card.data_ready) bits |= kDataReady;
  if (card.converting) bits |= kConverting;
  if (range_of(state.settings.pcl818, card.range[card.channel]).unipolar) bits |= kUnipolar;
  return static_cast<std::uint8_t>(bits);
}

void write_da(CardsState& state, const Access& access) noexcept {
  Pcl818State& card = state.pcl818;
  const unsigned channel = access.offset >= 6 ? 1 : 0;
  if ((access.offset & 1) == 0) {
    card.da_low[channel] = access.value;
    card.da_low_written[channel] = true;
    return;
  }
  if (!card.da_low_written[channel]) record(state, access, Illegal::kDacOrder);
  card.da_high[channel] = access.value;
  card.da_low_written[channel] = false;
}

}  // namespace

std::uint8_t read_pcl818(CardsState& state, const Access& access) noexcept {
  Pcl818State& card = state.pcl818;
  const bool fifo = has_fifo(state.settings.pcl818.variant);
  finish(state, access.now_ns);
  switch (access.offset) {
    case 0x0:
    case 0x1:
      if (card.converting || !card.data_ready) record(state, access, Illegal::kAdNotReady);
      return static_cast<std::uint8_t>(access.offset == 0 ? card.data & 0xFF : card.data >> 8);
    case 0x2:
      return static_cast<std::uint8_t>((card.mux & 0xF0) | card.channel);
    case 0x3:
      return static_cast<std::uint8_t>(card.inputs & 0xFF);
    case 0x8:
      return status(state);
    case 0x9:
      return card.control;
    case 0xB:
      return static_cast<std::uint8_t>(card.inputs >> 8);
    case 0x4:
    case 0x5:
    case 0xA:
      record(state, access, Illegal::kWriteOnly);
      return 0xFF;
    case 0xC:
    case 0xD:
    case 0xE:
      record(state, access, Illegal::kNotEmulated);
      return 0xFF;
    case 0x17:
    case 0x18:
      record(state, access, fifo ? Illegal::kAdNotReady : Illegal::kUnlisted);
      return 0xFF;
    case 0x19:
      if (fifo) return 1;  // empty
      [[fallthrough]];
    default:
      record(state, access, Illegal::kUnlisted);
      return 0xFF;
  }
}

void write_pcl818(CardsState& state, const Access& access) noexcept {
  Pcl818State& card = state.pcl818;
  const Pcl818Settings& settings = state.settings.pcl818;
  finish(state, access.now_ns);
  switch (access.offset) {
    case 0x0:
      trigger(state, access);
      return;
    case 0x1:
      if (!range_of(settings, access.value).exists) record(state, access, Illegal::kValue);
      card.range[card.mux & 0xF] = access.value & 0xF;
      card.mux_disturbed = true;
      return;
    case 0x2:
      card.mux = access.value;
      card.mux_disturbed = false;
      select_channel(state, access.value & 0xF, access.now_ns);
      return;
    case 0x3:
      card.outputs = static_cast<std::uint16_t>((card.outputs & 0xFF00) | access.value);
      return;
    case 0xB:
      card.outputs = static_cast<std::uint16_t>((card.outputs & 0x00FF) | access.value << 8);
      return;
    case 0x6:
      if (has_fifo(settings.variant)) {
        if (access.value != 0) record(state, access, Illegal::kNotEmulated);
        return;
      }
      [[fallthrough]];
    case 0x7:
      if (settings.variant != Pcl818Variant::k818) {
        record(state, access, Illegal::kUnlisted);
        return;
      }
      [[fallthrough]];
    case 0x4:
    case 0x5:
      write_da(state, access);
      return;
    case 0x8:
      card.data_ready = false;
      return;
    case 0x9:
      card.control = access.value;
      return;
    case 0xA:
      if (access.value > 3) record(state, access, Illegal::kValue);
      return;
    case 0xC:
    case 0xD:
    case 0xE:
    case 0xF:
      record(state, access, Illegal::kNotEmulated);
      return;
    case 0x14:
    case 0x19:
      if (has_fifo(settings.variant)) return;  // the FIFO is empty as it is
      [[fallthrough]];
    default:
      record(state, access, Illegal::kUnlisted);
  }
}

void update_inputs(CardsState& state) noexcept {
  const Pcl818Settings& settings = state.settings.pcl818;
  Pcl818State& card = state.pcl818;
  unsigned inputs = 0;
  for (int joint = 0; joint < 6; ++joint) {
    const auto j = static_cast<std::size_t>(joint);
    double volts = state.pot_volts[j];
    if (state.faulty(CardFault::kPotStuck, joint)) volts = state.pot_stuck_volts[j];
    if (state.faulty(CardFault::kPotOpen, joint)) volts = 0;
    card.volts[static_cast<std::size_t>(settings.pot_channel[j])] = volts;
    const bool hot = state.hot[j] || state.faulty(CardFault::kThermal, joint);
    if (hot == settings.thermal_active_high) inputs |= 1u << settings.thermal_input[j];
  }
  card.inputs = static_cast<std::uint16_t>(inputs);
}

}  // namespace puma_hardware::emulator
