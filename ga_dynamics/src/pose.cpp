// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "dh_frames.hpp"
#include "ga_dynamics/urdf_model.hpp"

namespace ga_dynamics {

Pose compose(const Pose& outer, const Pose& inner) noexcept {
  return to_double(compose(to_long(outer), to_long(inner)));
}

Pose inverse(const Pose& pose) noexcept { return to_double(inverse(to_long(pose))); }

// After S. W. Shepperd, "Quaternion from rotation matrix", J. Guidance and Control 1(3), 1978: the
// largest component comes from the diagonal and is at least 1/2, so that nothing is divided by a
// small number.
std::array<double, 4> quaternion_of(const Matrix3& r) noexcept {
  const double trace = r[0] + r[4] + r[8];
  std::array<double, 4> q{};
  if (trace >= std::max({r[0], r[4], r[8]})) {
    q = {r[7] - r[5], r[2] - r[6], r[3] - r[1], 1 + trace};
  } else if (r[0] >= r[4] && r[0] >= r[8]) {
    q = {1 + 2 * r[0] - trace, r[1] + r[3], r[2] + r[6], r[7] - r[5]};
  } else if (r[4] >= r[8]) {
    q = {r[1] + r[3], 1 + 2 * r[4] - trace, r[5] + r[7], r[2] - r[6]};
  } else {
    q = {r[2] + r[6], r[5] + r[7], 1 + 2 * r[8] - trace, r[3] - r[1]};
  }
  const double norm = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  const double scale = q[3] < 0 ? -1 / norm : 1 / norm;
  for (double& component : q) component *= scale;
  return q;
}

Vector3 rotation_vector(const Matrix3& rotation) noexcept {
  const auto [x, y, z, w] = quaternion_of(rotation);
  const double sine = std::hypot(x, y, z);  // of half the angle
  const double scale = sine > 0 ? 2 * std::atan2(sine, w) / sine : 0;
  return {scale * x, scale * y, scale * z};
}

Matrix3 rotation_zyz(double z1, double y, double z2) noexcept {
  const double c1 = std::cos(z1), s1 = std::sin(z1), c2 = std::cos(y), s2 = std::sin(y);
  const double c3 = std::cos(z2), s3 = std::sin(z2);
  return {c1 * c2 * c3 - s1 * s3,
          -c1 * c2 * s3 - s1 * c3,
          c1 * s2,
          s1 * c2 * c3 + c1 * s3,
          -s1 * c2 * s3 + c1 * c3,
          s1 * s2,
          -s2 * c3,
          s2 * s3,
          c2};
}

}  // namespace ga_dynamics
