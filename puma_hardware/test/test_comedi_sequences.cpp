// SPDX-License-Identifier: Apache-2.0

// The port accesses of the public Linux drivers for these cards, replayed against the emulator: what
// works for them must work here, and every difference is stated with who is right.
//
// The sequences are facts about register accesses (offset, direction, value), noted from
//   [818]   Linux drivers/comedi/drivers/pcl818.c, commit 2555693dd85c
//   [726]   Linux drivers/comedi/drivers/pcl726.c, commit 4981f05faf36
//   [8254]  Linux drivers/comedi/drivers/comedi_8254.c, commit 44fb7affcfa4
// Notation: "W9=01" writes 01h to base + 9, "R3" reads, "P8" polls the status for data-ready.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "emulated_bus.hpp"

namespace puma_hardware::emulator {
namespace {

constexpr Pcl818Variant kVariants[] = {Pcl818Variant::k818, Pcl818Variant::k818L,
                                       Pcl818Variant::k818H, Pcl818Variant::k818HD,
                                       Pcl818Variant::k818HG};

bool has_fifo(Pcl818Variant variant) {
  return variant == Pcl818Variant::k818HD || variant == Pcl818Variant::k818HG;
}

class ComediSequence : public EmulatedBus {
 protected:
  /// What the reads gave, in order.
  std::vector<int> replay(std::uint16_t base, const std::string& sequence) {
    std::vector<int> read;
    std::istringstream words(sequence);
    for (std::string word; words >> word;) {
      const auto offset = static_cast<unsigned>(std::stoul(word.substr(1), nullptr, 16));
      if (word[0] == 'W') {
        out(base, offset,
            static_cast<unsigned>(std::stoul(word.substr(word.find('=') + 1), nullptr, 16)));
      } else if (word[0] == 'R') {
        read.push_back(in(base, offset));
      } else {
        int polls = 0;
        while ((in(base, offset) & 0x10) == 0 && ++polls < 1000) {
        }
        EXPECT_LT(polls, 1000) << "no end of conversion";
      }
    }
    return read;
  }
  std::vector<int> pcl818(const std::string& sequence) {
    return replay(settings.pcl818.base, sequence);
  }
  std::vector<int> pcl726(const std::string& sequence) {
    return replay(settings.pcl726.base, sequence);
  }

