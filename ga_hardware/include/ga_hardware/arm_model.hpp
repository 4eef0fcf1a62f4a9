// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__ARM_MODEL_HPP_
#define GA_HARDWARE__ARM_MODEL_HPP_

// Model of an arm, independent of the active controller: the resolution of its encoders and DACs,
// the acceleration that the torques cause, the velocity observers that it feeds, and the holding
// torque, for the safety machine. Construction allocates; the rest is real-time safe and does not throw, unless
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

/// Holding torque for holds and ramp-downs of the safety machine: gravity compensation with damping,
/// which needs no trust in the position, or with stiffness, which also holds an unknown payload.
class HoldLaw {
 public:
  explicit HoldLaw(const ga_dynamics::Chain& model);

  /// Starts at rest at this position. Returns the gravity torque, from which another law may start.
  std::span<const double> start(std::span<const double> q) noexcept;
  /// One cycle of dt [s]; valid until the next call.
  std::span<const double> update(std::span<const double> q, std::span<const double> qd,
                                 double dt) noexcept;
  /// The same, but keeps the position where the arm comes to rest after the first of consecutive
  /// calls, with up to the torque limits. `applied`: the torque [N m] of the last cycle, with which it
  /// begins.
  std::span<const double> keep_position(std::span<const double> q, std::span<const double> qd,
                                        std::span<const double> applied, double dt) noexcept;

 private:
  ga_dynamics::Dynamics gravity_;
  ga_controllers::ControlLaw law_, position_law_;
  bool keeping_ = false;
  std::vector<double> torque_, rest_;
};

/// Position and velocity of one joint from encoder counts: a tracking observer with the expected
/// acceleration as feed-forward and an estimate of its error. Plain differences of counts have steps
/// of 0.1 rad/s at 1 kHz on the PUMA; an observer without feed-forward trades them for a lag.
/// Without the error estimate, an unknown payload that the integral of a law carries would appear as
/// motion: 0.3 mrad off the goal with 2.5 kg on the PUMA. All functions are real-time safe and do
/// not throw.
///
/// Velocity error at 1 kHz from counts of the PUMA's joint 1, in mrad/s (test_velocity.cpp prints
/// the table and fails if the ranking changes).
///                              sinusoid, 1 Hz, 1.9 rad/s   quintic line, 0.47 rad/s
///                               rms  jumps  lag             rms  jumps  lag
/// difference                   42.2   71.7    1 ms         41.6   72.9    0 ms
/// filtered difference          57.0    6.3    7 ms          5.4    6.2    7 ms
/// observer                     56.4    0.8    4 ms          2.0    0.7    1 ms
/// observer, acceleration fed    1.0    0.7    0 ms          0.9    0.7    0 ms
/// the same, 20 % wrong         11.3    0.7    1 ms          1.0    0.7    0 ms
class VelocityObserver {
 public:
  /// Bandwidth [rad/s] of the correction, cycle time dt [s]: two error poles at −bandwidth, the
  /// third one, of the estimated acceleration error, at −bandwidth/15.
  VelocityObserver(double bandwidth, double dt) noexcept : bandwidth_(bandwidth) { set_period(dt); }

  /// For varying cycle times: dt [s] of the cycle that the next update() ends.
  void set_period(double dt) noexcept {
    if (dt == dt_) return;
    const double fast = std::exp(-bandwidth_ * dt), slow = std::exp(-bandwidth_ / kSlower * dt);
    // Compares the coefficients of (z − fast)² (z − slow) with those of the error dynamics.
    const double position = 1 - fast * fast * slow;
    const double error = (1 - fast) * (1 - fast) * (1 - slow);
    position_gain_ = position;
    velocity_gain_ = (3 - 2 * fast - slow - position - 0.5 * error) / dt;
    error_gain_ = error / (dt * dt);
    dt_ = dt;
  }

  void reset(double position, double velocity = 0) noexcept {
    position_ = position;
    velocity_ = velocity;
    error_ = 0;
  }

  /// The expected acceleration comes from another source from now on: its error is unknown.
  void reset_error() noexcept { error_ = 0; }

  /// One cycle: the measured position and the expected acceleration in the previous cycle (0 if
  /// unknown).
  void update(double measured, double acceleration) noexcept {
    const double expected = acceleration + error_;
    position_ += dt_ * velocity_ + 0.5 * dt_ * dt_ * expected;
    velocity_ += dt_ * expected;
    const double innovation = measured - position_;
    position_ += position_gain_ * innovation;
    velocity_ += velocity_gain_ * innovation;
    error_ += error_gain_ * innovation;
  }

  double position() const noexcept { return position_; }
  double velocity() const noexcept { return velocity_; }

 private:
  static constexpr double kSlower = 15;

  double bandwidth_, dt_ = 0;
  double position_gain_ = 0, velocity_gain_ = 0, error_gain_ = 0;
  double position_ = 0, velocity_ = 0;
  double error_ = 0;  ///< of the expected acceleration: a payload, or stiction
};

}  // namespace ga_hardware

#endif  // GA_HARDWARE__ARM_MODEL_HPP_
