// SPDX-License-Identifier: Apache-2.0
#include "torque_rate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ga_motion {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TorqueRateProblem::TorqueRateProblem(const PathGrid& grid) : grid_(grid), points_(grid.s.size()) {
  for (std::size_t k = 0; k < grid.intervals(); ++k) {
    double_step_.push_back(2 * (grid.s[k + 1] - grid.s[k]));
  }
  for (std::size_t k = 0; k < grid.intervals(); ++k) {
    const std::size_t before = limits_.size();
    add_limit_rows(k);
    limits_each_ = limits_.size() - before;
  }
  add_rate_rows();
  for (std::vector<double>* values :
       {&root_, &root_slope_, &gradient_, &diagonal_, &next_, &second_, &direction_, &trial_}) {
    values->resize(points_);
  }
  step_tangent_.resize(grid.intervals());
}

void TorqueRateProblem::add_limit_rows(std::size_t interval) {
  const std::size_t stride = grid_.stride();
  const double inverse = 1 / double_step_[interval];
  const auto add = [&](std::size_t point, double a, double b, double constant, double friction) {
    LimitRow row{{-a * inverse, a * inverse}, constant, friction, point};
    row.at[point - interval] += b;
    limits_.push_back(row);
  };
  for (std::size_t i = 0; i < grid_.joints(); ++i) {
    for (const std::size_t point : {interval, interval + 1}) {
      const std::size_t at = point * stride + i;
      if (std::isfinite(grid_.limits().torque[i])) {
        add(point, grid_.a[at], grid_.b[at], grid_.c[at] + grid_.coulomb[interval * stride + i],
            grid_.viscous()[i] * grid_.dq[at]);
      }
      if (std::isfinite(grid_.limits().acceleration[i])) {
        const double scale = grid_.acceleration_inverse()[i];
        add(point, scale * grid_.dq[at], scale * grid_.ddq[at], 0, 0);
      }
    }
  }
}

/// Coefficients of x_k, x_{k+1} and 1.
std::array<double, 3> TorqueRateProblem::middle_torque(std::size_t interval,
                                                       std::size_t joint) const {
  const std::size_t at = interval * grid_.stride() + joint, next = at + grid_.stride();
  const double a = 0.5 * (grid_.a[at] + grid_.a[next]) / double_step_[interval];
  return {0.5 * grid_.b[at] - a, 0.5 * grid_.b[next] + a, 0.5 * (grid_.c[at] + grid_.c[next])};
}

void TorqueRateProblem::add_rate_rows() {
  const std::size_t last = grid_.intervals();
  // The change at point k: from the interval before it, at rest before the first and after the last.
  for (std::size_t k = 0; k <= last; ++k) {
    for (std::size_t i = 0; i < grid_.joints(); ++i) {
      const double rate = grid_.limits().torque_rate[i] / grid_.limits().torque[i];
      if (!std::isfinite(rate)) continue;
      const double rest = grid_.c[k * grid_.stride() + i];
      RateRow row{{0, 0, 0}, 0, rate};
      if (k > 0) {
        const auto before = middle_torque(k - 1, i);
        row.at[0] -= before[0], row.at[1] -= before[1], row.constant -= before[2];
      } else {
        row.constant -= rest;
      }
      if (k < last) {
        const auto behind = middle_torque(k, i);
        row.at[1] += behind[0], row.at[2] += behind[1], row.constant += behind[2];
      } else {
        row.constant += rest;
      }
      rates_.push_back(row);
    }
  }
  rates_each_ = rates_.size() / points_;
}

double TorqueRateProblem::time_step(std::size_t interval, const std::vector<double>& x) const {
  return double_step_[interval] / (std::sqrt(x[interval]) + std::sqrt(x[interval + 1]));
}

void TorqueRateProblem::set_tangents(const std::vector<double>& x) {
  for (std::size_t k = 0; k < points_; ++k) {
    // At the two ends x is 0 and stays so.
    const double root = std::sqrt(x[k]);
    root_[k] = 0.5 * root;
    root_slope_[k] = root > 0 ? 0.5 / root : 0;
  }
  for (std::size_t k = 0; k < grid_.intervals(); ++k) {
    const double sum = std::sqrt(x[k]) + std::sqrt(x[k + 1]);
    const double time = double_step_[k] / sum;
    const double left = -time / sum * root_slope_[k], right = -time / sum * root_slope_[k + 1];
    step_tangent_[k] = {time - left * x[k] - right * x[k + 1], left, right};
  }
}

