// SPDX-License-Identifier: Apache-2.0
#ifndef GA_MOTION__STATE_COLUMNS_HPP_
#define GA_MOTION__STATE_COLUMNS_HPP_

// The columns that a program reads from a table of states, and where the table has them.

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ga_motion {

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

/// "a, b, c", cut at about 200 bytes.
std::string listed(const std::vector<std::string>& names);

}  // namespace ga_motion

#endif  // GA_MOTION__STATE_COLUMNS_HPP_
