// SPDX-License-Identifier: Apache-2.0

// Reads the cards' settings from text.

#include "cards/card_settings.hpp"

#include <limits>

namespace puma_hardware {

namespace {

template <typename Whole>
void read_whole(ga_hardware::ParameterText& text, const char* name, Whole& value) {
  using Limits = std::numeric_limits<Whole>;
  value = static_cast<Whole>(text.whole(name, value, Limits::lowest(), Limits::max()));
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

  s.pcl833.base = text.wholes("pcl833.base", s.pcl833.base);
  s.pcl833.channel = text.wholes("pcl833.channel", s.pcl833.channel);
  s.pcl833.filter = text.choice(
      "pcl833.filter", s.pcl833.filter,
      {{"8MHz", FilterClock::k8MHz}, {"4MHz", FilterClock::k4MHz}, {"2MHz", FilterClock::k2MHz}});
  s.pcl833.byte_offset = text.wholes("pcl833.byte_offset", s.pcl833.byte_offset);
  s.validate();
  return s;
}

}  // namespace puma_hardware
