// SPDX-License-Identifier: Apache-2.0
#ifndef GA_MOTION__VIA_POINTS_HPP_
#define GA_MOTION__VIA_POINTS_HPP_

#include <istream>
#include <string>
#include <vector>

namespace ga_motion {

struct ViaPoints {
  std::vector<double> times;                ///< s
  std::vector<std::vector<double>> points;  ///< one position per joint [rad, m] for each time
  std::string note;                         ///< which columns are not read, for people
};

/// Reads comma-separated via points, in the dialect of all our tables
/// (ga_motion/state_reader.hpp): the columns t, q1, q2, … or t and the joints' names; others are
/// ignored. Throws InputError with the number of the line where a value is no number
/// or where a column is missing.
ViaPoints read_via_points(std::istream& in, const std::vector<std::string>& joints);

}  // namespace ga_motion

#endif  // GA_MOTION__VIA_POINTS_HPP_
