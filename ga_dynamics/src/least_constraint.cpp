// SPDX-License-Identifier: Apache-2.0
#include "least_constraint.hpp"

#include <algorithm>
#include <cmath>

#include "ga_dynamics/algorithm/cholesky.hpp"

namespace ga_dynamics {
namespace {

/// Overload below this part of the terms that it is the difference of is rounding.
constexpr double kRounding = 1e-12;

}  // namespace

LeastConstraint::LeastConstraint(std::size_t n)
    : n_(n), motion_(n), point_(n), target_(n), reduced_(n * n), right_(n), moving_(n) {}

bool LeastConstraint::solve(std::span<const double> inertia, std::span<const double> load,
                            std::span<const Restraint> restraints, std::span<double> x) noexcept {
  for (std::size_t i = 0; i < n_; ++i) {
    const bool free = restraints[i].against_positive == 0 && restraints[i].against_negative == 0;
    motion_[i] = free ? Motion::kFree : Motion::kHeld;
    point_[i] = 0;
  }
  // Every exchange decreases the objective, so no set of moving joints returns. The bound is for
  // rounding alone; x then is the last minimum over a set of moving joints, whose energy is bounded
  // in the same way.
  const std::size_t most = 8 * n_ + 8;
  for (std::size_t exchange = 0; exchange < most; ++exchange) {
    if (!solve_moving(inertia, load, restraints)) return false;
    if (hold_those_that_turn_back()) continue;
    std::copy(target_.begin(), target_.end(), point_.begin());
    std::copy(target_.begin(), target_.end(), x.begin());
    if (!release_most_overloaded(inertia, load, restraints)) return true;
  }
  return true;
}

/// D_mm x_m = load_m + r_m for the joints that move, into target_.
bool LeastConstraint::solve_moving(std::span<const double> inertia, std::span<const double> load,
                                   std::span<const Restraint> restraints) noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < n_; ++i) {
    target_[i] = 0;
    if (motion_[i] != Motion::kHeld) moving_[count++] = i;
  }
  for (std::size_t a = 0; a < count; ++a) {
    const std::size_t i = moving_[a];
    for (std::size_t b = 0; b <= a; ++b) reduced_[a * count + b] = inertia[i * n_ + moving_[b]];
    right_[a] = load[i];
    if (motion_[i] == Motion::kPositive) right_[a] -= restraints[i].against_positive;
    if (motion_[i] == Motion::kNegative) right_[a] += restraints[i].against_negative;
  }
  count_ = count;
  cholesky_solve(static_cast<int>(count), reduced_.data(), right_.data());
  bool finite = true;
  for (std::size_t a = 0; a < count; ++a) {
    target_[moving_[a]] = right_[a];
    finite = finite && std::isfinite(right_[a]);
  }
  return finite;
}

/// Goes from point_ towards target_ until a released joint would turn back, and holds it there.
bool LeastConstraint::hold_those_that_turn_back() noexcept {
  const auto turns_back = [this](std::size_t i) {
    return (motion_[i] == Motion::kPositive && target_[i] <= 0) ||
           (motion_[i] == Motion::kNegative && target_[i] >= 0);
  };
  // point_ has the joint's direction or is 0, target_ the other direction or is 0
  const auto share = [this](std::size_t i) {
    return point_[i] == 0 ? 0 : point_[i] / (point_[i] - target_[i]);
  };
  double part = 2;
  for (std::size_t i = 0; i < n_; ++i) {
    if (turns_back(i)) part = std::min(part, share(i));
  }
  if (part > 1) return false;
  for (std::size_t i = 0; i < n_; ++i) {
    if (turns_back(i) && share(i) <= part) {
      motion_[i] = Motion::kHeld;
      point_[i] = 0;
    } else {
      point_[i] += part * (target_[i] - point_[i]);
    }
  }
  return true;
}

bool LeastConstraint::release_most_overloaded(std::span<const double> inertia,
                                              std::span<const double> load,
                                              std::span<const Restraint> restraints) noexcept {
  std::size_t worst = n_;
  double worst_excess = 0;
  Motion direction = Motion::kHeld;
  for (std::size_t i = 0; i < n_; ++i) {
    if (motion_[i] != Motion::kHeld) continue;
    double reaction = -load[i], size = std::abs(load[i]);
    for (std::size_t a = 0; a < count_; ++a) {
      const double part = inertia[i * n_ + moving_[a]] * point_[moving_[a]];
      reaction += part;
      size += std::abs(part);
    }
    const double to_positive = -restraints[i].against_positive - reaction;
    const double to_negative = reaction - restraints[i].against_negative;
    const double excess = std::max(to_positive, to_negative) - kRounding * size;
    if (excess > worst_excess) {
      worst = i;
      worst_excess = excess;
      direction = to_positive > to_negative ? Motion::kPositive : Motion::kNegative;
    }
  }
  if (worst == n_) return false;
  motion_[worst] = direction;
  return true;
}

}  // namespace ga_dynamics
