// SPDX-License-Identifier: Apache-2.0

// Emulated PCL-726.
//
//   offset        read                     write
//   +0,2,4,6,8,A                           channel 1…6 high: D11…8
//   +1,3,5,7,9,B                           channel 1…6 low: D7…0; releases both to the converter
//   +C, +D                                 digital outputs 15…8, 7…0
//   +E, +F        digital inputs 15…8, 7…0
//
// Sources: Linux comedi pcl726.c, MathWorks xPC Target's PCL-726 driver, ADLINK's ACL-6126 and
// ACL-6128 manuals (compatible cards; the release by the low byte is from the latter).

#include "emulator/cards_state.hpp"

namespace puma_hardware::emulator {

namespace {

void write_outputs(Pcl726State& card, std::uint16_t outputs, std::int64_t now_ns) noexcept {
  const int changed = card.outputs ^ outputs;
  for (std::size_t bit = 0; bit < 16; ++bit) {
    if ((changed >> bit & 1) != 0) card.output_changed_ns[bit] = now_ns;
  }
  card.outputs = outputs;
}

/// The inputs, among them the watchdog output's read-back.
int inputs_of(const CardsState& state) noexcept {
  const Pcl726Settings& wiring = state.settings.pcl726;
  int inputs = state.pcl726.inputs;
  if (wiring.watchdog_input < 0) return inputs;
  const int mask = 1 << wiring.watchdog_input;
  const bool high = (state.pcl726.outputs >> wiring.watchdog_output & 1) != 0;
  return high ? inputs | mask : inputs & ~mask;
}

}  // namespace

std::uint8_t read_pcl726(CardsState& state, const Access& access) noexcept {
  if (access.offset >= 0xE) {
    const int inputs = inputs_of(state);
    return static_cast<std::uint8_t>(access.offset == 0xE ? inputs >> 8 : inputs);
  }
  record(state, access, Illegal::kWriteOnly);
  return 0xFF;
}

void write_pcl726(CardsState& state, const Access& access) noexcept {
  Pcl726State& card = state.pcl726;
  if (access.offset >= 0xE) {
    record(state, access, Illegal::kReadOnly);
    return;
  }
  if (access.offset == 0xC) {
    write_outputs(card, static_cast<std::uint16_t>((card.outputs & 0x00FF) | access.value << 8),
                  access.now_ns);
    return;
  }
  if (access.offset == 0xD) {
    write_outputs(card, static_cast<std::uint16_t>((card.outputs & 0xFF00) | access.value),
                  access.now_ns);
    return;
  }
  Pcl726State::Channel& channel = card.channels[access.offset / 2];
  if ((access.offset & 1) == 0) {
    channel.high = access.value & 0xF;
    channel.high_written = true;
    return;
  }
  if (!channel.high_written) record(state, access, Illegal::kDacOrder);
  channel.high_written = false;
  const auto code = static_cast<std::uint16_t>(channel.high << 8 | access.value);
  if (code != channel.code) card.changed_ns = access.now_ns;
  channel.code = code;
}

double output_volts(const Pcl726Settings& settings, std::uint16_t code) noexcept {
  const double full_scale = settings.range == DacRange::kBipolar10 ? 10 : 5;
  const int top = settings.coding == DacCoding::kTwosComplement ? code ^ 0x800 : code;
  return full_scale * (top - 2048) / 2048;
}

}  // namespace puma_hardware::emulator
