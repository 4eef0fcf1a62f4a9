// SPDX-License-Identifier: Apache-2.0
#ifndef REFERENCE_DYNAMICS_HPP_
#define REFERENCE_DYNAMICS_HPP_

// Forward dynamics of revolute chains by the methods that Mata et al. 2002 §5.1 compare theirs
// with, over any scalar:
//  * ABA, the articulated-body algorithm (R. Featherstone, "Robot Dynamics Algorithms", 1987), all
//    in the base frame and about its origin, or each link about its own frame's origin;
//  * CRBA, the composite-rigid-body algorithm, about the centres of mass of the composite bodies
//    (M.W. Walker, D.E. Orin 1982, method 3) or with spatial inertias about the link frames;
//  * GA, the paper's own, in the order of operations that it prints.
// Written to be read and to round as their formulas do, not to be fast: they allocate.

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "ga_dynamics/linear.hpp"

namespace ga_dynamics::test {

template <class S>
using Values = std::vector<S>;

/// Joint i in modified Denavit–Hartenberg parameters and link i in frame i.
template <class S>
struct ReferenceLink {
  S cos_alpha{}, sin_alpha{}, a{}, d{}, theta{};
  S mass{};
  Vec3<S> com;
  Sym3<S> central;  ///< inertia about the centre of mass
};

template <class S>
struct ReferenceChain {
  std::vector<ReferenceLink<S>> links;
  Vec3<S> base_acceleration;  ///< −g, in frame 0
  std::size_t size() const { return links.size(); }
};

/// All joints must be revolute, without Hayati's angle.
template <class S>
ReferenceChain<S> make_reference(const Chain& chain) {
  ReferenceChain<S> to;
  const Vector3& g = chain.gravity_in_frame0();
  to.base_acceleration = {S(-g[0]), S(-g[1]), S(-g[2])};
  for (const ChainJoint& j : chain.joints()) {
    const auto& c = j.body.com;
    const auto& m = j.body.inertia;
    to.links.push_back({S(std::cos(j.dh.alpha)),
                        S(std::sin(j.dh.alpha)),
                        S(j.dh.a),
                        S(j.dh.d),
                        S(j.dh.theta),
                        S(j.body.mass),
                        {S(c[0]), S(c[1]), S(c[2])},
                        {S(m[0]), S(m[4]), S(m[8]), S(m[1]), S(m[2]), S(m[5])}});
  }
  return to;
}

/// Frame i seen from frame i-1.
template <class S>
struct Placement {
  Mat3<S> rotation;
  Vec3<S> offset;
};

template <class S>
std::vector<Placement<S>> placements(const ReferenceChain<S>& chain, const Values<S>& q) {
  std::vector<Placement<S>> to;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const ReferenceLink<S>& l = chain.links[i];
    const S angle = l.theta + q[i], c = std::cos(angle), s = std::sin(angle);
    const S ca = l.cos_alpha, sa = l.sin_alpha;
    to.push_back({{{c, -s, S(0)}, {ca * s, ca * c, -sa}, {sa * s, sa * c, ca}},
                  {l.a, -(sa * l.d), ca * l.d}});
  }
  return to;
}

/// Solves a x = b, `a` n×n row by row, by Gauss–Jordan elimination with the largest remaining
/// element as pivot.
template <class S>
Values<S> gauss_jordan(Values<S> a, Values<S> b) {
  const std::size_t n = b.size();
  std::vector<bool> done(n, false);
  for (std::size_t step = 0; step < n; ++step) {
    std::size_t row = 0, column = 0;
    S largest(-1);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) {
        if (done[i] || done[k] || std::abs(a[i * n + k]) <= largest) continue;
        largest = std::abs(a[i * n + k]), row = i, column = k;
      }
    }
    if (row != column) {
      for (std::size_t k = 0; k < n; ++k) std::swap(a[row * n + k], a[column * n + k]);
      std::swap(b[row], b[column]);
    }
    done[column] = true;
    const S pivot = a[column * n + column];
    for (std::size_t k = 0; k < n; ++k) a[column * n + k] /= pivot;
    b[column] /= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == column) continue;
      const S factor = a[i * n + column];
      for (std::size_t k = 0; k < n; ++k) a[i * n + k] -= factor * a[column * n + k];
      b[i] -= factor * b[column];
    }
  }
  return b;
}

