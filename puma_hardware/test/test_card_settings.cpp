// SPDX-License-Identifier: Apache-2.0

// Settings of the cards: from text, and what is refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cards/card_settings.hpp"
#include "cards/pcl818_ranges.hpp"
#include "fake_bus.hpp"

namespace puma_hardware {
namespace {

using testing::AllOf;
using testing::HasSubstr;

CardSettings read(const Parameters& parameters) {
  ga_hardware::ParameterText text("hardware", {parameters.begin(), parameters.end()});
  const CardSettings settings = CardSettings::read(text);
  text.refuse_others();
  return settings;
}

std::string refusal(const Parameters& parameters) {
  return error_of([&] { read(parameters); });
}

TEST(CardSettings, DefaultsAreGood) {
  EXPECT_NO_THROW(read({}));
  ga_hardware::ParameterText others("hardware", {{"urdf", "x"}});
  EXPECT_EQ(CardSettings::read(others).pcl818.base, 0x300) << "names of others do not matter";
}

TEST(CardSettings, ReadsEverySettingByName) {
  const CardSettings s = read({
      {"pcl818.base", "768"},
      {"pcl818.variant", "818HG"},
      {"pcl818.jumper_10v", "false"},
      {"pcl818.range_code", "4"},
      {"pcl818.pot_channel", "8 9 10 11 12 13"},
      {"pcl818.thermal_input", "5,4,3,2,1,0"},
      {"pcl818.thermal_active_high", "false"},
      {"pcl818.timeout_us", "150.5"},
      {"pcl818.settling_conversions", "7"},
      {"pcl726.base", "0x2D0"},
      {"pcl726.coding", "twos_complement"},
      {"pcl726.range", "bipolar_5"},
      {"pcl726.channel", "5 4 3 2 1 0"},
      {"pcl726.tool_output", "2, 3"},
      {"pcl726.power_output", "14"},
      {"pcl726.brake_output", "15"},
      {"pcl726.power_feedback_input", "0xB"},
      {"pcl726.power_feedback_active_high", "True"},
      {"pcl726.watchdog_output", "13"},
      {"pcl726.watchdog_input", "12"},
      {"pcl833.base", "0x240 0X250"},
      {"pcl833.channel", "3 4 5 0 1 2"},
      {"pcl833.filter", " 2MHz "},
      {"pcl833.byte_offset", "2 1 0"},
  });
  EXPECT_EQ(s.pcl818.base, 0x300);
  EXPECT_EQ(s.pcl818.variant, Pcl818Variant::k818HG);
  EXPECT_FALSE(s.pcl818.jumper_10v);
  EXPECT_EQ(s.pcl818.range_code, 4);
  EXPECT_EQ(s.pcl818.pot_channel, (std::array{8, 9, 10, 11, 12, 13}));
  EXPECT_EQ(s.pcl818.thermal_input, (std::array{5, 4, 3, 2, 1, 0}));
  EXPECT_FALSE(s.pcl818.thermal_active_high);
  EXPECT_EQ(s.pcl818.timeout_us, 150.5);
  EXPECT_EQ(s.pcl818.settling_conversions, 7);
  EXPECT_EQ(s.pcl726.base, 0x2D0);
  EXPECT_EQ(s.pcl726.coding, DacCoding::kTwosComplement);
  EXPECT_EQ(s.pcl726.range, DacRange::kBipolar5);
  EXPECT_EQ(s.pcl726.channel, (std::array{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(s.pcl726.tool_output, (std::array{2, 3}));
  EXPECT_EQ(s.pcl726.power_output, 14);
  EXPECT_EQ(s.pcl726.brake_output, 15);
  EXPECT_EQ(s.pcl726.power_feedback_input, 11);
  EXPECT_TRUE(s.pcl726.power_feedback_active_high);
  EXPECT_EQ(s.pcl726.watchdog_output, 13);
  EXPECT_EQ(s.pcl726.watchdog_input, 12);
  EXPECT_EQ(s.pcl833.base, (std::array<std::uint16_t, 2>{0x240, 0x250}));
  EXPECT_EQ(s.pcl833.channel, (std::array{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(s.pcl833.filter, FilterClock::k2MHz);
  EXPECT_EQ(s.pcl833.byte_offset, (std::array{2, 1, 0}));
}

TEST(CardSettings, AVariantIsSpelledAsItIsRead) {
  for (const char* name : {"818", "818L", "818H", "818HD", "818HG"}) {
    EXPECT_STREQ(to_string(read({{"pcl818.variant", name}}).pcl818.variant), name);
  }
}

TEST(CardSettings, AnUnknownNameIsRefusedWithTheKnownOnes) {
  EXPECT_THAT(
      refusal({{"pcl818.bse", "0x300"}}),
      AllOf(HasSubstr("parameter pcl818.bse is unknown; known are "), HasSubstr("pcl818.base")));
}

TEST(CardSettings, BooleansAreSpelledAsEverywhere) {
  for (const char* text : {"true", " True ", "1"}) {
    EXPECT_TRUE(read({{"pcl818.jumper_10v", text}}).pcl818.jumper_10v) << text;
  }
  for (const char* text : {"false", "False", "0"}) {
    EXPECT_FALSE(read({{"pcl818.thermal_active_high", text}}).pcl818.thermal_active_high) << text;
  }
}

struct Refused {
  Parameters parameters;
  const char* says;
};

TEST(CardSettings, RefusalsNameTheSettingTheValueAndTheRemedy) {
  const Refused cases[] = {
      // Text that is no value.
      {{{"pcl818.base", "0x30G"}},
       "hardware: parameter pcl818.base is '0x30G'; give a whole number between 0 and 65535"},
      {{{"pcl818.base", ""}}, "pcl818.base is ''"},
      {{{"pcl818.base", "70000"}},
       "pcl818.base is '70000'; give a whole number between 0 and 65535"},
      {{{"pcl818.range_code", "-1"}},
       "pcl818.range_code is '-1'; give a whole number between 0 and 255"},
      {{{"pcl818.timeout_us", "soon"}}, "pcl818.timeout_us is 'soon'; give a number"},
      {{{"pcl726.power_output", "3 4"}}, "pcl726.power_output is '3 4'; give a whole number"},
      {{{"pcl818.variant", "819"}},
       "pcl818.variant is '819'; give one of 818, 818L, 818H, 818HD, 818HG"},
      {{{"pcl818.jumper_10v", "maybe"}}, "pcl818.jumper_10v is 'maybe'; give true or false"},
      {{{"pcl818.pot_channel", "0 1 2"}},
       "pcl818.pot_channel is '0 1 2'; give 6 whole numbers with commas between them"},
      {{{"pcl833.base", "0x200 x"}}, "pcl833.base is '0x200 x'; give 2 whole numbers"},
      {{{"pcl833.base", "0x200 0x210 x"}}, "pcl833.base is '0x200 0x210 x'; give 2"},
      {{{"pcl833.base", "0x200 70000"}}, "pcl833.base is '0x200 70000'; give 2 whole numbers"},
      {{{"pcl726.channel", "0 1 2 3 4 5.5"}}, "pcl726.channel is '0 1 2 3 4 5.5'; give 6"},
      // Values that cannot be.
      {{{"pcl818.base", "0x308"}}, "pcl818.base = 0x308: is not a multiple of 0x10"},
      {{{"pcl726.base", "0x1F0"}},
       "pcl726.base = 0x1F0: the card's 16 ports must lie within 0x200 to 0x3FF"},
      {{{"pcl833.base", "0x200 0x400"}},
       "pcl833.base = 0x400: the card's 16 ports must lie within"},
      {{{"pcl818.base", "0x3F0"}, {"pcl818.variant", "818HD"}},
       "pcl818.base = 0x3F0: the card's 32 ports"},
      {{{"pcl818.variant", "818H"}, {"pcl818.jumper_10v", "true"}},
       "pcl818.jumper_10v = true: only the 818L"},
      {{{"pcl818.pot_channel", "0 1 2 3 4 16"}},
       "pcl818.pot_channel = 0 1 2 3 4 16: 16 must be 0 to 15"},
      {{{"pcl818.pot_channel", "0 1 2 3 4 4"}},
       "pcl818.pot_channel = 0 1 2 3 4 4: 4 is used twice"},
      {{{"pcl818.thermal_input", "0 0 1 2 3 4"}},
       "pcl818.thermal_input = 0 0 1 2 3 4: 0 is used twice"},
      {{{"pcl818.timeout_us", "20"}}, "must be between the time of a conversion, 25, and"},
      {{{"pcl818.timeout_us", "nan"}}, "pcl818.timeout_us"},
      {{{"pcl818.settling_conversions", "-2"}},
       "pcl818.settling_conversions = -2: must be -1 to 1000"},
      {{{"pcl726.channel", "0 1 2 3 4 6"}}, "pcl726.channel = 0 1 2 3 4 6: 6 must be 0 to 5"},
      {{{"pcl726.tool_output", "1 1"}},
       "pcl726.tool_output = 1: is also used by pcl726.tool_output"},
      {{{"pcl726.power_output", "0"}},
       "pcl726.power_output = 0: is also used by pcl726.tool_output"},
      {{{"pcl726.power_output", "7"}, {"pcl726.brake_output", "7"}},
       "pcl726.brake_output = 7: is also used by pcl726.power_output"},
      {{{"pcl726.watchdog_output", "0"}},
       "pcl726.watchdog_output = 0: is also used by pcl726.tool_output"},
      {{{"pcl726.power_feedback_input", "16"}},
       "pcl726.power_feedback_input = 16: must be -1 to 15"},
      {{{"pcl726.watchdog_input", "3"}},
       "pcl726.watchdog_input = 3: pcl726.watchdog_output is not wired"},
      {{{"pcl726.watchdog_output", "7"},
        {"pcl726.watchdog_input", "3"},
        {"pcl726.power_feedback_input", "3"}},
       "pcl726.watchdog_input = 3: is also used by pcl726.power_feedback_input"},
      {{{"pcl726.brake_output", "16"}}, "pcl726.brake_output = 16: must be -1 to 15"},
      {{{"pcl833.channel", "0 1 2 3 4 4"}}, "pcl833.channel = 0 1 2 3 4 4: 4 is used twice"},
      {{{"pcl833.byte_offset", "0 1 3"}}, "pcl833.byte_offset = 0 1 3: 3 must be 0 to 2"},
      {{{"pcl833.byte_offset", "0 1 1"}}, "pcl833.byte_offset = 0 1 1: 1 is used twice"},
  };
  for (const Refused& c : cases) EXPECT_THAT(refusal(c.parameters), HasSubstr(c.says));
}

TEST(CardSettings, OutputsThatAreNotWiredDoNotClash) {
  EXPECT_EQ(refusal({{"pcl726.tool_output", "-1 -1"}}), "");
}

TEST(CardSettings, OverlappingWindowsAreRefused) {
  EXPECT_THAT(refusal({{"pcl833.base", "0x220 0x220"}}),
              AllOf(HasSubstr("first PCL-833 (pcl833.base) at 0x220 to 0x22F"),
                    HasSubstr("second PCL-833 (pcl833.base) at 0x220 to 0x22F overlap")));
  EXPECT_THAT(refusal({{"pcl726.base", "0x300"}}), HasSubstr("overlap"));
  const Parameters neighbor{{"pcl818.base", "0x300"}, {"pcl726.base", "0x310"}};
  EXPECT_EQ(refusal(neighbor), "");
  Parameters with_fifo = neighbor;
  with_fifo["pcl818.variant"] = "818HD";
  EXPECT_THAT(refusal(with_fifo), HasSubstr("at 0x300 to 0x31F and PCL-726"));
}

TEST(CardSettings, ARangeMustExistAndCoverThePotentiometers) {
  EXPECT_THAT(refusal({{"pcl818.range_code", "1"}}),
              HasSubstr("pcl818.range_code = 1: does not cover the potentiometers' 0 to 5 V on a "
                        "PCL-818L; give one of 0"));
  EXPECT_THAT(refusal({{"pcl818.range_code", "4"}}),
              HasSubstr("there is no such range on a PCL-818L; give one of 0"));
  EXPECT_EQ(refusal({{"pcl818.range_code", "1"}, {"pcl818.jumper_10v", "true"}}), "");
  EXPECT_THAT(refusal({{"pcl818.variant", "818HG"}, {"pcl818.range_code", "5"}}),
              HasSubstr("give one of 0, 4, 8"));
  EXPECT_EQ(refusal({{"pcl818.variant", "818HD"}, {"pcl818.range_code", "5"}}), "");
}

TEST(AdRange, IsThatOfTheVariant) {
  EXPECT_EQ(ad_range(Pcl818Variant::k818L, false, 3)->upper, 0.625);
  EXPECT_EQ(ad_range(Pcl818Variant::k818L, true, 3)->upper, 1.25);
  EXPECT_EQ(ad_range(Pcl818Variant::k818H, false, 7)->upper, 1.25);
  EXPECT_EQ(ad_range(Pcl818Variant::k818H, false, 7)->lower, 0);
  EXPECT_EQ(ad_range(Pcl818Variant::k818HG, false, 7)->upper, 0.01);
  EXPECT_EQ(ad_range(Pcl818Variant::k818HG, false, 9)->lower, -1);
  EXPECT_FALSE(ad_range(Pcl818Variant::k818, false, 9));
  EXPECT_FALSE(ad_range(Pcl818Variant::k818L, false, 4));
  EXPECT_FALSE(ad_range(Pcl818Variant::k818HG, false, 12));
  EXPECT_FALSE(ad_range(Pcl818Variant::k818HG, false, -1));
}

TEST(AdRange, TurnsCodesIntoVolts) {
  const AdRange bipolar = *ad_range(Pcl818Variant::k818L, false, 0);
  EXPECT_EQ(bipolar.volts(0), -5);
  EXPECT_EQ(bipolar.volts(2048), 0);
  EXPECT_EQ(bipolar.volts(4095), 5.0 * (4095.0 / 2048 - 1));
  const AdRange unipolar = *ad_range(Pcl818Variant::k818, false, 4);
  EXPECT_EQ(unipolar.volts(0), 0);
  EXPECT_EQ(unipolar.volts(4095), 10.0 * 4095 / 4096);
}

TEST(AdRange, TheHighGainCardSettlesLongerTheHigherItsGain) {
  EXPECT_EQ(ad_range(Pcl818Variant::k818, false, 0)->settling, 1);
  EXPECT_EQ(ad_range(Pcl818Variant::k818HG, false, 0)->settling, 3);
  EXPECT_EQ(ad_range(Pcl818Variant::k818HG, false, 6)->settling, 15);
  EXPECT_EQ(ad_range(Pcl818Variant::k818HG, false, 11)->settling, 100);
}

}  // namespace
}  // namespace puma_hardware
