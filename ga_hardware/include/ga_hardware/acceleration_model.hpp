// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__ACCELERATION_MODEL_HPP_
#define GA_HARDWARE__ACCELERATION_MODEL_HPP_

// The acceleration that the torques of the motors give the arm, by its model: for the velocity
// observers of an arm that sees torques alone and not the law behind them.

#include <span>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "ga_dynamics/dynamics.hpp"

namespace ga_hardware {

/// Construction allocates; the rest is real-time safe and does not throw. Spans hold one value per
/// joint.
class AccelerationModel {
 public:
  /// `friction`: the arm has the friction of its description, not none.
  explicit AccelerationModel(const ga_dynamics::Chain& model, bool friction = true);

  /// rad/s² at this state under these torques [N m], friction included; zeros where a joint moves
  /// no inertia. Valid until the next call.
  std::span<const double> predict(std::span<const double> q, std::span<const double> qd,
                                  std::span<const double> torque) noexcept;

 private:
  ga_dynamics::Dynamics dynamics_;
  std::vector<ga_dynamics::Drive> drives_;
  std::vector<double> torque_, bias_, acceleration_;
};

}  // namespace ga_hardware

#endif  // GA_HARDWARE__ACCELERATION_MODEL_HPP_
