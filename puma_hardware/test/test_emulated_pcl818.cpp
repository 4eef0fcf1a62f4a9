// SPDX-License-Identifier: Apache-2.0

// The emulated PCL-818 at its registers; the sequence of one conversion is that of the Linux comedi
// and xPC Target drivers.

#include <gtest/gtest.h>

#include "emulated_bus.hpp"

namespace puma_hardware::emulator {
namespace {

constexpr std::uint8_t kReady = 0x10;

class EmulatedPcl818 : public EmulatedBus {
 protected:
  std::uint8_t read(unsigned offset) { return in(settings.pcl818.base, offset); }
  void write(unsigned offset, unsigned value) { out(settings.pcl818.base, offset, value); }

  void prepare(unsigned range = 0) {
    write(0x9, 0);
    for (unsigned channel = 0; channel < 16; ++channel) {
      write(0x2, channel);
      write(0x1, range);
    }
  }
  void select(unsigned channel) { write(0x2, channel * 0x11); }
  /// Polls until data are ready; gives up after 1 ms.
  bool wait() {
    for (int poll = 0; poll < 1000; ++poll) {
      if ((read(0x8) & kReady) != 0) return true;
    }
    return false;
  }
  int convert() {
    write(0x8, 0);
    write(0x0, 0);
    if (!wait()) return -1;
    const int low = read(0x0), high = read(0x1);
    label = low & 0xF;
    write(0x8, 0);
    return high << 4 | low >> 4;
  }
  int settled(unsigned channel) {
    select(channel);
    convert();
    return convert();
  }
  int label = -1;
};

TEST_F(EmulatedPcl818, ConvertsTheSelectedChannelAndLabelsTheSample) {
  prepare();
  cards().set_pot_volts(2, 2.5);
  EXPECT_EQ(settled(2), 2048 + 1024);
  EXPECT_EQ(label, 2);
  expect_legal();
}

TEST_F(EmulatedPcl818, RangesAreThoseOfTheVariant) {
  struct Case {
    Pcl818Variant variant;
    bool jumper_10v;
    unsigned code;
    double volts;
    int expected;
  };
  const Case cases[] = {
      {Pcl818Variant::k818L, false, 0, 2.5, 3072},
      {Pcl818Variant::k818L, false, 1, 1.25, 3072},
      {Pcl818Variant::k818L, false, 3, -0.3125, 1024},
      {Pcl818Variant::k818L, true, 0, 5, 3072},
      {Pcl818Variant::k818L, true, 1, 2.5, 3072},
      {Pcl818Variant::k818H, false, 5, 2.5, 2048},
      {Pcl818Variant::k818, false, 4, 2.5, 1024},
      {Pcl818Variant::k818HD, false, 8, 5, 3072},
      {Pcl818Variant::k818HG, false, 1, 0.25, 3072},
      {Pcl818Variant::k818HG, false, 0xA, 0.05, 3072},
  };
  for (const Case& c : cases) {
    settings.pcl818.variant = c.variant;
    settings.pcl818.jumper_10v = c.jumper_10v;
    restart();
    prepare(c.code);
    cards().set_pot_volts(0, c.volts);
    select(1);
    select(0);
    cards().advance(2'000'000);
    EXPECT_EQ(convert(), c.expected) << static_cast<int>(c.variant) << " code " << c.code;
    expect_legal();
  }
}

TEST_F(EmulatedPcl818, SaturatesOutsideItsRange) {
  prepare();
  cards().set_pot_volts(0, 7);
  EXPECT_EQ(settled(0), 4095);
  cards().set_pot_volts(0, -7);
  EXPECT_EQ(settled(0), 0);
}

TEST_F(EmulatedPcl818, KeepsARangePerChannel) {
  prepare();
  write(0x2, 3);
  write(0x1, 1);
  cards().set_pot_volts(3, 1.25);
  cards().set_pot_volts(4, 1.25);
  EXPECT_EQ(settled(3), 3072);
  EXPECT_EQ(settled(4), 2560);
}

TEST_F(EmulatedPcl818, AConversionTakesTheVariantsTime) {
  for (const auto& [variant, us] :
       {std::pair{Pcl818Variant::k818L, 25}, std::pair{Pcl818Variant::k818H, 10}}) {
    settings.pcl818.variant = variant;
    restart();
    prepare();
    select(0);
    write(0x8, 0);
    write(0x0, 0);
    cards().advance((us - 2) * 1000);
    EXPECT_EQ(read(0x8) & 0x90, 0x80) << "converting";
    EXPECT_EQ(read(0x8) & 0x90, 0x10) << "ready";
  }
}

TEST_F(EmulatedPcl818, DataReadyStaysUntilItIsCleared) {
  prepare();
  select(0);
  write(0x0, 0);
  ASSERT_TRUE(wait());
  read(0x0);
  read(0x1);
  EXPECT_NE(read(0x8) & kReady, 0);
  write(0x8, 0);
  EXPECT_EQ(read(0x8) & kReady, 0);
}

TEST_F(EmulatedPcl818, AChannelNeedsAConversionsTimeToSettle) {
  prepare();
  cards().set_pot_volts(0, 0.5);
  cards().set_pot_volts(1, 4.5);
  const int low = settled(0), high = settled(1);
  select(0);
  const int hasty = convert();
  EXPECT_GT(hasty, low + 200) << "the old channel's voltage is still there";
  EXPECT_LT(hasty, high - 200);
  EXPECT_NEAR(convert(), low, 1);
  select(1);
  cards().advance(30'000);
  EXPECT_NEAR(convert(), high, 1);
  EXPECT_NEAR(convert(), high, 0);
}

TEST_F(EmulatedPcl818, SettlesAsFastAsItsBehavior) {
  for (const double time : {0.0, 2e-6, 300e-6}) {
    behavior.settling_time = time;
    restart();
    prepare();
    cards().set_pot_volts(0, 0.5);
    cards().set_pot_volts(1, 4.5);
    select(0);
    cards().advance(10'000'000);
    convert();
    select(1);
    const int at_once = convert();
    cards().advance(10'000'000);
    const int settled = convert();
    EXPECT_NEAR(settled, 2048 + 4.5 * 409.6, 1);
    if (time > 100e-6) {
      EXPECT_LT(at_once, settled - 1000);
      select(0);
      cards().advance(static_cast<std::int64_t>(time * 1e9));
      EXPECT_NEAR(convert(), 2048 + 0.5 * 409.6, 1);
    } else {
      EXPECT_NEAR(at_once, settled, 1) << time;
    }
  }
}

TEST_F(EmulatedPcl818, HasEightChannelsWithDifferentialInputs) {
  behavior.differential = true;
  prepare();
  cards().set_pot_volts(2, 2.5);
  EXPECT_EQ(read(0x8) & 0x20, 0);
  EXPECT_EQ(settled(2), 3072);
  EXPECT_EQ(label, 2);
  EXPECT_EQ(settled(10), 3072) << "bit 3 of the channel has no multiplexer";
  EXPECT_EQ(label, 2);
  write(0x2, 0x55);
  EXPECT_EQ(read(0x2), 0x55) << "the presence test";
  write(0x2, 0x16);  // 6, 7, 0, 1
  for (const int expected : {6, 7, 0, 1, 6}) {
    convert();
    EXPECT_EQ(label, expected);
  }
  expect_legal();
}

TEST_F(EmulatedPcl818, HighGainsSettleMoreSlowly) {
  settings.pcl818.variant = Pcl818Variant::k818HG;
  restart();
  prepare(3);  // ±5 mV
  cards().set_pot_volts(0, 0);
  cards().set_pot_volts(1, 0.0049);
  settled(0);
  cards().advance(2'000'000);
  select(1);
  int codes[101];
  for (int& code : codes) code = convert();
  EXPECT_LT(codes[1], 3500);
  EXPECT_NEAR(codes[100], 2048 + 2007, 1);
}

TEST_F(EmulatedPcl818, TriggersGoFromStartToStopChannel) {
  prepare();
  write(0x2, 0x42);
  EXPECT_EQ(read(0x8) & 0xF, 2);
  for (const int expected : {2, 3, 4, 2, 3}) {
    convert();
    EXPECT_EQ(label, expected);
  }
  EXPECT_EQ(read(0x8) & 0xF, 4) << "status tells the next channel";
  expect_legal();
}

TEST_F(EmulatedPcl818, AnswersThePresenceTest) {
  write(0x2, 0x00);
  EXPECT_EQ(read(0x2), 0x00);
  write(0x2, 0x55);
  EXPECT_EQ(read(0x2), 0x55);
  write(0x9, 0x18);
  EXPECT_EQ(read(0x9), 0x18);
  EXPECT_NE(read(0x8) & 0x20, 0) << "single-ended";
  expect_legal();
}

TEST_F(EmulatedPcl818, StatusTellsAUnipolarRange) {
  settings.pcl818.variant = Pcl818Variant::k818H;
  restart();
  prepare(5);
  EXPECT_NE(read(0x8) & 0x40, 0);
  prepare(0);
  EXPECT_EQ(read(0x8) & 0x40, 0);
}

TEST_F(EmulatedPcl818, ThermalSwitchesAreOnTheirInputs) {
  settings.pcl818.thermal_input = {0, 1, 2, 3, 9, 15};
  restart();
  EXPECT_EQ(read(0x3), 0);
  cards().set_thermal(1, true);
  cards().set_thermal(4, true);
  cards().set_thermal(5, true);
  EXPECT_EQ(read(0x3), 0x02);
  EXPECT_EQ(read(0xB), 0x82);
  settings.pcl818.thermal_active_high = false;
  restart();
  cards().set_thermal(1, true);
  EXPECT_EQ(read(0x3), 0x0D);
}

TEST_F(EmulatedPcl818, PotentiometersAreOnTheirChannels) {
  settings.pcl818.pot_channel = {15, 14, 13, 12, 11, 10};
  restart();
  prepare();
  cards().set_pot_volts(0, 2.5);
  EXPECT_EQ(settled(15), 3072);
}

// --- what the documentation does not allow

TEST_F(EmulatedPcl818, NotesDataReadBeforeTheyAreReady) {
  prepare();
  select(0);
  write(0x8, 0);
  write(0x0, 0);
  read(0x0);
  expect_illegal("before the end of conversion");
  ASSERT_TRUE(wait());
  read(0x0);
  write(0x8, 0);
  expect_legal();
  read(0x1);
  expect_illegal("before the end of conversion");
}

TEST_F(EmulatedPcl818, NotesATriggerWhileConvertingAndIgnoresIt) {
  prepare();
  cards().set_pot_volts(0, 2.5);
  settled(0);
  write(0x0, 0);
  cards().set_pot_volts(0, 0);
  write(0x0, 0);
  expect_illegal("during a conversion");
  ASSERT_TRUE(wait());
  EXPECT_EQ(read(0x1), 3072 >> 4);
}

TEST_F(EmulatedPcl818, NotesATriggerAfterARangeWithoutANewSelection) {
  prepare();
  write(0x8, 0);
  write(0x0, 0);
  expect_illegal("without writing the multiplexer again");
  ASSERT_TRUE(wait());
  EXPECT_EQ(read(0x0) & 0xF, 0) << "not the channel 15 that was selected";
}

TEST_F(EmulatedPcl818, NotesASoftwareTriggerUnderAnotherTriggerSource) {
  write(0x9, 3);
  write(0x0, 0);
  expect_illegal("selects another trigger");
  EXPECT_FALSE(wait());
}

TEST_F(EmulatedPcl818, NotesRegistersAndValuesThatAreNotThere) {
  for (const unsigned offset : {0x4u, 0x5u, 0xAu}) {
    EXPECT_EQ(read(offset), 0xFF);
    expect_illegal("cannot be read");
  }
  for (const unsigned offset : {0x6u, 0x7u, 0xFu}) {
    EXPECT_EQ(read(offset), 0xFF);
    expect_illegal("no source lists this register");
  }
  write(0x6, 0);
  expect_illegal("no source lists this register");
  write(0x1, 4);  // an 818L has four ranges
  expect_illegal("no source lists this value");
  write(0xA, 4);
  expect_illegal("no source lists this value");
  write(0xC, 0);
  expect_illegal("does not support this function");
  write(0xF, 0xC2);
  expect_illegal("does not support this function");
  write(0x9, 4);  // DMA
  expect_illegal("does not support this function");
  read(0xC);
  expect_illegal("does not support this function");
  read(0x10);
  expect_illegal("there is no card at this address");
}

TEST_F(EmulatedPcl818, HasItsFifosRegistersOnlyWithAFifo) {
  settings.pcl818.variant = Pcl818Variant::k818HG;
  restart();
  write(0x6, 0);
  write(0x14, 0);
  write(0x19, 0);
  EXPECT_EQ(read(0x19), 1) << "empty";
  expect_legal();
  read(0x17);
  expect_illegal("before the end of conversion");
  write(0x6, 2);
  expect_illegal("no source lists this value");
  read(0x1A);
  expect_illegal("no source lists this register");
}

TEST_F(EmulatedPcl818, ThePacerConvertsAtItsRate) {
  prepare();
  cards().set_pot_volts(0, 1);
  cards().set_pot_volts(1, 4);
  write(0x2, 0x10);  // channels 0 and 1
  write(0x8, 0);
  write(0x9, 3);
  for (const unsigned value : {0x74u, 0xB4u}) write(0xF, value);
  for (const unsigned value : {100u, 0u}) write(0xE, value);
  for (const unsigned value : {50u, 0u}) write(0xD, value);
  const std::int64_t begin = cards().now_ns();  // 500 us
  for (int sample = 0; sample < 6; ++sample) {
    ASSERT_TRUE(wait());
    EXPECT_NEAR(static_cast<double>(cards().now_ns() - begin), 500e3 * (sample + 1) + 25e3, 5e3);
    const int high = read(0x1), low = read(0x0);
    EXPECT_EQ(low & 0xF, sample % 2);
    EXPECT_NEAR(high << 4 | low >> 4, 2048 + (sample % 2 == 0 ? 1 : 4) * 409.6, 1);
    write(0x8, 0);
  }
  write(0x9, 0);
  EXPECT_FALSE(wait()) << "another trigger source";
  expect_legal();
}

TEST_F(EmulatedPcl818, TheFifoKeepsSamplesInTheirOrderAndTellsAnOverflow) {
  settings.pcl818.variant = Pcl818Variant::k818HD;
  restart();
  prepare();
  write(0x6, 1);
  write(0x2, 0x20);
  write(0x9, 3);
  for (const unsigned value : {0x74u, 0xB4u}) write(0xF, value);
  for (const unsigned value : {10u, 0u}) write(0xE, value);
  for (const unsigned value : {100u, 0u}) write(0xD, value);
  EXPECT_EQ(read(0x19), 1) << "empty";
  cards().advance(60'000'000);
  EXPECT_EQ(read(0x19), 2) << "half full";
  for (int sample = 0; sample < 500; ++sample) {
    EXPECT_EQ(read(0x17) & 0xF, sample % 3);
    read(0x18);
  }
  EXPECT_EQ(read(0x19), 0);
  cards().advance(120'000'000);
  EXPECT_EQ(read(0x19), 6);
  write(0x9, 0);
  write(0x19, 0);
  EXPECT_EQ(read(0x19), 1) << "flushed";
  write(0x9, 3);
  cards().advance(1'000'000'000);
  read(0x8);
  cards().advance(1'000'000'000);
  EXPECT_EQ(read(0x19), 6) << "after a pause too";
  expect_legal();
}

TEST_F(EmulatedPcl818, WantsTheLowByteOfItsOwnDaFirst) {
  write(0x4, 0);
  write(0x5, 0);
  expect_legal();
  write(0x5, 0);
  expect_illegal("wrong order");
}

// --- faults

TEST_F(EmulatedPcl818, SlowAndStuckConversions) {
  prepare();
  select(0);
  cards().inject(CardFault::kSlowAd);
  EXPECT_EQ(convert(), -1) << "not within 1 ms";
  cards().advance(25'000'000);
  EXPECT_NE(read(0x8) & kReady, 0);
  write(0x8, 0);
  cards().clear(CardFault::kSlowAd);
  EXPECT_NE(convert(), -1);
  cards().inject(CardFault::kAdStuck);
  EXPECT_EQ(convert(), -1);
  EXPECT_EQ(convert(), -1);
  cards().advance(1'000'000'000);
  EXPECT_EQ(read(0x8) & kReady, 0);
  cards().clear_faults();
  EXPECT_NE(convert(), -1);
  expect_legal();
}

TEST_F(EmulatedPcl818, WrongChannelsLabel) {
  prepare();
  cards().inject(CardFault::kAdWrongChannel);
  settled(3);
  EXPECT_NE(label, 3);
}

TEST_F(EmulatedPcl818, PotentiometersOpenOrStuck) {
  prepare();
  for (int joint = 0; joint < 3; ++joint) cards().set_pot_volts(joint, 2.5);
  cards().inject(CardFault::kPotOpen, 0);
  cards().inject(CardFault::kPotStuck, 1);
  for (int joint = 0; joint < 3; ++joint) cards().set_pot_volts(joint, 1.25);
  EXPECT_EQ(settled(0), 2048);
  EXPECT_EQ(settled(1), 3072);
  EXPECT_EQ(settled(2), 2560);
  cards().clear(CardFault::kPotOpen, 0);
  cards().clear(CardFault::kPotStuck, 1);
  EXPECT_EQ(settled(0), 2560);
  EXPECT_EQ(settled(1), 2560);
}

TEST_F(EmulatedPcl818, AThermalSwitchOpens) {
  cards().inject(CardFault::kThermal, 2);
  EXPECT_EQ(read(0x3), 0x04);
  cards().clear(CardFault::kThermal, 2);
  EXPECT_EQ(read(0x3), 0x00);
}

TEST_F(EmulatedPcl818, AMissingCardReadsFfhAndKeepsNothing) {
  write(0x2, 0x55);
  cards().inject(CardFault::kMissing818);
  EXPECT_EQ(read(0x2), 0xFF);
  EXPECT_EQ(read(0x3), 0xFF);
  write(0x2, 0x11);
  expect_legal();
  cards().clear(CardFault::kMissing818);
  EXPECT_EQ(read(0x2), 0x55);
}

}  // namespace
}  // namespace puma_hardware::emulator
