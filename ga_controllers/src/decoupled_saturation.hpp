// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__DECOUPLED_SATURATION_HPP_
#define GA_CONTROLLERS__DECOUPLED_SATURATION_HPP_

// Torque saturation that preserves the commanded accelerations of the unsaturated joints. If each
// torque were clamped separately, the missing torque of a saturated joint would accelerate its
// neighbors through the inertia matrix D: a light distal joint without rotor inertia would reach
// many times its velocity limit.
//
// The torques are projected onto the box of the torque limits in the metric of D⁻¹
// (box_projection.hpp), which is a continuous function of the target torques. Joints within their
// limits keep their commanded accelerations. A joint at its upper limit accelerates no more than
// commanded, at its lower limit no less. The path is not preserved: saturated joints lag behind.
//
// This assumes that the saturated joints move as the model predicts. If one cannot (its brake is
// closed, or it touches an obstacle), the others are adjusted to an acceleration that does not
// occur, and their feedback has to compensate D times the difference. Likewise, when a saturated
// joint hits its stop, the torques of the others step: by about one limit on the PUMA at 3 rad/s,
// where separately clamped torques step by 5 %. The law does not measure accelerations, so it
// cannot detect this.

#include <span>
#include <vector>

#include "box_projection.hpp"
#include "measured_arm.hpp"

namespace ga_controllers {

/// Construction allocates. All else is real-time safe: no allocation, no lock, no exception. Units:
/// N m (N for prismatic joints).
class DecoupledSaturation {
 public:
  explicit DecoupledSaturation(std::size_t joints) : projection_(joints) {}

  /// Projects the torques. A torque at its limit is left slightly beyond it, so that the caller
  /// detects the saturation. Updates the arm's inertia if any torque exceeds its limit.
  void apply(MeasuredArm& arm, std::span<double> tau) noexcept;

 private:
  BoxProjection projection_;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__DECOUPLED_SATURATION_HPP_
