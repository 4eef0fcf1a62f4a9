// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__INVERSE_DYNAMICS_MLC_HPP_
#define GA_DYNAMICS__ALGORITHM__INVERSE_DYNAMICS_MLC_HPP_

// Inverse dynamics in minimal linear combinations of the inertia parameters: Lin 1995 §III,
// equations (57)–(93). Only the minimal parameters of Theorem 2 enter. The tensor part Ψ·vec(D) is
// computed with Euler's tensor of D, as in inverse_dynamics.hpp: 15 products instead of 18.
// Real-time safe, no exception.

#include "ga_dynamics/algorithm/inverse_dynamics.hpp"
#include "ga_dynamics/minimal_parameters.hpp"

namespace ga_dynamics {
inline namespace GA_DYNAMICS_ISA {

template <class S>
struct MinimalJoint {
  MlcRegion region = MlcRegion::kSpatial;
  bool delta = true;
  int owner = -1;
  Vec3<S> axis_r;  ///< u_r in frame i (planar region)
  S epsilon{};
  S mass{};   ///< m̂, prismatic only
  Vec3<S> k;  ///< revolute: k_x, k_y, 0; prismatic: all of k
  S kappa1{}, kappa2{};
  Sym3<S> euler;  ///< Euler's tensor of Ū (revolute, spatial) or of W (prismatic, spatial)
  S d33{};        ///< U_33 + G_33 (revolute, planar)
};

template <class S>
struct MinimalModel {
  Buffer<MinimalJoint<S>> joint;
};

/// From one entry per joint of the model. Real-time safe.
template <class S>
void set_minimal_model(const std::vector<MlcJoint>& from_joints, MinimalModel<S>& model) {
  const int n = static_cast<int>(from_joints.size());
  const MlcJoint* joints = from_joints.data();
  for (int i = 0; i < n; ++i) {
    const MlcJoint& from = joints[i];
    MinimalJoint<S>& to = model.joint[i];
    to.region = from.region;
    to.delta = from.delta;
    to.owner = from.owner;
    to.axis_r = to_vec3<S>(from.axis_r);
    to.epsilon = S(from.epsilon);
    if (from.revolute) {
      to.k = {S(from.k[0]), S(from.k[1]), S(0)};
      to.euler = euler_tensor(to_sym3<S>(from.u_bar));
      to.d33 = S(from.u[8] + from.g33);
    } else {
      to.mass = S(from.mass);
      if (from.region == MlcRegion::kSpatial) {
        to.k = to_vec3<S>(from.k);
        to.euler = euler_tensor(to_sym3<S>(from.w));
      }
      to.kappa1 = S(from.kappa1), to.kappa2 = S(from.kappa2);
    }
  }
}

/// Allocates; not for the control path.
template <class S>
MinimalModel<S> make_minimal_model(const std::vector<MlcJoint>& joints) {
  MinimalModel<S> model;
  model.joint = Buffer<MinimalJoint<S>>(joints.size());
  set_minimal_model(joints, model);
  return model;
}
template <class S>
MinimalModel<S> make_minimal_model(const MinimalParameters& parameters) {
  return make_minimal_model<S>(parameters.joints());
}

/// What the backward pass needs of link i.
template <class S>
struct MinimalScratchLink {
  FrameMotion<S> motion;
  Vec3<S> a_fixed;    ///< prismatic: a'_i (70), the acceleration without the sliding part
  Vec3<S> p_bar;      ///< prismatic: p̄_i (71)
  Vec3<S> v;          ///< prismatic: ẑq̈ + 2ω×ẑq̇
  S rate{}, drate{};  ///< planar: w_i, ẇ_i (80), (81)
  Sym3<S> euler;      ///< Euler's tensor of D_i (91)
  S d33{};            ///< (D_i)_33 (93)
};

template <class S>
struct MinimalWorkspace {
  explicit MinimalWorkspace(const Model<S>& model)
      : positions(model), link(static_cast<std::size_t>(model.n)) {}
  JointPositions<S> positions;
  Buffer<MinimalScratchLink<S>> link;
};

namespace detail {

template <Twist T, class S>
GA_DYNAMICS_INLINE void minimal_forward(const Model<S>& model, const MinimalModel<S>& minimal,
                                        MinimalWorkspace<S>& work, int i, const S* qd, const S* qdd,
                                        FrameMotion<S>& motion) {
  const JointModel<S>& j = model.joint[i];
  const MinimalJoint<S>& mj = minimal.joint[i];
  const JointPositions<S>& p = work.positions;
  MinimalScratchLink<S>& link = work.link[i];
  if (j.revolute) {
    motion = next_motion<T, true, true>(j, p.sine[i], p.cosine[i], p.d[i], motion, qd[i], qdd[i]);
    link.euler = mj.euler;
    link.d33 = mj.d33;
  } else {
    const Vec3<S> fixed = rotate_down<T>(j.angle, p.sine[i], p.cosine[i],
                                         motion.dds + j.a * column_x(motion));  // (69)
    motion = next_motion<T, false, true>(j, p.sine[i], p.cosine[i], p.d[i], motion, qd[i], qdd[i]);
    const S twice = qd[i] + qd[i];
    link.v = {motion.w.y * twice, -(motion.w.x * twice), qdd[i]};
    link.a_fixed = fixed;
    link.p_bar = p.d[i] * column_z(motion) + link.v;
    motion.dds = fixed + link.p_bar;
    if (mj.owner >= 0) {
      MinimalScratchLink<S>& owner = work.link[mj.owner];
      if (mj.region == MlcRegion::kSpatial) {
        owner.euler = owner.euler + p.d[i] * mj.euler;  // (91)
      } else {
        owner.d33 = owner.d33 + S(2) * mj.kappa2 * p.d[i];  // (93)
      }
    }
  }
  if (mj.region == MlcRegion::kPlanar) {
    link.rate = i > 0 ? work.link[i - 1].rate : S(0);
    link.drate = i > 0 ? work.link[i - 1].drate : S(0);
    if (j.revolute) {
      link.rate = link.rate + mj.epsilon * qd[i];
      link.drate = link.drate + mj.epsilon * qdd[i];
    }
  } else {
    link.rate = S(0), link.drate = S(0);
  }
  link.motion = motion;
}

/// Force P and moment behind joint i: a vector for i >= s, its component along u_r for r <= i < s.
template <class S>
struct MinimalLoad {
  Vec3<S> force;   ///< P⁺
  Vec3<S> moment;  ///< μ_i
  S along_r{};     ///< μ_i for r <= i < s
};

/// τ_i of joint i, with `load` turned from what hangs behind link i into what hangs on link i about
/// O_i.
template <class S>
GA_DYNAMICS_INLINE S minimal_torque(const JointModel<S>& j, const MinimalJoint<S>& mj,
                                    const MinimalScratchLink<S>& link, const S& d, const S& dq,
                                    const S& ddq, MinimalLoad<S>& load) {
  const Vec3<S>& a = link.motion.dds;
  const bool spatial = mj.region == MlcRegion::kSpatial;
  if (j.revolute) {
    if (spatial) {
      const S& kx = mj.k.x;
      const S& ky = mj.k.y;
      const AccelerationTensor<S>& o = link.motion.omega;
      const Vec3<S> xi =
          Vec3<S>{ky * a.z, -(kx * a.z), kx * a.y - ky * a.x} + inertial_moment(o, link.euler);
      load.force =
          load.force + Vec3<S>{o.xx * kx + o.xy * ky, o.yx * kx + o.yy * ky, o.zx * kx + o.zy * ky};
      load.moment = load.moment + xi;  // (65), (66)
      return load.moment.z;            // (68)
    }
    S xi = link.d33 * link.drate;
    if (mj.delta) {
      const AccelerationTensor<S>& o = link.motion.omega;
      xi = xi + mj.epsilon * (mj.k.x * a.y - mj.k.y * a.x);  // (85)
      load.force = load.force + o * mj.k;                    // (84)
    }
    load.along_r = load.along_r + xi;
    return mj.epsilon * load.along_r;
  }
  S tau = mj.mass * a.z + load.force.z;
  if (spatial) {
    const AccelerationTensor<S>& o = link.motion.omega;
    tau = tau + (o.zx * mj.k.x + o.zy * mj.k.y + o.zz * mj.k.z);  // (63)
    const S md = mj.mass * d;
    load.moment = load.moment + Vec3<S>{-(md * link.a_fixed.y), md * link.a_fixed.x, S(0)} +
                  cross(mj.k, link.v);
  } else if (mj.region == MlcRegion::kPlanar) {
    tau = tau + mj.kappa1 * link.drate - mj.kappa2 * (link.rate * link.rate);  // (83)
    const Vec3<S>& u = mj.axis_r;
    load.along_r = load.along_r + mj.mass * d * (u.y * link.a_fixed.x - u.x * link.a_fixed.y) +
                   mj.kappa1 * ddq + S(2) * mj.kappa2 * link.rate * dq;  // (86)
  }
  load.force = load.force + mj.mass * link.p_bar;  // (64), (72)
  return tau;
}

}  // namespace detail

/// As inverse_dynamics(), from the minimal parameters alone (`model` gives the geometry and
/// gravity).
template <class S>
void inverse_dynamics_mlc(const Model<S>& model, const MinimalModel<S>& minimal,
                          MinimalWorkspace<S>& work, const S* q, const S* qd, const S* qdd, S* tau,
                          const Wrench<std::type_identity_t<S>>* external = nullptr) {
  const int n = model.n;
  set_positions(model, q, work.positions);
  const JointPositions<S>& p = work.positions;
  FrameMotion<S> motion;
  motion.dds = model.base_acceleration;
  for (int i = 0; i < n; ++i) {
    with_twist(model.joint[i].twist, [&](auto twist) {
      detail::minimal_forward<decltype(twist)::value>(model, minimal, work, i, qd, qdd, motion);
    });
  }
  detail::MinimalLoad<S> load;
  for (int i = n - 1; i >= 0; --i) {
    const JointModel<S>& j = model.joint[i];
    const MinimalJoint<S>& mj = minimal.joint[i];
    if (external != nullptr) {
      load.force = load.force - external[i].force;
      if (mj.region == MlcRegion::kSpatial) load.moment = load.moment - external[i].moment;
      if (mj.region == MlcRegion::kPlanar)
        load.along_r = load.along_r - dot(mj.axis_r, external[i].moment);
    }
    tau[i] = detail::minimal_torque(j, mj, work.link[i], p.d[i], qd[i], qdd[i], load);
    if (i == 0) break;
    with_twist(j.twist, [&](auto twist) {
      constexpr Twist kTwist = decltype(twist)::value;
      if (mj.region == MlcRegion::kSpatial) {
        const Wrench<S> carried = carry_to_parent<kTwist>(
            j, p.sine[i], p.cosine[i], p.d[i], Wrench<S>{load.force, load.moment});  // (67), (75)
        load.force = carried.force;
        load.moment = carried.moment;
        if (minimal.joint[i - 1].region == MlcRegion::kPlanar) {
          load.along_r = dot(minimal.joint[i - 1].axis_r, carried.moment);  // (88)
        }
      } else if (mj.region == MlcRegion::kPlanar &&
                 minimal.joint[i - 1].region == MlcRegion::kPlanar) {
        const Vec3<S>& u = mj.axis_r;
        const Vec3<S>& u_parent = minimal.joint[i - 1].axis_r;
        const S spun = p.d[i] * (u.y * load.force.x - u.x * load.force.y);
        load.force = rotate_up<kTwist>(j.angle, p.sine[i], p.cosine[i], load.force);
        load.along_r = load.along_r + spun +
                       j.a * (u_parent.z * load.force.y - u_parent.y * load.force.z);  // (89), (90)
      } else {
        load.force = rotate_up<kTwist>(j.angle, p.sine[i], p.cosine[i], load.force);
      }
    });
  }
}

}  // namespace GA_DYNAMICS_ISA
}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__ALGORITHM__INVERSE_DYNAMICS_MLC_HPP_
