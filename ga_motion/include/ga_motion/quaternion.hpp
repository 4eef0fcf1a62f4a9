// SPDX-License-Identifier: Apache-2.0
#ifndef GA_MOTION__QUATERNION_HPP_
#define GA_MOTION__QUATERNION_HPP_

#include <algorithm>
#include <array>
#include <cmath>

#include "ga_dynamics/urdf_model.hpp"

namespace ga_motion {

using ga_dynamics::Matrix3;
using ga_dynamics::Vector3;

/// Unit quaternion x, y, z, w with w >= 0 of a rotation matrix. After S. W. Shepperd, "Quaternion
/// from rotation matrix", J. Guidance and Control 1(3), 1978: the largest component comes from the
/// diagonal and is at least 1/2, so that nothing is divided by a small number.
inline std::array<double, 4> quaternion_of(const Matrix3& r) {
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

/// Logarithm of a rotation: its axis times its angle, 0 to pi rad. At pi the axis has either sign.
inline Vector3 rotation_vector(const Matrix3& r) {
  const auto [x, y, z, w] = quaternion_of(r);
  const double sine = std::hypot(x, y, z);  // of half the angle
  const double scale = sine > 0 ? 2 * std::atan2(sine, w) / sine : 0;
  return {scale * x, scale * y, scale * z};
}

}  // namespace ga_motion

#endif  // GA_MOTION__QUATERNION_HPP_
