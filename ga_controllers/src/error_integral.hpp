// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__ERROR_INTEGRAL_HPP_
#define GA_CONTROLLERS__ERROR_INTEGRAL_HPP_

// Integral of the tracking error, with anti-windup: it does not wind up under torque saturation,
// does not hunt around the goal under stiction while the reference rests, and does not carry torque
// against stiction into the next motion.
//
// In each update of the law: advance(), v from sum(), the torque of v, relax().

#include <span>
#include <vector>

#include "followed_reference.hpp"
#include "ga_controllers/control_law.hpp"
#include "measured_arm.hpp"

namespace ga_controllers {

/// Construction allocates. All else is real-time safe: no allocation, no lock, no exception. Units:
/// rad, s, N m (m, N for prismatic joints).
class ErrorIntegral {
 public:
  ErrorIntegral(const LawParameters& parameters, std::size_t joints);

  /// Resets the integral, at a start or a change of law.
  void clear() noexcept;
  /// Rescales the integral so that its part of v does not change.
  void change_gain(std::size_t joint, double ki_before, double ki) noexcept {
    sum_[joint] = ki > 0 ? sum_[joint] * ki_before / ki : 0;
  }

  /// Integrates e = q − q_ref for dt [s]. Discards the torque against stiction when a rest ends.
  /// `saturation`: +1 at the upper torque limit, −1 at the lower one.
  void advance(double dt, const FollowedReference& reference, std::span<const int> saturation,
               std::span<const JointGains> gains, MeasuredArm& arm) noexcept;
  /// Where the joint rests at its goal, removes the torque against stiction from `tau` and from its
  /// `friction` part.
  void relax(const MeasuredArm& arm, std::span<double> tau, std::span<double> friction) noexcept;

  std::span<const double> sum() const noexcept { return sum_; }  ///< ∫e dt, rad s

 private:
  enum class Rest {
    kMoving,   ///< the reference moves
    kOffGoal,  ///< the reference rests, the joint is outside the dead band
    kAtGoal
  };
  void discard_stiction_torque(std::span<const JointGains> gains, MeasuredArm& arm) noexcept;

  double dead_band_, limit_;
  double friction_;       ///< share that is fed forward
  double rest_velocity_;  ///< rad/s; a slower reference counts as resting
  std::vector<double> sum_;
  std::vector<Rest> rest_;
  std::vector<char> at_rest_;            ///< rest_torque_ is valid for this rest
  std::vector<int> direction_;           ///< of the last push: +1, −1; 0: none in this rest
  std::vector<double> rest_torque_;      ///< when the reference came to rest
  std::vector<double> stiction_torque_;  ///< added since then, up to the Coulomb friction
  std::vector<double> step_, factor_;    ///< scratch of discard_stiction_torque()
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__ERROR_INTEGRAL_HPP_
