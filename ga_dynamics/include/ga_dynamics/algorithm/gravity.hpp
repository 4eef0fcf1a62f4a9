// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__GRAVITY_HPP_
#define GA_DYNAMICS__ALGORITHM__GRAVITY_HPP_

// The gravity vector G(q) from the first moments of the composite bodies (step 4 of GAH): τ_j =
// ẑ·(φ_j × (−g)), for a prismatic joint M_j ẑ·(−g). Equal to the inverse dynamics at rest, at a
// fraction of its cost. Real-time safe, no exception.

#include "ga_dynamics/algorithm/model.hpp"
#include "ga_dynamics/algorithm/workspace.hpp"

namespace ga_dynamics {
inline namespace GA_DYNAMICS_ISA {

/// G(q), N m (N for prismatic joints): what the motors must hold at rest.
template <class S>
void gravity(const Model<S>& model, Workspace<S>& work, const S* q, S* g) {
  const int n = model.n;
  if (n == 0) return;
  set_positions(model, q, work.positions);
  const JointPositions<S>& p = work.positions;
  // Up: −g into every frame (kept in phi).
  Vec3<S> up = spin_down(p.sine[0], p.cosine[0], model.base_acceleration);
  work.phi[0] = up;
  for (int i = 1; i < n; ++i) {
    const JointModel<S>& j = model.joint[i];
    with_twist(
        j.twist, [&](auto twist) __attribute__((always_inline)) {
          up = rotate_down<decltype(twist)::value>(j.angle, p.sine[i], p.cosine[i], up);
        });
    work.phi[i] = up;
  }
  // Down: first moments about O_i.
  Vec3<S> first = model.joint[n - 1].composite_first;
  for (int i = n - 1; i >= 0; --i) {
    const JointModel<S>& j = model.joint[i];
    const Vec3<S>& a = work.phi[i];
    g[i] = j.revolute ? first.x * a.y - first.y * a.x : j.composite_mass * a.z;
    if (i == 0) break;
    with_twist(
        j.twist, [&](auto twist) __attribute__((always_inline)) {
          Vec3<S> moved = spin_up(p.sine[i], p.cosine[i], first);
          if (!j.revolute) {
            moved.x = moved.x + j.composite_mass * j.lever_x;
            moved.z = moved.z + j.composite_mass * (j.lever_z + p.d[i]);
          }
          first =
              model.joint[i - 1].composite_first + twist_up<decltype(twist)::value>(j.angle, moved);
        });
  }
}

}  // namespace GA_DYNAMICS_ISA
}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__ALGORITHM__GRAVITY_HPP_
