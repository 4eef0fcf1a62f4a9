// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__ARM_MODEL_HPP_
#define GA_HARDWARE__ARM_MODEL_HPP_

// Model of an arm, independent of the active controller: the resolution of its encoders and DACs,
// the acceleration that the torques cause, for the velocity observers, and the holding torque, for
// the safety machine. Construction allocates; the rest is real-time safe and does not throw, unless
// stated otherwise. Spans hold one value per joint.

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"
#include "ga_dynamics/dynamics.hpp"

namespace ga_hardware {

/// Zero: not quantized, or no noise.
struct JointSignals {
  double counts_per_rad = 0;   ///< of the encoder
  double torque_per_volt = 0;  ///< N m/V of DAC and amplifier
  double noise = 0;            ///< standard deviation of the position before the encoder, rad
};

/// The position [rad] that the encoder reads.
inline double encoder_reading(const JointSignals& s, double q) noexcept {
  return s.counts_per_rad > 0 ? std::round(q * s.counts_per_rad) / s.counts_per_rad : q;
}

/// The torque [N m] after the DAC: 12 bits over ±10 V, offset binary, like the PCL-726.
inline double dac_torque(const JointSignals& s, double tau) noexcept {
  if (s.torque_per_volt <= 0) return tau;
  constexpr double kFullScale = 10, kStep = 2 * kFullScale / 4096;
  const double code = std::clamp(std::round(tau / s.torque_per_volt / kStep), -2048.0, 2047.0);
  return code * kStep * s.torque_per_volt;
}

/// From the joints' parameters in <ros2_control> (gear_ratio, encoder_counts_per_rev,
/// torque_per_volt); missing ones are zero. Allocates. Throws std::runtime_error naming the joint and the
/// parameter if a value is not a positive number.
std::vector<JointSignals> signals_of(const ga_dynamics::Chain& chain);

/// Parameters of a law for an arm with these signals. Allocates.
ga_controllers::LawParameters law_parameters(ga_controllers::LawKind kind,
                                             std::vector<ga_controllers::JointGains> gains,
                                             double friction,
                                             std::span<const JointSignals> signals);

class AccelerationModel {
 public:
  /// `friction`: false if the arm has no friction, whatever the description states.
  explicit AccelerationModel(const ga_dynamics::Chain& model, bool friction = true);

  /// rad/s² at this state and these torques [N m], with friction; zeros if a joint moves no
  /// inertia. Valid until the next call.
  std::span<const double> predict(std::span<const double> q, std::span<const double> qd,
                                  std::span<const double> torque) noexcept;

 private:
  ga_dynamics::Dynamics dynamics_;
  std::vector<ga_dynamics::Drive> drives_;
  std::vector<double> torque_, bias_, acceleration_;
};

/// Gravity compensation with damping, for holds and ramp-downs of the safety machine.
class HoldLaw {
 public:
  explicit HoldLaw(const ga_dynamics::Chain& model);

  /// Starts at rest at this position. Returns the gravity torque, from which another law may start.
  std::span<const double> start(std::span<const double> q) noexcept;
  /// One cycle of dt [s]; valid until the next call.
  std::span<const double> update(std::span<const double> q, std::span<const double> qd,
                                 double dt) noexcept;

 private:
  ga_dynamics::Dynamics gravity_;
  ga_controllers::ControlLaw law_;
  std::vector<double> torque_, rest_;
};

}  // namespace ga_hardware

#endif  // GA_HARDWARE__ARM_MODEL_HPP_
