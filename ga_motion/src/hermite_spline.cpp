// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "ga_dynamics/algorithm/check_arguments.hpp"
#include "ga_motion/trajectory.hpp"
#include "join.hpp"

namespace ga_motion {

namespace {

constexpr double kEdge = 1e-9;  // s, as in trajectory.cpp

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw std::invalid_argument(join("make_hermite_spline: ", parts...));
}

using Table = std::span<const std::vector<double>>;

void check_table(const char* name, Table table, std::size_t rows, std::size_t joints) {
  if (table.size() != rows) refuse(table.size(), " ", name, " for ", rows, " times; give one each");
  for (std::size_t k = 0; k < rows; ++k) {
    if (table[k].size() != joints) {
      refuse(name, "[", k, "] has ", table[k].size(), " values for ", joints,
             " joints; give one per joint");
    }
    for (std::size_t i = 0; i < joints; ++i) {
      if (std::isfinite(table[k][i])) continue;
      refuse(name, "[", k, "], joint ", i, " is ", table[k][i], "; give a finite number");
    }
  }
}

void check_times(std::span<const double> times) {
  if (times.size() < 2) refuse(times.size(), " times; give two or more");
  if (times[0] != 0) refuse("times[0] is ", times[0], " s; begin with 0");
  for (std::size_t k = 1; k < times.size(); ++k) {
    if (times[k] > times[k - 1] && std::isfinite(times[k])) continue;
    refuse("times[", k, "] is ", times[k], " s after ", times[k - 1],
           " s; give increasing, finite times");
  }
}

class HermiteSpline final : public Trajectory {
 public:
  HermiteSpline(std::span<const double> times, Table points, Table velocities, Table accelerations)
      : n_(points[0].size()),
        fifth_order_(!accelerations.empty()),
        times_(times.begin(), times.end()) {
    for (std::size_t k = 0; k < times.size(); ++k) {
      for (std::size_t i = 0; i < n_; ++i) {
        knots_.push_back(
            {points[k][i], velocities[k][i], fifth_order_ ? accelerations[k][i] : 0.0});
      }
    }
  }

  int size() const noexcept override { return static_cast<int>(n_); }
  double duration() const noexcept override { return times_.back(); }
  void sample(double t, std::span<double> q, std::span<double> qd,
              std::span<double> qdd) const override {
    ga_dynamics::require_sample_sizes(n_, q.size(), qd.size(), qdd.size());
    const bool moving = t >= -kEdge && t <= times_.back() + kEdge;
    t = t >= 0 ? std::min(t, times_.back()) : 0;
    const auto next = std::upper_bound(times_.begin() + 1, times_.end() - 1, t);
    const auto piece = static_cast<std::size_t>(next - times_.begin()) - 1;
    const double h = times_[piece + 1] - times_[piece], x = t - times_[piece];
    for (std::size_t i = 0; i < n_; ++i) {
      const Knot& a = knots_[piece * n_ + i];
      const Knot& b = knots_[(piece + 1) * n_ + i];
      // What the polynomial of the start's values misses at the end.
      const double position = b.position - a.position - h * (a.velocity + 0.5 * h * a.acceleration);
      const double velocity = b.velocity - a.velocity - h * a.acceleration;
      const double acceleration = b.acceleration - a.acceleration;
      double c2 = 0.5 * a.acceleration, c3 = 0, c4 = 0, c5 = 0;
      if (fifth_order_) {
        c3 = (10 * position - 4 * velocity * h + 0.5 * acceleration * h * h) / (h * h * h);
        c4 = (-15 * position + 7 * velocity * h - acceleration * h * h) / (h * h * h * h);
        c5 = (6 * position - 3 * velocity * h + 0.5 * acceleration * h * h) / (h * h * h * h * h);
      } else {
        c2 = (3 * position - velocity * h) / (h * h);
        c3 = (-2 * position + velocity * h) / (h * h * h);
      }
      q[i] = a.position + x * (a.velocity + x * (c2 + x * (c3 + x * (c4 + x * c5))));
      if (t == times_[piece + 1]) q[i] = b.position;
      qd[i] = moving ? a.velocity + x * (2 * c2 + x * (3 * c3 + x * (4 * c4 + x * 5 * c5))) : 0;
      qdd[i] = moving ? 2 * c2 + x * (6 * c3 + x * (12 * c4 + x * 20 * c5)) : 0;
    }
  }

 private:
  struct Knot {
    double position, velocity, acceleration;
  };
  std::size_t n_;
  bool fifth_order_;
  std::vector<double> times_;
  std::vector<Knot> knots_;  // knot by knot, joint by joint
};

}  // namespace

std::unique_ptr<Trajectory> make_hermite_spline(std::span<const double> times, Table points,
                                                Table velocities, Table accelerations) {
  check_times(times);
  if (points.empty() || points[0].empty()) refuse("no points; give one per time");
  const std::size_t joints = points[0].size();
  check_table("points", points, times.size(), joints);
  check_table("velocities", velocities, times.size(), joints);
  if (!accelerations.empty()) check_table("accelerations", accelerations, times.size(), joints);
  return std::make_unique<HermiteSpline>(times, points, velocities, accelerations);
}

}  // namespace ga_motion
