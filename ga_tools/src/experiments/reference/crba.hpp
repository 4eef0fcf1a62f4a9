// SPDX-License-Identifier: Apache-2.0
#ifndef EXPERIMENTS__REFERENCE__CRBA_HPP_
#define EXPERIMENTS__REFERENCE__CRBA_HPP_

// CRBA, the composite-rigid-body algorithm, about the centers of mass of the composite bodies
// (M.W. Walker, D.E. Orin 1982, method 3) or with spatial inertias about the link frames, and the
// bias vector of each.

#include <cstddef>
#include <vector>

#include "experiments/reference/spatial.hpp"

namespace ga_tools::reference {

using ga_dynamics::Mat3;
using ga_dynamics::Sym3;
using ga_dynamics::Vec3;

/// D with the composite bodies i..n about their centers of mass.
template <class S>
Values<S> inertia_crba_com(const ReferenceChain<S>& chain, const Placements<S>& joint) {
  const std::size_t n = chain.size();
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

template <class S>
Values<S> inertia_crba_com(const ReferenceChain<S>& chain, const Values<S>& q) {
  return inertia_crba_com(chain, placements(chain, q));
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

/// h by Newton–Euler, about the centers of mass (Luh, Walker, Paul 1980). At rest, operation by
/// operation, it is also the bias vector of Mata et al. 2002 §4.1.
template <class S>
Values<S> bias_about_com(const ReferenceChain<S>& chain, const Placements<S>& joint,
                         const Values<S>& qd) {
  const std::size_t n = chain.size();
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

template <class S>
Values<S> bias_about_com(const ReferenceChain<S>& chain, const Values<S>& q, const Values<S>& qd) {
  return bias_about_com(chain, placements(chain, q), qd);
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

}  // namespace ga_tools::reference

#endif  // EXPERIMENTS__REFERENCE__CRBA_HPP_
