// SPDX-License-Identifier: Apache-2.0
#ifndef TIMING_PATHS_HPP_
#define TIMING_PATHS_HPP_

// Way-points of the PUMA 560, drawn at random and rounded, and the durations that toppra 0.6.2 (Pham
// and Pham's own implementation, github.com/hungpham2511/toppra) finds along natural cubic splines
// through them with knots 0, 1/4 … 1, 1000 equal intervals, interpolation scheme, and the torques of
// Pinocchio for puma560.urdf with rotor inertia.

#include <limits>
#include <vector>

#include "ga_motion/time_parameterization.hpp"

namespace ga_motion::test {

inline const ga_dynamics::Chain& puma() {
  static const auto chain = ga_dynamics::Chain::from_urdf_file(PUMA_URDF);
  return chain;
}

inline TimingLimits without_position_limits(const ga_dynamics::Chain& chain) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  TimingLimits limits = limits_of(chain);
  limits.lower.assign(limits.lower.size(), -kInfinity);
  limits.upper.assign(limits.upper.size(), kInfinity);
  return limits;
}

using Points = std::vector<std::vector<double>>;

inline const std::vector<double> kQuarters{0, 0.25, 0.5, 0.75, 1};

/// P1, P2: anywhere in the joint ranges. P3, P4: within 0.4 rad of a posture.
inline const std::vector<Points> kPaths{{{0.06, 0.21, 0.27, 2.50, -0.56, -0.61},
                                         {1.56, -1.93, 1.95, -1.74, 0.75, 0.30},
                                         {-0.81, -0.43, 0.93, 0.22, -1.09, -0.76},
                                         {-1.41, -2.51, 2.79, -0.57, -0.04, 3.79},
                                         {2.19, -0.68, 1.92, -0.59, -1.01, 3.71}},
                                        {{2.21, -1.96, 0.89, 2.03, -1.11, 1.84},
                                         {-1.48, -2.00, 0.63, 2.01, -0.33, 3.75},
                                         {0.59, -0.81, 1.83, -0.44, -0.31, 3.48},
                                         {-1.42, 0.36, 2.82, -0.21, 0.42, -0.94},
                                         {-0.56, -1.56, -0.26, 0.41, 1.40, -1.69}},
                                        {{-1.31, -2.68, 2.79, -1.20, 0.33, 1.42},
                                         {-1.12, -2.18, 2.91, -1.22, 0.65, 1.84},
                                         {-1.15, -2.57, 2.85, -1.32, 0.59, 1.92},
                                         {-1.21, -1.98, 2.95, -1.18, -0.03, 1.38},
                                         {-1.30, -2.01, 3.12, -1.05, 0.40, 1.62}},
                                        {{-0.10, -0.84, 2.41, -1.18, 1.11, 2.38},
                                         {0.29, -0.96, 2.06, -1.25, 0.93, 2.67},
                                         {0.22, -0.99, 2.42, -0.92, 0.98, 2.21},
                                         {0.55, -1.15, 2.18, -0.86, 1.60, 2.27},
                                         {0.10, -0.61, 2.05, -1.23, 1.30, 2.83}}};

}  // namespace ga_motion::test

#endif  // TIMING_PATHS_HPP_
