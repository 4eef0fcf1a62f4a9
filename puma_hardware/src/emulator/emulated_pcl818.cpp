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
//   +C…+F                                 8254: counters 0, 1, 2 and control
//   +14, +17…+19                          FIFO (HD, HG)
//
// The pacer has a clock of 10 MHz. There are no interrupts, no DMA and no external trigger.
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
constexpr unsigned kPacerTrigger = 3, kDma = 1 << 2;          // of the control register
constexpr unsigned kCounterMode = 0xE, kRateGenerator = 0x4;  // of an 8254's control word
constexpr unsigned kBothBytes = 0x30;                         // low byte, then high byte
constexpr std::int64_t kPacerClockNs = 100;
constexpr std::int64_t kMostPulses = 2048;  ///< between two accesses; older ones are left out

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

/// Highest channel number.
unsigned channel_mask(const CardsState& state) noexcept {
  return state.behavior.differential ? 7u : 15u;
}

/// Input of the converter: settles exponentially from the old channel's voltage, to a quarter of a
/// code within the settling time.
double voltage_behind_mux(const CardsState& state, std::int64_t now_ns) noexcept {
  const Pcl818State& card = state.pcl818;
  const Pcl818Settings& settings = state.settings.pcl818;
  const Range range = range_of(settings, card.range[card.channel]);
  const double settling_ns =
      state.behavior.settling_time >= 0
          ? 1e9 * state.behavior.settling_time
          : static_cast<double>(conversion_ns(settings)) * settling_conversions(settings, range);
  const double time_constant = std::max(settling_ns, 1.0) / 9;
  const double rest = std::exp(-static_cast<double>(now_ns - card.settle_begin_ns) / time_constant);
  const double volts = card.volts[card.channel];
  return volts + (card.settle_from - volts) * rest;
}

void select_channel(CardsState& state, unsigned channel, std::int64_t now_ns) noexcept {
  Pcl818State& card = state.pcl818;
  channel &= channel_mask(state);
  if (channel == card.channel) return;
  card.settle_from = voltage_behind_mux(state, now_ns);
  card.settle_begin_ns = now_ns;
  card.channel = static_cast<std::uint8_t>(channel);
}

void push(FifoState& fifo, std::uint16_t sample) noexcept {
  if (fifo.used == fifo.samples.size()) {
    fifo.overflow = true;
    return;
  }
  fifo.samples[(fifo.first + fifo.used) % fifo.samples.size()] = sample;
  ++fifo.used;
}

/// Completes a conversion whose time has passed.
void complete(CardsState& state, std::int64_t now_ns) noexcept {
  Pcl818State& card = state.pcl818;
  if (!card.converting || now_ns < card.ready_at_ns || state.faulty(CardFault::kAdStuck)) return;
  card.converting = false;
  card.data = card.converted;
  card.data_ready = true;
  if (card.fifo.enabled) push(card.fifo, card.data);
}

/// Holds a sample, and steps the multiplexer to the next channel from start to stop.
void convert(CardsState& state, std::int64_t now_ns) noexcept {
  Pcl818State& card = state.pcl818;
  const Pcl818Settings& settings = state.settings.pcl818;
  const Range range = range_of(settings, card.range[card.channel]);
  const double ratio = voltage_behind_mux(state, now_ns) / range.full_scale;
  const double code = std::round(range.unipolar ? 4096 * ratio : 2048 * (ratio + 1));
  const unsigned label = state.faulty(CardFault::kAdWrongChannel)
                             ? (card.channel + 1u) & channel_mask(state)
                             : card.channel;
  card.converted =
      static_cast<std::uint16_t>(static_cast<unsigned>(std::clamp(code, 0.0, 4095.0)) << 4 | label);
  card.converting = true;
  card.busy_until_ns = now_ns + conversion_ns(settings);
  card.ready_at_ns =
      now_ns + conversion_ns(settings) * (state.faulty(CardFault::kSlowAd) ? 1000 : 1);
  const unsigned stop = card.mux >> 4 & channel_mask(state), start = card.mux & 0xFu;
  select_channel(state, card.channel == stop ? start : card.channel + 1u, now_ns);
}

/// Time between two pulses of the pacer, 0 while it stands.
std::int64_t pacer_period_ns(const Pcl818State& card) noexcept {
  std::int64_t period = (card.control & 3) == kPacerTrigger ? kPacerClockNs : 0;
  for (const std::size_t counter : {1u, 2u}) {
    const PacerState::Counter& c = card.pacer.counters[counter];
    if ((c.control & kCounterMode) != kRateGenerator || !c.loaded) return 0;
    period *= c.divider == 0 ? 0x10000 : c.divider;
  }
  return period;
}

