// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__POSE_HPP_
#define GA_DYNAMICS__POSE_HPP_

// Positions and orientations. Units: m, rad. Everything is real-time safe and does not throw.

#include <array>

namespace ga_dynamics {

using Vector3 = std::array<double, 3>;
using Matrix3 = std::array<double, 9>;  // row-major

/// Takes coordinates in the child's frame to the parent's: p_parent = rotation p_child +
/// translation.
struct Pose {
  Matrix3 rotation{1, 0, 0, 0, 1, 0, 0, 0, 1};
  Vector3 translation{0, 0, 0};
};

Pose compose(const Pose& outer, const Pose& inner) noexcept;
Pose inverse(const Pose& pose) noexcept;

/// Unit quaternion x, y, z, w with w >= 0 of a rotation matrix.
std::array<double, 4> quaternion_of(const Matrix3& rotation) noexcept;
/// Logarithm of a rotation: its axis times its angle, 0 to pi rad. At pi the axis has either sign.
Vector3 rotation_vector(const Matrix3& rotation) noexcept;
/// Rotation by Euler angles z, y', z'' [rad], as the papers give orientations.
Matrix3 rotation_zyz(double z1, double y, double z2) noexcept;

}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__POSE_HPP_
