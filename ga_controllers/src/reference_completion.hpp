// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__REFERENCE_COMPLETION_HPP_
#define GA_CONTROLLERS__REFERENCE_COMPLETION_HPP_

// Adds the rates that an input reference lacks:
// - Positions alone become a spline (reference_spline.hpp). While no joint could follow the spline
//   (steps), or its acceleration changes abruptly (noise), the positions pass without rates.
// - Without accelerations, the change of the velocity since the last sample is used.
// - A moving sample that repeats to the last bit is held by a sender that is slower than the law: it
//   is extrapolated for up to kLongestHold.
//
// Real-time safe after construction: no allocation, no lock, no exception. Units: rad, s (m for
// prismatic joints).

#include <span>
#include <vector>

#include "blending.hpp"
#include "ga_controllers/control_law.hpp"
#include "reference_spline.hpp"

namespace ga_controllers {

/// Positions, velocities and accelerations of all joints. Construction allocates.
struct Motion {
  explicit Motion(std::size_t n) : q(n), qd(n), qdd(n) {}
  Reference view() const noexcept { return {q, qd, qdd}; }
  std::vector<double> q, qd, qdd;
};

class ReferenceCompletion {
 public:
  explicit ReferenceCompletion(std::size_t joints);

  /// Forgets the samples: there is no reference, or the law starts.
  void reset() noexcept;
  /// Takes a finite reference; missing velocities or accelerations are empty. Limits of each joint:
  /// velocity [rad/s] and acceleration at the torque limit [rad/s²].
  void take(const Reference& reference, double dt, std::span<const double> velocity_limit,
            std::span<const double> acceleration_limit) noexcept;

  Blending::State state(std::size_t joint) const noexcept {
    return {motion_.q[joint], motion_.qd[joint], motion_.qdd[joint]};
  }
  /// The accelerations are estimated from velocities.
  bool estimated() const noexcept { return estimated_; }

 private:
  void take_positions(std::span<const double> q, double dt, std::span<const double> velocity_limit,
                      std::span<const double> acceleration_limit) noexcept;
  void take_sample(const Reference& reference, double dt) noexcept;
  bool repeats(const Reference& reference) const noexcept;

  Motion motion_, sample_;  ///< completed; last sample
  ReferenceSpline spline_;
  int rough_cycles_ = 0;  ///< until the spline has forgotten what could not be followed
  double held_for_ = 0;   ///< s
  bool has_sample_ = false, estimated_ = false;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__REFERENCE_COMPLETION_HPP_
