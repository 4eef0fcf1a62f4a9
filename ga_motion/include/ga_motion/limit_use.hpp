// SPDX-License-Identifier: Apache-2.0
#ifndef GA_MOTION__LIMIT_USE_HPP_
#define GA_MOTION__LIMIT_USE_HPP_

// How much of its limits a motion needs: positions, velocities and motor torques of every joint. And
// the constant acceleration limits that keep the torque limits wherever the arm is, for planners that
// know no torques.
//
//   const auto use = ga_motion::limit_use(chain, ga_motion::limits_of(chain), *motion);
//   if (!use.within(0.005)) …
//
// Units: rad and m, s, N m and N.
// Real-time safety: everything allocates.
// Throws: std::invalid_argument, naming the argument, for sizes that do not fit.

#include <cstddef>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "ga_motion/time_parameterization.hpp"
#include "ga_motion/trajectory.hpp"

namespace ga_motion {

/// The largest value of a quantity along a motion, and when.
struct PeakUse {
  double value = 0;      ///< signed
  double share = 0;      ///< |value| over the limit; 0 without a limit
  double time = 0;       ///< s
  double time_over = 0;  ///< s beyond the limit
};

struct JointUse {
  PeakUse torque;  ///< rigid bodies, rotor inertia, friction
  PeakUse velocity;
  /// The distance to the nearer position limit; value: the position where it is least. share: 1 at a
  /// limit, more beyond it by so many rad or m, less within.
  PeakUse position;
  double saturated = 0;  ///< share of the time with 98 % of the torque limit or more
};

struct LimitUse {
  std::vector<JointUse> joints;
  double duration = 0;  ///< s

  /// No limit exceeded by more than this share of it, no position limit by more than 1e-6 rad or m.
  bool within(double tolerance) const;
};

/// Samples the motion every `step` [s] or closer, and at `times` if given. `chain` with its payload.
/// An infinite limit is none.
LimitUse limit_use(const ga_dynamics::Chain& chain, const TimingLimits& limits,
                   const Trajectory& motion, double step = 1e-3,
                   std::span<const double> times = {});

/// Acceleration limits [rad/s², m/s²], one per joint, with which no torque limit is exceeded at any of
/// `postures` random postures within the position limits, at any velocities within the velocity limits
/// and any accelerations within these; those of the largest product. Friction counts. Empty if there
/// are none: gravity, friction and fast motion alone exceed a torque limit. The same seed gives the
/// same limits. Postures of joints without position limits are within ±π; throws
/// std::invalid_argument for limits of torque or velocity that are infinite.
std::vector<double> safe_accelerations(const ga_dynamics::Chain& chain, const TimingLimits& limits,
                                       int postures = 2000, unsigned seed = 1);

}  // namespace ga_motion

#endif  // GA_MOTION__LIMIT_USE_HPP_
