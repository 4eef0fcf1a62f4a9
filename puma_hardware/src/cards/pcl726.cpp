// SPDX-License-Identifier: Apache-2.0

#include "cards/pcl726.hpp"

#include <algorithm>
#include <cmath>

namespace puma_hardware {

namespace {

// Registers, relative to the base. [2]: two or more independent sources agree; [1]: one source.
// No manual of this card was found. Sources:
//   comedi  Linux comedi drivers/comedi/drivers/pcl726.c (says of itself: untested)
//   xPC     MathWorks xPC Target 2002, daadvpcl818.c (board code 10), diadvpcl818.c, doadvpcl818.c
//   6126    ADLINK ACL-6126 manual p. 18-19 (a compatible card)
//   6128    ADLINK ACL-6128 manual p. 16-17 (its two-channel variant)
enum Register {
  // W: D11-D8 in bits 3-0, two registers a channel. Written first: the low byte's write passes both
  // to the converter. Order: [2] comedi xPC 6128; that mechanism: [1] 6128, the sister card.
  kDacHigh = 0x0,
  kDacLow = 0x1,       // W: D7-D0. [2] comedi xPC 6126
  kOutputsHigh = 0xC,  // W: DO15-DO8. [2] comedi xPC
  kOutputsLow = 0xD,   // W: DO7-DO0. [2] comedi xPC
  kInputsHigh = 0xE,   // R: DI15-DI8. [2] comedi xPC
  kInputsLow = 0xF,    // R: DI7-DI0. [2] comedi xPC
};
// No register sets a range (jumpers only), none updates all channels at once, none reads a D/A or
// digital output back: seen in no source.

// Sources disagree on the bipolar coding: offset binary (000h = −full scale, 800h = 0 V) in xPC and
// 6126, two's complement in comedi. The wrong one outputs full scale instead of 0 V: it is a setting
// to be measured before the amplifiers are connected.
constexpr int kChannels = 6;
constexpr int kCodes = 4096, kMiddle = 2048;

/// Register code ↔ offset-binary code; its own inverse.
int recode(int code, DacCoding coding) noexcept {
  return coding == DacCoding::kTwosComplement ? code ^ kMiddle : code;
}

void write_register(PortIo& io, const Pcl726Settings& settings, int offset, int value) noexcept {
  io.write(static_cast<std::uint16_t>(settings.base + offset), static_cast<std::uint8_t>(value));
}

void write_converter(PortIo& io, const Pcl726Settings& settings, int channel, int code) noexcept {
  write_register(io, settings, kDacHigh + 2 * channel, code >> 8);
  write_register(io, settings, kDacLow + 2 * channel, code);
}

void write_outputs(PortIo& io, const Pcl726Settings& settings, int outputs) noexcept {
  write_register(io, settings, kOutputsHigh, outputs >> 8);
  write_register(io, settings, kOutputsLow, outputs);
}

}  // namespace

void cut_outputs(PortIo& io, const Pcl726Settings& settings, std::uint16_t outputs) noexcept {
  for (int channel = 0; channel < kChannels; ++channel) {
    write_converter(io, settings, channel, recode(kMiddle, settings.coding));
  }
  int kept = outputs;
  for (const int bit : {settings.power_output, settings.brake_output, settings.watchdog_output}) {
    if (bit >= 0) kept &= ~(1 << bit);
  }
  write_outputs(io, settings, kept);
}

Pcl726::Pcl726(PortIo& io, const Pcl726Settings& settings) : io_(io), settings_(settings) {
  validate(settings);
  zero();
  clear_outputs();
  answered_ = read_inputs() != 0xFFFF;
}

Pcl726::~Pcl726() {
  zero();
  clear_outputs();
}

void Pcl726::write_volts(int channel, double volts) noexcept {
  if (channel < 0 || channel >= kChannels) return;
  if (!std::isfinite(volts)) volts = 0;
  const double ideal = std::clamp(kMiddle + volts / volts_per_code(), 0.0, kCodes - 1.0);
  write_code(channel, recode(static_cast<int>(std::lround(ideal)), settings_.coding));
}

void Pcl726::zero() noexcept {
  for (int channel = 0; channel < kChannels; ++channel) write_volts(channel, 0);
}

void Pcl726::write_output(int bit, bool on) noexcept {
  if (bit < 0 || bit > 15) return;
  const int mask = 1 << bit;
  outputs_ = static_cast<std::uint16_t>(on ? outputs_ | mask : outputs_ & ~mask);
  if (bit > 7) {
    write_register(io_, settings_, kOutputsHigh, outputs_ >> 8);
  } else {
    write_register(io_, settings_, kOutputsLow, outputs_);
  }
}

void Pcl726::clear_outputs() noexcept {
  outputs_ = 0;
  write_outputs(io_, settings_, 0);
}

void Pcl726::write_code(int channel, int code) noexcept {
  write_converter(io_, settings_, channel, code);
  code_[static_cast<std::size_t>(channel)] = code;
}

int Pcl726::code(int channel) const noexcept { return code_[static_cast<std::size_t>(channel)]; }

double Pcl726::volts(int channel) const noexcept {
  return (recode(code(channel), settings_.coding) - kMiddle) * volts_per_code();
}

std::uint16_t Pcl726::outputs() const noexcept { return outputs_; }

double Pcl726::full_scale() const noexcept {
  return settings_.range == DacRange::kBipolar10 ? 10 : 5;
}

double Pcl726::volts_per_code() const noexcept { return full_scale() / kMiddle; }

std::uint16_t Pcl726::read_inputs() noexcept { return read_inputs(0xFFFF); }

std::uint16_t Pcl726::read_inputs(std::uint16_t wanted) noexcept {
  const auto read = [this](int offset) {
    return io_.read(static_cast<std::uint16_t>(settings_.base + offset));
  };
  const int high = (wanted & 0xFF00) != 0 ? read(kInputsHigh) : 0;
  const int low = (wanted & 0x00FF) != 0 ? read(kInputsLow) : 0;
  return static_cast<std::uint16_t>((high << 8 | low) & wanted);
}

}  // namespace puma_hardware
