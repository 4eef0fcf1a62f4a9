// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>

#include "ga_dynamics/algorithm/check_arguments.hpp"
#include "ga_motion/trajectory.hpp"

namespace ga_motion {

using namespace ga_dynamics;
namespace {

constexpr double kEdge = 1e-9;  // s, as in trajectory.cpp

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  std::ostringstream text;
  text << "make_cubic_spline: ";
  (text << ... << parts);
  throw std::invalid_argument(text.str());
}

/// Piecewise cubic by the values and slopes at the knots.
class CubicSpline final : public Trajectory {
 public:
  CubicSpline(std::span<const double> times, std::size_t joints)
      : n_(joints), times_(times.begin(), times.end()), knots_(times.size() * joints) {}

  struct Knot {
    double value = 0, slope = 0;
  };
  Knot& knot(std::size_t at, std::size_t joint) { return knots_[at * n_ + joint]; }

  int size() const noexcept override { return static_cast<int>(n_); }
  double duration() const noexcept override { return times_.back(); }
  void sample(double t, std::span<double> q, std::span<double> qd,
              std::span<double> qdd) const override {
    require_sample_sizes(n_, q.size(), qd.size(), qdd.size());
    const bool moving = t >= -kEdge && t <= times_.back() + kEdge;
    t = t >= 0 ? std::min(t, times_.back()) : 0;
    const auto next = std::upper_bound(times_.begin() + 1, times_.end() - 1, t);
    const auto piece = static_cast<std::size_t>(next - times_.begin()) - 1;
    const double h = times_[piece + 1] - times_[piece];
    const double x = t - times_[piece], y = times_[piece + 1] - t;  // from either knot
    for (std::size_t i = 0; i < n_; ++i) {
      const Knot& a = knots_[piece * n_ + i];
      const Knot& b = knots_[(piece + 1) * n_ + i];
      const double mean = (b.value - a.value) / h;
      // Hermite's form about the chord; p and r vanish for a straight line.
      const double p = (a.slope - mean) / (h * h), r = (b.slope - mean) / (h * h);
      const double chord = x < y ? a.value + x * mean : b.value - y * mean;
      q[i] = chord + x * y * (p * y - r * x);
      qd[i] = moving ? mean + p * y * (y - 2 * x) + r * x * (x - 2 * y) : 0;
      qdd[i] = moving ? p * (2 * x - 4 * y) + r * (4 * x - 2 * y) : 0;
    }
  }

 private:
  std::size_t n_;
  std::vector<double> times_;
  std::vector<Knot> knots_;  // knot by knot, joint by joint
};

void check_velocity(const char* name, std::span<const double> velocity, std::size_t joints) {
  if (velocity.empty()) return;
  if (velocity.size() != joints) {
    refuse(name, " has ", velocity.size(), " values for ", joints,
           " joints; give one per joint, or none for rest");
  }
  for (std::size_t i = 0; i < joints; ++i) {
    if (!std::isfinite(velocity[i]))
      refuse(name, "[", i, "] is ", velocity[i], "; give a finite number");
  }
}

void check(std::span<const double> times, std::span<const std::vector<double>> points) {
  if (points.size() < 2 || points.front().empty())
    refuse(points.size(), " points; give two or more, with a value per joint each");
  if (times.size() != points.size())
    refuse(times.size(), " times for ", points.size(), " points; give one per point");
  if (times[0] != 0) refuse("times[0] is ", times[0], " s; begin with 0");
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (k > 0 && !(times[k] > times[k - 1] && std::isfinite(times[k]))) {
      refuse("times[", k, "] is ", times[k], " s after ", times[k - 1],
             " s; give increasing, finite times");
    }
    if (points[k].size() != points[0].size()) {
      refuse("point ", k, " has ", points[k].size(), " joints, point 0 has ", points[0].size(),
             "; give one value per joint");
    }
    for (std::size_t i = 0; i < points[k].size(); ++i) {
      if (!std::isfinite(points[k][i]))
        refuse("point ", k, ", joint ", i, " is ", points[k][i], "; give a finite number");
    }
  }
}

}  // namespace

std::unique_ptr<Trajectory> make_cubic_spline(std::span<const double> times,
                                              std::span<const std::vector<double>> points,
                                              std::span<const double> start_velocity,
                                              std::span<const double> end_velocity) {
  check(times, points);
  const std::size_t joints = points[0].size(), last = times.size() - 1;
  check_velocity("start_velocity", start_velocity, joints);
  check_velocity("end_velocity", end_velocity, joints);
  auto spline = std::make_unique<CubicSpline>(times, joints);
  for (std::size_t k = 0; k <= last; ++k) {
    for (std::size_t i = 0; i < joints; ++i) spline->knot(k, i).value = points[k][i];
  }
  for (std::size_t i = 0; i < joints; ++i) {
    spline->knot(0, i).slope = start_velocity.empty() ? 0 : start_velocity[i];
    spline->knot(last, i).slope = end_velocity.empty() ? 0 : end_velocity[i];
  }
  // Equal accelerations on both sides of knot k, h and g the spans before and behind it:
  //   g·slope(k−1) + 2(g + h)·slope(k) + h·slope(k+1) = 3(g·mean before + h·mean behind)
  // Tridiagonal and diagonally dominant: elimination without pivoting, the same for every joint.
  std::vector<double> upper(last, 0.0);
  for (std::size_t k = 1; k < last; ++k) {
    const double h = times[k] - times[k - 1], g = times[k + 1] - times[k];
    const double pivot = 2 * (g + h) - g * upper[k - 1];
    upper[k] = h / pivot;
    for (std::size_t i = 0; i < joints; ++i) {
      const double before = (points[k][i] - points[k - 1][i]) / h;
      const double behind = (points[k + 1][i] - points[k][i]) / g;
      spline->knot(k, i).slope =
          (3 * (g * before + h * behind) - g * spline->knot(k - 1, i).slope) / pivot;
    }
  }
  for (std::size_t k = last; k-- > 1;) {
    for (std::size_t i = 0; i < joints; ++i)
      spline->knot(k, i).slope -= upper[k] * spline->knot(k + 1, i).slope;
  }
  return spline;
}

}  // namespace ga_motion
