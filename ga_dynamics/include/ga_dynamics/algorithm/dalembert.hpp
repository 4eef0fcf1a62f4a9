// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__DALEMBERT_HPP_
#define GA_DYNAMICS__ALGORITHM__DALEMBERT_HPP_

// The closed set of second-order equations M(q)q̈ = τ − H(q,q̇) − G(q) from d'Alembert's principle
// and the Newton–Euler equations, after the paper on simulating the dynamics of manipulators with
// revolute joints; equation numbers are that paper's, misprints corrected ((5) m_i and {j}R_i I_i
// ω̇_i; (7) θ̇_i; (12) the sum over i and {j}R_i C_VCi). The paper says classical DH frames, its
// recursions are those of modified ones. Prismatic joints are our extension. Direct evaluation is
// O(n³): it serves as an independent check of the other methods. Real-time safe, no exception.

#include "ga_dynamics/algorithm/forward_dynamics.hpp"
#include "ga_dynamics/algorithm/model.hpp"
#include "ga_dynamics/algorithm/workspace.hpp"

namespace ga_dynamics {
inline namespace GA_DYNAMICS_ISA {

template <class S>
struct DalembertWorkspace {
  explicit DalembertWorkspace(const Model<S>& model)
      : DalembertWorkspace(model, static_cast<std::size_t>(model.n)) {}

  JointPositions<S> positions;
  Buffer<Mat3<S>> step;          ///< {i-1}R_i
  Buffer<Vec3<S>> step_origin;   ///< s_i
  Buffer<Mat3<S>> rotation;      ///< {j}R_i at j·n+i, i >= j
  Buffer<Vec3<S>> origin;        ///< {j}P_i: O_j → O_i in frame j, at j·n+i
  Buffer<Vec3<S>> spin;          ///< ω_i×I_iω_i + I_iC_εi, in frame i
  Buffer<Vec3<S>> acceleration;  ///< C_VCi
  Buffer<S> matrix, vector, bias, diagonal;

 private:
  DalembertWorkspace(const Model<S>& model, std::size_t n)
      : positions(model),
        step(n),
        step_origin(n),
        rotation(n * n),
        origin(n * n),
        spin(n),
        acceleration(n),
        matrix(n * n),
        vector(n),
        bias(n),
        diagonal(n) {}
};

namespace detail {

template <class S>
void set_dalembert_frames(const Model<S>& model, DalembertWorkspace<S>& w, const S* q) {
  const int n = model.n;
  set_positions(model, q, w.positions);
  for (int i = 0; i < n; ++i) {
    const JointModel<S>& j = model.joint[i];
    const S& s = w.positions.sine[i];
    const S& c = w.positions.cosine[i];
    with_twist(j.twist, [&](auto twist) {
      constexpr Twist kTwist = decltype(twist)::value;
      w.step[i] =
          transposed(Mat3<S>{rotate_up<kTwist>(j.angle, s, c, Vec3<S>{S(1), S(0), S(0)}),
                             rotate_up<kTwist>(j.angle, s, c, Vec3<S>{S(0), S(1), S(0)}), j.axis});
    });
    w.step_origin[i] = offset(j, w.positions.d[i]);
  }
  for (int j = 0; j < n; ++j) {
    w.rotation[j * n + j] = {{S(1), S(0), S(0)}, {S(0), S(1), S(0)}, {S(0), S(0), S(1)}};
    w.origin[j * n + j] = {S(0), S(0), S(0)};
    for (int i = j + 1; i < n; ++i) {
      w.origin[j * n + i] = w.origin[j * n + i - 1] + w.rotation[j * n + i - 1] * w.step_origin[i];
      w.rotation[j * n + i] = w.rotation[j * n + i - 1] * w.step[i];
    }
  }
}

/// M_jk = ẑᵀ Σ_{i >= max(j,k)} ( m_i {j}P̃_Ci {j}R_i {i}Ṽ_k + {j}R_i I_i ) {i}R_k ẑ, every entry on
/// its own (10).
template <class S>
void dalembert_mass(const Model<S>& model, const DalembertWorkspace<S>& w, S* mass) {
  const int n = model.n;
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < n; ++k) {
      S sum(0);
      for (int i = j > k ? j : k; i < n; ++i) {
        const JointModel<S>& link = model.joint[i];
        const Mat3<S>& to_j = w.rotation[j * n + i];
        const Vec3<S> axis = w.rotation[k * n + i].r2;  // {i}R_k ẑ, third row of {k}R_i
        const Vec3<S> center = w.origin[j * n + i] + to_j * link.com;
        Vec3<S> force, moment;
        if (model.joint[k].revolute) {
          // {i}V_k × axis with {i}V_k = O_k seen from the center of mass i
          const Vec3<S> v =
              -transposed_times(w.rotation[k * n + i], w.origin[k * n + i]) - link.com;
          force = to_j * (link.mass * cross(v, axis));
          moment = to_j * (link.central * axis);
        } else {
          force = to_j * (link.mass * axis);
        }
        if (model.joint[j].revolute) {
          sum = sum + cross(center, force).z + moment.z;
        } else {
          sum = sum + force.z;
        }
      }
      mass[j * n + k] = sum;
    }
  }
}

/// The velocity parts: ω_j, C_εj (8), C_Vj and C_VCj (9).
template <class S>
void dalembert_velocity(const Model<S>& model, DalembertWorkspace<S>& w, const S* qd) {
  Vec3<S> omega, epsilon, velocity;
  for (int i = 0; i < model.n; ++i) {
    const JointModel<S>& j = model.joint[i];
    const Vec3<S>& s = w.step_origin[i];
    velocity =
        transposed_times(w.step[i], velocity + cross(epsilon, s) + cross(omega, cross(omega, s)));
    omega = transposed_times(w.step[i], omega);
    epsilon = transposed_times(w.step[i], epsilon);
    const Vec3<S> rate{S(0), S(0), qd[i]};
    if (j.revolute) {
      epsilon = epsilon + cross(omega, rate);
      omega = omega + rate;
    } else {
      velocity = velocity + S(2) * cross(omega, rate);
    }
    w.acceleration[i] = velocity + cross(epsilon, j.com) + cross(omega, cross(omega, j.com));
    w.spin[i] = cross(omega, j.central * omega) + j.central * epsilon;
  }
}

/// Σ_i of the moment (force, for a prismatic joint) at joint j of forces m_i a_i at the centers of
/// mass and moments.
template <class S, class Acceleration, class Moment>
void dalembert_sum(const Model<S>& model, const DalembertWorkspace<S>& w, S* out,
                   Acceleration&& acceleration, Moment&& moment) {
  const int n = model.n;
  for (int j = 0; j < n; ++j) {
    S sum(0);
    for (int i = j; i < n; ++i) {
      const JointModel<S>& link = model.joint[i];
      const Mat3<S>& to_j = w.rotation[j * n + i];
      const Vec3<S> force = to_j * (link.mass * acceleration(i));
      if (model.joint[j].revolute) {
        const Vec3<S> center = w.origin[j * n + i] + to_j * link.com;
        sum = sum + cross(center, force).z + (to_j * moment(i)).z;
      } else {
        sum = sum + force.z;
      }
    }
    out[j] = sum;
  }
}

}  // namespace detail

