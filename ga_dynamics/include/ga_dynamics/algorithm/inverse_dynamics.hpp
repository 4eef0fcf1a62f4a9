// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__INVERSE_DYNAMICS_HPP_
#define GA_DYNAMICS__ALGORITHM__INVERSE_DYNAMICS_HPP_

// Inverse dynamics from the Gibbs–Appell equations in tensor form: V. Mata, S. Provenzano, F.
// Valero, J.I. Cuadrado, "Serial-robot dynamics algorithms for moderately large numbers of joints",
// Mechanism and Machine Theory 37 (2002), §2 and §4.1. Equation numbers are that paper's. Three
// changes, each with the same result in fewer operations:
//  * moments are taken about O_i instead of the center of mass: c̃ m(s̈ + Ωc) + t_G = (mc)~ s̈ + t_O,
//  where t_O is (10)
//    with Euler's tensor about O_i; so (9) needs no acceleration of the center of mass;
//  * s_i is split into its parts a along x_{i-1} and d along ẑ_i; the points of axis i move with
//  link i as well as with
//    link i-1, so s̈_i = {i}R_{i-1}(s̈_{i-1} + Ω_{i-1} a x̂) + Ω_i d ẑ;
//  * s̃ φ in (15) is formed between the two planar rotations, where s is [a, 0, d].
// The prismatic joint is our extension (the paper's (7e) is misprinted).
//
// All functions: real-time safe, no exception. Angles rad, lengths m, torques N m, forces N.

#include <type_traits>

#include "ga_dynamics/algorithm/model.hpp"
#include "ga_dynamics/algorithm/workspace.hpp"