/// What has happened since the last access.
void finish(CardsState& state, std::int64_t now_ns) noexcept {
  Pcl818State& card = state.pcl818;
  PacerState& pacer = card.pacer;
  const std::int64_t period = pacer_period_ns(card);
  if (period <= 0) {
    pacer.running = false;
  } else if (!pacer.running) {
    pacer.running = true;
    pacer.next_ns = now_ns + period;
  } else if (const std::int64_t pulses = (now_ns - pacer.next_ns) / period; pulses > kMostPulses) {
    pacer.next_ns += (pulses - kMostPulses) * period;
  }
  while (pacer.running && pacer.next_ns <= now_ns) {
    complete(state, pacer.next_ns);
    if (!card.converting) convert(state, pacer.next_ns);
    pacer.next_ns += period;
  }
  complete(state, now_ns);
}

void write_timer(CardsState& state, const Access& access) noexcept {
  PacerState& pacer = state.pcl818.pacer;
  if (access.offset == 0xF) {
    if (access.value >> 6 == 3) {
      record(state, access, Illegal::kNotEmulated);  // read-back
      return;
    }
    pacer.counters[access.value >> 6] = {static_cast<std::uint8_t>(access.value & 0x3F)};
    return;
  }
  PacerState::Counter& counter = pacer.counters[access.offset - 0xC];
  if ((counter.control & kBothBytes) != kBothBytes) {
    record(state, access, Illegal::kNotEmulated);
    return;
  }
  counter.divider = static_cast<std::uint16_t>(
      counter.low_written ? counter.divider | access.value << 8 : access.value);
  counter.loaded = counter.low_written;
  counter.low_written = !counter.low_written;
}

std::uint8_t read_fifo(CardsState& state, const Access& access) noexcept {
  FifoState& fifo = state.pcl818.fifo;
  if (access.offset == 0x19) {
    const auto half = static_cast<std::uint32_t>(fifo.samples.size() / 2);
    return static_cast<std::uint8_t>((fifo.used == 0 ? 1 : 0) | (fifo.used >= half ? 2 : 0) |
                                     (fifo.overflow ? 4 : 0));
  }
  if (fifo.used == 0) {
    record(state, access, Illegal::kAdNotReady);
    return 0xFF;
  }
  const std::uint16_t sample = fifo.samples[fifo.first];
  if (access.offset == 0x17) return static_cast<std::uint8_t>(sample & 0xFF);
  fifo.first = (fifo.first + 1) % static_cast<std::uint32_t>(fifo.samples.size());
  --fifo.used;
  return static_cast<std::uint8_t>(sample >> 8);
}

void trigger(CardsState& state, const Access& access) noexcept {
  Pcl818State& card = state.pcl818;
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
    select_channel(state, card.channel + 1u, access.now_ns);
  }
  convert(state, access.now_ns);
}

std::uint8_t status(const CardsState& state) noexcept {
  const Pcl818State& card = state.pcl818;
  unsigned bits = card.channel | (state.behavior.differential ? 0u : kSingleEnded);
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
      // With the pacer the next conversion may already run.
      if (!card.data_ready || (card.converting && (card.control & 3) != kPacerTrigger)) {
        record(state, access, Illegal::kAdNotReady);
      }
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
    case 0x19:
      if (fifo) return read_fifo(state, access);
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
        if (access.value > 1) record(state, access, Illegal::kValue);
        card.fifo.enabled = access.value == 1;
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
      if ((access.value & kDma) != 0) record(state, access, Illegal::kNotEmulated);
      finish(state, access.now_ns);
      return;
    case 0xA:
      if (access.value > 3) record(state, access, Illegal::kValue);
      return;
    case 0xC:
    case 0xD:
    case 0xE:
    case 0xF:
      write_timer(state, access);
      finish(state, access.now_ns);  // the pacer may start
      return;
    case 0x14:
      if (has_fifo(settings.variant)) return;  // there are no interrupts
      record(state, access, Illegal::kUnlisted);
      return;
    case 0x19:
      if (has_fifo(settings.variant)) {
        card.fifo.first = card.fifo.used = 0;
        card.fifo.overflow = false;
        return;
      }
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
