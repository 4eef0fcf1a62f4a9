// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__FRICTION_FEEDFORWARD_HPP_
#define GA_CONTROLLERS__FRICTION_FEEDFORWARD_HPP_

// The friction that is fed forward: that of the model at a velocity, without steps where a law
// begins or its reference blends over, since the velocity may turn round within a cycle there.

#include <span>
#include <vector>

#include "cycle.hpp"
#include "ga_controllers/control_law.hpp"
#include "measured_arm.hpp"

namespace ga_controllers {

/// Construction allocates. All else is real-time safe: no allocation, no lock, no exception. Units:
/// rad, s, N m (m, N for prismatic joints).
class FrictionFeedforward {
 public:
  FrictionFeedforward(const LawParameters& parameters, const MeasuredArm& arm);

  /// Is any friction to be fed forward? If not, add() need not be called.
  bool feeds() const noexcept { return share_ > 0; }
  /// The share of the joint's friction at a velocity that is fed forward in the end.
  double at(std::size_t joint, double rate) const noexcept {
    return share_ * drives_[joint].friction(rate, velocity_);
  }

  /// The joint's reference begins at the arm, or jumps, and blends over with this acceleration
  /// [rad/s²].
  void begin(std::size_t joint, double acceleration) noexcept;
  void blend(std::size_t joint, double acceleration) noexcept;
  /// It has arrived.
  void arrive(std::size_t joint) noexcept { blends_over_[joint] = false; }
  /// Adds the friction at the velocities to `tau`. After a change it begins with as much of it as
  /// the torque before shows, so that a law goes on with the friction of the one before.
  void add(const Cycle& cycle, std::span<const double> velocities, std::span<double> tau) noexcept;

  /// N m, added in the last update; what is taken back of it is for the caller to subtract.
  std::span<double> torque() noexcept { return torque_; }

 private:
  bool turns(std::size_t joint, double acceleration) const noexcept;

  double share_, velocity_;
  bool blends_;
  std::vector<ga_dynamics::Drive> drives_;
  std::vector<double> torque_limit_;
  std::vector<char> blends_over_;  ///< the followed reference, to the given one
  std::vector<char> slews_;        ///< what is fed is still on its way to what it should be
  std::vector<double> fed_;
  std::vector<double> torque_;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__FRICTION_FEEDFORWARD_HPP_
