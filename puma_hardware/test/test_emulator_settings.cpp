// SPDX-License-Identifier: Apache-2.0

// Settings of the emulator in a wiring file.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "emulator/emulator_settings.hpp"

namespace puma_hardware::emulator {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Read {
  CardBehavior cards;
  EmulatedArmOptions arm;
  Parameters rest;
};

Read read(Parameters parameters) {
  Read read;
  take_emulator_settings("--wiring my.yaml", parameters, read.cards, read.arm);
  read.rest = parameters;
  return read;
}

std::string refusal_of(const Parameters& parameters) {
  try {
    read(parameters);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(EmulatorSettings, AreTakenOutOfTheParameters) {
  const Read found = read({{"emulator.pcl833.latch", "follow"},
                           {"emulator.pcl833.read_latch", "follow"},
                           {"emulator.pcl833.reset", "strobe"},
                           {"emulator.pcl833.index_width", "4"},
                           {"emulator.pcl726.floating_inputs", "high"},
                           {"emulator.pcl726.power_up_code", "0x800"},
                           {"emulator.pcl818.settling_time", "0.00002"},
                           {"emulator.pcl818.differential", "true"},
                           {"emulator.relay_time", "0.03"},
                           {"emulator.brake_time", "0.08"},
                           {"emulator.watchdog_time", "0.05"},
                           {"emulator.pot_noise", "0.001"},
                           {"emulator.payload", "2.5"},
                           {"emulator.mismatch", "20"},
                           {"emulator.stiction", "1.3"},
                           {"emulator.delay", "2"},
                           {"emulator.lag", "0.004"},
                           {"joint4.voltage_direction", "1"}});
  EXPECT_EQ(found.cards.index_latch, Latch::kFollow);
  EXPECT_EQ(found.cards.read_latch, Latch::kFollow);
  EXPECT_EQ(found.cards.counter_reset, CounterReset::kStrobe);
  EXPECT_EQ(found.cards.index_width, 4);
  EXPECT_TRUE(found.cards.inputs_float_high);
  EXPECT_EQ(found.cards.power_up_code, 0x800);
  EXPECT_EQ(found.cards.settling_time, 2e-5);
  EXPECT_TRUE(found.cards.differential);
  EXPECT_EQ(found.arm.relay_time, 0.03);
  EXPECT_EQ(found.arm.brake_time, 0.08);
  EXPECT_EQ(found.arm.watchdog_time, 0.05);
  EXPECT_EQ(found.arm.pot_noise, 0.001);
  EXPECT_EQ(found.arm.payload, 2.5);
  EXPECT_DOUBLE_EQ(found.arm.disturbances.mismatch, 0.2);
  EXPECT_EQ(found.arm.disturbances.stiction, 1.3);
  EXPECT_EQ(found.arm.disturbances.delay, 2);
  EXPECT_EQ(found.arm.disturbances.lag, 0.004);
  EXPECT_EQ(found.rest, (Parameters{{"joint4.voltage_direction", "1"}}));
}

TEST(EmulatorSettings, KeepWhatIsNotGiven) {
  EXPECT_LT(read({}).cards.settling_time, 0) << "that of the variant";
  Parameters parameters{{"emulator.lag", "0.01"}};
  CardBehavior cards;
  cards.index_width = 7;
  EmulatedArmOptions arm;
  arm.payload = 3;
  take_emulator_settings("", parameters, cards, arm);
  EXPECT_EQ(cards.index_width, 7);
  EXPECT_EQ(arm.payload, 3);
  EXPECT_EQ(arm.disturbances.lag, 0.01);
}

TEST(EmulatorSettings, RefuseByNameValueAndRange) {
  const std::array<std::array<const char*, 3>, 12> refused{{
      {"emulator.pcl833.latch", "sometimes", "hold, follow"},
      {"emulator.pcl833.reset", "edge", "level, strobe"},
      {"emulator.pcl833.index_width", "401", "0 and 400"},
      {"emulator.pcl833.index_width", "1.5", "whole number"},
      {"emulator.pcl726.floating_inputs", "open", "low, high"},
      {"emulator.pcl726.power_up_code", "0x1000", "0 and 4095"},
      {"emulator.pcl818.settling_time", "-1", "between 0 and 0.01"},
      {"emulator.pcl818.differential", "perhaps", "true or false"},
      {"emulator.watchdog_time", "0", "greater than 0"},
      {"emulator.delay", "1.5", "0 to 100 whole cycles"},
      {"emulator.lag", "nan", "between 0 and 0.1"},
      {"emulator.mismatch", "120", "between 0 and 99"},
  }};
  for (const auto& [name, value, remedy] : refused) {
    EXPECT_THAT(
        refusal_of({{name, value}}),
        AllOf(HasSubstr("--wiring my.yaml: parameter " + std::string(name) + " is '" + value + "'"),
              HasSubstr(remedy)));
  }
}

TEST(EmulatorSettings, AMisspeltNameIsToldTheNearest) {
  EXPECT_THAT(refusal_of({{"emulator.pcl833.lach", "hold"}}),
              AllOf(HasSubstr("emulator.pcl833.lach is unknown"),
                    HasSubstr("did you mean emulator.pcl833.latch?")));
}

TEST(EmulatorSettings, TheHelpHasEveryNameThatIsRead) {
  std::set<std::string> described;
  for (const EmulatorParameter& one : emulator_parameters()) {
    EXPECT_TRUE(described.insert(one.name).second) << one.name;
    EXPECT_NE(refusal_of({{one.name, "?"}}).find("parameter " + one.name + " is '?'"),
              std::string::npos)
        << one.name << " is read";
    EXPECT_THAT(emulator_parameter_help(), HasSubstr(one.name + ": " + one.values));
  }
  const std::string known = refusal_of({{"emulator.?", "?"}});
  for (std::size_t at = known.find("known are "), end;
       (at = known.find("emulator.", at)) != std::string::npos; at = end) {
    end = known.find_first_of(",;", at);
    EXPECT_TRUE(described.contains(known.substr(at, end - at))) << known.substr(at, end - at);
    if (end == std::string::npos || known[end] == ';') break;
  }
}

}  // namespace
}  // namespace puma_hardware::emulator
