// SPDX-License-Identifier: Apache-2.0
#include "ga_dynamics/number.hpp"

#include <charconv>
#include <cstdlib>
#include <system_error>

namespace ga_dynamics {

const char* read_number(const char* begin, const char* end, double& value) {
  const bool plus = begin != end && *begin == '+';
  const char* const start = plus ? begin + 1 : begin;
  if (plus && start != end && *start == '-') return begin;
  const auto [stop, error] = std::from_chars(start, end, value);
  if (error == std::errc::invalid_argument) return begin;
  if (error == std::errc::result_out_of_range) {
    // from_chars does not tell too large from too small. strtod does, and the command never sets
    // a locale.
    value = std::strtod(std::string(start, stop).c_str(), nullptr);
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
