// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__REGRESSOR_HPP_
#define GA_DYNAMICS__ALGORITHM__REGRESSOR_HPP_

// Regressor of the inverse dynamics: the joint torques are linear in the inertia parameters of the
// bodies, tau = Y(q,qd,qdd) p. The columns of one body are the torques of its ten unit parameters,
// by the same three steps as the inverse dynamics (inverse_dynamics.hpp).
//
// Order of the parameters: m, m c (x, y, z), and the inertia tensor about O_i (xx, xy, xz, yy, yz,
// zz), in frame i. Real-time safe, no exception.

#include "ga_dynamics/algorithm/inverse_dynamics.hpp"

namespace ga_dynamics {
inline namespace GA_DYNAMICS_ISA {

constexpr int kBodyParameters = 10;

/// The wrenches of inertia of the ten unit parameters of a body that moves like this.
template <class S>
GA_DYNAMICS_INLINE void unit_wrenches(const FrameMotion<S>& motion, Wrench<S>* wrenches) {
  const AccelerationTensor<S> o = acceleration_tensor(motion.w, motion.dw);
  const S one(1);
  const Vec3<S> axes[] = {{one, S(0), S(0)}, {S(0), one, S(0)}, {S(0), S(0), one}};
  wrenches[0] = {motion.dds, {}};
  for (int k = 0; k < 3; ++k) wrenches[1 + k] = {o * axes[k], cross(axes[k], motion.dds)};
  Sym3<S> tensor;
  S* const entries[] = {&tensor.xx, &tensor.xy, &tensor.xz, &tensor.yy, &tensor.yz, &tensor.zz};
  for (int k = 0; k < 6; ++k) {
    *entries[k] = one;
    wrenches[4 + k] = {{}, inertial_moment(o, euler_tensor(tensor))};
    *entries[k] = S(0);
  }
}

/// The ten columns of body `body` (0 … n−1): n·10 values row by row. Rows behind the body are zero.
template <class S>
void body_regressor(const Model<S>& model, JointPositions<S>& positions, const S* q, const S* qd,
                    const S* qdd, int body, S* y) {
  set_positions(model, q, positions);
  FrameMotion<S> motion;
  motion.dds = model.base_acceleration;
  for (int i = 0; i <= body; ++i) {
    const JointModel<S>& j = model.joint[i];
    with_twist(j.twist, [&](auto twist) {
      constexpr Twist kTwist = decltype(twist)::value;
      motion = j.revolute
                   ? next_motion<kTwist, true, true>(j, positions.sine[i], positions.cosine[i],
                                                     positions.d[i], motion, qd[i], qdd[i])
                   : next_motion<kTwist, false, true>(j, positions.sine[i], positions.cosine[i],
                                                      positions.d[i], motion, qd[i], qdd[i]);
    });
  }
  Wrench<S> wrenches[kBodyParameters];
  unit_wrenches(motion, wrenches);
  for (int i = model.n - 1; i > body; --i) {
    for (int k = 0; k < kBodyParameters; ++k) y[i * kBodyParameters + k] = S(0);
  }
  for (int i = body; i >= 0; --i) {
    const JointModel<S>& j = model.joint[i];
    for (int k = 0; k < kBodyParameters; ++k) {
      y[i * kBodyParameters + k] = joint_force(j.revolute, wrenches[k]);
    }
    if (i == 0) return;
    with_twist(j.twist, [&](auto twist) {
      for (Wrench<S>& w : wrenches) {
        w = carry_to_parent<decltype(twist)::value>(j, positions.sine[i], positions.cosine[i],
                                                    positions.d[i], w);
      }
    });
  }
}

}  // namespace GA_DYNAMICS_ISA
}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__ALGORITHM__REGRESSOR_HPP_
