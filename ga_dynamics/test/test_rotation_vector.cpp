// SPDX-License-Identifier: Apache-2.0

// The logarithm of a rotation against rotations that Orocos KDL makes from axis and angle.

#include <gtest/gtest.h>

#include <cmath>
#include <kdl/frames.hpp>
#include <numbers>

#include "ga_dynamics/urdf_model.hpp"

namespace ga_dynamics {
namespace {

constexpr double kPi = std::numbers::pi;

const KDL::Vector kAxes[] = {{1, 0, 0},  {0, 1, 0},  {0, 0, 1},       {-1, 0, 0},    {0, -1, 0},
                             {0, 0, -1}, {1, 1, 0},  {1, 0, -1},      {0, -1, 1},    {1, 1, 1},
                             {-1, 2, 3}, {5, -1, 2}, {0.01, 1, -0.3}, {-3, -2, -0.1}};

Matrix3 rotation(const KDL::Vector& unit, double angle) {
  // Rot2 takes sine and cosine of the angle from the C library: exact to rounding at all angles.
  const KDL::Rotation r = KDL::Rotation::Rot2(unit, angle);
  Matrix3 to;
  std::copy(std::begin(r.data), std::end(r.data), to.begin());
  return to;
}

TEST(RotationVector, IsAxisTimesAngle) {
  for (KDL::Vector axis : kAxes) {
    axis.Normalize();
    for (const double angle : {0.0, 1e-15, 1e-9, 1e-5, 0.1, kPi / 4, kPi / 2, 2.0, 3 * kPi / 4, 3.0,
                               kPi - 1e-3, kPi - 1e-6, kPi - 1e-9, kPi - 1e-12}) {
      const Vector3 v = rotation_vector(rotation(axis, angle));
      for (int i = 0; i < 3; ++i) {
        // R holds angles to 1e-16 absolutely, and from its antisymmetric part to 1e-16 relatively.
        EXPECT_NEAR(v[static_cast<std::size_t>(i)], axis(i) * angle, 4e-15 * std::min(angle, 1.0))
            << "angle " << angle;
      }
    }
  }
}

TEST(RotationVector, OfHalfATurnHasTheLengthOfPi) {
  for (KDL::Vector axis : kAxes) {
    axis.Normalize();
    // Half a turn exactly: 2 u uᵀ − 1, a symmetric matrix.
    Matrix3 r;
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 3; ++k) {
        r[static_cast<std::size_t>(3 * i + k)] = 2 * axis(i) * axis(k) - (i == k ? 1 : 0);
      }
    }
    const Vector3 v = rotation_vector(r);
    const double sign = v[0] * axis(0) + v[1] * axis(1) + v[2] * axis(2) > 0 ? 1 : -1;
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(v[static_cast<std::size_t>(i)], sign * kPi * axis(i), 1e-14);
    }
  }
}

}  // namespace
}  // namespace ga_dynamics
