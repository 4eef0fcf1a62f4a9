// SPDX-License-Identifier: Apache-2.0
#ifndef SIM__VIA_POINTS_HPP_
#define SIM__VIA_POINTS_HPP_

#include <istream>
#include <string>
#include <vector>

namespace puma_hardware::sim {

struct ViaPoints {
  std::vector<double> times;                ///< s
  std::vector<std::vector<double>> points;  ///< one position per joint [rad, m] for each time
  std::string note;                         ///< which columns are not read, for people
};

/// Reads comma-separated via points, in the dialect of all our tables
/// (ga_dynamics/state_reader.hpp): the columns t, q1, q2, … or t and the joints' names; others are
/// ignored. Throws ga_dynamics::InputError with the number of the line where a value is no number
/// or where a column is missing.
ViaPoints read_via_points(std::istream& in, const std::vector<std::string>& joints);

}  // namespace puma_hardware::sim

#endif  // SIM__VIA_POINTS_HPP_
