// SPDX-License-Identifier: Apache-2.0

// The drivers on every combination of what no source documents of the cards: positions, index pulses,
// 0 V, inputs and potentiometers are right, or the settling test names what does not work.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "cards/pcl726.hpp"
#include "cards/pcl818.hpp"
#include "cards/pcl833.hpp"
#include "cards/settling_test.hpp"
#include "emulator/emulated_cards.hpp"

namespace puma_hardware::emulator {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int kPerRev = 1000, kPhase = 137;
constexpr std::int64_t kCycleAccesses = 1000;  ///< of 1 µs

/// Encoders turn while the driver reads them.
class TurningBus : public PortIo {
 public:
  explicit TurningBus(EmulatedCards& cards) : cards_(cards) {}
  std::uint8_t read(std::uint16_t port) noexcept override {
    move(1);
    return cards_.read(port);
  }
  void write(std::uint16_t port, std::uint8_t value) noexcept override {
    move(1);
    cards_.write(port, value);
  }
  std::int64_t now_ns() const noexcept override { return cards_.now_ns(); }

  void turn(double counts_per_access) { speed_ = counts_per_access; }
  void move(std::int64_t accesses) noexcept {
    if (speed_ == 0) return;
    position_ += speed_ * static_cast<double>(accesses);
    for (int joint = 0; joint < 6; ++joint) {
      cards_.set_encoder(joint, std::llround(position_), kPerRev, kPhase);
    }
  }
  double position() const { return position_; }

 private:
  EmulatedCards& cards_;
  double speed_ = 0, position_ = 0;
};

struct Variant {
  CardBehavior behavior;
  CardSettings settings;

