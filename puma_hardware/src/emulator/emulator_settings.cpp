// SPDX-License-Identifier: Apache-2.0
#include "emulator/emulator_settings.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ga_hardware/parameter_text.hpp"

namespace puma_hardware::emulator {

using ga_hardware::DisturbanceOption;
using ga_hardware::Disturbances;
using ga_hardware::ParameterText;

namespace {

constexpr std::string_view kPrefix = "emulator.";
constexpr int kWidestPulse = 400;          ///< counts; a motor turn has 800 or more
constexpr int kLastCode = 0xFFF;           ///< of a 12-bit converter
constexpr double kLongestSettling = 0.01;  ///< s
constexpr double kLongestContact = 2;      ///< s
constexpr double kLongestWatchdog = 10;    ///< s
constexpr double kHeaviestPayload = 100;   ///< kg
constexpr double kMostNoise = 1;           ///< V

bool emulated(const DisturbanceOption& option) {
  return std::find(std::begin(kEmulatedDisturbances), std::end(kEmulatedDisturbances),
                   option.name) != std::end(kEmulatedDisturbances);
}

std::string text_of(const char* format, double value) {
  char text[40];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string range_text(double least, double most, const std::string& unit) {
  return text_of("%g", least) + " to " + text_of("%g", most) + unit;
}

std::vector<EmulatorParameter> make_parameters() {
  const CardBehavior cards;
  const EmulatedArmOptions arm;
  std::vector<EmulatorParameter> all{
      {"emulator.pcl833.latch", "hold, follow", "hold",
       "index latch: the count at the leading edge of the pulse, or as long as the pulse lasts"},
      {"emulator.pcl833.read_latch", "hold, follow", "hold",
       "reading +2 latches all three bytes, or each byte is read from the running counter"},
      {"emulator.pcl833.reset", "level, strobe", "level",
       "the counter stays at zero while its reset bit is set, or is reset once"},
      {"emulator.pcl833.index_width", range_text(0, kWidestPulse, " counts"),
       std::to_string(cards.index_width), "width of the encoders' index pulses"},
      {"emulator.pcl726.floating_inputs", "low, high", "low", "what inputs without a wire read"},
      {"emulator.pcl726.power_up_code", range_text(0, kLastCode, ""),
       std::to_string(cards.power_up_code),
       "code of all converters until the first write; 0: full negative voltage in offset binary"},
      {"emulator.pcl818.settling_time", range_text(0, kLongestSettling, " s"),
       "conversions that xPC Target discards",
       "time until a new channel's voltage is right within a quarter of a code"},
      {"emulator.pcl818.differential", "true, false", "false",
       "switched to eight differential inputs"},
      {"emulator.relay_time", range_text(0, kLongestContact, " s"), text_of("%g", arm.relay_time),
       "time until arm power follows its output"},
      {"emulator.brake_time", range_text(0, kLongestContact, " s"), text_of("%g", arm.brake_time),
       "time until the brakes follow theirs"},
      {"emulator.watchdog_time", "above 0 to " + text_of("%g", kLongestWatchdog) + " s",
       text_of("%g", arm.watchdog_time), "time that the watchdog relay holds without a change"},
      {"emulator.pot_noise", range_text(0, kMostNoise, " V"), text_of("%g", arm.pot_noise),
       "standard deviation of the potentiometers' voltages"},
      {"emulator.payload", range_text(0, kHeaviestPayload, " kg"), text_of("%g", arm.payload),
       "at the tool"}};
  for (const DisturbanceOption& option : ga_hardware::disturbance_options()) {
    if (!emulated(option)) continue;
    all.push_back({std::string(kPrefix) + option.name,
                   range_text(option.least, option.most, option.unit),
                   text_of("%g", Disturbances{}.*option.value / option.scale), option.meaning});
  }
  return all;
}

void read_disturbances(const std::string& where, ParameterText& text, Disturbances& disturbances) {
  for (const DisturbanceOption& option : ga_hardware::disturbance_options()) {
    if (!emulated(option)) continue;
    const std::string name = std::string(kPrefix) + option.name;
    double& value = disturbances.*option.value;
    const double given = text.number(name, value / option.scale, option.least, option.most);
    if (const std::string problem = refusal(option, given); !problem.empty()) {
      throw std::runtime_error(where + ": parameter " + name + " is '" + text.text(name) + "'; " +
                               problem);
    }
    value = given * option.scale;
  }
}

}  // namespace

std::span<const EmulatorParameter> emulator_parameters() {
  static const std::vector<EmulatorParameter> all = make_parameters();
  return all;
}

std::string emulator_parameter_help() {
  std::string text;
  for (const EmulatorParameter& one : emulator_parameters()) {
    text += "  " + one.name + ": " + one.values + " (" + one.otherwise + ")\n      " + one.meaning +
            "\n";
  }
  return text;
}

void take_emulator_settings(const std::string& where, Parameters& parameters,
                            CardBehavior& behavior, EmulatedArmOptions& arm) {
  std::unordered_map<std::string, std::string> own;
  std::erase_if(parameters, [&](const auto& entry) {
    if (entry.first.rfind(kPrefix, 0) != 0) return false;
    own.insert(entry);
    return true;
  });
  ParameterText text(where, own);
  const auto latch = [&text](const char* name, Latch otherwise) {
    return text.choice(name, otherwise, {{"hold", Latch::kHold}, {"follow", Latch::kFollow}});
  };
  behavior.index_latch = latch("emulator.pcl833.latch", behavior.index_latch);
  behavior.read_latch = latch("emulator.pcl833.read_latch", behavior.read_latch);
  behavior.counter_reset =
      text.choice("emulator.pcl833.reset", behavior.counter_reset,
                  {{"level", CounterReset::kLevel}, {"strobe", CounterReset::kStrobe}});
  behavior.index_width =
      text.whole("emulator.pcl833.index_width", behavior.index_width, 0, kWidestPulse);
  behavior.inputs_float_high =
      text.choice("emulator.pcl726.floating_inputs", behavior.inputs_float_high,
                  {{"low", false}, {"high", true}});
  behavior.power_up_code = static_cast<std::uint16_t>(
      text.whole("emulator.pcl726.power_up_code", behavior.power_up_code, 0, kLastCode));
  if (own.contains("emulator.pcl818.settling_time")) {
    behavior.settling_time = text.number("emulator.pcl818.settling_time", 0, 0, kLongestSettling);
  } else {
    text.allow("emulator.pcl818.settling_time");
  }
  behavior.differential = text.flag("emulator.pcl818.differential", behavior.differential);
  arm.relay_time = text.number("emulator.relay_time", arm.relay_time, 0, kLongestContact);
  arm.brake_time = text.number("emulator.brake_time", arm.brake_time, 0, kLongestContact);
  arm.watchdog_time =
      text.number_above("emulator.watchdog_time", arm.watchdog_time, 0, kLongestWatchdog);
  arm.pot_noise = text.number("emulator.pot_noise", arm.pot_noise, 0, kMostNoise);
  arm.payload = text.number("emulator.payload", arm.payload, 0, kHeaviestPayload);
  read_disturbances(where, text, arm.disturbances);
  text.refuse_others();
}

}  // namespace puma_hardware::emulator