  /// [8254] initialization: all counters to mode 0; [818] attach: single-ended or differential; reset:
  /// FIFO off, no trigger, channel 0 with range 0, pacer off, D/A 0 V, digital outputs 0.
  std::string attach() const {
    const bool two = settings.pcl818.variant == Pcl818Variant::k818;
    return "WF=30 WF=70 WF=B0 R8 " + reset() + (two ? " W6=00 W7=00" : "") + " WB=00 W3=00";
  }
  std::string reset() const {
    return std::string(has_fifo(settings.pcl818.variant) ? "W14=00 W19=00 W6=00 " : "") +
           "W9=00 W8=00 W2=00 W1=00 WA=00 W4=00 W5=00";
  }
  /// [818] one reading of a channel with range 0: software trigger, channel and range, scan from the
  /// channel to itself, then for each sample clear, trigger, poll, high byte, low byte; clear.
  double read_once(unsigned channel) {
    char sequence[100];
    std::snprintf(sequence, sizeof sequence,
                  "W9=01 W2=%02X W1=00 W2=%02X W8=00 W0=00 P8 R1 R0 W8=00", channel,
                  channel << 4 | channel);
    const std::vector<int> bytes = pcl818(sequence);
    EXPECT_EQ(static_cast<unsigned>(bytes.at(1)) & 0xF, channel);
    const int code = (bytes.at(0) << 8 | bytes.at(1)) >> 4;
    return 5.0 * (code - 2048) / 2048;
  }
  template <typename Body>
  void for_every_pcl818(const Body& body) {
    for (const Pcl818Variant variant : kVariants) {
      SCOPED_TRACE(to_string(variant));
      settings.pcl818.variant = variant;
      restart();
      body();
    }
  }
};

// --- PCL-818

TEST_F(ComediSequence, AttachAndDetachAreLegalOnEveryVariant) {
  for_every_pcl818([&] {
    EXPECT_EQ(pcl818(attach()).at(0) & 0x20, 0x20) << "16 single-ended channels";
    expect_legal();
    pcl818(reset() + " WB=00 W3=00");  // [818] detach without a running command
    expect_legal();
  });
  behavior.differential = true;
  restart();
  EXPECT_EQ(pcl818(attach()).at(0) & 0x20, 0) << "8 differential channels";
}

TEST_F(ComediSequence, ChannelsReadOneAfterTheOtherGiveTheirVoltages) {
  for_every_pcl818([&] {
    pcl818(attach());
    cards().set_pot_volts(0, 1);
    cards().set_pot_volts(1, 4);
    // A second sample of a channel, as `data[1]` of a reading with two.
    for (const unsigned channel : {0u, 1u, 0u}) {
      read_once(channel);
      for (int settling = 0; settling < 3; ++settling) read_once(channel);
      EXPECT_NEAR(read_once(channel), channel == 0 ? 1 : 4, 0.005);
    }
    expect_legal();
  });
}

/// comedi discards nothing after a change of channel, xPC Target does. No source has the
/// settling time; the emulator's default is the slower one.
TEST_F(ComediSequence, TheFirstSampleAfterAChangeOfChannelDependsOnTheSettlingTime) {
  std::printf("first sample after a change from 1 V to 4 V, without settling conversions:\n");
  for (const double settling : {-1.0, 2e-6}) {
    behavior.settling_time = settling;
    for_every_pcl818([&] {
      pcl818(attach());
      cards().set_pot_volts(0, 1);
      cards().set_pot_volts(1, 4);
      for (int k = 0; k < 5; ++k) read_once(0);
      const double first = read_once(1);
      std::printf("  %s %-6s %.2f V\n", settling < 0 ? "as xPC" : "2 us  ",
                  to_string(settings.pcl818.variant), first);
      if (settling < 0) {
        EXPECT_LT(first, 3.95) << "the driver here discards such a sample";
        EXPECT_GT(first, 3.0);
      } else {
        EXPECT_NEAR(first, 4, 0.005) << "comedi's assumption";
      }
      expect_legal();
    });
  }
}

/// [818] a command with the pacer and interrupts, without DMA: channel list 0, 1, 2; 200 us.
TEST_F(ComediSequence, ACommandWithThePacerConvertsItsChannelList) {
  for_every_pcl818([&] {
    pcl818(attach());
    for (int joint = 0; joint < 3; ++joint) cards().set_pot_volts(joint, 1 + joint);
    pcl818(
        "W2=00 W1=00 W2=01 W1=00 W2=02 W1=00 W2=20 WA=00 W9=D3 "
        "WF=74 WF=B4 WE=64 WE=00 WD=14 WD=00");
    for (int sample = 0; sample < 12; ++sample) {
      // [818] interrupt service: ready?, high byte, low byte, clear.
      const std::vector<int> bytes = pcl818("P8 R1 R0 W8=00");
      const int code = (bytes.at(0) << 8 | bytes.at(1)) >> 4;
      EXPECT_EQ(bytes.at(1) & 0xF, sample % 3);
      EXPECT_NEAR(5.0 * (code - 2048) / 2048, 1 + sample % 3, 0.005);
    }
    pcl818("W9=00 WF=70 WF=B0 W8=00");  // [818] cancel
    cards().advance(10'000'000);
    EXPECT_EQ(pcl818("R8").at(0) & 0x10, 0);
    expect_legal();
  });
}

/// [818] the same with the FIFO: 512 samples at the half-full interrupt, then the shutdown.
TEST_F(ComediSequence, ACommandWithTheFifoDeliversItHalfFull) {
  for (const Pcl818Variant variant : {Pcl818Variant::k818HD, Pcl818Variant::k818HG}) {
    settings.pcl818.variant = variant;
    restart();
    pcl818(attach());
    for (int joint = 0; joint < 2; ++joint) cards().set_pot_volts(joint, 2 + joint);
    pcl818(
        "W2=00 W1=00 W2=01 W1=00 W2=10 WA=00 W6=01 W9=03 "
        "WF=74 WF=B4 WE=64 WE=00 WD=0A WD=00");
    cards().advance(60'000'000);
    EXPECT_EQ(pcl818("R19").at(0), 2);
    for (int sample = 0; sample < 512; ++sample) {
      const std::vector<int> bytes = pcl818("R17 R18");
      EXPECT_EQ(bytes.at(0) & 0xF, sample % 2);
      EXPECT_NEAR(5.0 * ((bytes.at(1) << 8 | bytes.at(0)) / 16 - 2048) / 2048, 2 + sample % 2,
                  0.005);
    }
    pcl818("W9=00 WF=70 WF=B0 W8=00 W14=00 W19=00 W6=00");
    EXPECT_EQ(pcl818("R19").at(0), 1);
    expect_legal();
  }
}

/// What the bus of ports does not have: see README.md, "The emulator and the cards".
TEST_F(ComediSequence, ADmaTransferIsRefusedByName) {
  pcl818(attach());
  pcl818("W2=00 W1=00 W2=00 WA=00 W9=D7");
  expect_illegal("the emulator does not support this function");
}

TEST_F(ComediSequence, DigitalInputsAndOutputsOfThePcl818) {
  pcl818(attach());
  cards().set_thermal(2, true);
  const std::vector<int> inputs = pcl818("R3 RB");
  EXPECT_EQ(inputs.at(0) | inputs.at(1) << 8, 1 << 2);
  pcl818("W3=A5 WB=5A W4=F0 W5=7F");  // outputs; D/A code 7FFh
  expect_legal();
}

// --- PCL-726

TEST_F(ComediSequence, AttachWritesNothingToThePcl726) {
  // [726] Neither attach nor detach accesses the card: it keeps the voltages of its power-up, which
  // no source tells. The driver here writes 0 V first.
  for (int joint = 0; joint < 6; ++joint) EXPECT_EQ(cards().output_volts(joint), -10);
  expect_legal();
}

TEST_F(ComediSequence, DigitalInputsAndOutputsOfThePcl726) {
  cards().set_digital_input(0, true);
  cards().set_digital_input(11, true);
  const std::vector<int> inputs = pcl726("RF RE");
  EXPECT_EQ(inputs.at(0) | inputs.at(1) << 8, 1 << 11 | 1);
  pcl726("WD=04 WC=80");
  EXPECT_TRUE(cards().digital_output(2));
  EXPECT_TRUE(cards().digital_output(15));
  EXPECT_FALSE(cards().digital_output(3));
  expect_legal();
}

/// [726] A bipolar value has its top bit inverted before it is written, high byte first: 0 V is
/// 000h, +full scale 7FFh. xPC Target and ADLINK's manual of a compatible card say offset binary,
/// where 000h is −full scale. comedi's driver says of itself that it is untested: two against one.
TEST_F(ComediSequence, ZeroVoltsOfComediIsFullScaleUnlessTheCardIsTwosComplement) {
  pcl726("W0=00 W1=00");
  EXPECT_EQ(cards().output_volts(0), -10) << "offset binary, the default";
  pcl726("W0=08 W1=00");
  EXPECT_EQ(cards().output_volts(0), 0) << "0 V of xPC Target";
  expect_legal();

  settings.pcl726.coding = DacCoding::kTwosComplement;
  restart();
  pcl726("W0=00 W1=00 W2=04 W3=00 W4=07 W5=FF");
  EXPECT_EQ(cards().output_volts(0), 0);
  EXPECT_EQ(cards().output_volts(1), 5);
  EXPECT_NEAR(cards().output_volts(2), 9.995, 0.001);
  expect_legal();
}

}  // namespace
}  // namespace puma_hardware::emulator
