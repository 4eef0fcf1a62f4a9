// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__INVERSE_DYNAMICS_VECTOR_HPP_
#define GA_DYNAMICS__ALGORITHM__INVERSE_DYNAMICS_VECTOR_HPP_

// Inverse dynamics from the Gibbs–Appell equations in vector form: V. Mata, A. Valera et al.,
// real-time control of a PUMA with the Gibbs–Appell equations, §2. Equation numbers are that
// paper's, many of its displays being lost and rebuilt. A_j and B_j (8) are carried as one moment:
// the paper's operation count is only reached that way. Real-time safe, no exception.

#include "ga_dynamics/algorithm/inverse_dynamics.hpp"

namespace ga_dynamics {
inline namespace GA_DYNAMICS_ISA {

namespace detail {

template <Twist T, class S>
GA_DYNAMICS_INLINE void vector_step(const Model<S>& model, Workspace<S>& work, int i, const S* qd,
                                    const S* qdd, Vec3<S>& w, Vec3<S>& dw, Vec3<S>& dds) {
  const JointModel<S>& j = model.joint[i];
  const S& s = work.positions.sine[i];
  const S& c = work.positions.cosine[i];
  const Vec3<S> r = offset(j, work.positions.d[i]);
  dds = rotate_down<T>(j.angle, s, c, dds + cross(dw, r) + cross(w, cross(w, r)));  // (11)
  w = rotate_down<T>(j.angle, s, c, w);
  dw = rotate_down<T>(j.angle, s, c, dw);
  if (j.revolute) {
    dw = dw + Vec3<S>{w.y * qd[i], -(w.x * qd[i]), qdd[i]};  // (10)
    w.z = w.z + qd[i];                                       // (9)
  } else {
    const S twice = qd[i] + qd[i];
    dds = dds + Vec3<S>{w.y * twice, -(w.x * twice), qdd[i]};  // (11), ρ = 0
  }
  const Vec3<S> ddg = dds + cross(dw, j.com) + cross(w, cross(w, j.com));  // (12)
  const Vec3<S> force = j.mass * ddg;                                      // (23)
  const Vec3<S> spin = j.central * dw + cross(w, j.central * w);           // a_i of (13)
  set_link_wrench(work, i, Wrench<S>{force, cross(j.com, force) + spin});  // (25)
}

}  // namespace detail

/// As inverse_dynamics(), by another route.
template <class S>
void inverse_dynamics_vector(const Model<S>& model, Workspace<S>& work, const S* q, const S* qd,
                             const S* qdd, S* tau,
                             const Wrench<std::type_identity_t<S>>* external = nullptr) {
  const int n = model.n;
  if (n == 0) return;
  set_positions(model, q, work.positions);
  Vec3<S> w, dw, dds = model.base_acceleration;
  for (int i = 0; i < n; ++i) {
    with_twist(model.joint[i].twist, [&](auto twist) {
      detail::vector_step<decltype(twist)::value>(model, work, i, qd, qdd, w, dw, dds);
    });
  }
  detail::subtract_external(model, work, external);
  detail::backward(model, work, tau);  // (15)–(17), (24)–(26): α and γ together
}

}  // namespace GA_DYNAMICS_ISA
}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__ALGORITHM__INVERSE_DYNAMICS_VECTOR_HPP_
