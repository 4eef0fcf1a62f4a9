// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__FORWARD_DYNAMICS_HPP_
#define GA_DYNAMICS__FORWARD_DYNAMICS_HPP_

// Forward dynamics D q̈ = τ − h(q,q̇) (Mata et al. 2002 (17), with the sign of G corrected): bias
// vector, inertia matrix, Cholesky. Real-time safe, no exception.

#include "ga_dynamics/cholesky.hpp"
#include "ga_dynamics/inertia_matrix.hpp"
#include "ga_dynamics/inverse_dynamics.hpp"

namespace ga_dynamics {
inline namespace GA_DYNAMICS_ISA {

/// `armature` (may be null) holds n rotor inertias, added to the diagonal of D.
template <class S>
void forward_dynamics(const Model<S>& model, Workspace<S>& work, const S* q, const S* qd,
                      const S* tau, S* qdd, const S* armature = nullptr,
                      const Wrench<std::type_identity_t<S>>* external = nullptr) {
  const int n = model.n;
  set_positions(model, q, work.positions);
  S* const h = work.vector.data();
  detail::inverse_dynamics<false>(model, work, qd, static_cast<const S*>(nullptr), h, external);
  S* const d = work.matrix.data();
  detail::inertia_matrix<false>(model, work, d);
  if (armature != nullptr) {
    for (int i = 0; i < n; ++i) d[i * n + i] = d[i * n + i] + armature[i];
  }
  for (int i = 0; i < n; ++i) qdd[i] = tau[i] - h[i];
  cholesky_solve(n, d, qdd);
}

}  // namespace GA_DYNAMICS_ISA
}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__FORWARD_DYNAMICS_HPP_
