// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ga_dynamics/algorithm/trig.hpp"
#include "worse.hpp"

namespace ga_dynamics {
namespace {

constexpr int kWidth = kLanes<double>;

/// Error of a result in units of the last place of the exact value.
double ulps(double value, long double exact) {
  const double rounded = static_cast<double>(exact);
  const double unit = std::nextafter(std::abs(rounded), INFINITY) - std::abs(rounded);
  return static_cast<double>(std::abs(static_cast<long double>(value) - exact)) / unit;
}

double worst_ulps(double range) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> angle(-range, range);
  double worst = 0;
  for (int k = 0; k < 200000; ++k) {
    double x[kWidth], s[kWidth], c[kWidth];
    for (double& v : x) v = angle(random);
    sin_cos<double>(load_lane(x), s, c);
    for (int l = 0; l < kWidth; ++l) {
      const long double exact = x[l];
      worst = test::worse(worst, ulps(s[l], std::sin(exact)));
      worst = test::worse(worst, ulps(c[l], std::cos(exact)));
    }
  }
  return worst;
}

TEST(SinCos, ErrorInUnitsOfTheLastPlace) {
  for (const double range : {1e-3, 1.0, 7.0, 100.0}) EXPECT_LT(worst_ulps(range), 1.6) << range;
  EXPECT_LT(worst_ulps(1e5), 2.5);
}

TEST(SinCos, ExactAtZeroAndNearRightAngles) {
  double x[kWidth] = {}, s[kWidth], c[kWidth];
  sin_cos<double>(load_lane(x), s, c);
  EXPECT_EQ(s[0], 0);
  EXPECT_EQ(c[0], 1);
  for (const double right : {M_PI_2, M_PI, 3 * M_PI_2, -M_PI_2, 1000 * M_PI_2}) {
    for (double& v : x) v = right;
    sin_cos<double>(load_lane(x), s, c);
    const long double exact = right;
    EXPECT_LT(ulps(s[kWidth - 1], std::sin(exact)), 2.5) << right;
    EXPECT_LT(ulps(c[kWidth - 1], std::cos(exact)), 2.5) << right;
  }
}

TEST(SinCos, LargeAndNonFiniteAnglesTakeTheLibrarysPath) {
  double x[kWidth] = {}, s[kWidth], c[kWidth];
  x[0] = 1e17;
  x[kWidth - 1] = -3e6;
  sin_cos<double>(load_lane(x), s, c);
  EXPECT_EQ(s[0], std::sin(1e17));
  EXPECT_EQ(c[kWidth - 1], std::cos(-3e6));
  x[0] = NAN;
  x[kWidth - 1] = INFINITY;
  sin_cos<double>(load_lane(x), s, c);
  EXPECT_TRUE(std::isnan(s[0]) && std::isnan(c[0]));
  EXPECT_TRUE(std::isnan(s[kWidth - 1]) && std::isnan(c[kWidth - 1]));
}

}  // namespace
}  // namespace ga_dynamics
