// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <string>

#include "ga_tools/commands.hpp"

namespace ga_tools {

CLI::Validator number_range(double low, double high) {
  char range[64], description[64];
  std::snprintf(range, sizeof range, "%.9g to %.9g", low, high);
  std::snprintf(description, sizeof description, "in [%.9g - %.9g]", low, high);
  const auto check = [low, high, remedy = std::string(range)](const std::string& input) {
    double value = 0;
    const bool number = CLI::detail::lexical_cast(input, value);
    if (number && value >= low && value <= high) return std::string();
    return "'" + input + "' is out of range; give " + remedy;
  };
  return {check, description};
}

CLI::Validator finite_number() {
  const auto check = [](const std::string& input) {
    double value = 0;
    const bool number = CLI::detail::lexical_cast(input, value);
    if (number && std::isfinite(value)) return std::string();
    return "'" + input + "' is no finite number; give one";
  };
  return {check, ""};
}

}  // namespace ga_tools
