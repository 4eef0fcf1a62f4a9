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
};

/// Reads comma-separated via points (format: motion.hpp). Throws std::runtime_error with the number
/// of the line where it is not one number per column, or where the columns are not t and `joints`.
ViaPoints read_via_points(std::istream& in, const std::vector<std::string>& joints);

}  // namespace puma_hardware::sim

#endif  // SIM__VIA_POINTS_HPP_
