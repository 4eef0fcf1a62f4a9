// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__DECOUPLED_SATURATION_HPP_
#define GA_CONTROLLERS__DECOUPLED_SATURATION_HPP_

// Keeps the joints that are not saturated on their commanded accelerations while others are. If
// each torque were clamped on its own, the torque that a saturated joint lacks would accelerate its
// neighbors through the inertia matrix: a light distal joint without rotor inertia is thrown at
// many times its velocity limit.
//
// With S the saturated joints, U the others and e the torque that S lacks, the accelerations of S
// change by D_SS⁻¹ e. The torques of U change by D_US D_SS⁻¹ e, which leaves the accelerations of U
// as commanded. The path is not kept: the joints of S fall behind.

#include <span>
#include <vector>

#include "arm_state.hpp"

namespace ga_controllers {

/// Construction allocates. All else is real-time safe: no allocation, no lock, no exception. Units:
/// N m (N for prismatic joints).
class DecoupledSaturation {
 public:
  explicit DecoupledSaturation(std::size_t joints);

  /// Adjusts the torques of the joints within the arm's torque limits to the saturation of the
  /// others. Saturated torques are not clamped here, so that the caller sees them. Updates the
  /// arm's inertia if there are any.
  void apply(ArmState& arm, std::span<double> tau) noexcept;

 private:
  void solve(const ArmState& arm, std::span<const double> tau, std::size_t count) noexcept;

  std::vector<char> is_saturated_;
  std::vector<std::size_t> saturated_;  ///< indices of S
  std::vector<double> change_;          ///< of the accelerations of S, rad/s²
  std::vector<double> factor_;          ///< scratch: D_SS
  std::vector<double> adjusted_;        ///< torques
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__DECOUPLED_SATURATION_HPP_
