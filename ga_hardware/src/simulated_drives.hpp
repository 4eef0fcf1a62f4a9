// SPDX-License-Identifier: Apache-2.0
#ifndef SIMULATED_DRIVES_HPP_
#define SIMULATED_DRIVES_HPP_

// The mechanics of a simulated arm: the actual arm with its errors and payload, moved by amplifiers
// and motors on rigid or elastic drives. Construction allocates and throws; the rest is real-time
// safe and does not throw. Spans hold one value per joint.

#include <memory>
#include <span>

#include "amplifiers.hpp"
#include "elastic_drives.hpp"
#include "ga_dynamics/plant.hpp"
#include "ga_hardware/simulated_arm.hpp"

namespace ga_hardware {

class SimulatedDrives {
 public:
  SimulatedDrives(const ga_dynamics::Chain& described, const SimulatedArmSettings& settings);
  SimulatedDrives(const SimulatedDrives&) = delete;
  SimulatedDrives& operator=(const SimulatedDrives&) = delete;

  /// Everything at rest at the initial posture.
  void reset() noexcept;
  void set_brakes(bool closed) noexcept;
  /// The motors give this torque from now on, as if it had been commanded for a long time.
  void settle(std::span<const double> torque) noexcept { amplifiers_.settle(torque); }
  /// Simulates a cycle of dt [s] after this torque was commanded. False if the integration failed.
  bool move(std::span<const double> torque, double dt) noexcept;

  /// True positions and velocities of what the encoders are mounted to.
  std::span<const double> q() const noexcept { return elastic_ ? elastic_->q() : plant_.q(); }
  std::span<const double> qd() const noexcept { return elastic_ ? elastic_->qd() : plant_.qd(); }
  /// What the motors gave at the end of the last cycle.
  std::span<const double> motor_torque() const noexcept { return amplifiers_.now(); }
  ga_dynamics::Plant& plant() noexcept { return plant_; }  ///< the links

 private:
  std::size_t n_;
  std::vector<double> start_, rest_;
  std::vector<JointErrors> errors_;
  ga_dynamics::Chain actual_;
  std::unique_ptr<ElasticDrives> elastic_;  ///< none: rigid drives
  ga_dynamics::Plant plant_;
  Amplifiers amplifiers_;
  ga_dynamics::TorqueFunction lagging_;  ///< torques within the cycle
  double cycle_begin_ = 0;               ///< s, time of the plant
};

}  // namespace ga_hardware

#endif  // SIMULATED_DRIVES_HPP_