/// M(q), n×n row by row.
template <class S>
void dalembert_inertia(const Model<S>& model, DalembertWorkspace<S>& w, const S* q, S* mass) {
  detail::set_dalembert_frames(model, w, q);
  detail::dalembert_mass(model, w, mass);
}

/// H(q,q̇): the centrifugal and Coriolis part.
template <class S>
void dalembert_coriolis(const Model<S>& model, DalembertWorkspace<S>& w, const S* q, const S* qd,
                        S* h) {
  detail::set_dalembert_frames(model, w, q);
  detail::dalembert_velocity(model, w, qd);
  detail::dalembert_sum(
      model, w, h, [&](int i) { return w.acceleration[i]; }, [&](int i) { return w.spin[i]; });
}

/// G(q)
template <class S>
void dalembert_gravity(const Model<S>& model, DalembertWorkspace<S>& w, const S* q, S* g) {
  detail::set_dalembert_frames(model, w, q);
  detail::dalembert_sum(
      model, w, g,
      [&](int i) {
        return transposed_times(w.rotation[i],
                                transposed_times(w.step[0], model.base_acceleration));
      },
      [](int) { return Vec3<S>{}; });
}

/// H + G − the part of the external wrenches (the paper's {j}N_Q, at any link).
template <class S>
void dalembert_bias(const Model<S>& model, DalembertWorkspace<S>& w, const S* q, const S* qd, S* h,
                    const Wrench<std::type_identity_t<S>>* external = nullptr) {
  const int n = model.n;
  dalembert_gravity(model, w, q, w.vector.data());
  dalembert_coriolis(model, w, q, qd, h);
  for (int j = 0; j < n; ++j) {
    h[j] = h[j] + w.vector[j];
    if (external == nullptr) continue;
    for (int i = j; i < n; ++i) {
      const Vec3<S> force = w.rotation[j * n + i] * external[i].force;
      h[j] = h[j] - (model.joint[j].revolute ? cross(w.origin[j * n + i], force).z +
                                                   (w.rotation[j * n + i] * external[i].moment).z
                                             : force.z);
    }
  }
}

/// τ = M q̈ + H + G
template <class S>
void inverse_dynamics_dalembert(const Model<S>& model, DalembertWorkspace<S>& w, const S* q,
                                const S* qd, const S* qdd, S* tau,
                                const Wrench<std::type_identity_t<S>>* external = nullptr) {
  const int n = model.n;
  dalembert_bias(model, w, q, qd, tau, external);
  detail::dalembert_mass(model, w, w.matrix.data());
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < n; ++k) tau[j] = tau[j] + w.matrix[j * n + k] * qdd[k];
  }
}

/// M q̈ = τ − H − G, with rotor inertias where given. The factorized M stays in w.matrix, its
/// diagonal in w.diagonal.
template <class S>
void forward_dynamics_dalembert(const Model<S>& model, DalembertWorkspace<S>& w, const S* q,
                                const S* qd, const S* tau, S* qdd, const S* armature = nullptr,
                                const Wrench<std::type_identity_t<S>>* external = nullptr) {
  dalembert_bias(model, w, q, qd, w.bias.data(), external);
  detail::dalembert_mass(model, w, w.matrix.data());
  solve_acceleration(model.n, w.matrix.data(), armature, tau, w.bias.data(), w.diagonal.data(),
                     qdd);
}

}  // namespace GA_DYNAMICS_ISA
}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__ALGORITHM__DALEMBERT_HPP_