/// q̈ from D and h.
template <class S>
Values<S> solve_motion(const Values<S>& inertia, const Values<S>& bias, Values<S> tau) {
  for (std::size_t i = 0; i < tau.size(); ++i) tau[i] -= bias[i];
  return gauss_jordan(inertia, tau);
}

// --- spatial vectors and matrices: the angular part first --------------------------------------

template <class S>
using Vec6 = std::array<S, 6>;
template <class S>
using Mat6 = std::array<std::array<S, 6>, 6>;

template <class S>
Vec6<S> spatial(const Vec3<S>& angular, const Vec3<S>& linear) {
  return {angular.x, angular.y, angular.z, linear.x, linear.y, linear.z};
}
template <class S>
Vec3<S> angular(const Vec6<S>& v) {
  return {v[0], v[1], v[2]};
}
template <class S>
Vec3<S> linear(const Vec6<S>& v) {
  return {v[3], v[4], v[5]};
}
/// a + k b
template <class S>
Vec6<S> sum(Vec6<S> a, const Vec6<S>& b, const S& k = S(1)) {
  for (std::size_t r = 0; r < 6; ++r) a[r] += k * b[r];
  return a;
}
template <class S>
S product(const Vec6<S>& a, const Vec6<S>& b) {
  S to(0);
  for (std::size_t r = 0; r < 6; ++r) to += a[r] * b[r];
  return to;
}
template <class S>
Vec6<S> product(const Mat6<S>& a, const Vec6<S>& v) {
  Vec6<S> to{};
  for (std::size_t r = 0; r < 6; ++r) to[r] = product(a[r], v);
  return to;
}
/// aᵀ b
template <class S>
Mat6<S> transposed_product(const Mat6<S>& a, const Mat6<S>& b) {
  Mat6<S> to{};
  for (std::size_t r = 0; r < 6; ++r) {
    for (std::size_t c = 0; c < 6; ++c) {
      for (std::size_t k = 0; k < 6; ++k) to[r][c] += a[k][r] * b[k][c];
    }
  }
  return to;
}
template <class S>
Mat6<S> transposed(const Mat6<S>& a) {
  Mat6<S> to{};
  for (std::size_t r = 0; r < 6; ++r) {
    for (std::size_t c = 0; c < 6; ++c) to[r][c] = a[c][r];
  }
  return to;
}
template <class S>
Mat6<S> sum(Mat6<S> a, const Mat6<S>& b) {
  for (std::size_t r = 0; r < 6; ++r) a[r] = sum(a[r], b[r]);
  return a;
}

/// v × m for motions and v ×* f for forces.
template <class S>
Vec6<S> cross_motion(const Vec6<S>& v, const Vec6<S>& m) {
  return spatial(cross(angular(v), angular(m)),
                 cross(angular(v), linear(m)) + cross(linear(v), angular(m)));
}
template <class S>
Vec6<S> cross_force(const Vec6<S>& v, const Vec6<S>& f) {
  return spatial(cross(angular(v), angular(f)) + cross(linear(v), linear(f)),
                 cross(angular(v), linear(f)));
}

/// Inertia about the origin of a body with centre of mass c.
template <class S>
Mat6<S> spatial_inertia(const S& m, const Vec3<S>& c, const Sym3<S>& central) {
  const Sym3<S> h = central + m * point_inertia(c);
  const Vec3<S> f = m * c;
  return {{{h.xx, h.xy, h.xz, S(0), -f.z, f.y},
           {h.xy, h.yy, h.yz, f.z, S(0), -f.x},
           {h.xz, h.yz, h.zz, -f.y, f.x, S(0)},
           {S(0), f.z, -f.y, m, S(0), S(0)},
           {-f.z, S(0), f.x, S(0), m, S(0)},
           {f.y, -f.x, S(0), S(0), S(0), m}}};
}

