// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__MODEL_HPP_
#define GA_DYNAMICS__ALGORITHM__MODEL_HPP_

// The constants that the algorithms use, over any scalar, computed once from a Chain.
//
// Conventions (those of the papers): modified Denavit–Hartenberg frames, frame i on joint axis i;
// link data in frame i; s_i = O_{i-1} → O_i in frame i-1; gravity enters as the base acceleration
// −g. Row 1 is all zero (chain.hpp).

#include <cmath>
#include <numbers>

#include "ga_dynamics/algorithm/buffer.hpp"
#include "ga_dynamics/algorithm/joint_rotation.hpp"
#include "ga_dynamics/algorithm/lanes.hpp"
#include "ga_dynamics/chain.hpp"

namespace ga_dynamics {
inline namespace GA_DYNAMICS_ISA {

/// Joint i and link i.
template <class S>
struct JointModel {
  Twist twist = Twist::kZero;
  bool revolute = true;
  bool has_a = false;  ///< a != 0
  bool has_d = false;  ///< d != 0, or the joint is prismatic
  TwistConstants<S> angle;
  S a{}, d{}, theta{};
  /// O_{i-1} → O_i in the axes between twist and spin is [lever_x, 0, lever_z + d]; without skew
  /// that is [a, 0, d].
  S lever_x{}, lever_z{};
  Vec3<S> axis;  ///< ẑ_i in frame i-1, the constant third column of {i-1}R_i
  S mass{};
  Vec3<S> first;    ///< m_i c_i
  Sym3<S> euler;    ///< ½tr(H)1 − H, Euler's tensor (Mata et al. 2002 (11)), of H_i: about O_i
  Vec3<S> com;      ///< c_i
  Sym3<S> central;  ///< I_i, about the center of mass
  Sym3<S> about_origin;  ///< H_i = I_i − m_i c̃_i c̃_i
  // Composite bodies i..n (Mata et al. 2002 §4.2 step 1). Where joint i+1 is prismatic s_{i+1}
  // varies, so its part is left out of `composite_first` and `composite_inertia` and added on-line.
  S composite_mass{};         ///< M_i
  Vec3<S> composite_first;    ///< C_i = m_i c_i + M_{i+1} s_{i+1}
  Sym3<S> composite_inertia;  ///< E_i = H_i − M_{i+1} s̃_{i+1} s̃_{i+1}
};

/// The inertia of a lane of links, about their O_i.
template <class L>
struct LinkLane {
  L mass{};
  Vec3<L> first;
  Sym3<L> euler;
};

template <class S>
struct Model {
  int n = 0;
  bool all_revolute = true;
  Buffer<JointModel<S>> joint;
  Buffer<LinkLane<Lane<S>>> links;  ///< links kLanes·b … of lane b; zero behind the last link
  Buffer<S> theta;                  ///< theta of joint i, padded
  Buffer<S> turns;                  ///< 1 for revolute joints, 0 for prismatic ones, padded
  Vec3<S> base_acceleration;        ///< s̈_0 = −g, in frame 0
};

template <class S>
Vec3<S> to_vec3(const Vector3& v) {
  return {S(v[0]), S(v[1]), S(v[2])};
}
template <class S>
Sym3<S> to_sym3(const Matrix3& m) {
  return {S(m[0]),
          S(m[4]),
          S(m[8]),
          S(0.5 * (m[1] + m[3])),
          S(0.5 * (m[2] + m[6])),
          S(0.5 * (m[5] + m[7]))};
}
template <class S>
Sym3<S> euler_tensor(const Sym3<S>& h) {
  const S half(0.5);
  return {half * (h.yy + h.zz - h.xx),
          half * (h.xx + h.zz - h.yy),
          half * (h.xx + h.yy - h.zz),
          -h.xy,
          -h.xz,
          -h.yz};
}

/// s_i for joint variable part `d` along ẑ_i.
template <class S>
GA_DYNAMICS_INLINE Vec3<S> offset(const JointModel<S>& j, const S& d) {
  return {j.a + d * j.axis.x, d * j.axis.y, d * j.axis.z};
}

inline Twist classify(const DhParameters& dh) {
  constexpr double kPi = std::numbers::pi;
  if (dh.beta != 0) return Twist::kSkew;
  if (dh.alpha == 0) return Twist::kZero;
  if (dh.alpha == 0.5 * kPi) return Twist::kPlus90;
  if (dh.alpha == -0.5 * kPi) return Twist::kMinus90;
  if (dh.alpha == kPi || dh.alpha == -kPi) return Twist::kHalfTurn;
  return Twist::kGeneral;
}

template <class S>
void set_link_lane(LinkLane<Lane<S>>& lane, int place, const JointModel<S>& link) {
  const auto set = [place](Lane<S>& to, const S& value) {
    if constexpr (kLanes<S> == 1) {
      static_cast<void>(place);
      to = value;
    } else {
      to[place] = value;
    }
  };
  set(lane.mass, link.mass);
  set(lane.first.x, link.first.x), set(lane.first.y, link.first.y), set(lane.first.z, link.first.z);
  set(lane.euler.xx, link.euler.xx), set(lane.euler.yy, link.euler.yy),
      set(lane.euler.zz, link.euler.zz);
  set(lane.euler.xy, link.euler.xy), set(lane.euler.xz, link.euler.xz),
      set(lane.euler.yz, link.euler.yz);
}

/// The inertia of link i. Real-time safe.
template <class S>
void set_body(Model<S>& model, int i, const LinkInertia& body) {
  JointModel<S>& to = model.joint[i];
  to.mass = S(body.mass);
  to.com = to_vec3<S>(body.com);
  to.first = to.mass * to.com;
  to.central = to_sym3<S>(body.inertia);
  to.about_origin = to.central + to.mass * point_inertia(to.com);
  to.euler = euler_tensor(to.about_origin);
  set_link_lane(model.links[i / kLanes<S>], i % kLanes<S>, to);
}

/// The composite bodies, from the links. Real-time safe.
template <class S>
void set_composite_bodies(Model<S>& model) {
  for (int i = model.n - 1; i >= 0; --i) {
    JointModel<S>& j = model.joint[i];
    j.composite_mass = j.mass;
    j.composite_first = j.first;
    j.composite_inertia = j.about_origin;
    if (i + 1 < model.n) {
      const JointModel<S>& next = model.joint[i + 1];
      j.composite_mass = j.mass + next.composite_mass;
      if (next.revolute) {
        const Vec3<S> s = offset(next, next.d);
        j.composite_first = j.first + next.composite_mass * s;
        j.composite_inertia = j.about_origin + next.composite_mass * point_inertia(s);
      }
    }
  }
}

/// Allocates; not for the control path.
template <class S>
Model<S> make_model(const Chain& chain) {
  const int n = chain.size();
  Model<S> model;
  model.n = n;
  model.joint = Buffer<JointModel<S>>(static_cast<std::size_t>(n));
  model.links = Buffer<LinkLane<Lane<S>>>(static_cast<std::size_t>(padded(n) / kLanes<S>));
  model.theta = Buffer<S>(static_cast<std::size_t>(padded(n)));
  model.turns = Buffer<S>(static_cast<std::size_t>(padded(n)));
  model.base_acceleration = -to_vec3<S>(chain.gravity_in_frame0());
  const ChainJoint* joints = chain.joints().data();
  for (int i = 0; i < n; ++i) {
    const ChainJoint& from = joints[i];
    JointModel<S>& to = model.joint[i];
    to.twist = classify(from.dh);
    to.revolute = from.revolute();
    model.all_revolute = model.all_revolute && to.revolute;
    double ca = std::cos(from.dh.alpha), sa = std::sin(from.dh.alpha);
    switch (to.twist) {
      case Twist::kZero:
        ca = 1, sa = 0;
        break;
      case Twist::kPlus90:
        ca = 0, sa = 1;
        break;
      case Twist::kMinus90:
        ca = 0, sa = -1;
        break;
      case Twist::kHalfTurn:
        ca = -1, sa = 0;
        break;
      case Twist::kGeneral:
      case Twist::kSkew:
        break;
    }
    const double cb = std::cos(from.dh.beta), sb = std::sin(from.dh.beta);
    to.angle = {S(ca), S(sa), S(cb), S(sb)};
    to.a = S(from.dh.a), to.d = S(from.dh.d), to.theta = S(from.dh.theta);
    to.lever_x = S(from.dh.a * cb), to.lever_z = S(from.dh.a * sb);
    to.axis = {S(sb), S(-sa * cb), S(ca * cb)};
    to.has_a = from.dh.a != 0;
    to.has_d = from.dh.d != 0 || !to.revolute;
    model.theta[i] = to.theta;
    model.turns[i] = S(to.revolute ? 1.0 : 0.0);
    set_body(model, i, from.body);
  }
  set_composite_bodies(model);
  return model;
}

/// External force and moment that the environment applies ON a link, in frame i, the moment about
/// O_i.
template <class S>
struct Wrench {
  Vec3<S> force, moment;
};

}  // namespace GA_DYNAMICS_ISA
}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__ALGORITHM__MODEL_HPP_
