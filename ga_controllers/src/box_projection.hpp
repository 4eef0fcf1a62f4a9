// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__BOX_PROJECTION_HPP_
#define GA_CONTROLLERS__BOX_PROJECTION_HPP_

// Projects a point y⁰ onto the box |y_i| ≤ bound_i, in the metric of M⁻¹ with M symmetric and
// positive definite. The result is y = y⁰ + M x, where x (the Lagrange multipliers with reversed
// sign) satisfies the Karush–Kuhn–Tucker conditions:
//   x_i = 0  where |y_i| < bound_i,
//   x_i ≤ 0  where y_i = bound_i,
//   x_i ≥ 0  where y_i = −bound_i.
// The solution is unique and a continuous (piecewise linear) function of y⁰ and the bounds.
//
// Block principal pivoting (Júdice and Pires): guess the active set, solve the linear equations for
// it, and exchange all values that violate a condition. If that does not reduce the violations,
// exchange only one value at a time, which cannot cycle. A few rounds suffice in practice; their
// number is limited.

#include <span>
#include <vector>

namespace ga_controllers {

/// Construction allocates. All else is real-time safe: no allocation, no lock, no exception.
class BoxProjection {
 public:
  explicit BoxProjection(std::size_t size);

  /// `matrix`: M, row by row; it may be singular, and `bound` may be infinite. Returns false if
  /// there is no solution within the limited number of rounds or a value is not finite; then the
  /// values are clamped one by one and x is zero.
  bool project(std::span<const double> matrix, std::span<const double> value,
               std::span<const double> bound) noexcept;

  std::span<const double> result() const noexcept { return result_; }           ///< y
  std::span<const double> multipliers() const noexcept { return multiplier_; }  ///< x
  /// +1 where y is at the upper bound, −1 where it is at the lower one, else 0.
  std::span<const int> side() const noexcept { return side_; }

 private:
  void solve(std::span<const double> matrix, std::span<const double> value,
             std::span<const double> bound) noexcept;
  int next_side(std::size_t i, std::span<const double> value,
                std::span<const double> bound) const noexcept;
  bool pivot(std::span<const double> matrix, std::span<const double> value,
             std::span<const double> bound) noexcept;

  std::vector<int> side_;
  std::vector<double> result_, multiplier_;
  std::vector<std::size_t> active_;      ///< indices of the values at a bound
  std::vector<double> factor_, solved_;  ///< scratch of solve()
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__BOX_PROJECTION_HPP_
