// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__FRICTION_FEEDFORWARD_HPP_
#define GA_CONTROLLERS__FRICTION_FEEDFORWARD_HPP_

// Friction feed-forward: the model's friction at a velocity, rate-limited, because the velocity may
// change its sign within a cycle; most where a law starts or its reference blends.

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

  /// False if no friction is fed forward: add() need not be called.
  bool enabled() const noexcept { return share_ > 0; }
  /// Steady-state friction feed-forward of the joint at a velocity.
  double at(std::size_t joint, double rate) const noexcept {
    return share_ * drives_[joint].friction(rate, velocity_);
  }

  /// Replaces the friction of a joint, whose velocity is `rate`.
  void set_drive(std::size_t joint, const ga_dynamics::Drive& drive, double rate) noexcept;
  /// The same before the first cycle after a change, which starts with the previous torque anyway.
  void choose_drive(std::size_t i, const ga_dynamics::Drive& drive) noexcept { drives_[i] = drive; }
  /// By how much set_drive() changes the torque at once; what is being slewed changes later.
  double next_change(std::size_t joint, const ga_dynamics::Drive& drive,
                     double rate) const noexcept {
    return slewing_[joint] ? 0 : change(joint, drive, rate);
  }
  /// The change of the steady-state friction feed-forward by another drive.
  double change(std::size_t joint, const ga_dynamics::Drive& drive, double rate) const noexcept {
    return share_ * drive.friction(rate, velocity_) - at(joint, rate);
  }

  /// The joint's reference restarts at the arm (begin) or jumps (blend), and blends with this
  /// acceleration [rad/s²].
  void begin(std::size_t joint, double acceleration) noexcept;
  void blend(std::size_t joint, double acceleration) noexcept;
  /// Blending is complete.
  void settle(std::size_t joint) noexcept { blending_[joint] = false; }
  /// Adds the friction at the velocities to `tau`. After a change it starts with the friction that
  /// the previous torque contains, for a bumpless transfer. Accelerations of the reference; none if
  /// the velocities are measured.
  void add(const Cycle& cycle, std::span<const double> velocities,
           std::span<const double> accelerations, std::span<double> tau) noexcept;

  /// N m, added in the last update. The caller subtracts what it removes from the torque.
  std::span<double> torque() noexcept { return torque_; }
  /// N m, what the friction of the motion exceeds that by, because the rate limit delays it; zero
  /// while it is slow, at a start and while the reference blends.
  std::span<const double> missing() const noexcept { return missing_; }

 private:
  bool exceeds_slew_rate(std::size_t joint, double acceleration) const noexcept;
  /// True if the velocity reverses before the rate limit has removed its friction.
  bool reverses(std::size_t joint, double velocity, double acceleration,
                const Cycle& cycle) noexcept;

  double share_, velocity_;
  bool blend_enabled_;
  std::vector<ga_dynamics::Drive> drives_;
  std::vector<double> torque_limit_;
  std::vector<char> blending_;   ///< the followed reference blends to the input
  std::vector<char> slewing_;    ///< the output is rate-limited and has not reached its target
  std::vector<char> reversing_;  ///< the reference is about to reverse
  std::vector<char> turning_;    ///< and has not yet the friction of the other direction
  std::vector<double> recent_acceleration_;  ///< rad/s², of the reference, low-passed
  std::vector<double> output_;
  std::vector<double> torque_;
  std::vector<double> missing_;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__FRICTION_FEEDFORWARD_HPP_