/// Turns motions in frame i-1 into motions in frame i; its transpose turns forces back.
template <class S>
Mat6<S> motion_transform(const Placement<S>& p) {
  Mat6<S> to{};
  const Mat3<S> e = ga_dynamics::transposed(p.rotation);
  const std::array<Vec3<S>, 3> rows{e.r0, e.r1, e.r2};
  for (std::size_t r = 0; r < 3; ++r) {
    const Vec3<S> lower = cross(p.offset, rows[r]);  // a row of −E s̃
    to[r] = {rows[r].x, rows[r].y, rows[r].z, S(0), S(0), S(0)};
    to[r + 3] = {lower.x, lower.y, lower.z, rows[r].x, rows[r].y, rows[r].z};
  }
  return to;
}

/// Xᵀ I X: an inertia in frame i as seen in frame i-1.
template <class S>
Mat6<S> carried_up(const Mat6<S>& down, const Mat6<S>& inertia) {
  return transposed_product(transposed(transposed_product(down, inertia)), down);
}

// --- articulated-body algorithm -----------------------------------------------------------------

/// How IA − U Uᵀ/d is written: (U Uᵀ)/d, or U (Uᵀ/d), which takes the joint's own axis out of IA
/// exactly: u·(u/u) is u in floating point, (u·u)/u need not be.
enum class Division { kOfProduct, kOfFactor };

/// What the algorithm keeps of one joint.
template <class S>
struct Articulated {
  Vec6<S> axis{}, velocity_product{};
  Mat6<S> inertia{};  ///< IA; the link's own until what lies behind it is added
  Vec6<S> force{};    ///< pA, likewise
  Vec6<S> along{};    ///< U = IA s
  S pivot{}, rest{};  ///< d = sᵀ U and τ − sᵀ pA
};

template <class S>
Articulated<S> articulated(const Vec6<S>& axis, const Mat6<S>& inertia, const Vec6<S>& velocity,
                           const S& qd) {
  Articulated<S> b;
  b.axis = axis;
  b.velocity_product = sum(Vec6<S>{}, cross_motion(velocity, axis), qd);
  b.inertia = inertia;
  b.force = cross_force(velocity, product(inertia, velocity));
  return b;
}

/// The inertia and the force that the joint lets through to its parent.
template <class S>
std::pair<Mat6<S>, Vec6<S>> handed_on(Articulated<S>& b, const S& tau, Division division) {
  b.along = product(b.inertia, b.axis);
  b.pivot = product(b.axis, b.along);
  b.rest = tau - product(b.axis, b.force);
  Mat6<S> inertia = b.inertia;
  for (std::size_t r = 0; r < 6; ++r) {
    for (std::size_t c = 0; c < 6; ++c) {
      inertia[r][c] -= division == Division::kOfProduct ? b.along[r] * b.along[c] / b.pivot
                                                        : b.along[r] * (b.along[c] / b.pivot);
    }
  }
  const Vec6<S> force =
      sum(sum(b.force, product(inertia, b.velocity_product)), b.along, b.rest / b.pivot);
  return {inertia, force};
}

template <class S>
Mat3<S> identity() {
  return {{S(1), S(0), S(0)}, {S(0), S(1), S(0)}, {S(0), S(0), S(1)}};
}

