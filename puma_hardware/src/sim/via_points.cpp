// SPDX-License-Identifier: Apache-2.0
#include "sim/via_points.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace puma_hardware::sim {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const auto begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const auto comma = line.find(',');
    fields.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// What stands in each column: 0 the time, i + 1 joint i.
std::vector<std::size_t> columns_of(const std::vector<std::string_view>& header,
                                    const std::vector<std::string>& names) {
  std::vector<std::size_t> columns;
  for (const std::string_view field : header) {
    const auto found = std::find(names.begin(), names.end(), field);
    const auto column = static_cast<std::size_t>(found - names.begin());
    if (found == names.end() ||
        std::find(columns.begin(), columns.end(), column) != columns.end()) {
      break;
    }
    columns.push_back(column);
  }
  if (columns.size() == names.size() && header.size() == names.size()) return columns;
  std::string wanted;
  for (const std::string& name : names) wanted += (wanted.empty() ? "" : ",") + name;
  throw std::runtime_error("the columns' names must be " + wanted + ", in any order");
}

}  // namespace

ViaPoints read_via_points(std::istream& in, const std::vector<std::string>& joints) {
  std::vector<std::string> names{"t"};
  names.insert(names.end(), joints.begin(), joints.end());
  std::vector<std::size_t> columns(names.size());
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = i;
  ViaPoints via;
  bool first = true;
  std::string text;
  for (std::size_t line = 1; std::getline(in, text); ++line) {
    const std::string_view content = trimmed(std::string_view(text).substr(0, text.find('#')));
    if (content.empty()) continue;
    const auto refuse = [&](const std::string& what) {
      throw std::runtime_error("line " + std::to_string(line) + ": " + what);
    };
    const std::vector<std::string_view> fields = fields_of(content);
    if (std::exchange(first, false) && !number(fields[0])) {
      try {
        columns = columns_of(fields, names);
      } catch (const std::runtime_error& error) {
        refuse(error.what());
      }
      continue;
    }
    if (fields.size() != names.size()) {
      refuse(std::to_string(fields.size()) + " values; give " + std::to_string(names.size()) +
             ", the time and one per joint");
    }
    std::vector<double> row(names.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::optional<double> value = number(fields[i]);
      if (!value) refuse("'" + std::string(fields[i]) + "' is not a finite number");
      row[columns[i]] = *value;
    }
    via.times.push_back(row[0]);
    via.points.emplace_back(row.begin() + 1, row.end());
  }
  return via;
}

}  // namespace puma_hardware::sim
