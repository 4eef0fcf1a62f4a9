// SPDX-License-Identifier: Apache-2.0

// The PCL-818's driver, access by access.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cards/pcl818.hpp"
#include "fake_bus.hpp"

namespace puma_hardware {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::uint8_t kIdle = 0x20;   // single-ended, no data
constexpr std::uint8_t kReady = 0x30;  // single-ended, data ready

/// A bus with a PCL-818 at 300h that is present and idle.
struct Bus : FakeBus {
  Bus() {
    echo(0x302);
    echo(0x309);
    hold(0x308, kIdle);
  }
  /// Lays out a sample for the next status read that finds it.
  void sample(int channel, int code) {
    queue(0x308, {kReady});
    queue(0x300, {static_cast<std::uint8_t>((code & 0xF) << 4 | channel)});
    queue(0x301, {static_cast<std::uint8_t>(code >> 4)});
  }
};

TEST(Pcl818, TestsPresenceThenSetsTriggerAndRanges) {
  Bus bus;
  Pcl818Settings settings;
  settings.pot_channel = {3, 1, 2, 0, 4, 5};
  Pcl818 card(bus, settings);
  const std::string log = bus.take_log();
  EXPECT_THAT(log, StartsWith("W302=00 R308=20 R302=00 W302=55 R308=20 R302=55 W302=00 "
                              "W309=18 R308=20 R309=18 W309=00 W30A=00 R308=20 "
                              "W302=00 W301=00 W302=01 W301=00"));
  EXPECT_THAT(log, EndsWith("W302=0F W301=00 W302=33 W308=00"));
  EXPECT_FALSE(card.differential());
}

TEST(Pcl818, SwitchesTheFifoOffWhereThereIsOne) {
  Bus bus;
  Pcl818Settings settings;
  settings.variant = Pcl818Variant::k818HD;
  settings.range_code = 5;
  Pcl818 card(bus, settings);
  EXPECT_THAT(bus.take_log(),
              AllOf(HasSubstr("W30A=00 W306=00 R308"), HasSubstr("W302=07 W301=05")));
  EXPECT_DOUBLE_EQ(card.volts_per_code(), 5.0 / 4096);
}

TEST(Pcl818, AnAbsentCardIsRefused) {
  FakeBus bus;
  EXPECT_THAT(error_of([&] { Pcl818(bus, {}); }),
              AllOf(HasSubstr("PCL-818L: no such card answers at 0x300"),
                    HasSubstr("nothing answers"), HasSubstr("pcl818.base")));
}

TEST(Pcl818, ACardThatDoesNotGiveBackMuxOrControlIsRefused) {
  Bus stuck_mux;
  stuck_mux.queue(0x302, {0x00, 0x54});
  EXPECT_THAT(error_of([&] { Pcl818(stuck_mux, {}); }),
              HasSubstr("the multiplexer was written 55h and read back 54h;"));
  Bus other_control;
  other_control.queue(0x309, {0x08});
  EXPECT_THAT(error_of([&] { Pcl818(other_control, {}); }),
              HasSubstr("the control register was written 18h and read back 08h;"));
}

TEST(Pcl818, ImpossibleSettingsAreRefusedBeforeAnyAccess) {
  Bus bus;
  Pcl818Settings settings;
  settings.pot_channel[2] = 16;
  EXPECT_THAT(error_of([&] { Pcl818(bus, settings); }), HasSubstr("pcl818.pot_channel"));
  EXPECT_EQ(bus.take_log(), "");
}

TEST(Pcl818, DifferentialInputsHaveEightChannels) {
  Bus bus;
  bus.hold(0x308, 0x00);
  EXPECT_TRUE(Pcl818(bus, {}).differential());
  EXPECT_THAT(bus.take_log(), EndsWith("W302=07 W301=00 W302=00 W308=00"));
  Pcl818Settings settings;
  settings.pot_channel[5] = 8;
  EXPECT_THAT(error_of([&] { Pcl818(bus, settings); }),
              HasSubstr("switched to 8 differential inputs and has no channel 8"));
}

TEST(Pcl818, ACycleTriggersAndCollectsInSevenAccesses) {
  Bus bus;
  Pcl818 card(bus, {});
  bus.take_log();
  card.trigger();
  bus.sample(0, 0xC00);
  const AdSample sample = card.collect(1);
  EXPECT_LE(bus.accesses(), 8);
  EXPECT_EQ(bus.take_log(), "W308=00 W300=00 R308=30 R300=00 R301=C0 W308=00 W302=11");
  EXPECT_EQ(sample.status, AdStatus::kOk);
  EXPECT_EQ(sample.channel, 0);
  EXPECT_EQ(sample.code, 0xC00);
  EXPECT_EQ(sample.volts, 2.5);

  card.trigger();
  bus.sample(1, 0x123);
  const AdSample next = card.collect(2);
  EXPECT_EQ(next.status, AdStatus::kOk);
  EXPECT_EQ(next.channel, 1);
  EXPECT_EQ(next.code, 0x123);
}

TEST(Pcl818, AConversionUnderWayIsNeitherTriggeredAgainNorDeselected) {
  Bus bus;
  Pcl818 card(bus, {});
  card.trigger();
  bus.take_log();
  EXPECT_EQ(card.collect(1).status, AdStatus::kPending);
  card.trigger();
  EXPECT_EQ(bus.take_log(), "R308=20");
  bus.sample(0, 7);
  EXPECT_EQ(card.collect(1).code, 7);
}

TEST(Pcl818, AConversionThatDoesNotEndTimesOutAndTheNextChannelFollows) {
  Bus bus;
  Pcl818 card(bus, {});
  card.trigger();
  bus.advance(150'000);
  EXPECT_EQ(card.collect(1).status, AdStatus::kPending);
  bus.advance(60'000);
  bus.take_log();
  const AdSample sample = card.collect(1);
  EXPECT_EQ(sample.status, AdStatus::kTimeout);
  EXPECT_EQ(sample.channel, 0);
  EXPECT_EQ(bus.take_log(), "R308=20 W302=11");
  card.trigger();
  EXPECT_EQ(bus.take_log(), "W308=00 W300=00");
}

TEST(Pcl818, ASampleThatIsThereLateIsStillGood) {
  Bus bus;
  Pcl818 card(bus, {});
  card.trigger();
  bus.advance(1'000'000);
  bus.sample(0, 1);
  EXPECT_EQ(card.collect(1).status, AdStatus::kOk);
}

TEST(Pcl818, CollectingWhatWasNotTriggeredOnlySelects) {
  Bus bus;
  Pcl818 card(bus, {});
  bus.take_log();
  EXPECT_EQ(card.collect(4).status, AdStatus::kPending);
  EXPECT_EQ(bus.take_log(), "W302=44");
}

TEST(Pcl818, ASampleOfAnotherChannelIsNotTaken) {
  Bus bus;
  Pcl818 card(bus, {});
  card.trigger();
  bus.sample(3, 100);
  EXPECT_EQ(card.collect(1).status, AdStatus::kWrongChannel);
}

TEST(Pcl818, ALostCardDoesNotPassForChannel15) {
  Bus bus;
  Pcl818 card(bus, {});
  card.select(15);
  card.trigger();
  bus.hold(0x308, 0xFF);
  bus.hold(0x300, 0xFF);
  bus.hold(0x301, 0xFF);
  EXPECT_EQ(card.collect(0).status, AdStatus::kWrongChannel);
}

TEST(Pcl818, ConvertSettlesThenPollsForTheSample) {
  Bus bus;
  Pcl818 card(bus, {});
  bus.take_log();
  bus.queue(0x308, {kIdle, kReady, kIdle, kIdle, kReady});
  bus.queue(0x300, {0x15, 0x35});
  bus.queue(0x301, {0x02, 0x80});
  const AdSample sample = card.convert(5);
  EXPECT_EQ(sample.status, AdStatus::kOk);
  EXPECT_EQ(sample.code, 0x803);
  EXPECT_EQ(bus.take_log(),
            "W302=55 W308=00 W300=00 R308=20 R308=30 R300=15 R301=02 W308=00 "
            "W308=00 W300=00 R308=20 R308=20 R308=30 R300=35 R301=80 W308=00");
}

int triggers_of_a_conversion(Pcl818Settings settings) {
  Bus bus;
  Pcl818 card(bus, settings);
  bus.take_log();
  bus.hold(0x308, kReady);
  bus.hold(0x300, 0x02);
  bus.hold(0x301, 0x80);
  EXPECT_EQ(card.convert(2).status, AdStatus::kOk);
  int count = 0;
  const std::string log = bus.take_log();
  for (std::size_t at = 0; (at = log.find("W300", at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(Pcl818, SettlingConversionsAreTheVariantsUnlessSet) {
  Pcl818Settings settings;
  EXPECT_EQ(triggers_of_a_conversion(settings), 1 + 1);
  settings.variant = Pcl818Variant::k818HG;
  EXPECT_EQ(triggers_of_a_conversion(settings), 3 + 1);
  settings.settling_conversions = 0;
  EXPECT_EQ(triggers_of_a_conversion(settings), 1);
  settings.settling_conversions = 9;
  EXPECT_EQ(triggers_of_a_conversion(settings), 9 + 1);
}

TEST(Pcl818, ConvertGivesUpAfterTheTimeout) {
  Bus bus;
  Pcl818Settings settings;
  settings.timeout_us = 50;
  Pcl818 card(bus, settings);
  const std::int64_t start = bus.now_ns();
  EXPECT_EQ(card.convert(0).status, AdStatus::kTimeout);
  EXPECT_LT(bus.now_ns() - start, 60'000);
}

TEST(Pcl818, AProcessThatPausesWhileItPollsSeesNoTimeout) {
  struct PausingBus : Bus {
    std::uint8_t read(std::uint16_t port) noexcept override {
      const std::uint8_t value = Bus::read(port);
      if (pausing && port == 0x308) advance(5'000'000);
      return value;
    }
    bool pausing = false;
  } bus;
  Pcl818 card(bus, {});
  bus.queue(0x308, {0x20, 0x30, 0x20, 0x30});  // not ready, pause, ready; twice
  bus.hold(0x300, 0x02);
  bus.hold(0x301, 0x80);
  bus.pausing = true;
  EXPECT_EQ(card.convert(2).status, AdStatus::kOk);
}

TEST(Pcl818, ConvertReportsASampleOfAnotherChannel) {
  Bus bus;
  Pcl818 card(bus, {});
  bus.hold(0x308, kReady);
  bus.hold(0x300, 0x03);
  bus.hold(0x301, 0x80);
  EXPECT_EQ(card.convert(2).status, AdStatus::kWrongChannel);
}

TEST(Pcl818, ReadsDigitalInputs) {
  Bus bus;
  Pcl818 card(bus, {});
  bus.hold(0x303, 0xA5);
  bus.hold(0x30B, 0x3C);
  bus.take_log();
  EXPECT_EQ(card.read_inputs_low(), 0xA5);
  EXPECT_EQ(card.read_inputs_high(), 0x3C);
  EXPECT_EQ(bus.take_log(), "R303=A5 R30B=3C");
}

TEST(Pcl818, ThermalSwitchesCostOneAccessAndFollowTheirPolarity) {
  Bus bus;
  bus.hold(0x303, 0b000100);
  Pcl818Settings settings;
  settings.thermal_input = {5, 4, 3, 2, 1, 0};
  Pcl818 card(bus, settings);
  bus.take_log();
  EXPECT_EQ(card.read_thermal(), 0b001000) << "input 2 is joint 4's";
  EXPECT_EQ(bus.take_log(), "R303=04");
  settings.thermal_active_high = false;
  EXPECT_EQ(Pcl818(bus, settings).read_thermal(), 0b110111);
}

TEST(Pcl818, ThermalSwitchesMayLieOnBothBytes) {
  Bus bus;
  bus.hold(0x303, 0x00);
  bus.hold(0x30B, 0x01);
  Pcl818Settings settings;
  settings.thermal_input = {0, 1, 2, 3, 4, 8};
  Pcl818 card(bus, settings);
  bus.take_log();
  EXPECT_EQ(card.read_thermal(), 0b100000);
  EXPECT_EQ(bus.take_log(), "R303=00 R30B=01");
  settings.thermal_input = {8, 9, 10, 11, 12, 13};
  Pcl818 high(bus, settings);
  bus.take_log();
  EXPECT_EQ(high.read_thermal(), 0b000001);
  EXPECT_EQ(bus.take_log(), "R30B=01");
}

TEST(Pcl818, ABrokenWireAndALostCardReadAsHot) {
  Bus bus;
  Pcl818 card(bus, {});
  bus.hold(0x303, 0xFF);
  EXPECT_EQ(card.read_thermal(), 0b111111);
}

TEST(Pcl818, AnswersAsLongAsTheControlRegisterGivesBackWhatWasWritten) {
  Bus bus;
  Pcl818 card(bus, {});
  bus.take_log();
  EXPECT_TRUE(card.answers());
  EXPECT_EQ(bus.take_log(), "R309=00");
  bus.hold(0x309, 0xFF);
  EXPECT_FALSE(card.answers());
}

}  // namespace
}  // namespace puma_hardware
