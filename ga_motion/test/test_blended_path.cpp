// SPDX-License-Identifier: Apache-2.0

// Paths with rounded corners, as sampling planners need them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "ga_motion/time_parameterization.hpp"
#include "refusal.hpp"

namespace ga_motion {
namespace {

using ga_dynamics::test::refusal;
using Points = std::vector<std::vector<double>>;

/// Largest distance of a joint from the polyline; the nearest point of it in the plain distance.
double distance_from(const Points& points, const std::vector<double>& q) {
  double least = std::numeric_limits<double>::infinity(), largest_joint = 0;
  for (std::size_t k = 1; k < points.size(); ++k) {
    double along = 0, squared = 0;
    for (std::size_t i = 0; i < q.size(); ++i) {
      const double side = points[k][i] - points[k - 1][i];
      along += (q[i] - points[k - 1][i]) * side, squared += side * side;
    }
    const double share = std::clamp(along / squared, 0.0, 1.0);
    double distance = 0, joint = 0;
    for (std::size_t i = 0; i < q.size(); ++i) {
      const double off = q[i] - points[k - 1][i] - share * (points[k][i] - points[k - 1][i]);
      distance = std::hypot(distance, off), joint = std::max(joint, std::abs(off));
    }
    if (distance < least) least = distance, largest_joint = joint;
  }
  return largest_joint;
}

struct Sample {
  std::vector<double> q, dq, ddq;
};

Sample sample(const Path& path, double s) {
  const auto n = static_cast<std::size_t>(path.size());
  Sample result{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
  path.sample(s, result.q, result.dq, result.ddq);
  return result;
}

double largest_deviation(const Path& path, const Points& points) {
  double largest = 0;
  for (int k = 0; k <= 1000; ++k) {
    largest = std::max(largest, distance_from(points, sample(path, path.length() * k / 1000).q));
  }
  return largest;
}

/// Way-points as a sampling planner gives them: straight lines in random directions, with points at
/// most `spacing` apart.
Points random_polyline(std::mt19937& engine, double spacing) {
  std::uniform_real_distribution<double> angle(-1.5, 1.5);
  Points corners(6, std::vector<double>(6));
  for (auto& corner : corners) {
    for (double& q : corner) q = angle(engine);
  }
  Points points{corners[0]};
  for (std::size_t k = 1; k < corners.size(); ++k) {
    double length = 0;
    for (std::size_t i = 0; i < 6; ++i)
      length = std::hypot(length, corners[k][i] - corners[k - 1][i]);
    const double pieces = std::ceil(length / spacing);
    for (double piece = 1; piece <= pieces; ++piece) {
      points.push_back(corners[k]);
      for (std::size_t i = 0; i < 6; ++i)
        points.back()[i] = corners[k - 1][i] + piece / pieces * (corners[k][i] - corners[k - 1][i]);
    }
  }
  return points;
}

TEST(BlendedPath, StaysWithinTheToleranceAndEndsExactly) {
  std::mt19937 engine(7);
  for (const double spacing : {0.05, 10.0}) {
    for (const double tolerance : {0.1, 0.02}) {
      for (int k = 0; k < 3; ++k) {
        const Points points = random_polyline(engine, spacing);
        const auto path = make_blended_path(points, tolerance);
        const double deviation = largest_deviation(*path, points);
        EXPECT_LE(deviation, tolerance);
        EXPECT_GT(deviation, 0.2 * tolerance);  // makes use of it
        EXPECT_EQ(sample(*path, 0).q, points.front());
        EXPECT_EQ(sample(*path, path->length()).q, points.back());
      }
    }
  }
}

TEST(BlendedPath, NowhereLeavesTheRangeOfThePoints) {
  const Points points{{0, 0}, {1, 1}, {2, 0}, {2.5, 1}};
  const auto path = make_blended_path(points, 0.3);
  for (int k = 0; k <= 1000; ++k) {
    const Sample at = sample(*path, path->length() * k / 1000);
    EXPECT_GE(at.q[1], -1e-15);
    EXPECT_LE(at.q[1], 1 + 1e-15);
  }
}

TEST(BlendedPath, IsAStraightLineBetweenTwoPoints) {
  const Points points{{0.1, -2}, {0.7, 1}};
  const auto path = make_blended_path(points, 0.1);
  EXPECT_LT(largest_deviation(*path, points), 1e-14);
}

TEST(BlendedPath, LeavesOutWhatASplineWouldOscillateThrough) {
  // Noise of 0.01 rad around a straight line.
  std::mt19937 engine(3);
  std::uniform_real_distribution<double> noise(-0.01, 0.01);
  Points points;
  for (int k = 0; k <= 50; ++k) points.push_back({0.02 * k + noise(engine), noise(engine)});
  const auto path = make_blended_path(points, 0.1);
  for (int k = 0; k <= 500; ++k) {
    const Sample at = sample(*path, path->length() * k / 500);
    EXPECT_LT(std::abs(at.dq[1]), 0.05 * at.dq[0]);
  }
}

TEST(BlendedPath, IsNearerToSparsePointsThanASpline) {
  std::mt19937 engine(11);
  const Points points = random_polyline(engine, 10);
  EXPECT_GT(largest_deviation(*make_spline_path(points), points), 0.3);
  EXPECT_LT(largest_deviation(*make_blended_path(points, 0.1), points), 0.1);
}

TEST(BlendedPath, IsFasterThanASplineThroughDenseNoisyPoints) {
  const auto chain = ga_dynamics::Chain::from_urdf_file(PUMA_URDF);
  TimingLimits limits = limits_of(chain);
  limits.lower.assign(6, -10), limits.upper.assign(6, 10);
  PathTimer timer(chain, limits);
  std::mt19937 engine(11);
  Points points = random_polyline(engine, 0.05);
  std::uniform_real_distribution<double> noise(-0.003, 0.003);
  for (auto& point : points) {
    for (double& q : point) q += noise(engine);
  }
  const double spline = timer.time(make_spline_path(points)).trajectory->duration();
  const double blended = timer.time(make_blended_path(points, 0.1)).trajectory->duration();
  EXPECT_LT(blended, 0.8 * spline);
}

TEST(BlendedPath, CanReturnOnItsOwnTrack) {
  const auto chain = ga_dynamics::Chain::from_urdf_file(PUMA_URDF);
  const std::vector<double> start{0, -1, 1.5, 0, 0.5, 0}, corner{0.5, -0.8, 1.2, 0, 0.2, 0};
  const auto path = make_blended_path(Points{start, corner, start}, 0.05);
  PathTimer timer(chain, limits_of(chain));
  const Timing timing = timer.time(path);
  EXPECT_TRUE(limit_use(chain, limits_of(chain), *timing.trajectory).within(0.01));
}

TEST(BlendedPath, RefusesWhatIsNoPath) {
  const Points points{{0, 0}, {1, 1}};
  EXPECT_EQ(refusal([&] { make_blended_path(points, 0); }),
            "make_blended_path: tolerance is 0; give a number above zero");
  EXPECT_EQ(refusal([&] { make_blended_path(points, 1e-9); }).substr(0, 31),
            "make_blended_path: the path is ");
  EXPECT_NE(refusal([&] { make_blended_path(Points{{0, 0}}, 0.1); }), "accepted");
  EXPECT_NE(refusal([&] { make_blended_path(Points{{0, 0}, {0, NAN}}, 0.1); }), "accepted");
}

}  // namespace
}  // namespace ga_motion
