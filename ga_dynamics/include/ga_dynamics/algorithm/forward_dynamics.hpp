// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__FORWARD_DYNAMICS_HPP_
#define GA_DYNAMICS__ALGORITHM__FORWARD_DYNAMICS_HPP_

// Forward dynamics D q̈ = τ − h(q,q̇) (Mata et al. 2002 (17), with the sign of G corrected): bias
// vector, inertia matrix, Cholesky. Real-time safe, no exception.

#include <limits>

#include "ga_dynamics/algorithm/cholesky.hpp"
#include "ga_dynamics/algorithm/finite.hpp"
#include "ga_dynamics/algorithm/inertia_matrix.hpp"
#include "ga_dynamics/algorithm/inverse_dynamics.hpp"

namespace ga_dynamics {
inline namespace GA_DYNAMICS_ISA {

/// Solves (D + diag(armature)) qdd = tau − h. `d` (n×n, lower half) is destroyed; `diagonal` keeps
/// its diagonal for positive_definite(). `armature` may be null.
template <class S>
GA_DYNAMICS_INLINE void solve_acceleration(int n, S* d, const S* armature, const S* tau, const S* h,
                                           S* diagonal, S* qdd) {
  for (int i = 0; i < n; ++i) {
    if (armature != nullptr) d[i * n + i] = d[i * n + i] + armature[i];
    diagonal[i] = d[i * n + i];
    qdd[i] = tau[i] - h[i];
  }
  cholesky_solve(n, d, qdd);
}

/// After solve_acceleration(): was D finite, and positive definite by more than rounding? Otherwise
/// the accelerations mean nothing: some joint moves no inertia, or a position is not finite.
template <class S>
GA_DYNAMICS_INLINE bool positive_definite(int n, const S* factor, const S* diagonal) {
  using Bits = detail::FloatBits<S>;
  const S rounding = static_cast<S>(n) * std::numeric_limits<S>::epsilon();
  typename Bits::Unsigned signs = 0;
  for (int i = 0; i < n; ++i) {
    // factor holds 1/d_i: the part of D_ii that is left after the earlier joints, inverted
    const S inverse = factor[i * n + i];
    signs |= Bits::of(inverse);
    if (!is_positive_below_one(inverse * diagonal[i] * rounding)) return false;
  }
  return (signs & Bits::kSign) == 0;
}

/// `armature` (may be null) holds n rotor inertias, added to the diagonal of D. The factorized D
/// stays in work.matrix, its diagonal in work.row.
template <class S>
void forward_dynamics(const Model<S>& model, Workspace<S>& work, const S* q, const S* qd,
                      const S* tau, S* qdd, const S* armature = nullptr,
                      const Wrench<std::type_identity_t<S>>* external = nullptr) {
  set_positions(model, q, work.positions);
  S* const h = work.vector.data();
  detail::inverse_dynamics<false>(model, work, qd, static_cast<const S*>(nullptr), h, external);
  detail::inertia_matrix<false>(model, work, work.matrix.data());
  solve_acceleration(model.n, work.matrix.data(), armature, tau, h, work.row.data(), qdd);
}

}  // namespace GA_DYNAMICS_ISA
}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__ALGORITHM__FORWARD_DYNAMICS_HPP_
