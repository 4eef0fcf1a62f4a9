// SPDX-License-Identifier: Apache-2.0
#ifndef CARDS__CARD_SETTINGS_HPP_
#define CARDS__CARD_SETTINGS_HPP_

// Jumpers and wiring of the four cards. Properties of the cards that no source documents are settings
// with the safest default; docs/commissioning.md explains how to measure them.

#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

#include "ga_hardware/parameter_text.hpp"

namespace puma_hardware {

/// An invalid setting, or a card that does not answer. The message names the setting or card and
/// the remedy.
class CardError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Settings as text, as in the <param> tags of a <ros2_control> hardware.
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
  int settling_conversions = -1;  ///< discarded after a channel change; −1: the variant's number
};

enum class DacCoding { kOffsetBinary, kTwosComplement };
enum class DacRange { kBipolar10, kBipolar5 };

struct Pcl726Settings {
  std::uint16_t base = 0x2C0;
  DacCoding coding =
      DacCoding::kOffsetBinary;  ///< sources disagree: measure before connecting the amplifiers
  DacRange range = DacRange::kBipolar10;
  std::array<int, 6> channel{0, 1, 2, 3, 4, 5};  ///< of joints 1–6
  std::array<int, 2> tool_output{0, 1};          ///< digital outputs of the tool
  /// Digital outputs of the arm-power relay and of the brake release; −1: not wired, so that power
  /// is switched by hand, or the brakes follow the power.
  int power_output = -1;
  int brake_output = -1;
  /// Digital input that shows arm power, downstream of the emergency stop; −1: not wired. With a
  /// pull-up, a broken wire reads high: low means power, unless `power_feedback_active_high`.
  int power_feedback_input = -1;
  bool power_feedback_active_high = false;
  /// Digital output that changes in every cycle with power, for a retriggerable relay that drops
  /// arm power when it stands still, and the input that it is looped back to; −1: not wired.
  int watchdog_output = -1;
  int watchdog_input = -1;
};

enum class FilterClock { k8MHz, k4MHz, k2MHz };

struct Pcl833Settings {
  std::array<std::uint16_t, 2> base{0x200, 0x210};
  /// Card (0, 1) × 3 + channel (0…2) of joints 1–6.
  std::array<int, 6> channel{0, 1, 2, 3, 4, 5};
  FilterClock filter = FilterClock::k8MHz;
  /// Read offsets of the low, middle and high byte of a channel, which no source documents.
  std::array<int, 3> byte_offset{0, 1, 2};
};

/// Port addresses of one card.
struct PortWindow {
  std::string card;  ///< with its address setting: "PCL-818 (pcl818.base)"
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
  /// Throws CardError for overlapping address windows, duplicate channels, invalid values.
  void validate() const;
  /// Of the PCL-818, the PCL-726 and the two PCL-833.
  std::array<PortWindow, 4> windows() const;
};

// Checks of one card's settings, also made by the drivers. Throw CardError.
void validate(const Pcl818Settings& settings);
void validate(const Pcl726Settings& settings);
void validate(const Pcl833Settings& settings);

/// As the setting `pcl818.variant` spells it: "818L".
const char* to_string(Pcl818Variant variant) noexcept;

}  // namespace puma_hardware

#endif  // CARDS__CARD_SETTINGS_HPP_
