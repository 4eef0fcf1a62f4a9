// SPDX-License-Identifier: Apache-2.0

// The PCL-833's driver, access by access.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "cards/pcl726.hpp"
#include "cards/pcl818.hpp"
#include "cards/pcl833.hpp"
#include "fake_bus.hpp"

namespace puma_hardware {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A bus with a PCL-833 whose counters and overflow bytes read zero.
struct Bus : FakeBus {
  explicit Bus(std::uint16_t base = 0x200) : base_(base) {
    for (int offset = 0; offset < 12; ++offset) hold(at(offset), 0);
  }
  /// The channel reads `count`, as often as said; low byte first.
  void count(int channel, std::int64_t count, int times = 1) {
    for (int k = 0; k < 3 * times; ++k) {
      queue(at(4 * channel + k % 3), {static_cast<std::uint8_t>(count >> (8 * (k % 3)))});
    }
  }

 private:
  std::uint16_t at(int offset) const { return static_cast<std::uint16_t>(base_ + offset); }
  std::uint16_t base_;
};

TEST(Pcl833, StartsAllCountersFromZeroFreeRunningInX4) {
  Bus bus;
  Pcl833 card(bus, {}, 0);
  EXPECT_EQ(bus.take_log(),
            "W200=00 W203=00 W201=00 W204=00 W202=00 W205=00 "  // off, latched by software
            "W208=00 W209=08 W20A=00 W206=07 "                  // 8 MHz, 24 bits, free running
            "W200=03 W201=03 W202=03 W207=07 W207=00 "          // x4, reset
            "R202=00 R200=00 R201=00 R203=00 "
            "R206=00 R204=00 R205=00 R207=00 "
            "R20A=00 R208=00 R209=00 R20B=00");
}

TEST(Pcl833, TheSecondCardHasItsOwnBaseAndTheFilterItsClock) {
  Bus bus(0x210);
  Pcl833Settings settings;
  settings.filter = FilterClock::k2MHz;
  Pcl833 card(bus, settings, 1);
  EXPECT_THAT(bus.take_log(), HasSubstr("W218=02 W219=08"));
}

TEST(Pcl833, AnAbsentCardIsRefused) {
  FakeBus bus;
  EXPECT_THAT(error_of([&] { Pcl833(bus, {}, 1); }),
              AllOf(HasSubstr("second PCL-833: nothing answers at 0x210"), HasSubstr("FF FF FF"),
                    HasSubstr("pcl833.base")));
}

TEST(Pcl833, ACardWhoseCountersDoNotResetIsRefused) {
  Bus bus;
  bus.count(1, 0x123456, 2);
  EXPECT_THAT(error_of([&] { Pcl833(bus, {}, 0); }),
              AllOf(HasSubstr("first PCL-833: a card answers, but its counters do not reset"),
                    HasSubstr(" 00 00 00 56 34 12 00 00 00 after a reset")));
}

TEST(Pcl833, AnEncoderThatTremblesAroundZeroAtTheStartIsGood) {
  Bus bus;
  bus.count(0, -1);
  bus.count(1, 2);
  bus.count(2, -99);
  Pcl833 card(bus, {}, 0);
  bus.count(0, -1);
  EXPECT_EQ(card.read(0), -1);
}

TEST(Pcl833, ThereAreTwoCards) {
  Bus bus;
  EXPECT_THAT(error_of([&] { Pcl833(bus, {}, 2); }), HasSubstr("no card 2"));
  Pcl833Settings settings;
  settings.byte_offset = {0, 0, 0};
  EXPECT_THAT(error_of([&] { Pcl833(bus, settings, 0); }), HasSubstr("pcl833.byte_offset"));
  EXPECT_EQ(bus.take_log(), "");
}

TEST(Pcl833, ReadsInTheDocumentedOrder) {
  Bus bus;
  Pcl833 card(bus, {}, 0);
  bus.take_log();
  bus.count(2, 0x000056);
  EXPECT_EQ(card.read(2), 0x56);
  EXPECT_EQ(bus.take_log(), "R20A=00 R208=56 R209=00");
  bus.count(2, 0x123456, 2);
  EXPECT_EQ(card.read(2), 0x123456);
  EXPECT_EQ(bus.take_log(), "R20A=12 R208=56 R209=34 R20A=12 R208=56 R209=34")
      << "a large step is read again";
  EXPECT_EQ(card.last_bytes(2), (std::array<std::uint8_t, 3>{0x56, 0x34, 0x12}));
}

TEST(Pcl833, ByteSignificanceIsASettingTheOrderIsNot) {
  Bus bus;
  Pcl833Settings settings;
  settings.byte_offset = {2, 1, 0};
  Pcl833 card(bus, settings, 0);
  bus.take_log();
  bus.count(0, 0x120000);
  EXPECT_EQ(card.read(0), 0x12);
  EXPECT_EQ(bus.take_log(), "R202=12 R200=00 R201=00");
  bus.count(0, 0x123456, 2);
  EXPECT_EQ(card.read(0), 0x563412);
}

TEST(Pcl833, ATornCountIsReadAgain) {
  Bus bus;
  Pcl833 card(bus, {}, 0);
  bus.count(0, 0xFF, 2);
  EXPECT_EQ(card.read(0), 0xFF);
  bus.take_log();
  bus.count(0, 0x1FF);  // the low byte before the carry, the middle one after it
  bus.count(0, 0x100, 2);
  EXPECT_EQ(card.read(0), 0x100);
  EXPECT_EQ(bus.take_log(),
            "R202=00 R200=FF R201=01 R202=00 R200=00 R201=01 R202=00 R200=00 R201=01");
  bus.count(0, 0x480);  // large but right, then torn
  bus.count(0, 0x580);
  bus.count(0, 0x481);
  EXPECT_EQ(card.read(0), 0x481);
}

TEST(Pcl833, FollowsTheCounterAcrossItsWrapInBothDirections) {
  Bus bus;
  Pcl833 card(bus, {}, 0);
  std::int64_t position = 0;
  // Up past 2^24 three times, down past −2^24, in steps up to 2^23 − 1.
  for (const std::int64_t step :
       {100L, 0x7FFFFFL, 0x7FFFFFL, 0x7FFFFFL, 0x7FFFFFL, 0x7FFFFFL, 0x7FFFFFL, 5L, -0x7FFFFFL,
        -0x800000L, -0x800000L, -0x800000L, -0x800000L, -0x800000L, -0x800000L, -0x800000L,
        -0x800000L, -1L}) {
    position += step;
    bus.count(1, position, std::abs(step) > 100 ? 2 : 1);
    EXPECT_EQ(card.read(1), position);
  }
  EXPECT_LT(position, -0x1000000);
}

TEST(Pcl833, SetCountShiftsWithoutAnAccess) {
  Bus bus;
  Pcl833 card(bus, {}, 0);
  bus.count(0, 40);
  card.read(0);
  bus.take_log();
  card.set_count(0, -1'000'000);
  EXPECT_EQ(bus.take_log(), "");
  bus.count(0, 45);
  EXPECT_EQ(card.read(0), -999'995);
  card.set_count(0, 7);
  bus.count(0, 45);
  EXPECT_EQ(card.read(0), 7) << "not shifted twice";
}

TEST(Pcl833, ResetStrobesTheChannelAloneAndReadsZero) {
  Bus bus;
  Pcl833 card(bus, {}, 0);
  bus.count(1, 1234, 2);
  card.read(1);
  card.set_count(1, 99);
  bus.take_log();
  card.reset(1);
  EXPECT_EQ(bus.take_log(), "W207=02 W207=00");
  EXPECT_EQ(card.read(1), 0);
}

TEST(Pcl833, AnIndexPulseLeavesItsCountInElevenAccesses) {
  Bus bus;
  Pcl833 card(bus, {}, 0);
  bus.take_log();
  bus.count(0, 100, 2);
  card.begin_index_search(0);
  EXPECT_EQ(bus.take_log(), "R202=00 R200=64 R201=00 W203=01 R202=00 R200=64 R201=00");

  bus.count(0, 100);     // latched still: no index
  bus.count(0, 180, 2);  // live, and now in the latch
  Pcl833::IndexReading reading = card.read_with_index(0);
  EXPECT_EQ(bus.take_log(),
            "R202=00 R200=64 R201=00 W203=00 R202=00 R200=B4 R201=00 W203=01 "
            "R202=00 R200=B4 R201=00");
  EXPECT_FALSE(reading.index_seen);
  EXPECT_EQ(reading.count, 180);

  bus.count(0, 240);
  bus.count(0, 260, 2);
  reading = card.read_with_index(0);
  EXPECT_TRUE(reading.index_seen);
  EXPECT_EQ(reading.index_count, 240);
  EXPECT_EQ(reading.count, 260);

  bus.count(0, 260);
  bus.count(0, 261, 2);
  EXPECT_FALSE(card.read_with_index(0).index_seen) << "seen once only";

  bus.take_log();
  card.end_index_search(0);
  EXPECT_EQ(bus.take_log(), "W203=00");
  bus.count(0, 302);
  EXPECT_EQ(card.read(0), 302);
  EXPECT_EQ(bus.take_log(), "R202=00 R200=2E R201=01");
}

TEST(Pcl833, AnIndexIsReportedWhenTheCounterIsBeyondItsPulse) {
  Bus bus;
  Pcl833 card(bus, {}, 0);
  card.begin_index_search(0);
  const auto call = [&](std::int64_t latched, std::int64_t live) {
    bus.count(0, latched);
    bus.count(0, live, 2);
    return card.read_with_index(0);
  };
  // A card that latches as long as the pulse lasts, here up to 30.
  EXPECT_FALSE(call(25, 26).index_seen);
  EXPECT_FALSE(call(29, 29).index_seen);
  EXPECT_FALSE(call(30, 31).index_seen);
  const Pcl833::IndexReading reading = call(31, 33);
  EXPECT_TRUE(reading.index_seen);
  EXPECT_EQ(reading.index_count, 30);
  EXPECT_FALSE(call(33, 60).index_seen);
  // One that turned back.
  EXPECT_FALSE(call(80, 81).index_seen);
  EXPECT_FALSE(call(81, 70).index_seen);
  EXPECT_FALSE(call(70, 60).index_seen);
  EXPECT_FALSE(call(60, 100).index_seen) << "it is forgotten";
}

TEST(Pcl833, ALatchThatMovedOnAfterTheReadingIsNoIndex) {
  Bus bus;
  Pcl833 card(bus, {}, 0);
  card.begin_index_search(0);
  bus.count(0, 0);
  bus.count(0, 50);  // the reading
  bus.count(0, 51);  // what the latch has kept of it
  EXPECT_FALSE(card.read_with_index(0).index_seen);
  bus.count(0, 51);
  bus.count(0, 90, 2);
  EXPECT_FALSE(card.read_with_index(0).index_seen);
  bus.count(0, 120);
  bus.count(0, 150, 2);
  EXPECT_TRUE(card.read_with_index(0).index_seen);
}

TEST(Pcl833, AnIndexBeyondTheWrapCountsOnAndFollowsSetCount) {
  Bus bus;
  Pcl833 card(bus, {}, 0);
  bus.count(2, 5, 2);
  card.begin_index_search(2);
  card.set_count(2, 1005);
  bus.count(2, -7);
  bus.count(2, -20, 2);
  const Pcl833::IndexReading reading = card.read_with_index(2);
  EXPECT_TRUE(reading.index_seen);
  EXPECT_EQ(reading.index_count, 993);
  EXPECT_EQ(reading.count, 980);
}

TEST(Pcl833, SearchingWithoutBeginningBegins) {
  Bus bus;
  Pcl833 card(bus, {}, 0);
  bus.take_log();
  EXPECT_FALSE(card.read_with_index(1).index_seen);
  EXPECT_EQ(bus.take_log(),
            "R206=00 R204=00 R205=00 W204=01 R206=00 R204=00 R205=00 "
            "R206=00 R204=00 R205=00 W204=00 R206=00 R204=00 R205=00 W204=01 "
            "R206=00 R204=00 R205=00");
}

TEST(Pcl833, ReadAndResetEndASearchSoThatNoStaleLatchIsRead) {
  Bus bus;
  Pcl833 card(bus, {}, 0);
  card.begin_index_search(1);
  bus.take_log();
  card.read(1);
  EXPECT_EQ(bus.take_log(), "W204=00 R206=00 R204=00 R205=00");
  card.begin_index_search(1);
  bus.take_log();
  card.reset(1);
  EXPECT_EQ(bus.take_log(), "W204=00 W207=02 W207=00");
  card.read(1);
  EXPECT_EQ(bus.take_log(), "R206=00 R204=00 R205=00");
}

TEST(Pcl833, TellsOverflowByChannel) {
  Bus bus;
  Pcl833 card(bus, {}, 0);
  bus.hold(0x207, 0x01);
  bus.take_log();
  EXPECT_FALSE(card.overflowed(0));
  EXPECT_TRUE(card.overflowed(1));
  EXPECT_FALSE(card.overflowed(2));
  EXPECT_EQ(bus.take_log(), "R203=00 R207=01 R20B=00");
}

TEST(Pcl833, ALostCardIsToldFromCountersAtMinusOne) {
  Bus bus;
  Pcl833 card(bus, {}, 0);
  bus.take_log();
  EXPECT_FALSE(card.lost());
  EXPECT_EQ(bus.take_log(), "");
  for (int channel = 0; channel < 3; ++channel) {
    bus.count(channel, -1);
    card.read(channel);
  }
  bus.take_log();
  EXPECT_FALSE(card.lost());
  EXPECT_EQ(bus.take_log(), "R203=00");
  bus.hold(0x203, 0xFF);
  EXPECT_TRUE(card.lost());
}

// Reads and writes of the three kinds of cards at their default addresses.
TEST(Cards, ACycleTakesThirtyOneAccessesAndThePotentiometerAtMostEight) {
  FakeBus bus;
  for (std::uint16_t port = 0x200; port < 0x220; ++port) bus.hold(port, 0);
  bus.echo(0x302);
  bus.echo(0x309);
  bus.hold(0x308, 0x30);
  bus.hold(0x300, 0x00);
  bus.hold(0x301, 0x80);
  const CardSettings settings;
  Pcl818 pcl818(bus, settings.pcl818);
  Pcl726 pcl726(bus, settings.pcl726);
  Pcl833 first(bus, settings.pcl833, 0), second(bus, settings.pcl833, 1);
  bus.take_log();

  pcl818.trigger();
  int pot_accesses = bus.accesses();
  bus.take_log();
  for (int channel = 0; channel < 3; ++channel) {
    first.read(channel);
    second.read(channel);
  }
  pcl818.read_thermal();
  EXPECT_FALSE(first.lost());
  EXPECT_FALSE(second.lost());
  for (int channel = 0; channel < 6; ++channel) pcl726.write_volts(channel, 1);
  EXPECT_EQ(bus.accesses(), 31);
  bus.take_log();
  EXPECT_EQ(pcl818.collect(1).status, AdStatus::kOk);
  pot_accesses += bus.accesses();
  EXPECT_LE(pot_accesses, 8);
}

}  // namespace
}  // namespace puma_hardware
