// SPDX-License-Identifier: Apache-2.0
#ifndef CSV_FIELDS_HPP_
#define CSV_FIELDS_HPP_

// One line of comma-separated values (RFC 4180, but a field does not go on behind the line's end),
// and what messages say of it.

#include <string>
#include <string_view>
#include <vector>

namespace ga_motion {

/// Walks over the fields of a line; a line always has at least one.
class CsvFields {
 public:
  explicit CsvFields(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {}

  bool more() const { return more_; }

  /// If the field is a bare finite number, takes it; false and nothing taken if it is anything
  /// else. The fast way for what nearly every field is.
  bool take_number(double& value);

  /// Takes the field, without blanks and quotes around it (doubled quotes within stay doubled).
  /// Throws InputError, without the place, if its quotes are wrong.
  std::string_view take();

 private:
  /// Goes behind the comma at `at`, or notes that the line ends there.
  void advance(const char* at);

  const char* at_;
  const char* end_;
  bool more_ = true;
};

/// Without blanks and tabs at both ends.
std::string_view trimmed(std::string_view text);

/// "a, b, c", cut at about 200 bytes.
std::string listed(const std::vector<std::string>& names);

}  // namespace ga_motion

#endif  // CSV_FIELDS_HPP_
