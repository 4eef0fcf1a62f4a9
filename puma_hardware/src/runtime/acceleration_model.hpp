// SPDX-License-Identifier: Apache-2.0
#ifndef RUNTIME__ACCELERATION_MODEL_HPP_
#define RUNTIME__ACCELERATION_MODEL_HPP_

// What acceleration the torque on the amplifiers gives the arm, by its model: for the velocity
// observer of a component that sees torques alone and not the law behind them.

#include <array>
#include <span>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "puma_hardware/arm/puma_arm.hpp"

namespace puma_hardware {

/// Construction allocates; the rest is real-time safe and does not throw. Six joints.
class AccelerationModel {
 public:
  explicit AccelerationModel(const ga_dynamics::Chain& model);

  /// rad/s² at this state under the torque that was written; valid until the next call.
  std::span<const double> predict(const ArmReading& reading) noexcept;

 private:
  ga_dynamics::Dynamics dynamics_;
  std::vector<ga_dynamics::Drive> drives_;
  std::array<double, 6> torque_{}, acceleration_{};
};

}  // namespace puma_hardware

#endif  // RUNTIME__ACCELERATION_MODEL_HPP_