/// All in the axes of the base frame and about its origin: nothing is transformed between links.
template <class S>
Values<S> aba_base_frame(const ReferenceChain<S>& chain, const Values<S>& q, const Values<S>& qd,
                         const Values<S>& tau, Division division) {
  const std::size_t n = chain.size();
  const auto joint = placements(chain, q);
  std::vector<Articulated<S>> body;
  Mat3<S> turned = identity<S>();
  Vec3<S> origin;
  Vec6<S> velocity{};
  for (std::size_t i = 0; i < n; ++i) {
    const ReferenceLink<S>& l = chain.links[i];
    origin = origin + turned * joint[i].offset;
    turned = turned * joint[i].rotation;
    const Vec3<S> z{turned.r0.z, turned.r1.z, turned.r2.z};
    const Vec6<S> axis = spatial(z, cross(origin, z));
    const Vec3<S> com = origin + turned * l.com;
    velocity = sum(velocity, axis, qd[i]);
    body.push_back(articulated(axis, spatial_inertia(l.mass, com, similarity(turned, l.central)),
                               velocity, qd[i]));
  }
  for (std::size_t i = n; i-- > 0;) {
    const auto [inertia, force] = handed_on(body[i], tau[i], division);
    if (i == 0) break;
    body[i - 1].inertia = sum(body[i - 1].inertia, inertia);
    body[i - 1].force = sum(body[i - 1].force, force);
  }
  Values<S> qdd(n);
  Vec6<S> acceleration = spatial(Vec3<S>{}, chain.base_acceleration);
  for (std::size_t i = 0; i < n; ++i) {
    const Articulated<S>& b = body[i];
    acceleration = sum(acceleration, b.velocity_product);
    qdd[i] = (b.rest - product(b.along, acceleration)) / b.pivot;
    acceleration = sum(acceleration, b.axis, qdd[i]);
  }
  return qdd;
}

/// In which axes aba_about_links works; it is always about O_i.
enum class Axes { kBase, kLink };

template <class S>
Values<S> aba_about_links(const ReferenceChain<S>& chain, const Values<S>& q, const Values<S>& qd,
                          const Values<S>& tau, Axes axes, Division division) {
  const std::size_t n = chain.size();
  const auto joint = placements(chain, q);
  std::vector<Articulated<S>> body;
  std::vector<Mat6<S>> down;
  Mat3<S> turned = identity<S>();  // the link's axes seen from those used
  Vec6<S> velocity{};
  for (std::size_t i = 0; i < n; ++i) {
    const ReferenceLink<S>& l = chain.links[i];
    if (axes == Axes::kBase) {
      down.push_back(motion_transform(Placement<S>{identity<S>(), turned * joint[i].offset}));
      turned = turned * joint[i].rotation;
    } else {
      down.push_back(motion_transform(joint[i]));
    }
    const Vec6<S> axis = spatial(Vec3<S>{turned.r0.z, turned.r1.z, turned.r2.z}, Vec3<S>{});
    const Vec3<S> com = turned * l.com;
    velocity = sum(product(down[i], velocity), axis, qd[i]);
    body.push_back(articulated(axis, spatial_inertia(l.mass, com, similarity(turned, l.central)),
                               velocity, qd[i]));
  }
  for (std::size_t i = n; i-- > 0;) {
    const auto [inertia, force] = handed_on(body[i], tau[i], division);
    if (i == 0) break;
    body[i - 1].inertia = sum(body[i - 1].inertia, carried_up(down[i], inertia));
    body[i - 1].force = sum(body[i - 1].force, product(transposed(down[i]), force));
  }
  Values<S> qdd(n);
  Vec6<S> acceleration = spatial(Vec3<S>{}, chain.base_acceleration);
  for (std::size_t i = 0; i < n; ++i) {
    const Articulated<S>& b = body[i];
    acceleration = sum(product(down[i], acceleration), b.velocity_product);
    qdd[i] = (b.rest - product(b.along, acceleration)) / b.pivot;
    acceleration = sum(acceleration, b.axis, qdd[i]);
  }
  return qdd;
}

// --- composite-rigid-body algorithm -------------------------------------------------------------