double TorqueRateProblem::barrier(const std::vector<double>& x, double weight, bool derivatives) {
  if (derivatives) {
    for (std::vector<double>* values : {&gradient_, &diagonal_, &next_, &second_}) {
      std::fill(values->begin(), values->end(), 0.0);
    }
  }
  double duration = 0, logarithms = 0, product = 1;
  // The barrier of a slack with its slopes over `count` variables from `first` on.
  const auto add = [&](double slack, const double* slope, std::size_t count, std::size_t first) {
    product *= slack;
    if (product < 1e-200 || product > 1e200) logarithms += std::log(product), product = 1;
    if (!derivatives) return;
    const double inverse = 1 / slack;
    for (std::size_t i = 0; i < count; ++i) {
      const double scaled = slope[i] * inverse;
      gradient_[first + i] -= scaled;
      diagonal_[first + i] += scaled * scaled;
      if (i + 1 < count) next_[first + i] += scaled * slope[i + 1] * inverse;
      if (i + 2 < count) second_[first + i] += scaled * slope[i + 2] * inverse;
    }
  };
  for (std::size_t k = 0; k < grid_.intervals(); ++k) {
    const double left = std::sqrt(x[k]), right = std::sqrt(x[k + 1]), sum = left + right;
    const double time = double_step_[k] / sum;
    duration += time;
    if (derivatives) {
      const double first = weight * time / sum, second = 2 * first / sum;
      const double dl = left > 0 ? 0.5 / left : 0, dr = right > 0 ? 0.5 / right : 0;
      gradient_[k] -= first * dl;
      gradient_[k + 1] -= first * dr;
      diagonal_[k] += second * dl * dl + 2 * first * dl * dl * dl;
      diagonal_[k + 1] += second * dr * dr + 2 * first * dr * dr * dr;
      next_[k] += second * dl * dr;
    }
    for (std::size_t row = k * limits_each_; row < (k + 1) * limits_each_; ++row) {
      const LimitRow& r = limits_[row];
      const double rigid = r.at[0] * x[k] + r.at[1] * x[k + 1] + r.constant;
      const std::size_t p = r.point;
      const double exact = std::sqrt(x[p]), line = root_[p] + root_slope_[p] * x[p];
      const double f = std::abs(r.friction);
      const double sign = r.friction < 0 ? -1 : 1;
      // Where friction resists, the tangent is over the root; where it helps, the root is concave.
      for (const double side : {1.0, -1.0}) {
        const bool resists = side == sign;
        const double slack = 1 - side * rigid - (resists ? f * line : -f * exact);
        if (!(slack > 0)) return kInfinity;
        double slope[2] = {-side * r.at[0], -side * r.at[1]};
        const double root_slope = exact > 0 ? 0.5 / exact : 0;
        slope[p - k] -= resists ? f * root_slope_[p] : -f * root_slope;
        add(slack, slope, 2, k);
        if (derivatives && !resists && exact > 0) {
          diagonal_[p] += f * 0.25 / (exact * exact * exact) / slack;
        }
      }
    }
  }
  const std::size_t last = grid_.intervals();
  for (std::size_t k = 0; k <= last; ++k) {
    for (std::size_t row = k * rates_each_; row < (k + 1) * rates_each_; ++row) {
      const RateRow& r = rates_[row];
      double change = r.constant + r.at[1] * x[k], time = 0;
      double allowed[3] = {0, 0, 0};
      if (k > 0) {
        const auto& step = step_tangent_[k - 1];
        change += r.at[0] * x[k - 1];
        time += 0.5 * (step[0] + step[1] * x[k - 1] + step[2] * x[k]);
        allowed[0] += 0.5 * r.rate * step[1], allowed[1] += 0.5 * r.rate * step[2];
      }
      if (k < last) {
        const auto& step = step_tangent_[k];
        change += r.at[2] * x[k + 1];
        time += 0.5 * (step[0] + step[1] * x[k] + step[2] * x[k + 1]);
        allowed[1] += 0.5 * r.rate * step[1], allowed[2] += 0.5 * r.rate * step[2];
      }
      const std::size_t skip = k == 0 ? 1 : 0, count = k == last ? 2 : 3;
      for (const double side : {1.0, -1.0}) {
        const double slack = r.rate * time - side * change;
        if (!(slack > 0)) return kInfinity;
        const double slope[3] = {allowed[0] - side * r.at[0], allowed[1] - side * r.at[1],
                                 allowed[2] - side * r.at[2]};
        add(slack, slope + skip, count - skip, k + skip - 1);
      }
    }
  }
  for (std::size_t k = 1; k < last; ++k) {
    const double one = 1, minus = -1;
    if (!(x[k] > 0) || !(x[k] < grid_.velocity_bound[k])) return kInfinity;
    add(x[k], &one, 1, k);
    add(grid_.velocity_bound[k] - x[k], &minus, 1, k);
  }
  return weight * duration - logarithms - std::log(product);
}

