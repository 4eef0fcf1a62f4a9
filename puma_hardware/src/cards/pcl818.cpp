// SPDX-License-Identifier: Apache-2.0

#include "cards/pcl818.hpp"

#include <cstdio>
#include <string>

namespace puma_hardware {

namespace {

// Registers, relative to the base. [2]: two or more independent sources agree; [1]: one source.
// No manual of these cards was found. Sources:
//   comedi  Linux comedi drivers/comedi/drivers/pcl818.c, or its older staging version
//   xPC     MathWorks xPC Target 2002, adadvpcl818.c, daadvpcl818.c
//   Perl    controller for a PCL-818L, package CTL_818, 1997-2004
//   3718    Advantech PCM-3718 manual p. 44 (PC/104 sibling)
//   1718    Advantech PCI-1718 manual p. 67 (PCI sibling)
enum Register {
  kDataLow = 0x0,    // R: bits 7-4 AD3-AD0, bits 3-0 the sample's channel. [2] comedi xPC Perl 3718
  kTrigger = 0x0,    // W: anything starts a conversion. [2] comedi xPC Perl 3718
  kDataHigh = 0x1,   // R: AD11-AD4. [2] comedi xPC Perl 3718
  kRange = 0x1,      // W: range code of kMux's first channel. [2] comedi xPC Perl 3718 1718
  kMux = 0x2,        // W: bits 7-4 last, bits 3-0 first channel. [2] comedi xPC 1718
                     // R: the same back. [1] comedi, staging
  kInputsLow = 0x3,  // R: DI7-DI0. [2] comedi xPC
  kFifoEnable = 0x6,  // W, HD and HG only: 0 off. [2] comedi xPC
  kStatus = 0x8,      // R: see below. [2] comedi xPC 3718
  kClear = 0x8,       // W: anything clears the data-ready flag. [2] comedi xPC
  kControl = 0x9,     // W: bits 1-0 trigger, 2 DMA, 6-4 IRQ number, 7 interrupts on. [1] comedi
                      // R: the same back. [1] comedi, staging
  kCounter = 0xA,     // W: 0 takes the external trigger off the pacer. [1] comedi; xPC writes 0
  kInputsHigh = 0xB,  // R: DI15-DI8. [2] comedi xPC
};
// Not touched: D/A (+4, +5, on the 818 +6, +7), digital outputs (writes to +3, +B), the 8254
// (+C-+F), the FIFO (+14-+19).

// Bits of kStatus. Bit 7 is end of conversion; its polarity is in no source, and all three drivers
// poll bit 4 instead. Bits 3-0 next channel, bit 6 unipolar.
constexpr int kDataReady = 1 << 4;    // [2] comedi xPC 3718
constexpr int kSingleEnded = 1 << 5;  // [2] comedi xPC 3718

// 0: xPC, Perl and comedi's staging version convert by software trigger with it; comedi writes 1.
constexpr int kSoftwareTrigger = 0;

// Presence test of comedi's staging version. [1]
constexpr int kMuxPatterns[] = {0x00, 0x55};
constexpr int kControlPattern = 0x18;

constexpr int kAbsent = 0xFF;  // value of the bus at an address without a card
constexpr int kChannels = 16;

}  // namespace

Pcl818::Pcl818(PortIo& io, const Pcl818Settings& settings) : io_(io), settings_(settings) {
  validate(settings);
  range_ = *ad_range(settings.variant, settings.jumper_10v, settings.range_code);
  if (settings.settling_conversions >= 0) range_.settling = settings.settling_conversions;
  timeout_ns_ = static_cast<std::int64_t>(settings.timeout_us * 1000);
  for (const int input : settings.thermal_input) {
    (input < 8 ? thermal_low_ : thermal_high_) = true;
  }

  test_presence();
  write(kControl, kSoftwareTrigger);
  write(kCounter, 0);
  if (settings.variant == Pcl818Variant::k818HD || settings.variant == Pcl818Variant::k818HG) {
    write(kFifoEnable, 0);
  }
  differential_ = (read(kStatus) & kSingleEnded) == 0;
  const int channels = differential_ ? kChannels / 2 : kChannels;
  for (const int channel : settings.pot_channel) {
    if (channel >= channels) {
      throw CardError(
          "pcl818.pot_channel: the PCL-818 is switched to 8 differential inputs and has no "
          "channel " +
          std::to_string(channel) + "; use channels 0 to 7, or switch the card to single-ended");
    }
  }
  for (int channel = 0; channel < channels; ++channel) {
    write(kMux, channel);
    write(kRange, settings.range_code);
  }
  // Setting a range disturbs first and last channel (1718): select after it.
  select(settings.pot_channel[0]);
  write(kClear, 0);
}

void Pcl818::test_presence() {
  const auto refuse = [this](const char* what, int wrote, int got) {
    char text[320];
    std::snprintf(
        text, sizeof text,
        "PCL-%s: no such card answers at 0x%X: %s was written %02Xh and read back %02Xh%s; "
        "check pcl818.base and pcl818.variant against the card's switches",
        to_string(settings_.variant), unsigned{settings_.base}, what, static_cast<unsigned>(wrote),
        static_cast<unsigned>(got), got == kAbsent ? " (nothing answers)" : "");
    throw CardError(text);
  };
  // comedi waits 1 µs between write and read: a status read takes that long on the bus.
  for (const int pattern : kMuxPatterns) {
    write(kMux, pattern);
    read(kStatus);
    if (const int got = read(kMux); got != pattern) refuse("the multiplexer", pattern, got);
  }
  write(kMux, 0);
  write(kControl, kControlPattern);
  read(kStatus);
  if (const int got = read(kControl); got != kControlPattern) {
    refuse("the control register", kControlPattern, got);
  }
}

void Pcl818::select(int channel) noexcept {
  channel_ = channel & (kChannels - 1);
  pending_ = false;
  write(kMux, channel_ * 0x11);  // first = last: a trigger must not step to the next channel
}

void Pcl818::trigger() noexcept {
  if (pending_) return;
  write(kClear, 0);
  write(kTrigger, 0);
  triggered_ns_ = io_.now_ns();
  pending_ = true;
}

AdSample Pcl818::collect(int next_channel) noexcept {
  AdSample sample;
  sample.channel = channel_;
  if (pending_) {
    sample = fetch();
    if (sample.status == AdStatus::kPending) return sample;
  }
  select(next_channel);
  return sample;
}

/// The sample of the triggered conversion, if it has ended.
AdSample Pcl818::fetch() noexcept {
  AdSample sample;
  sample.channel = channel_;
  // The time before the status: a process that pauses between the two must not see a time-out.
  const std::int64_t now_ns = io_.now_ns();
  const int status = read(kStatus);
  if ((status & kDataReady) == 0) {
    if (now_ns - triggered_ns_ > timeout_ns_) {
      sample.status = AdStatus::kTimeout;
      pending_ = false;
    }
    return sample;
  }
  const int low = read(kDataLow), high = read(kDataHigh);
  write(kClear, 0);
  pending_ = false;
  sample.code = high << 4 | low >> 4;
  sample.volts = range_.volts(sample.code);
  sample.triggered_ns = triggered_ns_;
  // A lost card reads FFh everywhere: channel 15, data ready.
  const bool gone = status == kAbsent && low == kAbsent && high == kAbsent;
  sample.status = !gone && (low & 0x0F) == channel_ ? AdStatus::kOk : AdStatus::kWrongChannel;
  return sample;
}

AdSample Pcl818::convert(int channel, int settling) noexcept {
  select(channel);
  AdSample sample;
  for (int conversion = 0; conversion <= settling; ++conversion) {
    trigger();
    do {
      sample = fetch();
    } while (sample.status == AdStatus::kPending);
    if (sample.status == AdStatus::kTimeout) break;
  }
  return sample;
}

std::uint8_t Pcl818::read_inputs_low() noexcept { return read(kInputsLow); }

std::uint8_t Pcl818::read_inputs_high() noexcept { return read(kInputsHigh); }

std::uint8_t Pcl818::read_thermal() noexcept {
  int inputs = 0;
  if (thermal_low_) inputs |= read(kInputsLow);
  if (thermal_high_) inputs |= read(kInputsHigh) << 8;
  int hot = 0;
  for (std::size_t joint = 0; joint < settings_.thermal_input.size(); ++joint) {
    const bool high = (inputs >> settings_.thermal_input[joint] & 1) != 0;
    if (high == settings_.thermal_active_high) hot |= 1 << joint;
  }
  return static_cast<std::uint8_t>(hot);
}

bool Pcl818::answers() noexcept { return read(kControl) == kSoftwareTrigger; }

double Pcl818::volts_per_code() const noexcept { return range_.volts(1) - range_.volts(0); }

std::uint8_t Pcl818::read(int offset) noexcept {
  return io_.read(static_cast<std::uint16_t>(settings_.base + offset));
}

void Pcl818::write(int offset, int value) noexcept {
  io_.write(static_cast<std::uint16_t>(settings_.base + offset), static_cast<std::uint8_t>(value));
}

}  // namespace puma_hardware
