// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__LAW_MONITOR_HPP_
#define GA_CONTROLLERS__LAW_MONITOR_HPP_

// Monitors of a control loop, per joint, beside the law and independent of it: does the joint
// oscillate, does its torque chatter or saturate, and how wrong is the model? Under ros2_control they
// are fields of the state topic, in `ga sim` columns of the table.
//
//   oscillation   size [rad] from one turning point of the tracking error to the next, and frequency,
//                 while a joint moves to and fro and the reference rests; 0 otherwise. Counted are at
//                 least kTurns swings in a row, each larger than the threshold and within
//                 kLongestSwing of the previous one, that do not die out: the mean of the later half
//                 of them is at least kLasting of that of the earlier half. The same for swings of
//                 the torque by at least kTorqueSwing of its limit within kFastSwing, at any time.
//   chatter       RMS change of the torque per cycle over the torque limit, as in the law score, over
//                 about the last kWindow
//   saturation    share of the cycles in about the last kWindow in which the torque was saturated
//   model error   disturbance torque, D(q) times the disturbance estimate, RMS over the last
//                 kErrorWindow over the torque limit; and its ratio to its usual size, RMS over
//                 kUsualWindow: above 1 the model has become worse (payload, contact, friction)
//
// "About the last": exponential averages with this time constant, exact for a constant cycle time and
// corrected for the time since start().

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "ga_dynamics/chain.hpp"

namespace ga_controllers {

/// Values of one joint.
struct JointMonitor {
  double oscillation = 0;         ///< rad (m), from turning point to turning point; 0: none
  double torque_oscillation = 0;  ///< of the torque limit, from turning point to turning point
  double frequency = 0;    ///< Hz, of the oscillation, of the torque's if only that oscillates
  double chatter = 0;      ///< of the torque limit, RMS per cycle
  double saturation = 0;   ///< 0 … 1
  double model_error = 0;  ///< of the torque limit
  double model_error_ratio = 0;  ///< to its usual size; 0 until that is known

  bool oscillates() const noexcept { return oscillation > 0 || torque_oscillation > 0; }
};

/// What a cycle shows. Spans hold one value per joint.
struct MonitoredCycle {
  std::span<const double> q;                        ///< measured
  std::span<const double> q_ref, qd_ref;            ///< of the reference that the law tracks
  std::span<const double> torque;                   ///< commanded
  std::span<const double> disturbance_torque = {};  ///< empty: not known
};

/// Construction allocates and throws std::invalid_argument naming the value. All else is real-time
/// safe: no allocation, no lock, no exception. One thread at a time. Units: rad, s, N m (m and N for
/// prismatic joints).
class LawMonitor {
 public:
  static constexpr int kTurns = 6;
  static constexpr double kLasting = 0.7;
  static constexpr double kLongestSwing = 4;     ///< s; slower than 0.25 Hz is not an oscillation
  static constexpr double kFastSwing = 0.0625;   ///< s
  static constexpr double kTorqueSwing = 0.5;    ///< of the torque limit
  static constexpr double kWindow = 0.5;         ///< s
  static constexpr double kErrorWindow = 0.1;    ///< s
  static constexpr double kUsualWindow = 30;     ///< s
  static constexpr double kRestVelocity = 1e-3;  ///< rad/s of a reference that rests
  static constexpr double kSwing = 3e-4;         ///< rad, smallest threshold of a swing

  /// `torque_limit` [N m]: empty: the chain's effort limits; unlimited joints have no chatter,
  /// saturation and model error. `swing` [rad]: smallest swing that counts, at least kSwing: four
  /// encoder counts or six standard deviations of the noise; empty: kSwing.
  explicit LawMonitor(const ga_dynamics::Chain& chain, std::vector<double> torque_limit = {},
                      std::vector<double> swing = {});

  /// Forgets everything but the usual size of the model error.
  void start() noexcept;
  /// After each update of the law; dt [s] since the previous one. A cycle with a value that is not
  /// finite is skipped.
  void update(const MonitoredCycle& cycle, double dt) noexcept;

  std::size_t size() const noexcept { return joints_.size(); }
  const JointMonitor& joint(std::size_t joint) const noexcept { return joints_[joint].shown; }
  /// Index of the joint with the largest oscillation, of the torque if no joint moves, or size() if
  /// none oscillates.
  std::size_t oscillating() const noexcept;

 private:
  /// Turning points of a signal, those between which it moves by at least a threshold.
  class Turns {
   public:
    void reset() noexcept;
    /// `longest` [s]: between two turning points; a longer pause starts anew.
    void update(double value, double swing, double dt, double longest) noexcept;
    bool lasting() const noexcept;
    double size() const noexcept;
    double frequency() const noexcept;

   private:
    static constexpr std::size_t kKept = 8;
    double since_extreme_ = 0, since_turn_ = 0;
    double high_ = 0, low_ = 0, extreme_ = 0, turn_ = 0;
    int direction_ = 0;
    bool begun_ = false, turned_ = false;
    std::size_t count_ = 0;
    std::array<double, kKept> size_{}, time_{};  ///< of the last swings
    double part(const std::array<double, kKept>& of, std::size_t begin,
                std::size_t end) const noexcept;
  };
  struct Joint {
    double limit = 0, swing = 0;
    double torque_before = 0;
    double chatter = 0, saturated = 0, error = 0, usual = 0;  ///< averages
    Turns motion, torque;
    JointMonitor shown;
  };

  std::vector<Joint> joints_;
  double time_ = 0, usual_time_ = 0;  ///< s of the averages
  bool has_before_ = false;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__LAW_MONITOR_HPP_
