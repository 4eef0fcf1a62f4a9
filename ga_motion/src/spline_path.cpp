// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "ga_dynamics/algorithm/check_arguments.hpp"
#include "ga_motion/time_parameterization.hpp"
#include "join.hpp"

namespace ga_motion {

namespace {

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw std::invalid_argument(join("make_spline_path: ", parts...));
}

void check_points(std::span<const std::vector<double>> points) {
  if (points.size() < 2 || points.front().empty()) {
    refuse(points.size(), points.size() == 1 ? " point" : " points",
           "; give two or more, with a value per joint each");
  }
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (points[k].size() != points[0].size()) {
      refuse("point ", k + 1, " has ", points[k].size(), " values, point 1 has ", points[0].size(),
             "; give one per joint");
    }
    for (std::size_t i = 0; i < points[k].size(); ++i) {
      if (!std::isfinite(points[k][i])) {
        refuse("point ", k + 1, ", joint ", i + 1, " is ", points[k][i], "; give a finite number");
      }
    }
    if (k > 0 && points[k] == points[k - 1]) {
      refuse("points ", k, " and ", k + 1, " are the same; remove one");
    }
  }
}

void check_knots(std::span<const double> knots, std::size_t points) {
  if (knots.size() != points) {
    refuse(knots.size(), " knots for ", points, " points; give one per point");
  }
  if (knots[0] != 0) refuse("the first knot is ", knots[0], "; begin with 0");
  for (std::size_t k = 1; k < knots.size(); ++k) {
    if (knots[k] > knots[k - 1] && std::isfinite(knots[k])) continue;
    refuse("knot ", k + 1, " is ", knots[k], " after ", knots[k - 1],
           "; give increasing, finite numbers");
  }
}

std::vector<double> chord_lengths(std::span<const std::vector<double>> points) {
  std::vector<double> knots{0};
  for (std::size_t k = 1; k < points.size(); ++k) {
    double length = 0;
    for (std::size_t i = 0; i < points[k].size(); ++i) {
      length = std::hypot(length, points[k][i] - points[k - 1][i]);
    }
    knots.push_back(knots.back() + length);
    if (!(knots[k] > knots[k - 1] && std::isfinite(knots[k]))) {
      refuse("points ", k, " and ", k + 1, " are ", length,
             " apart, which does not fit the length of the path; check their units");
    }
  }
  return knots;
}

/// Natural cubic spline by the values and second derivatives at the knots.
class SplinePath final : public Path {
 public:
  SplinePath(std::span<const std::vector<double>> points, std::vector<double> knots)
      : n_(points[0].size()), knots_(std::move(knots)) {
    for (const std::vector<double>& point : points) {
      values_.insert(values_.end(), point.begin(), point.end());
    }
    solve_curvatures();
  }

  int size() const noexcept override { return static_cast<int>(n_); }
  double length() const noexcept override { return knots_.back(); }

  void sample(double s, std::span<double> q, std::span<double> dq,
              std::span<double> ddq) const override {
    ga_dynamics::require_size("Path::sample", "q", q.size(), n_);
    ga_dynamics::require_size("Path::sample", "dq", dq.size(), n_);
    ga_dynamics::require_size("Path::sample", "ddq", ddq.size(), n_);
    s = s >= 0 ? std::min(s, length()) : 0;
    const std::size_t piece = piece_of(s);
    const double h = knots_[piece + 1] - knots_[piece];
    // Weights of the two knots: exact at both.
    const double right = (s - knots_[piece]) / h, left = (knots_[piece + 1] - s) / h;
    const double w0 = (left * left - 1) * left * h * h / 6;
    const double w1 = (right * right - 1) * right * h * h / 6;
    const double v0 = (1 - 3 * left * left) * h / 6, v1 = (3 * right * right - 1) * h / 6;
    const double* const y0 = &values_[piece * n_];
    const double* const y1 = y0 + n_;
    const double* const m0 = &curvatures_[piece * n_];
    const double* const m1 = m0 + n_;
    for (std::size_t i = 0; i < n_; ++i) {
      q[i] = left * y0[i] + right * y1[i] + w0 * m0[i] + w1 * m1[i];
      dq[i] = (y1[i] - y0[i]) / h + v0 * m0[i] + v1 * m1[i];
      ddq[i] = left * m0[i] + right * m1[i];
    }
  }

