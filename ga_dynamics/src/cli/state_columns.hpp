// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__CLI__STATE_COLUMNS_HPP_
#define GA_DYNAMICS__CLI__STATE_COLUMNS_HPP_

// The columns that a command reads, and where a table has them.

#include <string>
#include <string_view>
#include <vector>

namespace ga_dynamics::cli {

/// The names of one quantity per joint: q1, q2, …
std::vector<std::string> joint_columns(std::string_view quantity, int joints);

class StateColumns {
 public:
  /// E.g. {"q", "qd"} for two joints: q1, q2, qd1, qd2, in this order.
  StateColumns(std::vector<std::string> quantities, int joints);

  const std::vector<std::string>& names() const { return names_; }
  /// "q1…q6,qd1…qd6"
  std::string summary() const;

  /// For every field of the header, the index in names() that it holds, or -1. Throws InputError,
  /// without the place, where names are missing or given twice.
  std::vector<int> locate(const std::vector<std::string>& header) const;

 private:
  std::vector<std::string> quantities_;
  int joints_;
  std::vector<std::string> names_;
};

/// "a, b, c", cut at about 200 bytes.
std::string listed(const std::vector<std::string>& names);

}  // namespace ga_dynamics::cli

#endif  // GA_DYNAMICS__CLI__STATE_COLUMNS_HPP_
