// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__HAND_GUIDING_HPP_
#define GA_CONTROLLERS__HAND_GUIDING_HPP_

// Hand guiding: a person moves the arm, the motors carry its weight. Per joint
//   tau = G(q) + compensation − damping − speed limit − push-back
// compensation  a share of the friction in the direction of the measured motion: nothing up to the
//               dead zone, so that noise does not drive the arm, all of the share from three times the
//               dead zone on. The share is less than the friction that is certain:
//               (1 − friction_uncertainty) of the description's.
// damping       proportional to the velocity, and much more of it above the speed limit
// push-back     ahead of the soft limits: the contact model of Hunt and Crossley (J. Appl. Mech. 42,
//               1975), k x (1 + c dx/dt) for a depth x, never negative, so it does not pull and
//               returns less energy than it has taken; bounded. An arm that starts within
//               the zone is not pushed: the zone begins at its position and widens as it moves out.
// Coriolis torques are not compensated: that would not be passive.
//
// The law never supplies net energy. A tank per joint (Ferraguti, Secchi, Fantuzzi, ICRA 2013, in its
// simplest form) starts empty, is filled by the friction that is certain and by what damping and
// push-back take, and is emptied by compensation and push-back. What an empty tank cannot supply is
// not commanded. Gravity compensation is conservative.

#include <span>
#include <vector>

#include "cycle.hpp"
#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"
#include "measured_arm.hpp"

namespace ga_controllers {

/// Construction allocates. All else is real-time safe: no allocation, no lock, no exception. Units:
/// rad, s, N m, J (m, N for prismatic joints).
class HandGuiding {
 public:
  HandGuiding(const LawParameters& parameters, const MeasuredArm& arm);

  /// One cycle: the torque at the measured state. Restarts if cycle.changed is set. The last inertia
  /// of the arm need not be of this cycle.
  void torque(const Cycle& cycle, MeasuredArm& arm, std::span<double> tau) noexcept;

  /// Of the last cycle: the compensated friction, and damping, speed limit and push-back together.
  std::span<const double> friction() const noexcept { return friction_; }
  std::span<const double> feedback() const noexcept { return feedback_; }
  /// J; what compensation and push-back may supply.
  double tank(std::size_t joint) const noexcept { return joints_[joint].tank; }

 private:
  struct Joint {
    double lower = 0, upper = 0;            ///< inner ends of the zones of the push-back
    double zone_lower = 0, zone_upper = 0;  ///< in force, see above
    double speed = 0;                       ///< limit
    double tank = 0, largest_tank = 0;
    double compensation = 0, push = 0, resistance = 0;  ///< of the last cycle
  };
  void restart(const MeasuredArm& arm) noexcept;
  /// Friction torque at a velocity, magnitude, without the dead zone.
  double sliding(std::size_t joint, double qd, const MeasuredArm& arm) const noexcept;
  double compensation(std::size_t joint, double dt, const MeasuredArm& arm) const noexcept;
  double resistance(std::size_t joint, double dt, const MeasuredArm& arm) const noexcept;
  double push_back(std::size_t joint, double dt, const MeasuredArm& arm) noexcept;

  HandGuidingParameters parameters_;
  double share_;    ///< of the friction, compensated
  double certain_;  ///< of the friction, that the arm has in any case
  std::vector<Joint> joints_;
  std::vector<double> friction_, feedback_;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__HAND_GUIDING_HPP_
