// SPDX-License-Identifier: Apache-2.0
#ifndef TORQUE_RATE_HPP_
#define TORQUE_RATE_HPP_

// The fastest profile of speed along a path with bounds on the change of the torque per second.
//
// A torque rate involves the third derivative of s, and the two variables of the reachability
// analysis cannot hold it. Here x at all points is one problem: the duration is a convex function of
// them (Verscheure et al., IEEE Transactions on Automatic Control 54(10), 2009), and so are the
// limits, except for the friction √x where it resists and the time step within which a torque may
// change. Both are replaced by their tangents, which are on the safe side, and the problem is solved
// again about its solution: every iterate keeps the limits themselves, and none is slower than the
// one before. Rows couple three neighboring points at most: a barrier method whose Newton steps have
// five diagonals takes a time proportional to the number of points.

#include <array>
#include <cstddef>
#include <vector>

#include "path_grid.hpp"

namespace ga_motion {

class TorqueRateProblem {
 public:
  explicit TorqueRateProblem(const PathGrid& grid);

  /// From the fastest profile without bounds on rates to the one with them; false if no slower copy of
  /// it keeps them, and x is as it was.
  bool solve(std::vector<double>& x);

 private:
  /// −1 <= at[0] x_k + at[1] x_{k+1} + constant + friction √x_point <= 1.
  struct LimitRow {
    std::array<double, 2> at;
    double constant, friction;
    std::size_t point;  // k or k + 1
  };
  /// The change of a torque from the middle of one interval to the middle of the next, within its rate
  /// times the time between them.
  struct RateRow {
    std::array<double, 3> at;
    double constant, rate;
  };

  void add_limit_rows(std::size_t interval);
  void add_rate_rows();
  std::array<double, 3> middle_torque(std::size_t interval, std::size_t joint) const;
  double time_step(std::size_t interval, const std::vector<double>& x) const;
  void set_tangents(const std::vector<double>& x);
  /// Weighted duration less the logarithms of all slacks, infinite outside of the limits; with
  /// derivatives, its gradient and the diagonals of its Hessian as well.
  double barrier(const std::vector<double>& x, double weight, bool derivatives);
  bool minimize(std::vector<double>& x, double weight);
  bool newton_step();

  const PathGrid& grid_;
  std::size_t points_;
  std::vector<double> double_step_;
  std::vector<LimitRow> limits_;  // interval by interval
  std::size_t limits_each_ = 0;
  std::vector<RateRow> rates_;  // from point to point, joint by joint; also of both ends
  std::size_t rates_each_ = 0;
  std::vector<double> root_, root_slope_;  // tangents of √x
  std::vector<std::array<double, 3>>
      step_tangent_;  // of an interval's time: constant, x_k, x_{k+1}
  std::vector<double> gradient_, diagonal_, next_, second_, direction_, trial_;
};

}  // namespace ga_motion

#endif  // TORQUE_RATE_HPP_