  std::string text() const {
    char text[320];
    std::snprintf(
        text, sizeof text,
        "index latch %s, read latch %s, reset by %s, index width %d, inputs float %s, power-up code "
        "%03X, settling %g s, %s, PCL-%s, %s",
        behavior.index_latch == Latch::kHold ? "holds" : "follows",
        behavior.read_latch == Latch::kHold ? "holds" : "follows",
        behavior.counter_reset == CounterReset::kLevel ? "level" : "strobe", behavior.index_width,
        behavior.inputs_float_high ? "high" : "low", unsigned{behavior.power_up_code},
        behavior.settling_time, behavior.differential ? "differential" : "single-ended",
        to_string(settings.pcl818.variant),
        settings.pcl726.coding == DacCoding::kOffsetBinary ? "offset binary" : "two's complement");
    return text;
  }
};

template <typename Body>
void for_every_counter(Variant variant, const Body& body) {
  CardBehavior& b = variant.behavior;
  for (b.index_latch = Latch::kHold;; b.index_latch = Latch::kFollow) {
    for (b.read_latch = Latch::kHold;; b.read_latch = Latch::kFollow) {
      for (b.counter_reset = CounterReset::kLevel;; b.counter_reset = CounterReset::kStrobe) {
        for (const int width : {0, 1, 4, 40}) {
          b.index_width = width;
          body(variant);
        }
        if (b.counter_reset == CounterReset::kStrobe) break;
      }
      if (b.read_latch == Latch::kFollow) break;
    }
    if (b.index_latch == Latch::kFollow) break;
  }
}

template <typename Body>
void for_every_variant(const Body& body) {
  Variant variant;
  variant.settings.pcl726.watchdog_output = 8;
  variant.settings.pcl726.watchdog_input = 9;
  CardBehavior& b = variant.behavior;
  for (const auto type : {Pcl818Variant::k818, Pcl818Variant::k818L, Pcl818Variant::k818H,
                          Pcl818Variant::k818HD, Pcl818Variant::k818HG}) {
    variant.settings.pcl818.variant = type;
    for (const double settling : {-1.0, 0.0, 10e-6}) {
      b.settling_time = settling;
      for (const bool differential : {false, true}) {
        b.differential = differential;
        for (const bool high : {false, true}) {
          b.inputs_float_high = high;
          for (const int code : {0x000, 0x800, 0xFFF}) {
            b.power_up_code = static_cast<std::uint16_t>(code);
            for (const auto coding : {DacCoding::kOffsetBinary, DacCoding::kTwosComplement}) {
              variant.settings.pcl726.coding = coding;
              for_every_counter(variant, body);
            }
          }
        }
      }
    }
  }
}

/// The pulse that the card latches in this direction of the count.
std::int64_t latched_pulse(const CardBehavior& behavior, bool up, std::int64_t turn) {
  const bool at_end = up == (behavior.index_latch == Latch::kFollow);
  return kPhase + turn * kPerRev + (at_end ? behavior.index_width : 0);
}

void expect_zero_volts(const EmulatedCards& cards) {
  for (int joint = 0; joint < 6; ++joint) EXPECT_EQ(cards.output_volts(joint), 0) << joint;
}

void check_outputs_and_inputs(const Variant& variant, EmulatedCards& cards) {
  {
    Pcl726 card(cards, variant.settings.pcl726);
    expect_zero_volts(cards);
    card.write_volts(2, 3.3);
    card.write_volts(5, -7.7);
    EXPECT_NEAR(cards.output_volts(2), 3.3, 0.5 * card.volts_per_code());
    EXPECT_NEAR(cards.output_volts(5), -7.7, 0.5 * card.volts_per_code());
    EXPECT_EQ(cards.output_volts(0), 0);
    cards.set_digital_input(3, true);
    cards.set_digital_input(12, false);
    for (const bool on : {true, false, true}) {
      card.write_output(variant.settings.pcl726.watchdog_output, on);
      const unsigned inputs = card.read_inputs(1u << 3 | 1u << 9 | 1u << 12);
      EXPECT_EQ(inputs, 1u << 3 | (on ? 1u << 9 : 0u));
    }
    EXPECT_TRUE(card.answered()) << "the read-back is low at the start";
  }
  expect_zero_volts(cards);
  EXPECT_FALSE(cards.digital_output(8));
}

void check_potentiometers(const Variant& variant, EmulatedCards& cards) {
  constexpr std::array<double, 6> volts{0.3, 4.7, 0.1, 4.9, 2.5, 1.0};
  for (int joint = 0; joint < 6; ++joint) {
    cards.set_pot_volts(joint, volts[static_cast<std::size_t>(joint)]);
  }
  Pcl818 card(cards, variant.settings.pcl818);
  EXPECT_EQ(card.differential(), variant.behavior.differential);
  const double tolerance = 2 * card.volts_per_code();
  for (int joint = 0; joint < 6; ++joint) {
    const AdSample sample = card.convert(joint);
    EXPECT_EQ(sample.status, AdStatus::kOk);
    EXPECT_NEAR(sample.volts, volts[static_cast<std::size_t>(joint)], tolerance) << joint;
  }
  // As in the control loop.
  card.select(0);
  for (int cycle = 0; cycle < 6; ++cycle) {
    cards.advance(1'000'000);
    card.trigger();
    cards.advance(100'000);
    const AdSample sample = card.collect((cycle + 1) % 6);
    EXPECT_EQ(sample.status, AdStatus::kOk);
    EXPECT_NEAR(sample.volts, volts[static_cast<std::size_t>(cycle)], tolerance) << cycle;
  }
}

/// Turns by `turns` motor turns and checks every position and every index pulse on the way.
void check_encoders(const Variant& variant, EmulatedCards& cards, double speed, int turns) {
  TurningBus bus(cards);
  Pcl833 card(bus, variant.settings.pcl833, 0);
  card.begin_index_search(1);
  bus.turn(speed);
  const bool up = speed > 0;
  std::vector<std::int64_t> seen;
  const double end = turns * kPerRev;
  while (std::abs(bus.position()) < end) {
    const double before = bus.position();
    const Pcl833::IndexReading reading = card.read_with_index(1);
    const double after = bus.position();
    EXPECT_GE(static_cast<double>(reading.count), std::min(before, after) - 0.51);
    EXPECT_LE(static_cast<double>(reading.count), std::max(before, after) + 0.51);
    if (reading.index_seen) seen.push_back(reading.index_count);
    const double live_before = bus.position();
    const auto count = static_cast<double>(card.read(2));
    EXPECT_GE(count, std::min(live_before, bus.position()) - 0.51);
    EXPECT_LE(count, std::max(live_before, bus.position()) + 0.51);
    bus.move(kCycleAccesses);
  }
  std::vector<std::int64_t> expected;
  for (int turn = 0; turn < turns; ++turn) {
    expected.push_back(latched_pulse(variant.behavior, up, up ? turn : -1 - turn));
  }
  // A latch that follows leaves a count of doubt where the counter creeps out of a pulse.
  const std::int64_t tolerance = variant.behavior.index_latch == Latch::kFollow ? 1 : 0;
  ASSERT_EQ(seen.size(), expected.size()) << "at " << speed * 1000 << " counts a cycle";
  for (std::size_t k = 0; k < seen.size(); ++k) {
    EXPECT_LE(std::abs(seen[k] - expected[k]), tolerance)
        << seen[k] << " instead of " << expected[k] << " at " << speed * 1000 << " counts a cycle";
  }
}

TEST(CardVariants, TheDriversWorkOnEveryCombination) {
  int variants = 0;
  for_every_variant([&](const Variant& variant) {
    SCOPED_TRACE(variant.text());
    EmulatedCards cards(variant.settings, false, variant.behavior);
    const int top = variant.settings.pcl726.coding == DacCoding::kOffsetBinary ? 0 : 0x800;
    const double power_up = ((variant.behavior.power_up_code ^ top) - 2048) / 204.8;
    EXPECT_NEAR(cards.output_volts(0), power_up, 1e-9) << "what only a relay can cover";
    check_outputs_and_inputs(variant, cards);
    check_potentiometers(variant, cards);
    check_encoders(variant, cards, 0.05, 1);
    EXPECT_EQ(cards.illegal_access_count(), 0u);
    ++variants;
  });
  EXPECT_EQ(variants, 5 * 3 * 2 * 2 * 3 * 2 * 32);
  std::printf("%d combinations\n", variants);
}

TEST(CardVariants, CountersAndIndexAreRightAtEverySpeedInBothDirections) {
  for_every_counter({}, [](const Variant& variant) {
    SCOPED_TRACE(variant.text());
    for (const double speed : {0.0003, 0.0011, 0.007, 0.023, 0.061}) {
      for (const double direction : {1.0, -1.0}) {
        EmulatedCards cards(variant.settings, false, variant.behavior);
        check_encoders(variant, cards, direction * speed, 2);
        EXPECT_EQ(cards.illegal_access_count(), 0u);
      }
    }
  });
}

TEST(CardVariants, CarriesAreNotTornInAnyOrderOfTheBytes) {
  const std::array<std::array<int, 3>, 6> orders{
      {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
  for (const auto& order : orders) {
    for (const double speed : {0.061, -0.061}) {
      Variant variant;
      variant.behavior.read_latch = Latch::kFollow;
      variant.settings.pcl833.byte_offset = order;
      EmulatedCards cards(variant.settings, false, variant.behavior);
      TurningBus bus(cards);
      Pcl833 card(bus, variant.settings.pcl833, 0);
      bus.turn(speed);
      for (int cycle = 0; cycle < 20000; ++cycle) {
        const double before = bus.position();
        const auto count = static_cast<double>(card.read(0));
        ASSERT_GE(count, std::min(before, bus.position()) - 0.51) << order[0] << order[1];
        ASSERT_LE(count, std::max(before, bus.position()) + 0.51) << order[0] << order[1];
        bus.move(997);
      }
    }
  }
}

TEST(CardVariants, APulseWithinWhichTheMotorTurnsBackIsNotReported) {
  Variant variant;
  variant.behavior.index_width = 20;
  EmulatedCards cards(variant.settings, false, variant.behavior);
  Pcl833 card(cards, variant.settings.pcl833, 0);
  card.begin_index_search(0);
  const auto seen_at = [&](std::int64_t position) {
    cards.set_encoder(0, position, kPerRev, kPhase);
    return card.read_with_index(0).index_seen;
  };
  EXPECT_TRUE(seen_at(kPhase + 100));
  EXPECT_TRUE(seen_at(kPhase - 5)) << "its edge of downward motion, at 157";
  EXPECT_FALSE(seen_at(kPhase + 1)) << "too close to tell that the pulse is over";
  EXPECT_FALSE(seen_at(kPhase - 5)) << "it turned back";
  EXPECT_TRUE(seen_at(kPhase + 10));
}

SettlingReport settling_of(const Variant& variant, double low = 0.5, double high = 4.5) {
  EmulatedCards cards(variant.settings, false, variant.behavior);
  for (int joint = 0; joint < 6; ++joint) cards.set_pot_volts(joint, joint == 4 ? high : low);
  Pcl818 card(cards, variant.settings.pcl818);
  const SettlingReport report = test_settling(card, variant.settings.pcl818, cards);
  EXPECT_EQ(cards.illegal_access_count(), 0u);
  return report;
}

TEST(CardVariants, TheSettlingTestPassesWhatSettles) {
  for (const auto type : {Pcl818Variant::k818, Pcl818Variant::k818L, Pcl818Variant::k818HG}) {
    Variant variant;
    variant.settings.pcl818.variant = type;
    const SettlingReport report = settling_of(variant);
    EXPECT_TRUE(report.tested);
    EXPECT_TRUE(report.good) << report.text;
    EXPECT_THAT(report.text, HasSubstr("settles within"));
  }
}

TEST(CardVariants, TheSettlingTestNamesASettingThatHelps) {
  Variant variant;
  variant.behavior.settling_time = 200e-6;
  const SettlingReport report = settling_of(variant);
  EXPECT_FALSE(report.good);
  EXPECT_GT(report.error, 0.5);
  EXPECT_THAT(report.text, AllOf(HasSubstr("too slowly for pcl818.settling_conversions (1)"),
                                 HasSubstr("from channel 0 to 4"),
                                 HasSubstr("Set pcl818.settling_conversions to 8")));
  variant.settings.pcl818.settling_conversions = report.needed;
  EXPECT_TRUE(settling_of(variant).good) << "with what it says";
  EmulatedCards cards(variant.settings, false, variant.behavior);
  check_potentiometers(variant, cards);
}

TEST(CardVariants, TheSettlingTestNamesWhatTheControlLoopCannotRead) {
  Variant variant;
  variant.behavior.settling_time = 5e-3;
  const SettlingReport report = settling_of(variant);
  EXPECT_FALSE(report.good);
  EXPECT_GT(report.needed_time, 0.8e-3);
  EXPECT_THAT(report.text, AllOf(HasSubstr("cannot read the potentiometers in the control loop"),
                                 HasSubstr("Lower the resistance")));
}

TEST(CardVariants, TheSettlingTestSaysIfTheCardDoesNotConvert) {
  const Variant variant;
  EmulatedCards cards(variant.settings, false, variant.behavior);
  Pcl818 card(cards, variant.settings.pcl818);
  cards.inject(CardFault::kAdStuck);
  const SettlingReport report = test_settling(card, variant.settings.pcl818, cards);
  EXPECT_FALSE(report.tested);
  EXPECT_THAT(report.text, HasSubstr("conversions do not end"));
}

TEST(CardVariants, TheSettlingTestSaysIfItCannotTell) {
  const SettlingReport report = settling_of({}, 2.4, 2.5);
  EXPECT_FALSE(report.tested);
  EXPECT_TRUE(report.good);
  EXPECT_THAT(report.text, HasSubstr("the potentiometers differ by 0.10 V"));
}

}  // namespace
}  // namespace puma_hardware::emulator