/// Solves H direction = −gradient, H with two diagonals on either side: L D Lᵀ.
bool TorqueRateProblem::newton_step() {
  const std::size_t last = points_ - 1;
  // x is 0 at both ends.
  diagonal_[0] = diagonal_[last] = 1;
  gradient_[0] = gradient_[last] = 0;
  next_[0] = next_[last - 1] = second_[0] = second_[last - 2] = 0;
  for (std::size_t k = 0; k < points_; ++k) {
    // Overwrites the diagonals with D and the factors below it.
    double pivot = diagonal_[k];
    if (!(pivot > 0) || !std::isfinite(pivot)) return false;
    const double one = k + 1 < points_ ? next_[k] / pivot : 0;
    const double two = k + 2 < points_ ? second_[k] / pivot : 0;
    if (k + 1 < points_) {
      diagonal_[k + 1] -= one * next_[k];
      gradient_[k + 1] -= one * gradient_[k];
    }
    if (k + 2 < points_) {
      next_[k + 1] -= one * second_[k];
      diagonal_[k + 2] -= two * second_[k];
      gradient_[k + 2] -= two * gradient_[k];
    }
    direction_[k] = -gradient_[k] / pivot;
    next_[k] = one, second_[k] = two;
  }
  for (std::size_t k = points_; k-- > 0;) {
    if (k + 1 < points_) direction_[k] -= next_[k] * direction_[k + 1];
    if (k + 2 < points_) direction_[k] -= second_[k] * direction_[k + 2];
  }
  return true;
}

bool TorqueRateProblem::minimize(std::vector<double>& x, double weight) {
  constexpr int kMostSteps = 60;
  constexpr double kArmijo = 0.05, kSmallest = 1e-10, kDecrement = 1e-3;
  for (int step = 0; step < kMostSteps; ++step) {
    const double value = barrier(x, weight, true);
    const std::vector<double>& slope = trial_;
    trial_ = gradient_;
    trial_.front() = trial_.back() = 0;
    if (!newton_step()) return false;
    double decrease = 0;
    for (std::size_t k = 0; k < points_; ++k) decrease -= slope[k] * direction_[k];
    if (!(decrease > kDecrement)) return true;
    double length = 1;
    for (std::size_t k = 1; k + 1 < points_; ++k) {
      // Keeps x positive: no need to try longer steps.
      if (direction_[k] < 0) length = std::min(length, -0.99 * x[k] / direction_[k]);
    }
    for (;; length *= 0.5) {
      if (length < kSmallest) return true;
      for (std::size_t k = 0; k < points_; ++k) trial_[k] = x[k] + length * direction_[k];
      if (barrier(trial_, weight, false) <= value - kArmijo * length * decrease) break;
    }
    x = trial_;
  }
  return true;
}

bool TorqueRateProblem::solve(std::vector<double>& x) {
  // A slower copy of the profile, strictly within all limits: the dynamic torques go with x, their
  // rates with its power 3/2.
  constexpr int kMostHalvings = 80;
  std::vector<double> slow = x;
  slow.front() = slow.back() = 0;
  // The barrier needs some speed everywhere in between.
  constexpr double kLift = 0.1;
  for (std::size_t k = 1; k + 1 < points_; ++k) {
    slow[k] = std::max(slow[k], kLift * std::min(slow[k - 1], slow[k + 1]));
  }
  for (int halving = 0;; ++halving) {
    set_tangents(slow);
    if (std::isfinite(barrier(slow, 1, false))) break;
    if (halving == kMostHalvings) return false;
    for (double& value : slow) value *= 0.5;
  }
  const auto duration = [this](const std::vector<double>& of) {
    double sum = 0;
    for (std::size_t k = 0; k < grid_.intervals(); ++k) sum += time_step(k, of);
    return sum;
  };
  // The duration exceeds the optimum about a profile by less than the number of slacks over the
  // weight.
  const auto slacks = static_cast<double>(2 * (limits_.size() + rates_.size() + points_));
  constexpr double kFirstGap = 0.3, kLastGap = 2e-5, kFactor = 0.15, kSettled = 1e-5;
  constexpr int kMostRounds = 40;
  double gap = kFirstGap, before = duration(slow);
  for (int round = 0; round < kMostRounds; ++round) {
    minimize(slow, slacks / (gap * before));
    const double now = duration(slow);
    const bool settled = gap <= kLastGap && before - now < kSettled * now;
    before = now;
    if (settled) break;
    gap = std::max(gap * kFactor, kLastGap);
    set_tangents(slow);
  }
  x = slow;
  return true;
}

}  // namespace ga_motion