  std::vector<double> breaks() const override {
    std::vector<double> result(knots_);
    for (std::size_t piece = 0; piece + 1 < knots_.size(); ++piece) {
      for (std::size_t i = 0; i < n_; ++i) add_reversals(piece, i, result);
    }
    return result;
  }

  std::string place(double s) const override {
    const std::size_t piece = piece_of(s);
    const std::string base = Path::place(s);
    for (const std::size_t k : {piece, piece + 1}) {
      if (std::abs(s - knots_[k]) <= 1e-9 * length()) return join(base, " (point ", k + 1, ")");
    }
    return join(base, " (between points ", piece + 1, " and ", piece + 2, ")");
  }

 private:
  std::size_t piece_of(double s) const {
    const auto next = std::upper_bound(knots_.begin() + 1, knots_.end() - 1, s);
    return static_cast<std::size_t>(next - knots_.begin()) - 1;
  }

  /// Second derivatives that make the first one continuous, zero at both ends: tridiagonal and
  /// diagonally dominant, elimination without pivoting.
  void solve_curvatures() {
    const std::size_t last = knots_.size() - 1;
    curvatures_.assign(values_.size(), 0.0);
    std::vector<double> upper(last, 0.0);
    for (std::size_t k = 1; k < last; ++k) {
      const double h = knots_[k] - knots_[k - 1], g = knots_[k + 1] - knots_[k];
      const double pivot = 2 * (h + g) - h * upper[k - 1];
      upper[k] = g / pivot;
      for (std::size_t i = 0; i < n_; ++i) {
        const double* const y = &values_[k * n_ + i];
        const double bend = 6 * ((y[n_] - y[0]) / g - (y[0] - *(y - n_)) / h);
        curvatures_[k * n_ + i] = (bend - h * curvatures_[(k - 1) * n_ + i]) / pivot;
      }
    }
    for (std::size_t k = last; k-- > 1;) {
      for (std::size_t i = 0; i < n_; ++i) {
        curvatures_[k * n_ + i] -= upper[k] * curvatures_[(k + 1) * n_ + i];
      }
    }
  }

  /// Roots of the joint's first derivative, a quadratic function of the share of the piece.
  void add_reversals(std::size_t piece, std::size_t i, std::vector<double>& to) const {
    const double h = knots_[piece + 1] - knots_[piece];
    const double m0 = curvatures_[piece * n_ + i], m1 = curvatures_[(piece + 1) * n_ + i];
    const double mean = (values_[(piece + 1) * n_ + i] - values_[piece * n_ + i]) / h;
    const double a = (m1 - m0) * h / 2, b = m0 * h, c = mean - (2 * m0 + m1) * h / 6;
    const double discriminant = b * b - 4 * a * c;
    if (!(discriminant >= 0)) return;
    // Without the difference of two nearly equal numbers.
    const double sum = -0.5 * (b + std::copysign(std::sqrt(discriminant), b));
    for (const double share : {sum / a, c / sum}) {
      if (share > 0 && share < 1) to.push_back(knots_[piece] + share * h);
    }
  }

  std::size_t n_;
  std::vector<double> knots_;
  std::vector<double> values_, curvatures_;  // knot by knot, joint by joint
};

}  // namespace

Path::~Path() = default;

std::vector<double> Path::breaks() const { return {}; }

std::string Path::place(double s) const { return join("s = ", s, " of ", length()); }

std::shared_ptr<const Path> make_spline_path(std::span<const std::vector<double>> points,
                                             std::span<const double> knots) {
  check_points(points);
  if (!knots.empty()) check_knots(knots, points.size());
  return std::make_shared<SplinePath>(
      points,
      knots.empty() ? chord_lengths(points) : std::vector<double>(knots.begin(), knots.end()));
}

std::vector<std::vector<double>> without_repeats(std::span<const std::vector<double>> points,
                                                 double tolerance) {
  std::vector<std::vector<double>> kept;
  const auto repeats = [tolerance](const std::vector<double>& a, const std::vector<double>& b) {
    // Written so that a value that is not a number is kept, for the path to refuse.
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [tolerance](double x, double y) { return std::abs(x - y) <= tolerance; });
  };
  for (const std::vector<double>& point : points) {
    if (kept.empty() || !repeats(kept.back(), point)) kept.push_back(point);
  }
  if (!kept.empty()) kept.back() = kept.size() > 1 ? points.back() : kept.front();
  return kept;
}

}  // namespace ga_motion
