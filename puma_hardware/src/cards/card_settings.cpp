// SPDX-License-Identifier: Apache-2.0

// Reads the cards' settings from text and checks them, each one and their combination.

#include "cards/card_settings.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "cards/pcl818_ranges.hpp"

namespace puma_hardware {

namespace {

template <typename Whole>
void read_whole(ga_hardware::ParameterText& text, const char* name, Whole& value) {
  using Limits = std::numeric_limits<Whole>;
  value = static_cast<Whole>(text.whole(name, value, Limits::lowest(), Limits::max()));
}

// The PCL-818 answers on 16 bytes, with a FIFO (HD, HG) on 32: Linux comedi pcl818.c. PCL-726:
// Linux comedi pcl726.c. PCL-833: inferred from the S.Ha.R.K. port of Advantech's driver, which
// keeps 16 registers.
constexpr std::uint16_t kWindow = 16, kWindowWithFifo = 32;
// Ports below belong to the main board; Linux comedi refuses them too. ISA cards decode ten address
// lines: 3FFh is the highest address.
constexpr int kFirstPort = 0x200, kLastPort = 0x3FF;
// The potentiometers' supply [V].
constexpr double kPotVolts = 5;

std::string hex(int value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%X", static_cast<unsigned>(value));
  return text;
}

[[noreturn]] void refuse(const std::string& name, const std::string& value,
                         const std::string& why) {
  throw CardError(name + " = " + value + ": " + why);
}

void check_base(const std::string& name, std::uint16_t base, int size) {
  if (base % 16 != 0) {
    refuse(name, hex(base), "is not a multiple of 0x10; give the address that the switches set");
  }
  if (base < kFirstPort || base + size - 1 > kLastPort) {
    refuse(name, hex(base),
           "the card's " + std::to_string(size) + " ports must lie within " + hex(kFirstPort) +
               " to " + hex(kLastPort) + "; set the switches and this setting to such an address");
  }
}

void check_range(const std::string& name, int value, int least, int most) {
  if (value < least || value > most) {
    refuse(name, std::to_string(value),
           "must be " + std::to_string(least) + " to " + std::to_string(most));
  }
}

/// Each within least … most, without duplicates.
void check_map(const std::string& name, std::span<const int> map, int least, int most) {
  std::string text;
  for (const int value : map) text += (text.empty() ? "" : " ") + std::to_string(value);
  for (std::size_t i = 0; i < map.size(); ++i) {
    if (map[i] < least || map[i] > most) {
      refuse(name, text,
             std::to_string(map[i]) + " must be " + std::to_string(least) + " to " +
                 std::to_string(most));
    }
    if (std::count(map.begin(), map.end(), map[i]) > 1) {
      refuse(name, text, std::to_string(map[i]) + " is used twice; give each its own");
    }
  }
}

std::uint16_t window_of(Pcl818Variant variant) {
  const bool fifo = variant == Pcl818Variant::k818HD || variant == Pcl818Variant::k818HG;
  return fifo ? kWindowWithFifo : kWindow;
}

/// A voltage beyond the range would saturate, and calibration would find the wrong motor turn.
bool covers_pots(const AdRange& range) { return range.lower <= 0 && range.upper >= kPotVolts; }

void check_ad_range(const Pcl818Settings& s) {
  const auto range = ad_range(s.variant, s.jumper_10v, s.range_code);
  if (range && covers_pots(*range)) return;
  std::string good;
  for (int code = 0; code < kRangeCodes; ++code) {
    const auto other = ad_range(s.variant, s.jumper_10v, code);
    if (other && covers_pots(*other)) good += (good.empty() ? "" : ", ") + std::to_string(code);
  }
  refuse("pcl818.range_code", std::to_string(s.range_code),
         (range ? "does not cover the potentiometers' 0 to 5 V on a PCL-"
                : "there is no such range on a PCL-") +
             std::string(to_string(s.variant)) + "; give one of " + good);
}

}  // namespace

CardSettings CardSettings::read(ga_hardware::ParameterText& text) {
  CardSettings s;
  read_whole(text, "pcl818.base", s.pcl818.base);
  s.pcl818.variant = text.choice("pcl818.variant", s.pcl818.variant,
                                 {{"818", Pcl818Variant::k818},
                                  {"818L", Pcl818Variant::k818L},
                                  {"818H", Pcl818Variant::k818H},
                                  {"818HD", Pcl818Variant::k818HD},
                                  {"818HG", Pcl818Variant::k818HG}});
  s.pcl818.jumper_10v = text.flag("pcl818.jumper_10v", s.pcl818.jumper_10v);
  read_whole(text, "pcl818.range_code", s.pcl818.range_code);
  s.pcl818.pot_channel = text.wholes("pcl818.pot_channel", s.pcl818.pot_channel);
  s.pcl818.thermal_input = text.wholes("pcl818.thermal_input", s.pcl818.thermal_input);
  s.pcl818.thermal_active_high =
      text.flag("pcl818.thermal_active_high", s.pcl818.thermal_active_high);
  s.pcl818.timeout_us = text.number("pcl818.timeout_us", s.pcl818.timeout_us);
  read_whole(text, "pcl818.settling_conversions", s.pcl818.settling_conversions);

  read_whole(text, "pcl726.base", s.pcl726.base);
  s.pcl726.coding = text.choice("pcl726.coding", s.pcl726.coding,
                                {{"offset_binary", DacCoding::kOffsetBinary},
                                 {"twos_complement", DacCoding::kTwosComplement}});
  s.pcl726.range =
      text.choice("pcl726.range", s.pcl726.range,
                  {{"bipolar_10", DacRange::kBipolar10}, {"bipolar_5", DacRange::kBipolar5}});
  s.pcl726.channel = text.wholes("pcl726.channel", s.pcl726.channel);
  s.pcl726.tool_output = text.wholes("pcl726.tool_output", s.pcl726.tool_output);
  read_whole(text, "pcl726.power_output", s.pcl726.power_output);
  read_whole(text, "pcl726.brake_output", s.pcl726.brake_output);
  read_whole(text, "pcl726.power_feedback_input", s.pcl726.power_feedback_input);
  s.pcl726.power_feedback_active_high =
      text.flag("pcl726.power_feedback_active_high", s.pcl726.power_feedback_active_high);
  read_whole(text, "pcl726.watchdog_output", s.pcl726.watchdog_output);
  read_whole(text, "pcl726.watchdog_input", s.pcl726.watchdog_input);

  s.pcl833.base = text.wholes("pcl833.base", s.pcl833.base);
  s.pcl833.channel = text.wholes("pcl833.channel", s.pcl833.channel);
  s.pcl833.filter = text.choice(
      "pcl833.filter", s.pcl833.filter,
      {{"8MHz", FilterClock::k8MHz}, {"4MHz", FilterClock::k4MHz}, {"2MHz", FilterClock::k2MHz}});
  s.pcl833.byte_offset = text.wholes("pcl833.byte_offset", s.pcl833.byte_offset);
  s.validate();
  return s;
}

const char* to_string(Pcl818Variant variant) noexcept {
  switch (variant) {
    case Pcl818Variant::k818:
      return "818";
    case Pcl818Variant::k818L:
      return "818L";
    case Pcl818Variant::k818H:
      return "818H";
    case Pcl818Variant::k818HD:
      return "818HD";
    case Pcl818Variant::k818HG:
      break;
  }
  return "818HG";
}

void validate(const Pcl818Settings& s) {
  check_base("pcl818.base", s.base, window_of(s.variant));
  if (s.jumper_10v && s.variant != Pcl818Variant::k818L) {
    refuse("pcl818.jumper_10v", "true",
           "only the 818L has that jumper, pcl818.variant is " + std::string(to_string(s.variant)) +
               "; give false, or correct the variant");
  }
  check_ad_range(s);
  check_map("pcl818.pot_channel", s.pot_channel, 0, 15);
  check_map("pcl818.thermal_input", s.thermal_input, 0, 15);
  if (!(s.timeout_us >= conversion_us(s.variant) && s.timeout_us <= 1e6)) {
    refuse("pcl818.timeout_us", std::to_string(s.timeout_us),
           "must be between the time of a conversion, " +
               std::to_string(static_cast<int>(conversion_us(s.variant))) + ", and 1000000");
  }
  check_range("pcl818.settling_conversions", s.settling_conversions, -1, 1000);
}

void validate(const Pcl726Settings& s) {
  check_base("pcl726.base", s.base, kWindow);
  check_map("pcl726.channel", s.channel, 0, 5);
  // −1 means not wired and may be used more than once.
  std::vector<std::pair<std::string, int>> outputs;
  for (const auto& [name, bit] : {std::pair{"pcl726.tool_output", s.tool_output[0]},
                                  std::pair{"pcl726.tool_output", s.tool_output[1]},
                                  std::pair{"pcl726.power_output", s.power_output},
                                  std::pair{"pcl726.brake_output", s.brake_output},
                                  std::pair{"pcl726.watchdog_output", s.watchdog_output}}) {
    check_range(name, bit, -1, 15);
    if (bit < 0) continue;
    for (const auto& [other, other_bit] : outputs) {
      if (bit == other_bit) {
        refuse(name, std::to_string(bit),
               "is also used by " + other + "; give each its own output, or -1 for none");
      }
    }
    outputs.emplace_back(name, bit);
  }
  check_range("pcl726.power_feedback_input", s.power_feedback_input, -1, 15);
  check_range("pcl726.watchdog_input", s.watchdog_input, -1, 15);
  if (s.watchdog_input >= 0 && s.watchdog_output < 0) {
    refuse("pcl726.watchdog_input", std::to_string(s.watchdog_input),
           "pcl726.watchdog_output is not wired; give that output, or -1 here");
  }
  if (s.watchdog_input >= 0 && s.watchdog_input == s.power_feedback_input) {
    refuse("pcl726.watchdog_input", std::to_string(s.watchdog_input),
           "is also used by pcl726.power_feedback_input; give each its own input");
  }
}

void validate(const Pcl833Settings& s) {
  for (const std::uint16_t base : s.base) check_base("pcl833.base", base, kWindow);
  check_map("pcl833.channel", s.channel, 0, 5);
  check_map("pcl833.byte_offset", s.byte_offset, 0, 2);
}

std::array<PortWindow, 4> CardSettings::windows() const {
  return {{{"PCL-818 (pcl818.base)", pcl818.base, window_of(pcl818.variant)},
           {"PCL-726 (pcl726.base)", pcl726.base, kWindow},
           {"first PCL-833 (pcl833.base)", pcl833.base[0], kWindow},
           {"second PCL-833 (pcl833.base)", pcl833.base[1], kWindow}}};
}

void CardSettings::validate() const {
  puma_hardware::validate(pcl818);
  puma_hardware::validate(pcl726);
  puma_hardware::validate(pcl833);
  const auto all = windows();
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (all[i].base < all[j].base + all[j].size && all[j].base < all[i].base + all[i].size) {
        throw CardError(all[j].card + " at " + hex(all[j].base) + " to " +
                        hex(all[j].base + all[j].size - 1) + " and " + all[i].card + " at " +
                        hex(all[i].base) + " to " + hex(all[i].base + all[i].size - 1) +
                        " overlap; set the switches of one and its setting to another address");
      }
    }
  }
}

}  // namespace puma_hardware
