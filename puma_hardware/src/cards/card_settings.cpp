// SPDX-License-Identifier: Apache-2.0

// Reads the cards' settings from text.

#include "puma_hardware/cards/card_settings.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

namespace puma_hardware {

namespace {

constexpr std::string_view kBlank = " \t\r\n";

/// The words of a list: blanks and commas separate them.
std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found;
  constexpr std::string_view kSeparators = " \t\r\n,";
  for (std::size_t at = 0;;) {
    at = text.find_first_not_of(kSeparators, at);
    if (at == std::string_view::npos) return found;
    const std::size_t end = std::min(text.find_first_of(kSeparators, at), text.size());
    found.push_back(text.substr(at, end - at));
    at = end;
  }
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// Decimal or 0x…; false if the text is anything else.
template <typename Integer>
bool parse(std::string_view text, Integer& value) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  const char* end = text.data() + text.size();
  Integer parsed{};
  const auto [stop, error] = std::from_chars(text.data(), end, parsed, hex ? 16 : 10);
  if (error != std::errc{} || stop != end) return false;
  value = parsed;
  return true;
}

bool parse(std::string_view text, double& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stop == end;
}

/// Takes the known settings; what then is left is unknown.
class Reader {
 public:
  explicit Reader(const Parameters& parameters) {
    for (const auto& [name, text] : parameters) {
      if (name.starts_with("pcl")) unread_.emplace(name, text);
    }
  }

  template <typename Number>
  void number(const std::string& name, Number& value) {
    if (!take(name)) return;
    if (!parse(trim(text_), value))
      refuse(name, "is not a number in range; give one such as", value);
  }

  template <typename Number, std::size_t N>
  void list(const std::string& name, std::array<Number, N>& values) {
    if (!take(name)) return;
    const auto found = words(text_);
    bool good = found.size() == N;
    std::array<Number, N> parsed{};
    for (std::size_t i = 0; good && i < N; ++i) good = parse(found[i], parsed[i]);
    if (!good) {
      std::string example;
      for (const Number value : values) example += (example.empty() ? "" : " ") + show(value);
      throw CardError(name + " = '" + text_ + "': is not a list of " + std::to_string(N) +
                      " numbers; give one such as '" + example + "'");
    }
    values = parsed;
  }

  void flag(const std::string& name, bool& value) {
    choice(name, value, {{"true", true}, {"false", false}});
  }

  template <typename Choice>
  void choice(const std::string& name, Choice& value,
              std::initializer_list<std::pair<const char*, Choice>> choices) {
    if (!take(name)) return;
    std::string known;
    for (const auto& [word, meaning] : choices) {
      if (trim(text_) == word) {
        value = meaning;
        return;
      }
      known += (known.empty() ? "" : ", ") + std::string(word);
    }
    throw CardError(name + " = '" + text_ + "': give one of " + known);
  }

  void refuse_the_rest() const {
    if (unread_.empty()) return;
    std::string known;
    for (const std::string& name : known_) known += (known.empty() ? "" : ", ") + name;
    throw CardError(unread_.begin()->first + ": there is no such setting; the settings are " +
                    known);
  }

 private:
  bool take(const std::string& name) {
    known_.push_back(name);
    const auto node = unread_.extract(name);
    if (node.empty()) return false;
    text_ = node.mapped();
    return true;
  }

  static std::string show(std::uint16_t base) {
    char digits[8];
    const auto end = std::to_chars(digits, digits + sizeof digits, base, 16).ptr;
    return "0x" + std::string(digits, end);
  }
  static std::string show(int value) { return std::to_string(value); }
  static std::string show(std::uint8_t value) { return std::to_string(value); }
  static std::string show(double value) { return std::to_string(value); }

  template <typename Number>
  [[noreturn]] void refuse(const std::string& name, const char* why, Number example) const {
    throw CardError(name + " = '" + text_ + "': " + why + " " + show(example));
  }

  Parameters unread_;
  std::vector<std::string> known_;
  std::string text_;  ///< of the setting taken last
};

}  // namespace

CardSettings CardSettings::from_parameters(const Parameters& parameters) {
  CardSettings s;
  Reader reader(parameters);

  reader.number("pcl818.base", s.pcl818.base);
  reader.choice("pcl818.variant", s.pcl818.variant,
                {{"818", Pcl818Variant::k818},
                 {"818L", Pcl818Variant::k818L},
                 {"818H", Pcl818Variant::k818H},
                 {"818HD", Pcl818Variant::k818HD},
                 {"818HG", Pcl818Variant::k818HG}});
  reader.flag("pcl818.jumper_10v", s.pcl818.jumper_10v);
  reader.number("pcl818.range_code", s.pcl818.range_code);
  reader.list("pcl818.pot_channel", s.pcl818.pot_channel);
  reader.list("pcl818.thermal_input", s.pcl818.thermal_input);
  reader.flag("pcl818.thermal_active_high", s.pcl818.thermal_active_high);
  reader.number("pcl818.timeout_us", s.pcl818.timeout_us);
  reader.number("pcl818.settling_conversions", s.pcl818.settling_conversions);

  reader.number("pcl726.base", s.pcl726.base);
  reader.choice("pcl726.coding", s.pcl726.coding,
                {{"offset_binary", DacCoding::kOffsetBinary},
                 {"twos_complement", DacCoding::kTwosComplement}});
  reader.choice("pcl726.range", s.pcl726.range,
                {{"bipolar_10", DacRange::kBipolar10}, {"bipolar_5", DacRange::kBipolar5}});
  reader.list("pcl726.channel", s.pcl726.channel);
  reader.list("pcl726.tool_output", s.pcl726.tool_output);
  reader.number("pcl726.power_output", s.pcl726.power_output);
  reader.number("pcl726.brake_output", s.pcl726.brake_output);

  reader.list("pcl833.base", s.pcl833.base);
  reader.list("pcl833.channel", s.pcl833.channel);
  reader.choice(
      "pcl833.filter", s.pcl833.filter,
      {{"8MHz", FilterClock::k8MHz}, {"4MHz", FilterClock::k4MHz}, {"2MHz", FilterClock::k2MHz}});
  reader.list("pcl833.byte_offset", s.pcl833.byte_offset);

  reader.refuse_the_rest();
  s.validate();
  return s;
}

}  // namespace puma_hardware
