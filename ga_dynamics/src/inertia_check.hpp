// SPDX-License-Identifier: Apache-2.0
#ifndef INERTIA_CHECK_HPP_
#define INERTIA_CHECK_HPP_

// What a rigid body's inertia tensor can be.

#include <string>

#include "ga_dynamics/urdf_model.hpp"

namespace ga_dynamics {

/// Eigenvalues of a symmetric tensor, ascending.
Vector3 principal_moments(const Matrix3& inertia);

/// True if neither inertia_flaw() nor triangle_flaw() finds one. Real-time safe.
bool is_inertia(const Matrix3& inertia) noexcept;

/// Empty, or what makes the tensor impossible, with the remedy: `inertia is not positive definite
/// (…); …`.
std::string inertia_flaw(const Matrix3& inertia);

/// Empty, or how the tensor breaks the triangle inequality, with the remedy. Measured tensors often
/// do, a little.
std::string triangle_flaw(const Matrix3& inertia);

}  // namespace ga_dynamics

#endif  // INERTIA_CHECK_HPP_
