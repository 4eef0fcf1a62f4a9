// SPDX-License-Identifier: Apache-2.0

// Decay of the offset between the followed and the input reference: its stability proof, and every
// start on a grid.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "blending.hpp"

namespace ga_controllers {
namespace {

using Matrix = std::array<std::array<double, 3>, 3>;
using State = Blending::State;

constexpr double kDt = 1e-3;

Matrix shape() {
  const double* p = Blending::kShape;
  return {{{p[0], p[1], p[2]}, {p[1], p[3], p[4]}, {p[2], p[4], p[5]}}};
}

bool positive_definite(const Matrix& m) {
  const double two = m[0][0] * m[1][1] - m[0][1] * m[1][0];
  const double three = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                       m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                       m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
  return m[0][0] > 0 && two > 0 && three > 0;
}

/// −(P A + A'P) with w''' = −gain w − 3 w' − 3 w''.
Matrix decrease(double gain) {
  const Matrix p = shape(), a{{{0, 1, 0}, {0, 0, 1}, {-gain, -3, -3}}};
  Matrix q{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 3; ++k) q[i][j] -= p[i][k] * a[k][j] + a[k][i] * p[k][j];
    }
  }
  return q;
}

/// P H + H P with H = diag(3, 2, 1).
Matrix growth() {
  Matrix p = shape();
  const double h[] = {3, 2, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) p[i][j] *= h[i] + h[j];
  }
  return p;
}

TEST(Blending, ItsShapeIsALyapunovFunction) {
  EXPECT_TRUE(positive_definite(shape()));
  EXPECT_TRUE(positive_definite(growth())) << "a faster pole must not fit where a slower does not";
  // Linear in the gain: the ends of its range are enough.
  for (const double gain : {2.0 / 3, 1.0}) EXPECT_TRUE(positive_definite(decrease(gain)));
  EXPECT_FALSE(positive_definite(decrease(4))) << "the check can fail";
  // Within the ellipsoid the offset is at most 3/2 of the saturation level: the gain is at least
  // 2/3.
  const Matrix p = shape();
  const double minor = p[1][1] * p[2][2] - p[1][2] * p[1][2];
  const double determinant = p[0][0] * minor - p[0][1] * (p[0][1] * p[2][2] - p[1][2] * p[0][2]) +
                             p[0][2] * (p[0][1] * p[1][2] - p[1][1] * p[0][2]);
  EXPECT_LT(std::sqrt(minor / determinant), 1.5);
}

/// A PUMA's shoulder, a wrist joint, and a joint that is weak for its velocity.
constexpr Blending::Bounds kJoints[] = {
    {75, 1.92, 1.92, 1.92}, {600, 5.3, 5.3, 5.3}, {4000, 2.2, 0.3, 4.1}};

TEST(Blending, EveryOffsetDecaysWithoutAKick) {
  for (const Blending::Bounds& bounds : kJoints) {
    const double v = bounds.velocity, a = std::sqrt(2 * bounds.jerk * v);
    for (const double fastest : {7.5, 40.0}) {
      for (const double w : {-3.0, -1.0, -0.1, -1e-3, 0.0, 1e-5, 1e-2, 0.3, 2.0}) {
        for (const double rate : {-2 * v, -v / 3, -v / 100, 0.0, v / 30, v, 2 * v}) {
          for (const double bend : {-a, -a / 10, 0.0, a / 100, a / 2, a}) {
            Blending blending;
            blending.begin({w, rate, bend}, fastest);
            double pole = 0, jerk = 0;
            int k = 0;
            const auto rests = [&] {
              const State& left = blending.offset();
              return std::abs(left.q) + std::abs(left.qd) < 1e-7;
            };
            for (; k < 20000 && !rests(); ++k) {
              const double before = blending.offset().qdd, r = blending.pole(bounds);
              if (bounds.up == v) {
                EXPECT_GE(r, pole * (1 - 1e-3)) << "it slows down";
              }
              pole = r;
              blending.advance(kDt, bounds);
              jerk = std::max(jerk, std::abs(blending.offset().qdd - before) / kDt);
            }
            // Position at the reversal; from there it returns at the available velocity.
            const double slowest = std::min(std::sqrt(bounds.jerk / (3 * v)), fastest);
            const double way = std::abs(w) + (std::abs(rate) + std::abs(bend) / slowest) / slowest;
            const double seconds = way / bounds.up + 5 / slowest + 20 / fastest;
            EXPECT_LT(k * kDt, seconds) << w << ", " << rate << ", " << bend;
            const double saturated = bounds.jerk * std::max(bounds.up, bounds.down) / v;
            const double most =
                std::max(1.6 * bounds.jerk,
                         saturated + 3 * slowest * (slowest * std::abs(rate) + std::abs(bend)));
            EXPECT_LT(jerk, 1.3 * most) << w << ", " << rate << ", " << bend;
          }
        }
      }
    }
  }
}

TEST(Blending, AnOffsetAtRestDecaysWithoutOvershoot) {
  for (const Blending::Bounds& bounds : kJoints) {
    for (const double w : {1e-3, 0.03, 0.5, 3.0}) {
      Blending blending;
      blending.begin({w, 0, 0}, 40);
      double least = w, fastest = 0;
      for (int k = 0; k < 15000; ++k) {
        blending.advance(kDt, bounds);
        least = std::min(least, blending.offset().q);
        fastest = std::max(fastest, std::abs(blending.offset().qd));
      }
      EXPECT_GT(least, -0.01 * w);
      EXPECT_LT(fastest, 1.02 * bounds.down);
      EXPECT_LT(std::abs(blending.offset().q), 1e-9);
    }
  }
}

}  // namespace
}  // namespace ga_controllers
