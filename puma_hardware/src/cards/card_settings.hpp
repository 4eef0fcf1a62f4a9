// SPDX-License-Identifier: Apache-2.0
#ifndef CARDS__CARD_SETTINGS_HPP_
#define CARDS__CARD_SETTINGS_HPP_

// How the four cards are jumpered and wired. What no source tells of the cards is a setting here,
// with the default that does least harm; docs/commissioning.md says how to measure it.

#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

#include "ga_hardware/parameter_text.hpp"

namespace puma_hardware {

/// A setting that cannot be, or a card that does not answer. The message names the setting or the
/// card and the remedy.
class CardError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Settings as text, as <param> tags of a <ros2_control> hardware give them.
using Parameters = std::map<std::string, std::string>;

enum class Pcl818Variant { k818, k818L, k818H, k818HD, k818HG };

struct Pcl818Settings {
  std::uint16_t base = 0x300;
  Pcl818Variant variant = Pcl818Variant::k818L;
  bool jumper_10v = false;                             ///< 818L: base range ±10 V, not ±5 V
  std::uint8_t range_code = 0;                         ///< of the potentiometers' channels
  std::array<int, 6> pot_channel{0, 1, 2, 3, 4, 5};    ///< of joints 1–6
  std::array<int, 6> thermal_input{0, 1, 2, 3, 4, 5};  ///< digital input of joints 1–6
  bool thermal_active_high = true;  ///< a broken wire reads high, so high is the alarm
  double timeout_us = 200;          ///< for one conversion
  int settling_conversions = -1;    ///< thrown away after a channel change; −1: the variant's
};

enum class DacCoding { kOffsetBinary, kTwosComplement };
enum class DacRange { kBipolar10, kBipolar5 };

struct Pcl726Settings {
  std::uint16_t base = 0x2C0;
  DacCoding coding = DacCoding::kOffsetBinary;  ///< disputed: measure before the amplifiers are on
  DacRange range = DacRange::kBipolar10;
  std::array<int, 6> channel{0, 1, 2, 3, 4, 5};  ///< of joints 1–6
  std::array<int, 2> tool_output{0, 1};          ///< digital outputs of the tool
  /// Digital output that closes the arm-power relay and the one that releases the brakes; −1: not
  /// wired, so power is switched by hand, or the brakes follow the power.
  int power_output = -1;
  int brake_output = -1;
};

enum class FilterClock { k8MHz, k4MHz, k2MHz };

struct Pcl833Settings {
  std::array<std::uint16_t, 2> base{0x200, 0x210};
  /// Card (0, 1) × 3 + channel (0…2) of joints 1–6.
  std::array<int, 6> channel{0, 1, 2, 3, 4, 5};
  FilterClock filter = FilterClock::k8MHz;
  /// Which of the channel's three read offsets holds the low, middle and high byte: no source says.
  std::array<int, 3> byte_offset{0, 1, 2};
};

/// Port addresses that one card answers on.
struct PortWindow {
  std::string card;  ///< with the setting that placed it: "PCL-818 (pcl818.base)"
  std::uint16_t base = 0;
  std::uint16_t size = 0;
};

struct CardSettings {
  Pcl818Settings pcl818;
  Pcl726Settings pcl726;
  Pcl833Settings pcl833;

  /// Reads `pcl818.base`, `pcl726.coding`, … : the members' names; numbers decimal or 0x…, lists
  /// with spaces or commas between. `pcl818.variant`: 818, 818L, 818H, 818HD, 818HG;
  /// `pcl726.coding`: offset_binary, twos_complement; `pcl726.range`: bipolar_10, bipolar_5;
  /// `pcl833.filter`: 8MHz, 4MHz, 2MHz. What is not given keeps its default. Validates. Throws
  /// std::runtime_error naming the setting, its value and the remedy.
  static CardSettings read(ga_hardware::ParameterText& text);
  /// Throws CardError for overlapping address windows, doubled channels, impossible values.
  void validate() const;
  /// Of the PCL-818, the PCL-726 and the two PCL-833.
  std::array<PortWindow, 4> windows() const;
};

// The checks that concern one card alone; the drivers make them too. Throw CardError.
void validate(const Pcl818Settings& settings);
void validate(const Pcl726Settings& settings);
void validate(const Pcl833Settings& settings);

/// As the setting `pcl818.variant` spells it: "818L".
const char* to_string(Pcl818Variant variant) noexcept;

}  // namespace puma_hardware

#endif  // CARDS__CARD_SETTINGS_HPP_
