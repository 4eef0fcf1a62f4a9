// SPDX-License-Identifier: Apache-2.0
#ifndef EXPERIMENTS__REFERENCE__CHAIN_HPP_
#define EXPERIMENTS__REFERENCE__CHAIN_HPP_

// A revolute chain of any scalar type for the forward dynamics that Mata et al. 2002 §5 compares; the
// methods are in the other files of this folder. Written for clarity and for the rounding of the
// printed formulas, not for speed: it allocates.

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "ga_dynamics/algorithm/linear.hpp"
#include "ga_dynamics/chain.hpp"

namespace ga_tools::reference {

using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;
using ga_dynamics::Mat3;
using ga_dynamics::Sym3;
using ga_dynamics::Vec3;
using ga_dynamics::Vector3;

template <class S>
using Values = std::vector<S>;

/// Joint i in modified Denavit–Hartenberg parameters and link i in frame i.
template <class S>
struct ReferenceLink {
  S cos_alpha{}, sin_alpha{}, a{}, d{}, theta{};
  S mass{};
  Vec3<S> com;
  Sym3<S> central;  ///< inertia about the center of mass
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

/// The pose of frame i in frame i-1.
template <class S>
struct Placement {
  Mat3<S> rotation;
  Vec3<S> offset;
};

template <class S>
using Placements = std::vector<Placement<S>>;

template <class S>
Placements<S> placements(const ReferenceChain<S>& chain, const Values<S>& q) {
  Placements<S> to;
  to.reserve(chain.size());
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

}  // namespace ga_tools::reference

#endif  // EXPERIMENTS__REFERENCE__CHAIN_HPP_
