// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__CLI__TEXT_TABLE_HPP_
#define GA_DYNAMICS__CLI__TEXT_TABLE_HPP_

#include <cstddef>
#include <string>
#include <vector>

namespace ga_tools::cli {

/// Aligned columns of text: those of names to the left, those of numbers to the right.
class TextTable {
 public:
  /// The first `names` columns, behind a leading one for the row's number, hold names.
  TextTable(std::vector<std::string> header, std::size_t names);

  void add(std::vector<std::string> row);
  /// Indented by two blanks, every line with its end.
  std::string text() const;

 private:
  std::size_t names_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace ga_tools::cli

#endif  // GA_DYNAMICS__CLI__TEXT_TABLE_HPP_