namespace ga_dynamics {
inline namespace GA_DYNAMICS_ISA {

/// Angular-acceleration tensor Ω = ω̇~ + ω̃ω̃ (12): the acceleration of a point at r is s̈ + Ωr.
template <class S>
struct AccelerationTensor {
  S xx{}, yy{}, zz{}, xy{}, yx{}, xz{}, zx{}, yz{}, zy{};
};

template <class S>
GA_DYNAMICS_INLINE AccelerationTensor<S> acceleration_tensor(const Vec3<S>& w, const Vec3<S>& dw) {
  const S x2 = w.x * w.x, y2 = w.y * w.y, z2 = w.z * w.z;
  const S xy = w.x * w.y, xz = w.x * w.z, yz = w.y * w.z;
  return {-(y2 + z2), -(x2 + z2), -(x2 + y2), xy - dw.z, xy + dw.z,
          xz + dw.y,  xz - dw.y,  yz - dw.x,  yz + dw.x};
}
template <class S>
GA_DYNAMICS_INLINE Vec3<S> operator*(const AccelerationTensor<S>& o, const Vec3<S>& r) {
  return {o.xx * r.x + o.xy * r.y + o.xz * r.z, o.yx * r.x + o.yy * r.y + o.yz * r.z,
          o.zx * r.x + o.zy * r.y + o.zz * r.z};
}

/// The vector t of the skew tensor ΩJ − (ΩJ)ᵀ (10): Hω̇ + ω×Hω, 15 products and 15 sums.
template <class S>
GA_DYNAMICS_INLINE Vec3<S> inertial_moment(const AccelerationTensor<S>& o, const Sym3<S>& j) {
  return {o.zy * j.yy - o.yz * j.zz + (o.zz - o.yy) * j.yz + o.zx * j.xy - o.yx * j.xz,
          o.xz * j.zz - o.zx * j.xx + (o.xx - o.zz) * j.xz + o.xy * j.yz - o.zy * j.xy,
          o.yx * j.xx - o.xy * j.yy + (o.yy - o.xx) * j.xy + o.yz * j.xz - o.xz * j.yz};
}

/// Motion of frame i, in frame i.
template <class S>
struct FrameMotion {
  Vec3<S> w, dw;                ///< ω_i, ω̇_i
  AccelerationTensor<S> omega;  ///< Ω_i
  Vec3<S> dds;                  ///< s̈_i, gravity included as the base's acceleration
};

/// Ω x̂ and Ω ẑ. Where links are handled in lanes (lanes.hpp) the rest of Ω_i is formed there, and
/// recomputing these two columns with fused operations is cheaper than keeping all nine entries.
template <class S>
GA_DYNAMICS_INLINE Vec3<S> column_x(const FrameMotion<S>& m) {
  if constexpr (kLanes<S> == 1) return {m.omega.xx, m.omega.yx, m.omega.zx};
  return {-(m.w.y * m.w.y + m.w.z * m.w.z), m.w.x * m.w.y + m.dw.z, m.w.x * m.w.z - m.dw.y};
}
template <class S>
GA_DYNAMICS_INLINE Vec3<S> column_z(const FrameMotion<S>& m) {
  if constexpr (kLanes<S> == 1) return {m.omega.xz, m.omega.yz, m.omega.zz};
  return {m.w.x * m.w.z + m.dw.y, m.w.y * m.w.z - m.dw.x, -(m.w.x * m.w.x + m.w.y * m.w.y)};
}

/// Step 1: from link i-1 to link i. `ddq` is ignored (and costs nothing) when kAccelerated is
/// false.
template <Twist T, bool kRevolute, bool kAccelerated, class S>
GA_DYNAMICS_INLINE FrameMotion<S> next_motion(const JointModel<S>& j, const S& s, const S& c,
                                              const S& d, const FrameMotion<S>& last, const S& dq,
                                              const S& ddq) {
  FrameMotion<S> m;
  m.w = rotate_down<T>(j.angle, s, c, last.w);
  m.dw = rotate_down<T>(j.angle, s, c, last.dw);
  if constexpr (kRevolute) {
    m.dw.x = m.dw.x + m.w.y * dq;
    m.dw.y = m.dw.y - m.w.x * dq;
    if constexpr (kAccelerated) m.dw.z = m.dw.z + ddq;
    m.w.z = m.w.z + dq;
  }
  m.omega = acceleration_tensor(m.w, m.dw);
  const Vec3<S> moved = j.has_a ? last.dds + j.a * column_x(last) : last.dds;
  m.dds = rotate_down<T>(j.angle, s, c, moved);
  if (j.has_d) m.dds = m.dds + d * column_z(m);
  if constexpr (!kRevolute) {
    const S twice = dq + dq;
    m.dds.x = m.dds.x + m.w.y * twice;
    m.dds.y = m.dds.y - m.w.x * twice;
    if constexpr (kAccelerated) m.dds.z = m.dds.z + ddq;
  }
  return m;
}

/// Step 2: force of inertia of link i (9) and its moment about O_i.
template <class S>
GA_DYNAMICS_INLINE Wrench<S> inertial_wrench(const S& mass, const Vec3<S>& first,
                                             const Sym3<S>& euler,
                                             const AccelerationTensor<S>& omega,
                                             const Vec3<S>& dds) {
  return {mass * dds + omega * first, cross(first, dds) + inertial_moment(omega, euler)};
}

/// Step 3: the wrench on link i about O_i as link i-1 feels it about O_{i-1}: (15), (16).
template <Twist T, class S>
GA_DYNAMICS_INLINE Wrench<S> carry_to_parent(const JointModel<S>& j, const S& s, const S& c,
                                             const S& d, const Wrench<S>& w) {
  const Vec3<S> force = spin_up(s, c, w.force);
  Vec3<S> moment = spin_up(s, c, w.moment);
  if (j.has_a || j.has_d) {
    const S along_z = j.lever_z + d;
    moment.x = moment.x - along_z * force.y;
    moment.y = moment.y + (along_z * force.x - j.lever_x * force.z);
    moment.z = moment.z + j.lever_x * force.y;
  }
  return {twist_up<T>(j.angle, force), twist_up<T>(j.angle, moment)};
}

template <class S>
GA_DYNAMICS_INLINE Wrench<S> operator+(const Wrench<S>& a, const Wrench<S>& b) {
  return {a.force + b.force, a.moment + b.moment};
}

/// The generalized force of joint j (14).
template <class S>
GA_DYNAMICS_INLINE S joint_force(bool revolute, const Wrench<S>& w) {
  return revolute ? w.moment.z : w.force.z;
}

namespace detail {

template <class S>
GA_DYNAMICS_INLINE Wrench<S> link_wrench(const Workspace<S>& work, int i) {
  const auto& v = work.wrench[i / kLanes<S>].value;
  const int l = i % kLanes<S>;
  return {{v[0][l], v[1][l], v[2][l]}, {v[3][l], v[4][l], v[5][l]}};
}
template <class S>
GA_DYNAMICS_INLINE void set_link_wrench(Workspace<S>& work, int i, const Wrench<S>& w) {
  auto& v = work.wrench[i / kLanes<S>].value;
  const int l = i % kLanes<S>;
  v[0][l] = w.force.x, v[1][l] = w.force.y, v[2][l] = w.force.z;
  v[3][l] = w.moment.x, v[4][l] = w.moment.y, v[5][l] = w.moment.z;
}

template <bool kAccelerated, Twist T, class S>
GA_DYNAMICS_INLINE void forward_step(const Model<S>& model, Workspace<S>& work, int i, const S* qd,
                                     const S* qdd, FrameMotion<S>& motion) {
  const JointModel<S>& j = model.joint[i];
  const JointPositions<S>& p = work.positions;
  const S ddq = kAccelerated ? qdd[i] : S(0);
  if (j.revolute) {
    motion =
        next_motion<T, true, kAccelerated>(j, p.sine[i], p.cosine[i], p.d[i], motion, qd[i], ddq);
  } else {
    motion =
        next_motion<T, false, kAccelerated>(j, p.sine[i], p.cosine[i], p.d[i], motion, qd[i], ddq);
  }
  if constexpr (kLanes<S> == 1) {
    set_link_wrench(work, i, inertial_wrench(j.mass, j.first, j.euler, motion.omega, motion.dds));
  } else {
    auto& v = work.motion[i / kLanes<S>].value;
    const int l = i % kLanes<S>;
    v[0][l] = motion.w.x, v[1][l] = motion.w.y, v[2][l] = motion.w.z;
    v[3][l] = motion.dw.x, v[4][l] = motion.dw.y, v[5][l] = motion.dw.z;
    v[6][l] = motion.dds.x, v[7][l] = motion.dds.y, v[8][l] = motion.dds.z;
  }
}

template <bool kAccelerated, class S>
GA_DYNAMICS_INLINE void forward_step_any(const Model<S>& model, Workspace<S>& work, int i,
                                         const S* qd, const S* qdd, FrameMotion<S>& motion) {
  with_twist(
      model.joint[i].twist, [&](auto twist) __attribute__((always_inline)) {
        forward_step<kAccelerated, decltype(twist)::value>(model, work, i, qd, qdd, motion);
      });
}

/// Step 2 for a whole lane of links.
template <class S>
GA_DYNAMICS_INLINE void inertial_wrenches(const Model<S>& model, Workspace<S>& work) {
  using L = Lane<S>;
  for (int b = 0; b * kLanes<S> < model.n; ++b) {
    const auto& v = work.motion[b].value;
    const auto at = [&](int k) __attribute__((always_inline)) { return load_lane(v[k]); };
    const Vec3<L> w{at(0), at(1), at(2)}, dw{at(3), at(4), at(5)}, dds{at(6), at(7), at(8)};
    const LinkLane<L>& link = model.links[b];
    const Wrench<L> wrench =
        inertial_wrench(link.mass, link.first, link.euler, acceleration_tensor(w, dw), dds);
    auto& to = work.wrench[b].value;
    store_lane<S>(wrench.force.x, to[0]), store_lane<S>(wrench.force.y, to[1]),
        store_lane<S>(wrench.force.z, to[2]);
    store_lane<S>(wrench.moment.x, to[3]), store_lane<S>(wrench.moment.y, to[4]);
    store_lane<S>(wrench.moment.z, to[5]);
  }
}

template <class S>
GA_DYNAMICS_INLINE void subtract_external(const Model<S>& model, Workspace<S>& work,
                                          const Wrench<S>* external) {
  if (external == nullptr) return;
  for (int i = 0; i < model.n; ++i) {
    Wrench<S> w = link_wrench(work, i);
    w.force = w.force - external[i].force;
    w.moment = w.moment - external[i].moment;
    set_link_wrench(work, i, w);
  }
}

/// Step 3 for all joints.
template <class S>
GA_DYNAMICS_INLINE void backward(const Model<S>& model, Workspace<S>& work, S* tau) {
  const JointPositions<S>& p = work.positions;
  Wrench<S> carried = link_wrench(work, model.n - 1);
  for (int i = model.n - 1; i > 0; --i) {
    const JointModel<S>& j = model.joint[i];
    tau[i] = joint_force(j.revolute, carried);
    with_twist(
        j.twist, [&](auto twist) __attribute__((always_inline)) {
          carried =
              carry_to_parent<decltype(twist)::value>(j, p.sine[i], p.cosine[i], p.d[i], carried);
        });
    carried = link_wrench(work, i - 1) + carried;
  }
  tau[0] = joint_force(model.joint[0].revolute, carried);
}

template <bool kAccelerated, class S>
GA_DYNAMICS_INLINE void inverse_dynamics(const Model<S>& model, Workspace<S>& work, const S* qd,
                                         const S* qdd, S* tau, const Wrench<S>* external) {
  const int n = model.n;
  if (n == 0) return;
  // The first two links are written out so that the zeros of the resting base reach the compiler.
  FrameMotion<S> motion;
  motion.dds = model.base_acceleration;
  forward_step<kAccelerated, Twist::kZero>(model, work, 0, qd, qdd, motion);
  if (n > 1) forward_step_any<kAccelerated>(model, work, 1, qd, qdd, motion);
  for (int i = 2; i < n; ++i) forward_step_any<kAccelerated>(model, work, i, qd, qdd, motion);
  constexpr bool kInLanes = kLanes<S> != 1;
  if constexpr (kInLanes) inertial_wrenches(model, work);
  subtract_external(model, work, external);
  backward(model, work, tau);
}

}  // namespace detail

/// tau = D(q)qdd + C(q,qd) + G(q) − Jᵀ·external. All arrays hold n values; `external` (may be null)
/// holds n wrenches.
template <class S>
void inverse_dynamics(const Model<S>& model, Workspace<S>& work, const S* q, const S* qd,
                      const S* qdd, S* tau,
                      const Wrench<std::type_identity_t<S>>* external = nullptr) {
  set_positions(model, q, work.positions);
  detail::inverse_dynamics<true>(model, work, qd, qdd, tau, external);
}

/// h(q,qd) = C + G: the inverse dynamics without acceleration.
template <class S>
void bias(const Model<S>& model, Workspace<S>& work, const S* q, const S* qd, S* h,
          const Wrench<std::type_identity_t<S>>* external = nullptr) {
  set_positions(model, q, work.positions);
  detail::inverse_dynamics<false>(model, work, qd, static_cast<const S*>(nullptr), h, external);
}

}  // namespace GA_DYNAMICS_ISA
}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__ALGORITHM__INVERSE_DYNAMICS_HPP_
