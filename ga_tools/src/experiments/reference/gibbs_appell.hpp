// SPDX-License-Identifier: Apache-2.0
#ifndef EXPERIMENTS__REFERENCE__GIBBS_APPELL_HPP_
#define EXPERIMENTS__REFERENCE__GIBBS_APPELL_HPP_

// GA, the method of Mata et al. 2002, in the order of operations that it prints.

#include <cstddef>
#include <vector>

#include "experiments/reference/chain.hpp"

namespace ga_tools::reference {

using ga_dynamics::Mat3;
using ga_dynamics::Sym3;
using ga_dynamics::Vec3;

/// D as Mata et al. 2002 §4.2 prints it, step by step, with whole rotation matrices.
template <class S>
Values<S> inertia_gah_printed(const ReferenceChain<S>& chain, const Placements<S>& joint) {
  const std::size_t n = chain.size();
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
template <class S>
Values<S> inertia_gah_printed(const ReferenceChain<S>& chain, const Values<S>& q) {
  return inertia_gah_printed(chain, placements(chain, q));
}

}  // namespace ga_tools::reference

#endif  // EXPERIMENTS__REFERENCE__GIBBS_APPELL_HPP_
