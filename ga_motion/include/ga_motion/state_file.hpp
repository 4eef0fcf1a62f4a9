// SPDX-License-Identifier: Apache-2.0
#ifndef GA_MOTION__STATE_FILE_HPP_
#define GA_MOTION__STATE_FILE_HPP_

// Tables of a robot's states, one per line, as comma-separated numbers.
//
// A first line without any number is a header: columns are then found by name (StateColumns), in any
// order, and others are ignored. Without a header the columns are positional and must fit exactly.
// Blank lines, blanks around fields, double quotes around a field and comments, from a # outside of
// quotes to the end of the line, are accepted.
//
// Reading allocates and throws: not for the control path.

#include <cstddef>
#include <functional>
#include <istream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ga_motion {

/// Bad arguments or states; what() names the place, the value and the remedy.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The text with ? for control characters: what messages quote from a file stays on their line, and
/// does not reach the terminal as a command.
inline std::string printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
  return text;
}

/// Writes at most `size` bytes to `to` and returns how many; 0 at the end of the stream.
using ByteSource = std::function<std::size_t(char* to, std::size_t size)>;

/// Lines of a stream of any length, in constant memory.
class LineReader {
 public:
  /// A row of 500 joints takes 40 kB; a line beyond this is no row of numbers.
  static constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

  /// `name` is what error messages call the stream.
  LineReader(ByteSource source, std::string name);

  /// The next line without its end (LF or CR LF; the last line may have none) and, on line 1,
  /// without a UTF-8 byte order mark. False at the end. `line` stays valid until the next call.
  /// Throws InputError for a line over the limit.
  bool next(std::string_view& line);

  /// Of the line that next() gave last; the first is 1.
  long number() const { return number_; }
  const std::string& name() const { return name_; }

 private:
  bool fill();

  ByteSource source_;
  std::string name_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what has been read and not yet given
  bool finished_ = false;
  long number_ = 0;
};

/// The names of one quantity per joint: q1, q2, …
std::vector<std::string> joint_columns(std::string_view quantity, int joints);

/// A column has several names, all accepted. Of joint i, called NAME in the description:
///   qi    NAME, position_NAME      position [rad, m]
///   qdi   velocity_NAME            velocity
///   qddi  acceleration_NAME        acceleration
///   taui  effort_NAME, torque_NAME torque or force [N m, N]
/// and t or time [s]. Where a joint is itself called like another's number (q2), the joint's name
/// wins.
class StateColumns {
 public:
  enum class Time { kNone, kFirst };  ///< whether there is a column t, before the others

  /// E.g. {"q", "qd"} for two joints: q1, q2, qd1, qd2, in this order.
  StateColumns(std::vector<std::string> quantities, int joints);
  /// The same, for joints with names.
  StateColumns(std::vector<std::string> quantities, const std::vector<std::string>& joints,
               Time time = Time::kNone);

  const std::vector<std::string>& names() const { return names_; }
  /// "q1…q6,qd1…qd6"
  std::string summary() const;

  /// For every field of the header, the index in names() that it holds, or -1. Throws InputError,
  /// without the place, where names are missing or given twice.
  std::vector<int> locate(const std::vector<std::string>& header) const;

 private:
  std::vector<std::string> quantities_;
  int joints_;
  bool time_ = false;
  std::vector<std::string> names_;
  std::vector<std::string> example_;  ///< of a joint's name: "joint1, velocity_joint1"
  std::unordered_map<std::string, int> index_;
};

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

/// The name as a field: in quotes if it holds a comma, a quote or a line's end.
std::string csv_field(const std::string& name);

struct ViaPoints {
  std::vector<double> times;                ///< s
  std::vector<std::vector<double>> points;  ///< one position per joint [rad, m] for each time
  std::string note;                         ///< which columns are not read, for people
};

/// Reads comma-separated via points: the columns t, q1, q2, … or t and the joints' names; others are
/// ignored. Throws InputError with the number of the line where a value is no number
/// or where a column is missing.
ViaPoints read_via_points(std::istream& in, const std::vector<std::string>& joints);

}  // namespace ga_motion

#endif  // GA_MOTION__STATE_FILE_HPP_
