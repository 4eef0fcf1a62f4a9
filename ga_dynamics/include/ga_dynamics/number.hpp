// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__NUMBER_HPP_
#define GA_DYNAMICS__NUMBER_HPP_

// Decimal numbers as text, whatever the locale, and the white space around them.

#include <cstddef>
#include <string>
#include <string_view>

namespace ga_dynamics {

/// Without white space (blanks, tabs, ends of lines) at both ends.
std::string_view trimmed(std::string_view text);

/// Reads the longest number that `begin` starts with: digits with a point and an exponent, a sign
/// (also +), inf or nan. Returns where it ends; `begin` if there is none. Beyond the range of
/// double the value is ±inf or ±0.
const char* read_number(const char* begin, const char* end, double& value);

/// Is the text a number and nothing else?
bool is_number(std::string_view text, double& value);

/// 17 significant digits give back the same double when read.
inline constexpr int kExactDigits = 17;
inline constexpr std::size_t kMaxNumberBytes = 32;

/// At most kMaxNumberBytes, as printf's %.{digits}g has it in the C locale. Returns the end.
char* write_number(char* to, double value, int digits = kExactDigits);
std::string number_text(double value, int digits);

}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__NUMBER_HPP_
