// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cstring>

#include "ga_tools/commands.hpp"

namespace ga_tools {

std::string command_line(const std::string& program, int argc, const char* const* argv) {
  std::string line = program;
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    const bool plain =
        !argument.empty() && std::all_of(argument.begin(), argument.end(), [](unsigned char c) {
          return std::isalnum(c) != 0 || std::strchr("-_=+,./:@%", c) != nullptr;
        });
    line += ' ';
    if (plain) {
      line += argument;
      continue;
    }
    line += '\'';
    for (const char c : argument) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

}  // namespace ga_tools
