// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__INERTIA_MATRIX_HPP_
#define GA_DYNAMICS__ALGORITHM__INERTIA_MATRIX_HPP_

// The inertia matrix as the Hessian of the Gibbs function (GAH): Mata et al. 2002 §4.2 and S.
// Provenzano, V. Mata, M. Ceccarelli, J.L. Suñer, "Efficient computation of the generalized
// inertial tensor of robots by using the Gibbs–Appell equations", §3. Step numbers are theirs.
// Changes, each with the same result in fewer operations: the levers {j}s_{k,j} are carried as
// sums, with the step [a, 0, d] added between the planar rotations, where it has two components;
// the terms s̃p̃ of step 5 are formed there too. The three cases with prismatic joints are our
// extension.
//
// Real-time safe, no exception. D is n×n row by row, symmetric, both halves written.

#include "ga_dynamics/algorithm/model.hpp"
#include "ga_dynamics/algorithm/workspace.hpp"

namespace ga_dynamics {
inline namespace GA_DYNAMICS_ISA {

namespace detail {

/// First moment and inertia about O_i of the body behind joint i+1, spun by its angle and moved
/// from O_{i+1} to O_i, in the axes between twist and spin of joint i+1. For a revolute joint the
/// parts M s and −M s̃s̃ are left out: they are in C_i and E_i.
template <class S>
struct CarriedBody {
  Vec3<S> first;
  Sym3<S> inertia;
};
template <class S>
GA_DYNAMICS_INLINE CarriedBody<S> carry_body(const JointModel<S>& j, const S& s, const S& c,
                                             const S& d, const Vec3<S>& phi, const Sym3<S>& psi) {
  CarriedBody<S> b{spin_up(s, c, phi), spin_up(s, c, psi)};
  const Vec3<S>& p = b.first;
  const S along_z = j.lever_z + d;
  const S twice_xx = (j.lever_x + j.lever_x) * p.x, twice_zz = (along_z + along_z) * p.z;
  b.inertia.xx = b.inertia.xx + twice_zz;
  b.inertia.yy = b.inertia.yy + (twice_xx + twice_zz);
  b.inertia.zz = b.inertia.zz + twice_xx;
  b.inertia.xy = b.inertia.xy - j.lever_x * p.y;
  b.inertia.xz = b.inertia.xz - (j.lever_x * p.z + along_z * p.x);
  b.inertia.yz = b.inertia.yz - along_z * p.y;
  if (!j.revolute) {
    const Vec3<S> lever{j.lever_x, S(0), along_z};
    b.inertia = b.inertia + j.composite_mass * point_inertia(lever);
    b.first = b.first + j.composite_mass * lever;
  }
  return b;
}

/// Steps 4 and 5: φ_i and ψ_i, i = n..1.
template <class S>
GA_DYNAMICS_INLINE void composite_bodies(const Model<S>& model, const JointPositions<S>& p,
                                         Vec3<S>* phi, Sym3<S>* psi) {
  const int n = model.n;
  phi[n - 1] = model.joint[n - 1].composite_first;
  psi[n - 1] = model.joint[n - 1].composite_inertia;
  for (int i = n - 1; i > 0; --i) {
    const JointModel<S>& j = model.joint[i];
    const JointModel<S>& parent = model.joint[i - 1];
    with_twist(
        j.twist, [&](auto twist) __attribute__((always_inline)) {
          constexpr Twist kTwist = decltype(twist)::value;
          const CarriedBody<S> body = carry_body(j, p.sine[i], p.cosine[i], p.d[i], phi[i], psi[i]);
          phi[i - 1] = parent.composite_first + twist_up<kTwist>(j.angle, body.first);
          if (i > 1) {
            psi[i - 1] = parent.composite_inertia + twist_up<kTwist>(j.angle, body.inertia);
          } else if constexpr (kTwist == Twist::kGeneral) {
            // Of ψ_1 only (3,3) is used: 3 products by constants instead of a whole rotation.
            const S& ca = j.angle.ca;
            const S& sa = j.angle.sa;
            psi[0].zz = parent.composite_inertia.zz +
                        ((sa * sa) * body.inertia.yy + (ca * ca) * body.inertia.zz +
                         (S(2) * sa * ca) * body.inertia.yz);
          } else {
            psi[0].zz = parent.composite_inertia.zz + twist_up<kTwist>(j.angle, body.inertia).zz;
          }
        });
  }
}

/// Steps 2, 3 and 7 for one lane of columns k… of row j: the axes and levers of the earlier joints
/// are turned into frame j, and D_jk = e·[ψ_xz − S_z φ_x, ψ_yz − S_z φ_y, ψ_zz + S_x φ_x + S_y φ_y]
/// (both joints revolute).
template <Twist T, class S>
GA_DYNAMICS_INLINE void revolute_lane(const JointModel<S>& j, const S& s, const S& c, const S& d,
                                      const Vec3<S>& phi, const Sym3<S>& psi, S* axis, S* row) {
  using L = Lane<S>;
  constexpr int kWidth = kLanes<S>;
  const auto at = [&](int k) __attribute__((always_inline)) {
    return load_lane(axis + k * kWidth);
  };
  const auto put = [&](int k, const L& value) __attribute__((always_inline)) {
    store_lane<S>(value, axis + k * kWidth);
  };
  const TwistConstants<L> twist{all_lanes(j.angle.ca), all_lanes(j.angle.sa), all_lanes(j.angle.cb),
                                all_lanes(j.angle.sb)};
  const L sine = all_lanes(s), cosine = all_lanes(c);
  const Vec3<L> e = rotate_down<T>(twist, sine, cosine, Vec3<L>{at(0), at(1), at(2)});
  Vec3<L> lever = twist_down<T>(twist, Vec3<L>{at(3), at(4), at(5)});
  lever.x = lever.x + all_lanes(j.lever_x);
  lever.z = lever.z + all_lanes<S>(j.lever_z + d);
  lever = spin_down(sine, cosine, lever);
  put(0, e.x), put(1, e.y), put(2, e.z), put(3, lever.x), put(4, lever.y), put(5, lever.z);
  const L phi_x = all_lanes(phi.x), phi_y = all_lanes(phi.y);
  store_lane<S>(e.x * (all_lanes(psi.xz) - lever.z * phi_x) +
                    e.y * (all_lanes(psi.yz) - lever.z * phi_y) +
                    e.z * (all_lanes(psi.zz) + lever.x * phi_x + lever.y * phi_y),
                row);
}

/// Where e and S of column k stand in Workspace::axis.
template <class S>
GA_DYNAMICS_INLINE S* axis_lane(Workspace<S>& w, int k) {
  return w.axis.data() + 6 * (k / kLanes<S>)*kLanes<S>;
}
/// {k}z_k = ẑ, {k}s_{k,k} = 0
template <class S>
GA_DYNAMICS_INLINE void start_column(Workspace<S>& w, int k) {
  S* const axis = axis_lane(w, k) + k % kLanes<S>;
  for (int component = 0; component < 6; ++component)
    axis[component * kLanes<S>] = S(component == 2 ? 1.0 : 0.0);
}

/// Steps 6 and 7, revolute joints only: several columns at once. The upper half is written where
/// kFull.
template <bool kFull, class S>
GA_DYNAMICS_INLINE void hessian_revolute(const Model<S>& model, Workspace<S>& w, S* inertia) {
  const int n = model.n;
  const JointPositions<S>& p = w.positions;
  for (int j = 0; j < n; ++j) {
    const JointModel<S>& joint = model.joint[j];
    if (j > 0) {
      const Vec3<S>& phi = w.phi[j];
      const Sym3<S>& psi = w.psi[j];
      with_twist(
          joint.twist, [&](auto twist) __attribute__((always_inline)) {
            for (int k = 0; k < j; k += kLanes<S>) {
              revolute_lane<decltype(twist)::value>(joint, p.sine[j], p.cosine[j], p.d[j], phi, psi,
                                                    axis_lane(w, k), w.row.data() + k);
            }
          });
    }
    for (int k = 0; k < j; ++k) {
      inertia[j * n + k] = w.row[k];
      if constexpr (kFull) inertia[k * n + j] = w.row[k];
    }
    inertia[j * n + j] = w.psi[j].zz;
    start_column(w, j);
  }
}

/// The same with prismatic joints among them, both halves always.
template <class S>
GA_DYNAMICS_INLINE void hessian_mixed(const Model<S>& model, Workspace<S>& w, S* inertia) {
  const int n = model.n;
  const JointPositions<S>& p = w.positions;
  for (int j = 0; j < n; ++j) {
    const JointModel<S>& joint = model.joint[j];
    const Vec3<S>& phi = w.phi[j];
    const Sym3<S>& psi = w.psi[j];
    with_twist(
        joint.twist, [&](auto twist) __attribute__((always_inline)) {
          for (int k = 0; k < j; k += kLanes<S>) {
            revolute_lane<decltype(twist)::value>(joint, p.sine[j], p.cosine[j], p.d[j], phi, psi,
                                                  axis_lane(w, k), w.row.data() + k);
          }
        });
    for (int k = 0; k < j; ++k) {
      const S* const axis = axis_lane(w, k) + k % kLanes<S>;
      const S &ex = axis[0], &ey = axis[kLanes<S>], &ez = axis[2 * kLanes<S>];
      const S &sx = axis[3 * kLanes<S>], &sy = axis[4 * kLanes<S>];
      const S& mass = joint.composite_mass;
      S entry;
      if (joint.revolute) {
        entry = model.joint[k].revolute ? w.row[k] : ey * phi.x - ex * phi.y;  // e·(ẑ×φ)
      } else if (model.joint[k].revolute) {
        entry = ex * (mass * sy + phi.y) - ey * (mass * sx + phi.x);  // e·((MS+φ)×ẑ)
      } else {
        entry = mass * ez;
      }
      inertia[j * n + k] = inertia[k * n + j] = entry;
    }
    inertia[j * n + j] = joint.revolute ? psi.zz : joint.composite_mass;
    start_column(w, j);
  }
}

template <bool kFull, class S>
GA_DYNAMICS_INLINE void inertia_matrix(const Model<S>& model, Workspace<S>& work, S* inertia) {
  if (model.n == 0) return;
  composite_bodies(model, work.positions, work.phi.data(), work.psi.data());
  if (model.all_revolute) {
    hessian_revolute<kFull>(model, work, inertia);
  } else {
    hessian_mixed(model, work, inertia);
  }
}

}  // namespace detail

/// D(q), kg m² (kg, kg m for prismatic joints).
template <class S>
void inertia_matrix(const Model<S>& model, Workspace<S>& work, const S* q, S* inertia) {
  set_positions(model, q, work.positions);
  detail::inertia_matrix<true>(model, work, inertia);
}

}  // namespace GA_DYNAMICS_ISA
}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__ALGORITHM__INERTIA_MATRIX_HPP_
