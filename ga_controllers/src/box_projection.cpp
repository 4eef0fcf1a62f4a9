// SPDX-License-Identifier: Apache-2.0
#include "box_projection.hpp"

#include <algorithm>
#include <cmath>

#include "ga_dynamics/algorithm/cholesky.hpp"

namespace ga_controllers {

namespace {

/// Added to the diagonal of the matrix, which may be singular.
constexpr double kRegular = 1e-12;
/// Relative tolerance of the bounds.
constexpr double kTolerance = 1e-11;
/// Rounds without progress before only one value changes per round, and the maximum number of
/// rounds per value.
constexpr int kPatience = 3, kRounds = 8;

}  // namespace

BoxProjection::BoxProjection(std::size_t size)
    : side_(size),
      result_(size),
      multiplier_(size),
      active_(size),
      factor_(size * size),
      solved_(size) {}

/// Solves for x and y with the active set in `side_`.
void BoxProjection::solve(std::span<const double> matrix, std::span<const double> value,
                          std::span<const double> bound) noexcept {
  const std::size_t n = side_.size();
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (side_[i] != 0) active_[count++] = i;
  }
  for (std::size_t a = 0; a < count; ++a) {
    const std::size_t i = active_[a];
    solved_[a] = side_[i] * bound[i] - value[i];
    for (std::size_t b = 0; b < a; ++b) factor_[a * count + b] = matrix[i * n + active_[b]];
    factor_[a * count + a] = matrix[i * n + i] + kRegular;
  }
  ga_dynamics::cholesky_solve(static_cast<int>(count), factor_.data(), solved_.data());
  std::fill(multiplier_.begin(), multiplier_.end(), 0.0);
  for (std::size_t a = 0; a < count; ++a) multiplier_[active_[a]] = solved_[a];
  for (std::size_t i = 0; i < n; ++i) {
    result_[i] = value[i];
    for (std::size_t a = 0; a < count; ++a) result_[i] += matrix[i * n + active_[a]] * solved_[a];
    if (side_[i] != 0) result_[i] = side_[i] * bound[i];
  }
}

/// The side of a value in the next round; the present one if its conditions hold.
int BoxProjection::next_side(std::size_t i, std::span<const double> value,
                             std::span<const double> bound) const noexcept {
  if (side_[i] != 0) return side_[i] * multiplier_[i] > 0 ? 0 : side_[i];
  const double limit = bound[i] + kTolerance * (bound[i] + std::abs(value[i]));
  return result_[i] > limit ? 1 : result_[i] < -limit ? -1 : 0;
}

bool BoxProjection::pivot(std::span<const double> matrix, std::span<const double> value,
                          std::span<const double> bound) noexcept {
  const std::size_t n = side_.size();
  std::size_t fewest = n + 1;
  int patience = kPatience;
  for (std::size_t round = 0; round < kRounds * n; ++round) {
    solve(matrix, value, bound);
    std::size_t violations = 0, last = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (!std::isfinite(result_[i]) || !std::isfinite(multiplier_[i])) return false;
      if (next_side(i, value, bound) == side_[i]) continue;
      ++violations;
      last = i;
    }
    if (violations == 0) return true;
    if (violations < fewest) {
      fewest = violations;
      patience = kPatience;
    } else {
      --patience;
    }
    for (std::size_t i = patience >= 0 ? 0 : last; i <= last; ++i) {
      side_[i] = next_side(i, value, bound);
    }
  }
  return false;
}

bool BoxProjection::project(std::span<const double> matrix, std::span<const double> value,
                            std::span<const double> bound) noexcept {
  const auto clamp = [&] {
    for (std::size_t i = 0; i < side_.size(); ++i) {
      side_[i] = value[i] > bound[i] ? 1 : value[i] < -bound[i] ? -1 : 0;
      result_[i] = side_[i] != 0 ? side_[i] * bound[i] : value[i];
      multiplier_[i] = 0;
    }
  };
  clamp();
  if (std::all_of(side_.begin(), side_.end(), [](int side) { return side == 0; })) return true;
  const bool solved = pivot(matrix, value, bound);
  if (!solved) clamp();
  for (std::size_t i = 0; i < side_.size(); ++i) {
    result_[i] = std::clamp(result_[i], -bound[i], bound[i]);
  }
  return solved;
}

}  // namespace ga_controllers
