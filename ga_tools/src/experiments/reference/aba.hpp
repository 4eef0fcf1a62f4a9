// SPDX-License-Identifier: Apache-2.0
#ifndef EXPERIMENTS__REFERENCE__ABA_HPP_
#define EXPERIMENTS__REFERENCE__ABA_HPP_

// ABA, the articulated-body algorithm (R. Featherstone, "Robot Dynamics Algorithms", 1987), all in
// the base frame and about its origin, or each link about its own frame's origin.

#include <cstddef>
#include <utility>
#include <vector>

#include "experiments/reference/spatial.hpp"

namespace ga_tools::reference {

using ga_dynamics::Mat3;
using ga_dynamics::Vec3;

/// How IA − U Uᵀ/d is written: (U Uᵀ)/d, or U (Uᵀ/d), which takes the joint's own axis out of IA
/// exactly: u·(u/u) is u in floating point, (u·u)/u need not be.
enum class Division { kOfProduct, kOfFactor };

/// Intermediate results of one joint.
template <class S>
struct Articulated {
  Vec6<S> axis{}, velocity_product{};
  Mat6<S> inertia{};  ///< IA; the link's own until the distal bodies are added
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

/// The inertia and the force that the joint transmits to its parent.
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
  body.reserve(n);
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
  body.reserve(n);
  std::vector<Mat6<S>> down;
  Mat3<S> turned = identity<S>();  // the link's axes in those used
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

}  // namespace ga_tools::reference

#endif  // EXPERIMENTS__REFERENCE__ABA_HPP_
