// SPDX-License-Identifier: Apache-2.0

// The options of a chain as people write and read them.

#include "chain_options.hpp"

#include <algorithm>
#include <cmath>

#include "ga_dynamics/chain.hpp"
#include "ga_dynamics/number.hpp"

namespace ga_dynamics {
namespace {

/// The value as a shell or a YAML file takes it.
std::string pasted(const std::string& value, OptionSpelling spelling) {
  const bool plain = !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '/' || c == '=' || c == ':';
  });
  if (plain) return value;
  std::string text = "'";
  for (const char c : value) {
    if (c != '\'') {
      text += c;
    } else {
      text += spelling == OptionSpelling::kCommandLine ? "'\\''" : "''";
    }
  }
  return text + "'";
}

}  // namespace

std::string OptionWords::given(const std::string& option, const std::string& value) const {
  return (command_line() ? "--" + option + " " : "parameter " + option + ": ") +
         pasted(value, spelling_);
}

void add_frozen(const std::string& argument, ChainOptions& options) {
  if (argument == "all") {
    options.freeze_off_chain = true;
    return;
  }
  const std::string option =
      (options.spelling == OptionSpelling::kCommandLine ? "--freeze " : "parameter freeze: ") +
      argument;
  const std::string::size_type equals = argument.rfind('=');
  const std::string joint = argument.substr(0, equals);
  double position = 0;
  if (equals != std::string::npos) {
    const std::string text = argument.substr(equals + 1);
    if (!is_number(text, position) || !std::isfinite(position)) {
      throw DescriptionError(option + ": '" + text + "' is not a position; give rad or m");
    }
  }
  if (!options.freeze.emplace(joint, position).second) {
    throw DescriptionError(option + ": joint '" + joint + "' is frozen twice; give one position");
  }
}

}  // namespace ga_dynamics