/// D with the composite bodies i..n about their centres of mass.
template <class S>
Values<S> inertia_crba_com(const ReferenceChain<S>& chain, const Values<S>& q) {
  const std::size_t n = chain.size();
  const auto joint = placements(chain, q);
  Values<S> to(n * n);
  S mass(0);
  Vec3<S> com;
  Sym3<S> central;
  for (std::size_t j = n; j-- > 0;) {
    const ReferenceLink<S>& l = chain.links[j];
    if (j + 1 == n) {
      mass = l.mass, com = l.com, central = l.central;
    } else {
      const Mat3<S>& r = joint[j + 1].rotation;
      const Vec3<S> behind = joint[j + 1].offset + r * com;
      const S total = l.mass + mass;
      const Vec3<S> moment = l.mass * l.com + mass * behind;
      const Vec3<S> middle{moment.x / total, moment.y / total, moment.z / total};
      central = l.central + l.mass * point_inertia(l.com - middle) + similarity(r, central) +
                mass * point_inertia(behind - middle);
      mass = total, com = middle;
    }
    // Force and moment about O_j of a unit acceleration of joint j.
    const Vec3<S> z{S(0), S(0), S(1)};
    Vec3<S> f = mass * cross(z, com);
    Vec3<S> t = central * z + cross(com, f);
    to[j * n + j] = t.z;
    for (std::size_t k = j; k-- > 0;) {
      f = joint[k + 1].rotation * f;
      t = joint[k + 1].rotation * t + cross(joint[k + 1].offset, f);
      to[j * n + k] = to[k * n + j] = t.z;
    }
  }
  return to;
}

/// D with spatial inertias about the link frames.
template <class S>
Values<S> inertia_crba_spatial(const ReferenceChain<S>& chain, const Values<S>& q) {
  const std::size_t n = chain.size();
  const auto joint = placements(chain, q);
  Values<S> to(n * n);
  Mat6<S> composite{};
  for (std::size_t j = n; j-- > 0;) {
    const ReferenceLink<S>& l = chain.links[j];
    const Mat6<S> own = spatial_inertia(l.mass, l.com, l.central);
    if (j + 1 == n) {
      composite = own;
    } else {
      composite = sum(own, carried_up(motion_transform(joint[j + 1]), composite));
    }
    Vec6<S> f = composite[2];  // inertia times the axis
    to[j * n + j] = f[2];
    for (std::size_t k = j; k-- > 0;) {
      f = product(transposed(motion_transform(joint[k + 1])), f);
      to[j * n + k] = to[k * n + j] = f[2];
    }
  }
  return to;
}

/// h by Newton–Euler, about the centres of mass (Luh, Walker, Paul 1980). At rest, operation by
/// operation, it is also the bias vector of Mata et al. 2002 §4.1.
template <class S>
Values<S> bias_about_com(const ReferenceChain<S>& chain, const Values<S>& q, const Values<S>& qd) {
  const std::size_t n = chain.size();
  const auto joint = placements(chain, q);
  std::vector<Vec3<S>> force(n), moment(n);
  Vec3<S> w, dw, dds = chain.base_acceleration;
  for (std::size_t i = 0; i < n; ++i) {
    const ReferenceLink<S>& l = chain.links[i];
    const Mat3<S> e = ga_dynamics::transposed(joint[i].rotation);
    const Vec3<S>& s = joint[i].offset;
    dds = e * (dds + cross(dw, s) + cross(w, cross(w, s)));
    const Vec3<S> z{S(0), S(0), S(1)}, before = e * w;
    dw = e * dw + qd[i] * cross(before, z);
    w = before + qd[i] * z;
    force[i] = l.mass * (dds + cross(dw, l.com) + cross(w, cross(w, l.com)));
    moment[i] = l.central * dw + cross(w, l.central * w);
  }
  Values<S> to(n);
  Vec3<S> f, t;
  for (std::size_t i = n; i-- > 0;) {
    if (i + 1 < n) {
      f = joint[i + 1].rotation * f;
      t = joint[i + 1].rotation * t + cross(joint[i + 1].offset, f);
    }
    t = moment[i] + cross(chain.links[i].com, force[i]) + t;
    f = f + force[i];
    to[i] = t.z;
  }
  return to;
}

