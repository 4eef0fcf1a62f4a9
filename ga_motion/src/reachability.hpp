// SPDX-License-Identifier: Apache-2.0
#ifndef REACHABILITY_HPP_
#define REACHABILITY_HPP_

// The two passes of time-optimal path parameterization by reachability analysis (Pham and Pham
// 2018, algorithm 1), in closed form: at given x every limit bounds u from both sides by lines, and
// the two variables need no linear program.

#include <cstddef>
#include <vector>

#include "path_grid.hpp"

namespace ga_motion {

class Reachability {
 public:
  /// Below this part of the largest x, the root of x is replaced by a line of fixed slope.
  static constexpr double kSlow = 1e-3;

  /// The rows of every interval: the limits at its first point, and at its second one with
  /// x + 2 Δ u for x (interpolation scheme). `profile`: x at every point, about which the viscous
  /// friction, proportional to √x, is replaced by its tangent.
  void set_rows(const PathGrid& grid, const std::vector<double>& profile);

  /// Controllable sets, from rest at the end: x from low to high at every point. Returns the number of
  /// the interval from which no speed leads to the end, or −1.
  long backward();
  /// The fastest x from rest at the start; after backward() has succeeded.
  void forward(std::vector<double>& x) const;

  /// Least controllable x of a point, 0 but where the arm needs momentum.
  double low(std::size_t point) const { return low_[point]; }

 private:
  /// The bounds of u at x, with the lines that set them: value = offset + slope * x.
  struct Bounds {
    double upper, upper_offset, upper_slope, lower, lower_offset, lower_slope;
  };
  Bounds bounds(std::size_t interval, double x, double low_next, double high_next) const;
  /// Lines over and under √x: slope * x + over, slope * x + under.
  struct RootLines {
    double slope, over, under;
  };
  struct Pairs;
  static RootLines root_lines(double x, double floor);
  void set_torque_rows(const PathGrid& grid, std::size_t interval, const RootLines& here,
                       const RootLines& next);
  void set_acceleration_rows(const PathGrid& grid, std::size_t interval);
  void set_pairs(std::size_t interval, std::size_t pair, const Pairs& pairs, double tiny);
  void set_bound(std::size_t interval, std::size_t pair, double beta, double high, double low,
                 double tiny);

  std::size_t rows_ = 0;                       // per interval
  std::vector<double> slope_, upper_, lower_;  // u in [lower + slope x, upper + slope x]
  std::vector<double> double_step_;            // 2 Δ
  std::vector<char> rest_;                     // u = 0 is possible at rest
  std::vector<double> x_least_, x_most_;       // of each interval's first point
  std::vector<double> low_, high_;             // controllable sets
};

}  // namespace ga_motion

#endif  // REACHABILITY_HPP_
