// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__STATE_OBSERVER_HPP_
#define GA_CONTROLLERS__STATE_OBSERVER_HPP_

// Extended-state observer: position, velocity and disturbance of every joint from measured positions
// and from the acceleration that the law expects of its own torque.
//
// Computed torque decouples the joints: with an exact model the joint accelerates by u, what the law
// commands. Everything that the model lacks (payload, friction, wrong masses) appears as a disturbance
// d of that acceleration, qdd = u + d, and the observer estimates it together with the state:
//   predict   q += dt v + dt² (u + d)/2,   v += dt (u + d)
//   correct   q += l1 e,   v += l2 e,   d += l3 e,   e = measured − q
// with three equal poles β = exp(−w dt) at a bandwidth w:
//   l1 = 1 − β³,   l2 = 1.5 (1 − β)² (1 + β) / dt,   l3 = (1 − β)³ / dt².
// (Gao: Scaling and bandwidth-parameterization based controller tuning, ACC 2003.)
//
// A law that subtracts d from its commanded acceleration has integral action: with Kp and Kd it is a
// PID law with a roll-off of second order, whose integral gain at low frequencies is
//   Ki = w³ Kp / (Kp + 3 w Kd + 3 w²).
// Real-time safe after construction: no allocation, no lock, no exception. Units: rad, s (m for
// prismatic joints).

#include <span>
#include <vector>

#include "ga_controllers/control_law.hpp"

namespace ga_controllers {

/// Bandwidth [rad/s] of the observer for these gains: the one whose integral gain is Ki, but at least
/// that of the law (Ki = 0.1 w³), or twice the bandwidth of the law for Ki = 0.
double observer_bandwidth(const JointGains& gains) noexcept;

class StateObserver {
 public:
  explicit StateObserver(std::size_t joints);

  /// Bandwidth [rad/s], and the largest disturbance [rad/s²] that is estimated.
  void set_joint(std::size_t joint, double bandwidth, double limit) noexcept;
  void set_limit(std::size_t joint, double limit) noexcept { joints_[joint].limit = limit; }
  /// Restarts at a measured state. The disturbance is kept if it is finite.
  void reset(std::span<const double> q, std::span<const double> qd) noexcept;
  void clear_disturbance() noexcept;

  /// A cycle of dt [s] without a measurement.
  void predict(double dt) noexcept;
  /// Takes the positions after a cycle of dt [s].
  void update(std::span<const double> measured, double dt) noexcept;
  /// The acceleration u [rad/s²] that the torque causes until the next update, without disturbance.
  void expect(std::span<const double> acceleration) noexcept;
  /// Friction holds the joint: it does not accelerate, and the disturbance keeps its value.
  void hold(std::size_t joint, bool held) noexcept { joints_[joint].held = held; }
  /// Adds to the disturbance [rad/s²].
  void add_disturbance(std::size_t joint, double by) noexcept;
  /// The model has changed, so that the torque now accelerates the joint by that much less in the
  /// model: moves it [rad/s²] from the expected acceleration to the disturbance.
  void shift(std::size_t joint, double by) noexcept {
    add_disturbance(joint, by);
    u_[joint] -= by;
  }

  std::span<const double> position() const noexcept { return q_; }
  std::span<const double> velocity() const noexcept { return qd_; }
  std::span<const double> disturbance() const noexcept { return d_; }  ///< rad/s²
  /// rad/s², until the next update, with disturbance.
  double acceleration(std::size_t joint) const noexcept { return u_[joint] + d_[joint]; }

 private:
  struct Joint {
    double bandwidth = 1, limit = 0;
    double l1 = 0, l2 = 0, l3 = 0;
    bool held = false;
  };
  void set_period(double dt) noexcept;

  std::vector<Joint> joints_;
  std::vector<double> q_, qd_, d_, u_;
  double dt_ = 0;  ///< s, of the gains
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__STATE_OBSERVER_HPP_