/// h by Newton–Euler with spatial vectors in the link frames.
template <class S>
Values<S> bias_spatial(const ReferenceChain<S>& chain, const Values<S>& q, const Values<S>& qd) {
  const std::size_t n = chain.size();
  const auto joint = placements(chain, q);
  std::vector<Vec6<S>> force(n);
  Vec6<S> velocity{}, acceleration = spatial(Vec3<S>{}, chain.base_acceleration);
  const Vec6<S> axis{S(0), S(0), S(1), S(0), S(0), S(0)};
  for (std::size_t i = 0; i < n; ++i) {
    const ReferenceLink<S>& l = chain.links[i];
    const Mat6<S> down = motion_transform(joint[i]);
    velocity = sum(product(down, velocity), axis, qd[i]);
    acceleration = sum(product(down, acceleration), cross_motion(velocity, axis), qd[i]);
    const Mat6<S> inertia = spatial_inertia(l.mass, l.com, l.central);
    force[i] =
        sum(product(inertia, acceleration), cross_force(velocity, product(inertia, velocity)));
  }
  Values<S> to(n);
  for (std::size_t i = n; i-- > 0;) {
    to[i] = force[i][2];
    if (i > 0) {
      force[i - 1] = sum(force[i - 1], product(transposed(motion_transform(joint[i])), force[i]));
    }
  }
  return to;
}

// --- Gibbs–Appell -----------------------------------------------------------------------------

/// D as Mata et al. 2002 §4.2 prints it, step by step, with whole rotation matrices.
template <class S>
Values<S> inertia_gah_printed(const ReferenceChain<S>& chain, const Values<S>& q) {
  const std::size_t n = chain.size();
  const auto joint = placements(chain, q);
  // Steps 1, 4, 5: φ_i and ψ_i, first moment and inertia about O_i of the links i..n.
  std::vector<Vec3<S>> phi(n);
  std::vector<Sym3<S>> psi(n);
  S mass(0);
  for (std::size_t i = n; i-- > 0;) {
    const ReferenceLink<S>& l = chain.links[i];
    phi[i] = l.mass * l.com;
    psi[i] = l.central + l.mass * point_inertia(l.com);
    if (i + 1 < n) {
      const Vec3<S>& s = joint[i + 1].offset;
      const Mat3<S>& r = joint[i + 1].rotation;
      const Vec3<S> behind = r * phi[i + 1];
      phi[i] = phi[i] + mass * s + behind;
      psi[i] =
          psi[i] + mass * point_inertia(s) + mixed_inertia(s, behind) + similarity(r, psi[i + 1]);
    }
    mass = l.mass + mass;
  }
  // Steps 2, 3, 6, 7: lever {j}s_{k,j} and axis {j}z_k of the earlier joints.
  Values<S> to(n * n);
  for (std::size_t k = 0; k < n; ++k) {
    to[k * n + k] = psi[k].zz;
    Vec3<S> z{S(0), S(0), S(1)}, s;
    for (std::size_t j = k + 1; j < n; ++j) {
      const Mat3<S> e = ga_dynamics::transposed(joint[j].rotation);
      z = e * z;
      s = e * (s + joint[j].offset);
      const Vec3<S> column{psi[j].xz - s.z * phi[j].x, psi[j].yz - s.z * phi[j].y,
                           psi[j].zz + s.x * phi[j].x + s.y * phi[j].y};
      to[j * n + k] = to[k * n + j] = dot(z, column);
    }
  }
  return to;
}

}  // namespace ga_dynamics::test

#endif  // REFERENCE_DYNAMICS_HPP_
