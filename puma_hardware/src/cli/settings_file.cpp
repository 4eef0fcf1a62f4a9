// SPDX-License-Identifier: Apache-2.0
#include "cli/settings_file.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace puma_hardware::cli {

namespace fs = std::filesystem;

namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// Up to a `#` at the beginning or after a blank, which is not between quotes.
std::string_view without_comment(std::string_view line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t')) {
      return line.substr(0, i);
    }
  }
  return line;
}

std::string value_of(std::string_view text) {
  const auto between = [&](char open, char close) {
    return text.size() >= 2 && text.front() == open && text.back() == close;
  };
  const bool list = between('[', ']');
  if (list || between('"', '"') || between('\'', '\'')) text = text.substr(1, text.size() - 2);
  std::string value(text);
  if (list) std::replace(value.begin(), value.end(), ',', ' ');
  return value;
}

}  // namespace

Parameters read_settings(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("--settings " + path + ": cannot be read");
  Parameters settings;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string_view text = trim(without_comment(line));
    if (text.empty() || text == "---") continue;
    const std::string where = path + ", line " + std::to_string(number) + ": ";
    const std::size_t colon = text.find(": ");
    const std::string_view name = trim(text.substr(0, colon));
    if (colon == std::string_view::npos || name.empty() ||
        name.find_first_of(" \t\"'") != std::string_view::npos) {
      throw std::runtime_error(where + "give `name: value`, as pcl726.base: 0x2C0");
    }
    if (!settings.emplace(name, value_of(trim(text.substr(colon + 2)))).second) {
      throw std::runtime_error(where + std::string(name) + " is set for the second time");
    }
  }
  if (const auto table = settings.find("calibration_file"); table != settings.end()) {
    table->second = (fs::absolute(path).parent_path() / table->second).lexically_normal();
  }
  return settings;
}

}  // namespace puma_hardware::cli
