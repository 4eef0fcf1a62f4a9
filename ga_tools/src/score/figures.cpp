// SPDX-License-Identifier: Apache-2.0
#include "score/figures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ga_tools::score {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kLateFrom = 0.5;        // s
constexpr double kSettledWithin = 2e-3;  // rad

constexpr FigureKind kKinds[] = {
    {Figure::kRms, "rms", "rms", "mm", "tool error along the motion, RMS", true, 0.01},
    {Figure::kLate, "late", "late", "mm", "the same without the first 0.5 s", true, 0.01},
    {Figure::kRest, "rest", "rest", "mrad", "largest joint error at rest", false, 0.05},
    {Figure::kHunt, "hunt", "hunt", "mrad", "largest motion of a joint at rest", false, 0.05},
    {Figure::kChatter, "chatter", "chatter", "%",
     "RMS change of the torque per cycle over its limit, worst joint, moving", false, 0.05},
    {Figure::kRestChatter, "rest_chatter", "at rest", "%", "the same at rest", false, 0.05},
    {Figure::kTorqueStep, "torque_step", "torque/ms", "%",
     "largest change of a torque per millisecond over its limit", false, 0.2},
    {Figure::kPath, "path", "path", "mm", "largest distance of the tool from its path", false,
     0.02},
    {Figure::kSettled, "settled", "settled", "s",
     "from the end of the motion until all joints stay within 2 mrad", false, 0.1},
    {Figure::kStretch, "stretch", "stretch", "x",
     "duration of the motion over that of the reference", false, 0.02},
};
static_assert(std::size(kKinds) == kFigureCount);

double distance(const Recording& r, std::size_t k) {
  double sum = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double d = r.tool[axis][k] - r.tool_ref[axis][k];
    sum += d * d;
  }
  return std::sqrt(sum);
}

/// RMS of the tool error over [from, to] s.
double tool_rms(const Recording& r, double from, double to) {
  double sum = 0, count = 0;
  for (std::size_t k = 0; k < r.time.size(); ++k) {
    if (r.time[k] < from || r.time[k] > to) continue;
    const double d = distance(r, k);
    sum += d * d;
    ++count;
  }
  return count > 0 ? std::sqrt(sum / count) : kNone;
}

struct TorqueChange {
  double rms = 0, max = 0;  ///< per cycle, over the limit, worst joint
};
TorqueChange torque_change(const Recording& r, const ga_dynamics::Chain& chain, double from,
                           double to) {
  TorqueChange worst;
  for (std::size_t i = 0; i < r.tau.size(); ++i) {
    const double limit = chain.joints()[i].limits.effort;
    double sum = 0, count = 0;
    for (std::size_t k = 1; k < r.time.size(); ++k) {
      if (r.time[k] < from || r.time[k] > to) continue;
      const double change = std::abs(r.tau[i][k] - r.tau[i][k - 1]) / limit;
      sum += change * change;
      worst.max = std::max(worst.max, change);
      ++count;
    }
    if (count > 0) worst.rms = std::max(worst.rms, std::sqrt(sum / count));
  }
  return worst;
}

/// s after the motion when all joints stay near their reference; not-a-number: never.
double settled(const Recording& r, double duration) {
  for (std::size_t k = r.time.size(); k-- > 0;) {
    for (std::size_t i = 0; i < r.q.size(); ++i) {
      if (!(std::abs(r.q[i][k] - r.q_ref[i][k]) > kSettledWithin)) continue;
      return k + 1 < r.time.size() ? std::max(0.0, r.time[k + 1] - duration) : kNone;
    }
  }
  return 0;
}

}  // namespace

std::span<const FigureKind> figure_kinds() noexcept { return kKinds; }
const FigureKind& kind_of(Figure figure) noexcept {
  return kKinds[static_cast<std::size_t>(figure)];
}

double path_deviation(const Recording& r) {
  using Point = std::array<double, 3>;
  constexpr double kShortest = 1e-6;  // m, between points of the path
  const auto point = [](const std::vector<double>(&from)[3], std::size_t k) {
    return Point{from[0][k], from[1][k], from[2][k]};
  };
  const auto dot = [](const Point& a, const Point& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  };
  const auto minus = [](const Point& a, const Point& b) {
    return Point{a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  };
  std::vector<Point> path;
  for (std::size_t k = 0; k < r.time.size(); ++k) {
    const Point p = point(r.tool_ref, k);
    if (!path.empty()) {
      const Point step = minus(p, path.back());
      if (dot(step, step) < kShortest * kShortest) continue;
    }
    path.push_back(p);
  }
  double worst = 0;
  for (std::size_t k = 0; k < r.time.size(); ++k) {
    const Point tool = point(r.tool, k), from_first = minus(tool, path.front());
    double nearest = dot(from_first, from_first);
    for (std::size_t s = 0; s + 1 < path.size(); ++s) {
      const Point segment = minus(path[s + 1], path[s]), d = minus(tool, path[s]);
      const double length = dot(segment, segment), along = dot(segment, d);
      const double share = std::clamp(along / length, 0.0, 1.0);
      nearest = std::min(nearest, dot(d, d) - 2 * share * along + share * share * length);
    }
    worst = std::max(worst, nearest);
  }
  return std::sqrt(std::max(worst, 0.0));
}

Figures figures_of(const RunRecording& r, const ga_dynamics::Chain& chain, double duration,
                   bool path) {
  const double end = r.time.back();
  const bool rested = !r.ended && end > duration;
  const double dt = r.time.size() > 1 ? r.time[1] - r.time[0] : 1e-3;
  const double milli = 1e3, percent = 100;
  Figures f;
  f[Figure::kRms] = milli * tool_rms(r, 0, duration);
  f[Figure::kLate] = milli * tool_rms(r, kLateFrom, duration);
  const Metrics m = measure(r, chain, duration);
  f[Figure::kRest] = rested ? milli * m.final_error : kNone;
  f[Figure::kHunt] = rested ? milli * m.final_motion : kNone;
  f[Figure::kChatter] = percent * torque_change(r, chain, 0, duration).rms;
  // The second half of the rest: the arm has settled.
  f[Figure::kRestChatter] =
      rested ? percent * torque_change(r, chain, (duration + end) / 2, end).rms : kNone;
  f[Figure::kTorqueStep] = percent * torque_change(r, chain, 0, end).max * 1e-3 / dt;
  f[Figure::kPath] = path ? milli * path_deviation(r) : kNone;
  f[Figure::kSettled] = r.ended ? kNone : settled(r, duration);
  return f;
}

}  // namespace ga_tools::score
