// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__KINEMATICS_HPP_
#define GA_DYNAMICS__ALGORITHM__KINEMATICS_HPP_

// Positions of the frames, Jacobian and J̇q̇ of a point, energies and the Gibbs function. Real-time
// safe, no exception.

#include "ga_dynamics/algorithm/inverse_dynamics.hpp"

namespace ga_dynamics {
inline namespace GA_DYNAMICS_ISA {

template <class S>
struct FramePose {
  Mat3<S> rotation{{S(1), S(0), S(0)}, {S(0), S(1), S(0)}, {S(0), S(0), S(1)}};
  Vec3<S> origin;
};

/// Calls visit(i, pose of frame i + 1 in frame 0) for i = 0 … bodies − 1. Needs no scratch memory.
template <class S, class Visit>
void for_each_frame(const Model<S>& model, const S* q, int bodies, Visit&& visit) {
  constexpr int kWidth = kLanes<S>;
  S sine[kWidth], cosine[kWidth];
  FramePose<S> pose;
  for (int i = 0; i < bodies; ++i) {
    const int l = i % kWidth;
    if (l == 0) {
      S some[kWidth] = {};
      for (int k = 0; k < kWidth && i + k < model.n; ++k) some[k] = q[i + k];
      const Lane<S> turned =
          load_lane(model.turns.data() + i) * load_lane(some) + load_lane(model.theta.data() + i);
      sin_cos<S>(turned, sine, cosine);
    }
    const JointModel<S>& j = model.joint[i];
    pose.origin = pose.origin + pose.rotation * offset(j, j.revolute ? j.d : q[i] + j.d);
    // Row by row: a row of R·R_i is R_iᵀ applied to that row.
    with_twist(j.twist, [&](auto twist) {
      constexpr Twist kTwist = decltype(twist)::value;
      pose.rotation = {rotate_down<kTwist>(j.angle, sine[l], cosine[l], pose.rotation.r0),
                       rotate_down<kTwist>(j.angle, sine[l], cosine[l], pose.rotation.r1),
                       rotate_down<kTwist>(j.angle, sine[l], cosine[l], pose.rotation.r2)};
    });
    visit(i, pose);
  }
}

/// The axis of the joint in front of the frame, in frame 0.
template <class S>
GA_DYNAMICS_INLINE Vec3<S> joint_axis(const FramePose<S>& pose) {
  return {pose.rotation.r0.z, pose.rotation.r1.z, pose.rotation.r2.z};
}

/// Pose of frame `body` (1..n; 0 is frame 0 itself) in frame 0.
template <class S>
FramePose<S> frame_pose(const Model<S>& model, const S* q, int body) {
  FramePose<S> result;
  for_each_frame(model, q, body, [&](int, const FramePose<S>& pose) { result = pose; });
  return result;
}

/// Jacobian, in the axes of frame 0, of a point fixed in frame `body` (1..n; 0 moves not at all) and
/// given there: 6×n row by row, linear velocity of the point above angular velocity. Columns behind
/// `body` are zero.
template <class S>
void jacobian(const Model<S>& model, const S* q, int body, const Vec3<S>& point, S* jac) {
  const int n = model.n;
  const auto set = [&](int row, int i, const Vec3<S>& v) {
    jac[row * n + i] = v.x, jac[(row + 1) * n + i] = v.y, jac[(row + 2) * n + i] = v.z;
  };
  Vec3<S> end;
  // First the joints' origins and axes, then, with the point known, velocities in their place.
  for_each_frame(model, q, body, [&](int i, const FramePose<S>& pose) {
    set(0, i, pose.origin), set(3, i, joint_axis(pose));
    end = pose.origin + pose.rotation * point;
  });
  for (int i = 0; i < n; ++i) {
    Vec3<S> linear, angular;
    if (i < body) {
      const Vec3<S> origin{jac[i], jac[n + i], jac[2 * n + i]};
      const Vec3<S> axis{jac[3 * n + i], jac[4 * n + i], jac[5 * n + i]};
      linear = model.joint[i].revolute ? cross(axis, end - origin) : axis;
      if (model.joint[i].revolute) angular = axis;
    }
    set(0, i, linear), set(3, i, angular);
  }
}

/// J̇q̇ of the same point: its linear and angular acceleration while qdd = 0.
template <class S>
struct PointAcceleration {
  Vec3<S> linear, angular;
};
template <class S>
PointAcceleration<S> velocity_product(const Model<S>& model, const S* q, const S* qd, int body,
                                      const Vec3<S>& point) {
  Vec3<S> w, dw, a, origin, tool;
  const auto move = [&](const Vec3<S>& lever) {  // along the link that w and dw are of
    a = a + cross(dw, lever) + cross(w, cross(w, lever));
  };
  for_each_frame(model, q, body, [&](int i, const FramePose<S>& pose) {
    move(pose.origin - origin);
    const Vec3<S> rate = qd[i] * joint_axis(pose);
    if (model.joint[i].revolute) {
      dw = dw + cross(w, rate);
      w = w + rate;
    } else {
      a = a + S(2) * cross(w, rate);
    }
    origin = pose.origin;
    tool = pose.rotation * point;
  });
  move(tool);
  return {a, dw};
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
