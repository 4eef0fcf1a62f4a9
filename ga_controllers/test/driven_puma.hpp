// SPDX-License-Identifier: Apache-2.0
#ifndef DRIVEN_PUMA_HPP_
#define DRIVEN_PUMA_HPP_

#include <algorithm>
#include <cmath>
#include <span>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/plant.hpp"
#include "wave.hpp"

namespace ga_controllers {

/// The PUMA under a law, cycle by cycle.
struct Drive {
  Drive(const LawParameters& p, bool friction, const Values& q, const Values& qd,
        const ga_dynamics::Chain& real = puma())
      : chain(puma()), law(chain, p), plant(real, {.friction = friction, .stops = false}), tau(6) {
    plant.reset(q, qd);
    law.start(q, qd, Values(6, NAN));
  }
  /// One cycle; returns the largest torque change, relative to the limit.
  double cycle(const Reference& reference, bool blind = false) {
    const Values before = tau, bad(6, NAN);
    status = law.update(blind ? std::span<const double>(bad) : plant.q(), plant.qd(), reference,
                        kDt, tau);
    double step = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      step = std::max(step, std::abs(tau[i] - before[i]) / chain.joints()[i].limits.effort);
      fastest = std::max(fastest, std::abs(plant.qd()[i]) / chain.joints()[i].limits.velocity);
    }
    plant.step(tau, kDt);
    return step;
  }
  double cycles(const Reference& reference, int count) {
    double step = 0;
    for (int k = 0; k < count; ++k) step = std::max(step, cycle(reference));
    return step;
  }
  double follow(double from, double to) {
    double step = 0;
    for (int k = 0; k < static_cast<int>(std::round((to - from) / kDt)); ++k) {
      step = std::max(step, cycle(Wave(from + k * kDt).reference()));
    }
    return step;
  }
  Values position() const { return {plant.q().begin(), plant.q().end()}; }

  ga_dynamics::Chain chain;
  ControlLaw law;
  ga_dynamics::Plant plant;
  Values tau;
  LawStatus status = LawStatus::kOk;
  double fastest = 0;  ///< relative to the velocity limit
};

}  // namespace ga_controllers

#endif  // DRIVEN_PUMA_HPP_
