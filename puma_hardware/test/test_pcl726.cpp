// SPDX-License-Identifier: Apache-2.0

// The PCL-726's driver, access by access.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "cards/pcl726.hpp"
#include "fake_bus.hpp"

namespace puma_hardware {
namespace {

using testing::HasSubstr;

constexpr const char* kAllZero =
    "W2C0=08 W2C1=00 W2C2=08 W2C3=00 W2C4=08 W2C5=00 "
    "W2C6=08 W2C7=00 W2C8=08 W2C9=00 W2CA=08 W2CB=00";

TEST(Pcl726, OutputsZeroVoltsAndNoSignalsWhenOpenedAndWhenDestroyed) {
  FakeBus bus;
  {
    Pcl726 card(bus, {});
    EXPECT_EQ(bus.take_log(), std::string(kAllZero) + " W2CC=00 W2CD=00 R2CE=FF R2CF=FF");
    card.write_volts(3, 7);
    card.write_output(9, true);
    bus.take_log();
  }
  EXPECT_EQ(bus.take_log(), std::string(kAllZero) + " W2CC=00 W2CD=00");
}

TEST(Pcl726, OutputsZeroVoltsWhenAnExceptionPasses) {
  FakeBus bus;
  try {
    Pcl726 card(bus, {});
    card.write_volts(0, 10);
    bus.take_log();
    throw CardError("elsewhere");
  } catch (const CardError&) {
  }
  EXPECT_THAT(bus.take_log(), HasSubstr(kAllZero));
}

TEST(Pcl726, ZeroVoltsInTwosComplementIsCodeZero) {
  FakeBus bus;
  Pcl726Settings settings;
  settings.coding = DacCoding::kTwosComplement;
  Pcl726 card(bus, settings);
  EXPECT_THAT(bus.take_log(), HasSubstr("W2C0=00 W2C1=00 W2C2=00 W2C3=00"));
  EXPECT_EQ(card.volts(0), 0);
}

TEST(Pcl726, WritesTheHighByteFirst) {
  FakeBus bus;
  Pcl726 card(bus, {});
  bus.take_log();
  card.write_volts(5, 500 * 10.0 / 2048);
  // The ACL-6126 manual's example: +500 counts are 1001 1111 0100.
  EXPECT_EQ(bus.take_log(), "W2CA=09 W2CB=F4");
  EXPECT_EQ(card.code(5), 0b1001'1111'0100);
}

struct Conversion {
  double volts;
  int offset_binary, twos_complement;
  double written;
};

TEST(Pcl726, RoundsAndClampsVolts) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kStep = 10.0 / 2048;
  for (const Conversion& c : {Conversion{0, 0x800, 0x000, 0},
                              {-10, 0x000, 0x800, -10},
                              {10, 0xFFF, 0x7FF, 10 - kStep},
                              {1e300, 0xFFF, 0x7FF, 10 - kStep},
                              {-1e300, 0x000, 0x800, -10},
                              {0.49 * kStep, 0x800, 0x000, 0},
                              {0.51 * kStep, 0x801, 0x001, kStep},
                              {-0.51 * kStep, 0x7FF, 0xFFF, -kStep},
                              {5, 0xC00, 0x400, 5},
                              {std::numeric_limits<double>::quiet_NaN(), 0x800, 0x000, 0},
                              {kInf, 0x800, 0x000, 0},
                              {-kInf, 0x800, 0x000, 0}}) {
    FakeBus bus;
    Pcl726Settings settings;
    Pcl726 offset_binary(bus, settings);
    settings.coding = DacCoding::kTwosComplement;
    Pcl726 twos_complement(bus, settings);
    for (Pcl726* card : {&offset_binary, &twos_complement}) {
      card->write_volts(2, -3);
      card->write_volts(2, c.volts);
      EXPECT_EQ(card->volts(2), c.written) << c.volts;
    }
    EXPECT_EQ(offset_binary.code(2), c.offset_binary) << c.volts;
    EXPECT_EQ(twos_complement.code(2), c.twos_complement) << c.volts;
  }
}

TEST(Pcl726, TheFiveVoltRangeHasHalfTheStep) {
  FakeBus bus;
  Pcl726Settings settings;
  settings.range = DacRange::kBipolar5;
  Pcl726 card(bus, settings);
  EXPECT_EQ(card.full_scale(), 5);
  EXPECT_EQ(card.volts_per_code(), 5.0 / 2048);
  card.write_volts(0, 2.5);
  EXPECT_EQ(card.code(0), 0xC00);
  EXPECT_EQ(Pcl726(bus, {}).full_scale(), 10);
}

TEST(Pcl726, ZeroTakesTwelveAccesses) {
  FakeBus bus;
  Pcl726 card(bus, {});
  for (int channel = 0; channel < 6; ++channel) card.write_volts(channel, channel - 3);
  bus.take_log();
  card.zero();
  EXPECT_EQ(bus.take_log(), kAllZero);
  for (int channel = 0; channel < 6; ++channel) EXPECT_EQ(card.volts(channel), 0);
}

TEST(Pcl726, ADigitalOutputKeepsTheOthers) {
  FakeBus bus;
  Pcl726 card(bus, {});
  bus.take_log();
  card.write_output(0, true);
  card.write_output(3, true);
  card.write_output(15, true);
  card.write_output(8, true);
  card.write_output(0, false);
  EXPECT_EQ(card.outputs(), 0x8108);
  card.clear_outputs();
  EXPECT_EQ(bus.take_log(), "W2CD=01 W2CD=09 W2CC=80 W2CC=81 W2CD=08 W2CC=00 W2CD=00");
  EXPECT_EQ(card.outputs(), 0);
}

TEST(Pcl726, ChannelsAndOutputsThatAreNotThereAreIgnored) {
  FakeBus bus;
  Pcl726 card(bus, {});
  bus.take_log();
  card.write_volts(-1, 1);
  card.write_volts(6, 1);
  card.write_output(-1, true);
  card.write_output(16, true);
  EXPECT_EQ(bus.take_log(), "");
}

TEST(Pcl726, OnlyItsDigitalInputsCanProveIt) {
  FakeBus silent;
  EXPECT_FALSE(Pcl726(silent, {}).answered());
  FakeBus wired;
  wired.hold(0x2CF, 0xFE);
  Pcl726 card(wired, {});
  EXPECT_TRUE(card.answered());
  EXPECT_EQ(card.read_inputs(), 0xFFFE);
}

TEST(Pcl726, ImpossibleSettingsAreRefusedBeforeAnyAccess) {
  FakeBus bus;
  Pcl726Settings settings;
  settings.base = 0x80;
  EXPECT_THAT(error_of([&] { Pcl726(bus, settings); }), HasSubstr("pcl726.base = 0x80"));
  EXPECT_EQ(bus.take_log(), "");
}

}  // namespace
}  // namespace puma_hardware
