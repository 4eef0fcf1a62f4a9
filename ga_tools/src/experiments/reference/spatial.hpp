// SPDX-License-Identifier: Apache-2.0
#ifndef EXPERIMENTS__REFERENCE__SPATIAL_HPP_
#define EXPERIMENTS__REFERENCE__SPATIAL_HPP_

// Spatial vectors and matrices, the angular part first.

#include <array>
#include <cstddef>

#include "experiments/reference/chain.hpp"

namespace ga_tools::reference {

using ga_dynamics::Mat3;
using ga_dynamics::Sym3;
using ga_dynamics::Vec3;

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

/// Inertia about the origin of a body with center of mass c.
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

}  // namespace ga_tools::reference

#endif  // EXPERIMENTS__REFERENCE__SPATIAL_HPP_
