// SPDX-License-Identifier: Apache-2.0
#include "csv_fields.hpp"

#include <algorithm>
#include <cmath>

#include "ga_dynamics/number.hpp"
#include "ga_motion/state_file.hpp"

namespace ga_motion {

using namespace ga_dynamics;
namespace {

bool blank(char c) { return c == ' ' || c == '\t'; }

const char* skip_blanks(const char* at, const char* end) {
  while (at != end && blank(*at)) ++at;
  return at;
}

}  // namespace

void CsvFields::advance(const char* at) {
  more_ = at != end_;
  at_ = more_ ? at + 1 : at;
}

bool CsvFields::take_number(double& value) {
  const char* const start = skip_blanks(at_, end_);
  const char* const stop = read_number(start, end_, value);
  if (stop == start || !std::isfinite(value)) return false;
  const char* const next = skip_blanks(stop, end_);
  if (next != end_ && *next != ',') return false;
  advance(next);
  return true;
}

std::string_view CsvFields::take() {
  const char* const start = skip_blanks(at_, end_);
  if (start == end_ || *start != '"') {
    const char* const comma = std::find(start, end_, ',');
    advance(comma);
    return trimmed({start, comma});
  }
  const char* close = start + 1;
  for (;; ++close) {
    close = std::find(close, end_, '"');
    if (close == end_) throw InputError("a quote is not closed; close it on the same line");
    if (close + 1 == end_ || close[1] != '"') break;
    ++close;
  }
  const char* const next = skip_blanks(close + 1, end_);
  if (next != end_ && *next != ',') {
    throw InputError("text follows the closing quote; separate fields by commas");
  }
  advance(next);
  return trimmed({start + 1, close});
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string csv_field(const std::string& name) {
  if (name.find_first_of(",\"\r\n") == std::string::npos) return name;
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kEnough = 200;
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ", ";
    if (text.size() + name.size() > kEnough) return text + "…";
    text += printable(name);
  }
  return text;
}

}  // namespace ga_motion
