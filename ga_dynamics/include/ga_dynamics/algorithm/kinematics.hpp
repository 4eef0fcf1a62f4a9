// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__KINEMATICS_HPP_
#define GA_DYNAMICS__ALGORITHM__KINEMATICS_HPP_

// Positions of the frames, the Jacobian of a point, energies and the Gibbs function. Real-time
// safe, no exception.

#include "ga_dynamics/algorithm/inverse_dynamics.hpp"

namespace ga_dynamics {
inline namespace GA_DYNAMICS_ISA {

template <class S>
struct FramePose {
  Mat3<S> rotation{{S(1), S(0), S(0)}, {S(0), S(1), S(0)}, {S(0), S(0), S(1)}};
  Vec3<S> origin;
};

/// Poses of frames 1..n in frame 0, into `poses[0..n-1]`.
template <class S>
void frame_poses(const Model<S>& model, JointPositions<S>& positions, const S* q,
                 FramePose<S>* poses) {
  set_positions(model, q, positions);
  FramePose<S> last;
  for (int i = 0; i < model.n; ++i) {
    const JointModel<S>& j = model.joint[i];
    const S& s = positions.sine[i];
    const S& c = positions.cosine[i];
    FramePose<S>& pose = poses[i];
    pose.origin = last.origin + last.rotation * offset(j, positions.d[i]);
    // Row by row: a row of R·R_i is R_iᵀ applied to that row.
    with_twist(j.twist, [&](auto twist) {
      constexpr Twist kTwist = decltype(twist)::value;
      pose.rotation = {rotate_down<kTwist>(j.angle, s, c, last.rotation.r0),
                       rotate_down<kTwist>(j.angle, s, c, last.rotation.r1),
                       rotate_down<kTwist>(j.angle, s, c, last.rotation.r2)};
    });
    last = pose;
  }
}

/// Jacobian of a point fixed to body `body` (1..n; 0 moves not at all), given in frame 0 like the
/// result: 6×n row by row, linear velocity of the point above angular velocity. Columns behind
/// `body` are zero.
template <class S>
void jacobian(const Model<S>& model, const FramePose<S>* poses, int body, const Vec3<S>& point,
              S* jac) {
  const int n = model.n;
  for (int i = 0; i < n; ++i) {
    Vec3<S> linear, angular;
    if (i < body) {
      const Vec3<S> axis{poses[i].rotation.r0.z, poses[i].rotation.r1.z, poses[i].rotation.r2.z};
      if (model.joint[i].revolute) {
        linear = cross(axis, point - poses[i].origin);
        angular = axis;
      } else {
        linear = axis;
      }
    }
    jac[i] = linear.x, jac[n + i] = linear.y, jac[2 * n + i] = linear.z;
    jac[3 * n + i] = angular.x, jac[4 * n + i] = angular.y, jac[5 * n + i] = angular.z;
  }
}

/// J. `potential` is −Σ m g·r with r from the origin of frame 0.
template <class S>
struct Energy {
  S kinetic{}, potential{};
};

template <class S>
Energy<S> energy(const Model<S>& model, JointPositions<S>& positions, const S* q, const S* qd) {
  set_positions(model, q, positions);
  Energy<S> e;
  Vec3<S> w, v, up = model.base_acceleration;  // up = −g in frame i
  S height(0);                                 // −g·O_i
  for (int i = 0; i < model.n; ++i) {
    const JointModel<S>& j = model.joint[i];
    const Vec3<S> s = offset(j, positions.d[i]);
    height = height + dot(up, s);
    v = v + cross(w, s);
    with_twist(j.twist, [&](auto twist) {
      constexpr Twist kTwist = decltype(twist)::value;
      w = rotate_down<kTwist>(j.angle, positions.sine[i], positions.cosine[i], w);
      v = rotate_down<kTwist>(j.angle, positions.sine[i], positions.cosine[i], v);
      up = rotate_down<kTwist>(j.angle, positions.sine[i], positions.cosine[i], up);
    });
    if (j.revolute) {
      w.z = w.z + qd[i];
    } else {
      v.z = v.z + qd[i];
    }
    const Vec3<S> vc = v + cross(w, j.com);
    e.kinetic = e.kinetic + S(0.5) * (j.mass * dot(vc, vc) + dot(w, j.central * w));
    e.potential = e.potential + j.mass * (height + dot(up, j.com));
  }
  return e;
}

/// The Gibbs function (acceleration energy) Σ ½m|r̈|² + ½ω̇ᵀIω̇ + ω̇ᵀ(ω×Iω), Mata et al. 2002 (3), (4),
/// without the terms free of accelerations; gravity enters as the base's acceleration. ∂/∂q̈ is τ,
/// the Hessian is D.
template <class S>
S gibbs_function(const Model<S>& model, JointPositions<S>& positions, const S* q, const S* qd,
                 const S* qdd) {
  set_positions(model, q, positions);
  Vec3<S> w, dw, dds = model.base_acceleration;
  S gibbs(0);
  for (int i = 0; i < model.n; ++i) {
    const JointModel<S>& j = model.joint[i];
    const Vec3<S> s = offset(j, positions.d[i]);
    dds = dds + cross(dw, s) + cross(w, cross(w, s));
    with_twist(j.twist, [&](auto twist) {
      constexpr Twist kTwist = decltype(twist)::value;
      w = rotate_down<kTwist>(j.angle, positions.sine[i], positions.cosine[i], w);
      dw = rotate_down<kTwist>(j.angle, positions.sine[i], positions.cosine[i], dw);
      dds = rotate_down<kTwist>(j.angle, positions.sine[i], positions.cosine[i], dds);
    });
    const Vec3<S> rate{S(0), S(0), qd[i]}, drate{S(0), S(0), qdd[i]};
    if (j.revolute) {
      dw = dw + cross(w, rate) + drate;
      w = w + rate;
    } else {
      dds = dds + S(2) * cross(w, rate) + drate;
    }
    const Vec3<S> ddr = dds + cross(dw, j.com) + cross(w, cross(w, j.com));
    gibbs = gibbs + S(0.5) * (j.mass * dot(ddr, ddr) + dot(dw, j.central * dw)) +
            dot(dw, cross(w, j.central * w));
  }
  return gibbs;
}

}  // namespace GA_DYNAMICS_ISA
}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__ALGORITHM__KINEMATICS_HPP_
