// SPDX-License-Identifier: Apache-2.0

// A polyline with rounded corners: a uniform cubic B-spline whose control points lie on the polyline.
// It is twice continuously differentiable, stays in the convex hull of four control points at a time,
// and nowhere farther from the control polygon than a sixth of the largest second difference of the
// control points (D. Lutterkort and J. Peters, Optimized refinable enclosures of multivariate
// polynomial pieces, Computer Aided Geometric Design 18(9), 2001). With control points at most h
// apart, that is h/3.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "ga_motion/time_parameterization.hpp"
#include "join.hpp"

namespace ga_motion {
namespace {

using Points = std::vector<std::vector<double>>;

// Of the tolerance: for leaving out points that are nearly in line, the rest for rounding corners.
constexpr double kThinningShare = 0.25;
constexpr std::size_t kMostControls = 20000;

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

std::vector<double> between(const std::vector<double>& a, const std::vector<double>& b,
                            double share) {
  std::vector<double> point(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) point[i] = (1 - share) * a[i] + share * b[i];
  return point;
}

/// Of a point from the straight line a to b.
double distance_from_line(const std::vector<double>& point, const std::vector<double>& a,
                          const std::vector<double>& b) {
  double along = 0, squared = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    along += (point[i] - a[i]) * (b[i] - a[i]);
    squared += (b[i] - a[i]) * (b[i] - a[i]);
  }
  const double share = squared > 0 ? std::clamp(along / squared, 0.0, 1.0) : 0;
  return distance(point, between(a, b, share));
}

/// Without the points within `tolerance` of the line through those kept (D. Douglas and T. Peucker,
/// The Canadian Cartographer 10(2), 1973).
Points thinned(std::span<const std::vector<double>> points, double tolerance) {
  std::vector<bool> keep(points.size(), false);
  keep.front() = keep.back() = true;
  std::vector<std::pair<std::size_t, std::size_t>> open{{0, points.size() - 1}};
  while (!open.empty()) {
    const auto [first, last] = open.back();
    open.pop_back();
    double farthest = tolerance;
    std::size_t at = first;
    for (std::size_t k = first + 1; k < last; ++k) {
      const double from_line = distance_from_line(points[k], points[first], points[last]);
      if (from_line > farthest) farthest = from_line, at = k;
    }
    if (at == first) continue;
    keep[at] = true;
    open.push_back({first, at}), open.push_back({at, last});
  }
  Points kept;
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (keep[k]) kept.push_back(points[k]);
  }
  return kept;
}

/// The corners, and points between them at most `spacing` apart.
Points control_points(const Points& corners, double spacing) {
  double length = 0;
  for (std::size_t k = 1; k < corners.size(); ++k) length += distance(corners[k - 1], corners[k]);
  if (!(length / spacing < static_cast<double>(kMostControls))) {
    throw std::invalid_argument(join("make_blended_path: the path is ", length / spacing,
                                     " times as long as its corners may be wide; raise the "
                                     "tolerance"));
  }
  Points controls{corners.front()};
  for (std::size_t k = 1; k < corners.size(); ++k) {
    const double pieces = std::ceil(distance(corners[k - 1], corners[k]) / spacing);
    for (double piece = 1; piece < pieces; ++piece)
      controls.push_back(between(corners[k - 1], corners[k], piece / pieces));
    controls.push_back(corners[k]);
  }
  return controls;
}

}  // namespace

std::shared_ptr<const Path> make_blended_path(std::span<const std::vector<double>> points,
                                              double tolerance) {
  if (!(tolerance > 0 && std::isfinite(tolerance))) {
    throw std::invalid_argument(
        join("make_blended_path: tolerance is ", tolerance, "; give a number above zero"));
  }
  make_spline_path(points);  // refuses what is no path
  const Points controls = control_points(thinned(points, kThinningShare * tolerance),
                                         3 * (1 - kThinningShare) * tolerance);
  // With the first and the last control point mirrored beyond the ends, the B-spline begins and ends
  // at the points, without curvature: it is the natural spline through its own points at the knots.
  Points through = controls;
  for (std::size_t k = 1; k + 1 < controls.size(); ++k) {
    for (std::size_t i = 0; i < controls[k].size(); ++i)
      through[k][i] = (controls[k - 1][i] + 4 * controls[k][i] + controls[k + 1][i]) / 6;
  }
  std::vector<double> knots(controls.size());
  std::iota(knots.begin(), knots.end(), 0.0);
  return make_spline_path(through, knots);
}

}  // namespace ga_motion
