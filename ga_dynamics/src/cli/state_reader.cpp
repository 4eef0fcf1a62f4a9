// SPDX-License-Identifier: Apache-2.0
#include "cli/state_reader.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

#include "cli/csv_fields.hpp"
#include "cli/errors.hpp"
#include "cli/number.hpp"

namespace ga_dynamics::cli {
namespace {

/// The text as a message may quote it.
std::string excerpt(std::string_view text) {
  constexpr std::size_t kEnough = 40;
  if (text.size() <= kEnough) return "'" + printable(std::string(text)) + "'";
  std::size_t cut = kEnough;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) --cut;
  return "'" + printable(std::string(text.substr(0, cut))) + "…'";
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
  return lines_.name() + ": line " + std::to_string(lines_.number());
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
    fail(error.what());
  }
  return true;
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
  const std::string found = std::to_string(field) + (field == 1 ? " field" : " fields");
  if (has_header_) fail(found + ", but the header has " + std::to_string(expected));
  fail(found + ", expected " + std::to_string(expected) + ": " + columns_.summary() +
       "; give these, in this order, or a header line");
}

double StateReader::parse_field(std::string_view text, std::size_t field) const {
  if (text.empty()) fail(field, "empty; give a number");
  double value = 0;
  if (!is_number(text, value)) {
    const bool other_separator = text.find_first_of(";\t ") != std::string_view::npos;
    fail(field, excerpt(text) + " is not a number" +
                    (other_separator ? "; separate fields by commas" : ""));
  }
  if (!std::isfinite(value)) fail(field, excerpt(text) + " is not finite");
  return value;
}

}  // namespace ga_dynamics::cli
