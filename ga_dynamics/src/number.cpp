// SPDX-License-Identifier: Apache-2.0
#include "ga_dynamics/number.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <locale>
#include <sstream>
#include <system_error>

namespace ga_dynamics {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kWhiteSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kWhiteSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kWhiteSpace) - first + 1);
}

const char* read_number(const char* begin, const char* end, double& value) {
  const bool plus = begin != end && *begin == '+';
  const char* const start = plus ? begin + 1 : begin;
  if (plus && start != end && *start == '-') return begin;
  const auto [stop, error] = std::from_chars(start, end, value);
  if (error == std::errc::invalid_argument) return begin;
  if (error == std::errc::result_out_of_range) {
    // from_chars does not tell too large from too small. The classic locale's stream does: too
    // large saturates, too small gives (nearly) zero. strtod would follow the program's locale.
    std::istringstream stream{std::string(start, stop)};
    stream.imbue(std::locale::classic());
    stream >> value;
    if (std::abs(value) > 1) value = std::copysign(std::numeric_limits<double>::infinity(), value);
  }
  return stop;
}

bool is_number(std::string_view text, double& value) {
  if (text.empty()) return false;
  const char* const end = text.data() + text.size();
  return read_number(text.data(), end, value) == end;
}

char* write_number(char* to, double value, int digits) {
  return std::to_chars(to, to + kMaxNumberBytes, value, std::chars_format::general, digits).ptr;
}

std::string number_text(double value, int digits) {
  char text[kMaxNumberBytes];
  return {text, write_number(text, value, digits)};
}

}  // namespace ga_dynamics
