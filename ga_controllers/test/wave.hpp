// SPDX-License-Identifier: Apache-2.0
#ifndef WAVE_HPP_
#define WAVE_HPP_

// The PUMA of the tests of the laws and a motion for it.

#include <cmath>
#include <string>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"

namespace ga_controllers {

using Values = std::vector<double>;

constexpr double kDt = 1e-3;
constexpr LawKind kAllLaws[] = {LawKind::kPointToPoint,        LawKind::kTracking,
                                LawKind::kTrackingIntegral,    LawKind::kGravityHold,
                                LawKind::kGravityCompensation, LawKind::kHandGuiding};

inline ga_dynamics::Chain puma() {
  return ga_dynamics::Chain::from_urdf_file(std::string(GA_ROBOTS) + "/puma560_akb.urdf");
}

/// A smooth motion of all joints.
struct Wave {
  explicit Wave(double t) {
    for (int i = 0; i < 6; ++i) {
      const double w = 1 + 0.2 * i, a = 0.3, middle = i == 1 ? -0.8 : i == 2 ? 1.6 : 0.1;
      q.push_back(middle + a * std::sin(w * t + i));
      qd.push_back(a * w * std::cos(w * t + i));
      qdd.push_back(-a * w * w * std::sin(w * t + i));
    }
  }
  Reference reference() const { return {q, qd, qdd}; }
  Values q, qd, qdd;
};

inline LawParameters parameters(LawKind kind, double bandwidth = 30) {
  LawParameters p;
  p.kind = kind;
  p.gains = {gains_from_bandwidth(bandwidth, 1)};
  return p;
}

}  // namespace ga_controllers

#endif  // WAVE_HPP_
