// SPDX-License-Identifier: Apache-2.0
#include "reachability.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ga_dynamics/algorithm/lanes.hpp"

namespace ga_motion {

namespace {

using Lane = ga_dynamics::Lane<double>;
constexpr std::size_t kWidth = ga_dynamics::kLanes<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTolerance = 1e-11;  // of u, relative
/// Newton's iteration meets each of a few dozen lines once at most.
constexpr int kMostSteps = 1000;

bool crossed(double upper, double lower) {
  return lower - upper > kTolerance * std::max({1.0, std::abs(upper), std::abs(lower)});
}

}  // namespace

struct Reachability::Pairs {
  Lane alpha, beta, high, low;
};

/// The tangent at x, which is over the root and converges to it. Near rest it would credit friction
/// with more help than it gives: there `under` is under the root.
Reachability::RootLines Reachability::root_lines(double x, double floor) {
  if (!(x > floor)) {
    const double root = std::sqrt(floor);
    return {0.5 / root, 0.5 * root, 0};
  }
  const double root = std::sqrt(x);
  return {0.5 / root, 0.5 * root, 0.5 * root};
}

void Reachability::set_rows(const PathGrid& grid, const std::vector<double>& profile) {
  const std::size_t intervals = grid.intervals();
  const std::size_t groups = static_cast<std::size_t>(grid.torque_limited()) +
                             static_cast<std::size_t>(grid.acceleration_limited());
  rows_ = 2 * groups * grid.stride();
  for (std::vector<double>* lines : {&slope_, &upper_, &lower_}) lines->resize(intervals * rows_);
  double_step_.resize(intervals);
  x_least_.assign(intervals, 0.0);
  x_most_.assign(grid.velocity_bound.begin(), grid.velocity_bound.end() - 1);
  rest_.assign(intervals, 1);
  low_.resize(intervals + 1), high_.resize(intervals + 1);
  double fastest = 0;
  for (const double x : profile) fastest = std::max(fastest, x);
  // From rest, √x bends most within the first interval: a line over it at the other end is over it at
  // rest and in between. The same before rest at the end.
  const auto lines_at = [&](std::size_t point) {
    const double neighbor = point == 0           ? profile[1]
                            : point == intervals ? profile[intervals - 1]
                                                 : 0;
    return root_lines(profile[point], std::max(kSlow * fastest, neighbor));
  };
  RootLines here{}, next{};
  if (grid.friction()) next = lines_at(0);
  for (std::size_t i = 0; i < intervals; ++i) {
    double_step_[i] = 2 * (grid.s[i + 1] - grid.s[i]);
    here = next;
    if (grid.friction()) next = lines_at(i + 1);
    if (grid.torque_limited()) set_torque_rows(grid, i, here, next);
    if (grid.acceleration_limited()) set_acceleration_rows(grid, i);
  }
}

/// Rows low <= alpha u + beta x <= high as lines of u over x.
void Reachability::set_pairs(std::size_t interval, std::size_t pair, const Pairs& pairs,
                             double tiny) {
  const std::size_t at = interval * rows_ + pair;
  const Lane inverse = 1 / pairs.alpha;
  const Lane one = pairs.high * inverse, other = pairs.low * inverse;
  const Lane upper = one > other ? one : other, lower = one > other ? other : one;
  ga_dynamics::store_lane<double>(-pairs.beta * inverse, &slope_[at]);
  ga_dynamics::store_lane<double>(upper, &upper_[at]);
  ga_dynamics::store_lane<double>(lower, &lower_[at]);
  const auto plain =
      ((pairs.alpha > tiny) | (-pairs.alpha > tiny)) & (pairs.high >= 0) & (pairs.low <= 0);
  bool all = true;
  for (std::size_t k = 0; k < kWidth; ++k) all = all && plain[k] != 0;
  if (all) [[likely]]
    return;
  for (std::size_t k = 0; k < kWidth; ++k) {
    if (!(std::abs(pairs.alpha[k]) > tiny)) {
      set_bound(interval, pair + k, pairs.beta[k], pairs.high[k], pairs.low[k], tiny);
    }
    if (pairs.high[k] < 0 || pairs.low[k] > 0) rest_[interval] = 0;
  }
}

/// A row that does not depend on u bounds x alone.
void Reachability::set_bound(std::size_t interval, std::size_t pair, double beta, double high,
                             double low, double tiny) {
  const std::size_t at = interval * rows_ + pair;
  slope_[at] = 0, upper_[at] = kInfinity, lower_[at] = -kInfinity;
  double& most = x_most_[interval];
  double& least = x_least_[interval];
  if (std::abs(beta) > tiny) {
    most = std::min(most, (beta > 0 ? high : low) / beta);
    least = std::max(least, (beta > 0 ? low : high) / beta);
  } else if (high < 0 || low > 0) {
    most = -1;
  }
}

void Reachability::set_torque_rows(const PathGrid& grid, std::size_t interval,
                                   const RootLines& here, const RootLines& next) {
  using ga_dynamics::load_lane;
  const std::size_t stride = grid.stride(), first = interval * stride, second = first + stride;
  const Lane step = ga_dynamics::all_lanes(double_step_[interval]);
  for (std::size_t k = 0; k < stride; k += kWidth) {
    const Lane coulomb = load_lane(&grid.coulomb[first + k]);
    const Lane viscous = load_lane(grid.viscous() + k);
    // Friction is `factor` times √x: over and under it are lines of the same slope.
    const auto rows = [&](std::size_t point, const RootLines& root, const Lane& ahead) {
      const Lane factor = viscous * load_lane(&grid.dq[point + k]);
      const Lane beta = load_lane(&grid.b[point + k]) + factor * root.slope;
      const Lane slow = load_lane(&grid.c[point + k]) + coulomb;
      const Lane over = factor * root.over, under = factor * root.under;
      return Pairs{load_lane(&grid.a[point + k]) + ahead * beta, beta,
                   1 - slow - (over > under ? over : under),
                   -1 - slow - (over > under ? under : over)};
    };
    set_pairs(interval, k, rows(first, here, Lane{}), grid.tiny());
    set_pairs(interval, stride + k, rows(second, next, step), grid.tiny());
  }
}

void Reachability::set_acceleration_rows(const PathGrid& grid, std::size_t interval) {
  using ga_dynamics::load_lane;
  const std::size_t stride = grid.stride(), first = interval * stride, second = first + stride;
  const std::size_t offset = grid.torque_limited() ? 2 * stride : 0;
  const Lane one = ga_dynamics::all_lanes(1.0);
  for (std::size_t k = 0; k < stride; k += kWidth) {
    const Lane scale = load_lane(grid.acceleration_inverse() + k);
    set_pairs(interval, offset + k,
              {scale * load_lane(&grid.dq[first + k]), scale * load_lane(&grid.ddq[first + k]), one,
               -one},
              0);
    const Lane beta = scale * load_lane(&grid.ddq[second + k]);
    set_pairs(
        interval, offset + stride + k,
        {scale * load_lane(&grid.dq[second + k]) + double_step_[interval] * beta, beta, one, -one},
        0);
  }
}

Reachability::Bounds Reachability::bounds(std::size_t interval, double x, double low_next,
                                          double high_next) const {
  const double* const slopes = &slope_[interval * rows_];
  const double* const uppers = &upper_[interval * rows_];
  const double* const lowers = &lower_[interval * rows_];
  Lane most = ga_dynamics::all_lanes(kInfinity), least = ga_dynamics::all_lanes(-kInfinity);
  Lane most_slope{}, least_slope{}, most_offset = most, least_offset = least;
  for (std::size_t k = 0; k < rows_; k += kWidth) {
    const Lane slope = ga_dynamics::load_lane(slopes + k);
    const Lane upper = ga_dynamics::load_lane(uppers + k), over = upper + slope * x;
    const Lane lower = ga_dynamics::load_lane(lowers + k), under = lower + slope * x;
    const auto sooner = over<most, later = under> least;
    most = sooner ? over : most;
    most_slope = sooner ? slope : most_slope;
    most_offset = sooner ? upper : most_offset;
    least = later ? under : least;
    least_slope = later ? slope : least_slope;
    least_offset = later ? lower : least_offset;
  }
  // The next controllable set: x + 2 Δ u between its ends.
  const double inverse = 1 / double_step_[interval];
  Bounds b{(high_next - x) * inverse, high_next * inverse, -inverse,
           (low_next - x) * inverse,  low_next * inverse,  -inverse};
  for (std::size_t k = 0; k < kWidth; ++k) {
    if (most[k] < b.upper)
      b.upper = most[k], b.upper_offset = most_offset[k], b.upper_slope = most_slope[k];
    if (least[k] > b.lower)
      b.lower = least[k], b.lower_offset = least_offset[k], b.lower_slope = least_slope[k];
  }
  return b;
}

long Reachability::backward() {
  const std::size_t intervals = double_step_.size();
  low_[intervals] = high_[intervals] = 0;
  for (std::size_t i = intervals; i-- > 0;) {
    // upper − lower is concave and piecewise linear in x: Newton's iteration from outside meets the
    // ends of the set after finitely many steps, and never steps over them.
    const double low_next = low_[i + 1], high_next = high_[i + 1];
    double x = x_most_[i], nudge = 1e-15;
    for (int step = 0;; ++step) {
      if (!(x >= x_least_[i]) || step == kMostSteps) return static_cast<long>(i);
      const Bounds b = bounds(i, x, low_next, high_next);
      if (!crossed(b.upper, b.lower)) break;
      const double slope = b.upper_slope - b.lower_slope;
      // Nothing is left below the least x.
      if (!(slope < 0) || x == x_least_[i]) return static_cast<long>(i);
      const double left = (b.lower_offset - b.upper_offset) / slope;
      // Rounding alone can keep it in place.
      x = left < x ? left : x * (1 - (nudge *= 2));
      if (nudge > 1e-6) return static_cast<long>(i);
      if (x < x_least_[i] && x > x_least_[i] - kTolerance) x = x_least_[i];
    }
    high_[i] = x;
    low_[i] = 0;
    // At rest, u = 0 keeps all limits and stays at rest.
    if (rest_[i] != 0 && low_next == 0) continue;
    x = x_least_[i];
    for (int step = 0;; ++step) {
      const Bounds b = bounds(i, x, low_next, high_next);
      if (!crossed(b.upper, b.lower)) break;
      const double slope = b.upper_slope - b.lower_slope;
      const double right = (b.lower_offset - b.upper_offset) / slope;
      if (!(slope > 0) || !(right > x) || right >= high_[i] || step == kMostSteps) {
        x = high_[i];
        break;
      }
      x = right;
    }
    low_[i] = x;
  }
  return -1;
}

void Reachability::forward(std::vector<double>& x) const {
  const std::size_t intervals = double_step_.size();
  x.resize(intervals + 1);
  x[0] = low_[0];
  for (std::size_t i = 0; i < intervals; ++i) {
    const Bounds b = bounds(i, x[i], low_[i + 1], high_[i + 1]);
    x[i + 1] = std::clamp(x[i] + double_step_[i] * b.upper, low_[i + 1], high_[i + 1]);
  }
}

}  // namespace ga_motion
