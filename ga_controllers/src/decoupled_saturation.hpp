// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__DECOUPLED_SATURATION_HPP_
#define GA_CONTROLLERS__DECOUPLED_SATURATION_HPP_

// Keeps the joints that are not saturated on their commanded accelerations while others are. If
// each torque were clamped on its own, the torque that a saturated joint lacks would accelerate its
// neighbors through the inertia matrix D: a light distal joint without rotor inertia is thrown at
// many times its velocity limit.
//
// The torques are projected onto the box of the torque limits in the metric of D⁻¹
// (box_projection.hpp). That is a continuous function of the wanted torques. The joints that it
// leaves within their limits have their commanded accelerations, a joint at its upper limit has no
// more than its commanded one, at its lower limit no less. The path is not kept: the saturated
// joints fall behind.
//
// The model is taken to be right about which joints move. A saturated joint that cannot (its brake
// is on, or it is against an obstacle) does not have the acceleration that the others are adjusted
// to: they get D times it as a disturbance, which their feedback holds against. Likewise a
// saturated joint that hits its stop steps the torques of the others, by about one limit on the
// PUMA at 3 rad/s, where torques that are clamped one by one step by 5 %. The measured acceleration
// that could tell is not known to the law.

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

  /// Projects the torques. One at its limit is left beyond it, so that the caller sees that it is
  /// cut. Updates the arm's inertia if any is beyond its limit.
  void apply(MeasuredArm& arm, std::span<double> tau) noexcept;

 private:
  BoxProjection projection_;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__DECOUPLED_SATURATION_HPP_
