// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTIC_DRIVES_HPP_
#define ELASTIC_DRIVES_HPP_

// Elastic drives of an arm: a motor with inertia and friction, and a spring to its link (Spong's
// reduced model: the rotors turn about their own axes only). Encoder and brake are on the motor, so
// the link sags and swings unseen. The link side is a Plant without friction and effort limits.
//
// Motor and link exchange the spring's torque in steps: half a step of the motor's velocity, a step
// of the link with the motor at constant velocity, the other half. That is symmetric in time, so the
// step neither damps nor excites the resonance.
//
// Construction allocates; the rest is real-time safe and does not throw.

#include <span>
#include <vector>

#include "amplifiers.hpp"
#include "ga_dynamics/plant.hpp"
#include "ga_hardware/simulated_arm.hpp"

namespace ga_hardware {

class ElasticDrives {
 public:
  /// `actual`: the arm with rigid drives. `start`: the initial posture, at which the springs are
  /// chosen. The motor inertia is part of the armature as far as that goes; what is missing is added.
  ElasticDrives(const ga_dynamics::Chain& actual, const Disturbances& disturbances,
                const ga_dynamics::PlantOptions& options, std::span<const double> start);
  ElasticDrives(const ElasticDrives&) = delete;
  ElasticDrives& operator=(const ElasticDrives&) = delete;

  /// The arm behind the springs, and the options of its plant.
  ga_dynamics::Chain link_side() const;
  ga_dynamics::PlantOptions link_options() const;

  /// Motors at rest at `start`, the links where gravity draws them.
  void reset(ga_dynamics::Plant& links, std::span<const double> start) noexcept;
  void set_brakes(bool closed) noexcept { braked_ = closed; }
  /// False if the links could not be moved.
  bool step(ga_dynamics::Plant& links, const Amplifiers& amplifiers, double dt) noexcept;

  std::span<const double> q() const noexcept { return q_; }
  std::span<const double> qd() const noexcept { return qd_; }

 private:
  void kick(std::span<const double> link_q, const Amplifiers& amplifiers, double since,
            double h) noexcept;

  std::size_t n_;
  ga_dynamics::Chain actual_;
  ga_dynamics::PlantOptions options_;
  double static_ratio_, longest_step_;
  bool braked_ = false;
  std::vector<double> inertia_;              ///< of the motors, kg m²
  std::vector<double> stiffness_, damping_;  ///< N m/rad, N m s/rad
  std::vector<ga_dynamics::Drive> drives_;   ///< friction
  std::vector<double> brake_;                ///< N m
  std::vector<double> q_, qd_;               ///< of the motors, at the joint's side of the gear
  std::vector<double> damping_torque_;       ///< of the springs, in the last step
  std::vector<double> before_, rest_;        ///< positions of the links; zeros
  double begin_ = 0;                         ///< of the link's step, time of its plant
  ga_dynamics::TorqueFunction spring_;
};

}  // namespace ga_hardware

#endif  // ELASTIC_DRIVES_HPP_
