// SPDX-License-Identifier: Apache-2.0
#ifndef GA_MOTION__STATE_READER_HPP_
#define GA_MOTION__STATE_READER_HPP_

// States of a robot, one per line, as comma-separated numbers.
//
// A first line without any number is a header: columns are then found by name (state_columns.hpp),
// in any order, and others are ignored. Without a header the columns are positional and must fit
// exactly. Blank lines, blanks around fields, double quotes around a field and comments, from a #
// outside of quotes to the end of the line, are accepted.
//
// Reading allocates and throws: not for the control path.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ga_motion/line_reader.hpp"
#include "ga_motion/state_columns.hpp"

namespace ga_motion {

class StateReader {
 public:
  /// Reads the first line. All errors here and in next() are InputErrors that name the line.
  StateReader(LineReader lines, StateColumns columns);

  /// The next state: one finite value for each of the columns, in their order. False at the end.
  bool next(std::span<double> values);

  /// "states.csv: line 3": of the state that next() gave last. "line 3" if the table has no name.
  std::string place() const;

  /// Which columns of the table are not read, for people; empty if all are.
  const std::string& note() const { return note_; }

 private:
  bool next_line();
  bool take_header();
  std::string separator_hint() const;
  void parse_line(std::span<double> values) const;
  double parse_field(std::string_view text, std::size_t field) const;
  [[noreturn]] void fail(const std::string& problem) const;
  [[noreturn]] void fail(std::size_t field, const std::string& problem) const;

  LineReader lines_;
  StateColumns columns_;
  std::vector<int> index_of_field_;
  bool has_header_ = false;
  std::string note_;
  std::string_view line_;
  bool pending_ = false;  // line_ was read and is not yet parsed
};

}  // namespace ga_motion

#endif  // GA_MOTION__STATE_READER_HPP_
