// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "csv_fields.hpp"
#include "ga_dynamics/number.hpp"
#include "ga_motion/state_file.hpp"

namespace ga_motion {

using namespace ga_dynamics;
namespace {

/// The text as a message may quote it.
std::string excerpt(std::string_view text) {
  constexpr std::size_t kEnough = 40;
  if (text.size() <= kEnough) return "'" + printable(std::string(text)) + "'";
  std::size_t cut = kEnough;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) --cut;
  return "'" + printable(std::string(text.substr(0, cut))) + "…'";
}

/// Without what follows a # outside of quotes.
std::string_view without_comment(std::string_view line) {
  for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    const std::string_view before = line.substr(0, at);
    if (std::count(before.begin(), before.end(), '"') % 2 == 0) return before;
  }
  return line;
}

}  // namespace

StateReader::StateReader(LineReader lines, StateColumns columns)
    : lines_(std::move(lines)), columns_(std::move(columns)) {
  pending_ = next_line();
  if (pending_ && take_header()) {
    has_header_ = true;
    pending_ = false;
    return;
  }
  for (std::size_t i = 0; i < columns_.names().size(); ++i) {
    index_of_field_.push_back(static_cast<int>(i));
  }
}

std::string StateReader::place() const {
  const std::string line = "line " + std::to_string(lines_.number());
  return lines_.name().empty() ? line : lines_.name() + ": " + line;
}

void StateReader::fail(const std::string& problem) const {
  throw InputError(place() + ": " + problem);
}

void StateReader::fail(std::size_t field, const std::string& problem) const {
  std::string which = ", column " + std::to_string(field + 1);
  if (field < index_of_field_.size() && index_of_field_[field] >= 0) {
    which += " (" + columns_.names()[static_cast<std::size_t>(index_of_field_[field])] + ")";
  }
  throw InputError(place() + which + ": " + problem);
}

/// The next line that is not blank.
bool StateReader::next_line() {
  while (lines_.next(line_)) {
    line_ = without_comment(line_);
    if (!trimmed(line_).empty()) return true;
  }
  return false;
}

bool StateReader::take_header() {
  std::vector<std::string> header;
  bool any_name = false;
  for (CsvFields fields(line_); fields.more();) {
    try {
      header.emplace_back(fields.take());
    } catch (const InputError& error) {
      fail(header.size(), error.what());
    }
    double number = 0;
    if (is_number(header.back(), number)) return false;
    any_name = any_name || !header.back().empty();
  }
  if (!any_name) return false;
  try {
    index_of_field_ = columns_.locate(header);
  } catch (const InputError& error) {
    if (const std::string hint = separator_hint(); !hint.empty()) fail(hint);
    fail(error.what());
  }
  std::vector<std::string> ignored;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (index_of_field_[i] < 0 && !header[i].empty()) ignored.push_back(header[i]);
  }
  if (!ignored.empty()) {
    note_ = place() + ": " + (ignored.size() == 1 ? "column " : "columns ") + listed(ignored) +
            (ignored.size() == 1 ? " is" : " are") + " ignored; read are " + columns_.summary();
  }
  return true;
}

/// Not empty where the line looks as spreadsheets of many countries write it.
std::string StateReader::separator_hint() const {
  if (line_.find(';') == std::string_view::npos) return {};
  if (line_.find(',') == std::string_view::npos) {
    return "fields are separated by semicolons; separate them by commas";
  }
  return "fields are separated by semicolons, and numbers have decimal commas; separate fields by "
         "commas, and write 0.5, not 0,5";
}

bool StateReader::next(std::span<double> values) {
  if (!pending_ && !next_line()) return false;
  pending_ = false;
  parse_line(values);
  return true;
}

void StateReader::parse_line(std::span<double> values) const {
  const std::size_t expected = index_of_field_.size();
  std::size_t field = 0;
  CsvFields fields(line_);
  for (; fields.more(); ++field) {
    const int index = field < expected ? index_of_field_[field] : -1;
    double value = 0;
    if (index < 0 || !fields.take_number(value)) {
      std::string_view text;
      try {
        text = fields.take();
      } catch (const InputError& error) {
        fail(field, error.what());
      }
      if (index < 0) continue;
      value = parse_field(text, field);
    }
    values[static_cast<std::size_t>(index)] = value;
  }
  if (field == expected) return;
  if (const std::string hint = separator_hint(); !hint.empty()) fail(hint);
  const std::string found = std::to_string(field) + (field == 1 ? " field" : " fields");
  if (field == 2 * expected) {
    fail(found + ", expected " + std::to_string(expected) + ": " + columns_.summary() +
         "; if numbers have decimal commas, write 0.5, not 0,5");
  }
  if (has_header_) fail(found + ", but the header has " + std::to_string(expected));
  fail(found + ", expected " + std::to_string(expected) + ": " + columns_.summary() +
       "; give these, in this order, or a header line");
}

double StateReader::parse_field(std::string_view text, std::size_t field) const {
  if (text.empty()) fail(field, "empty; give a number");
  double value = 0;
  if (!is_number(text, value)) {
    if (const std::string hint = separator_hint(); !hint.empty()) fail(hint);
    std::string point(text);
    std::replace(point.begin(), point.end(), ',', '.');
    if (is_number(point, value)) {
      fail(field, excerpt(text) + " has a decimal comma; write " + point);
    }
    const bool other_separator = text.find_first_of(";\t ") != std::string_view::npos;
    fail(field, excerpt(text) + " is not a number" +
                    (other_separator ? "; separate fields by commas" : ""));
  }
  if (!std::isfinite(value)) fail(field, excerpt(text) + " is not finite");
  return value;
}

ViaPoints read_via_points(std::istream& in, const std::vector<std::string>& joints) {
  const auto source = [&in](char* to, std::size_t size) {
    in.read(to, static_cast<std::streamsize>(size));
    return static_cast<std::size_t>(in.gcount());
  };
  const StateColumns columns({"q"}, joints, StateColumns::Time::kFirst);
  StateReader reader(LineReader(source, ""), columns);
  ViaPoints via;
  via.note = reader.note();
  for (std::vector<double> row(columns.names().size()); reader.next(row);) {
    via.times.push_back(row[0]);
    via.points.emplace_back(row.begin() + 1, row.end());
  }
  return via;
}

}  // namespace ga_motion
