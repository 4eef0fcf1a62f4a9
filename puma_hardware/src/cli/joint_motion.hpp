// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__JOINT_MOTION_HPP_
#define CLI__JOINT_MOTION_HPP_

// A small voltage on one joint of an arm whose wiring is not known yet, without the safety machine:
// power and brakes in their order, first at 0 V; encoders, potentiometers, thermal switches, arm-power
// input and watchdog read-back are watched in every cycle; at the end 0 V, power off, brakes closed.

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "arm/arm_settings.hpp"
#include "arm/transmission.hpp"
#include "cli/cards.hpp"
#include "ga_dynamics/chain.hpp"

namespace puma_hardware::cli {

/// What the description says about moving a joint.
struct DriveModel {
  double friction = 0, most_friction = 0;  ///< N m, Coulomb: of the easier direction, of the other
  double viscous = 0;                      ///< N m s/rad
  double inertia = 0;                      ///< kg m², the least of many poses
  double gravity = 0;                      ///< N m, the most of many poses
  double torque_per_volt = 1;

  double volts_to_move() const { return most_friction / torque_per_volt; }
  /// Gravity may turn the joint without a brake.
  bool falls() const { return gravity > friction; }
};
using DriveModels = std::array<DriveModel, 6>;
DriveModels drive_models(const ga_dynamics::Chain& chain, const ArmSettings& settings);

/// What it may mean that a joint does not move.
std::string nothing_moves(double volts, const DriveModel& drive);

/// Motor turns by encoder and potentiometer of each joint, positive in the joint's positive direction
/// if the settings are right.
struct Moved {
  std::array<double, 6> encoder{}, pot{};
};

/// Besides two turns of the joint's own motor.
struct MotionLimits {
  double other_turns = 0.25;   ///< of another motor, beyond the wrist's coupling
  double speed_ratio = 0.15;   ///< of the joint's speed limit, by its encoder; 0: not watched
  bool compare = true;         ///< encoder and potentiometer have to count the same turns
  double unseen_ratio = 0.15;  ///< of the speed limit that a joint may reach unseen
  double unseen_turns = 2;     ///< of its motor that it may get unseen
};

class JointMotion {
 public:
  /// What surrounds the motion: `wait` lets a millisecond pass; `supervise` gets the digital outputs
  /// and says why the motion has to end, or nothing; `ended`: the outputs are off and stay off.
  struct Host {
    std::function<void()> wait;
    std::function<std::string(std::uint16_t)> supervise;
    std::function<void()> ended;
  };

  /// Reads the arm at rest; references must outlive the motion. Throws std::runtime_error naming the
  /// joint if the conversions of its potentiometer fail.
  JointMotion(Cards& cards, const ArmSettings& settings, const DriveModels& drives,
              std::size_t joint, const MotionLimits& limits, Host host);
  ~JointMotion() { end(); }
  JointMotion(const JointMotion&) = delete;
  JointMotion& operator=(const JointMotion&) = delete;

  // Each returns why the motion has ended, or nothing; after an end the outputs are off.

  /// Power, then the brakes, at 0 V: what moves now is moved by wrong outputs or by gravity.
  std::string power_on(bool open_brakes);
  /// A millisecond with this voltage.
  std::string cycle(double volts);

  /// 0 V by the configured coding on all channels, power off, brakes closed.
  void end() noexcept;
  /// Reads until the arm has come to rest; after end().
  void rest();
  /// Since power and brakes were on.
  Moved moved() const;
  /// The same at rest, with the mean of many conversions. Throws as the constructor.
  Moved moved_at_rest();
  double volts() const { return volts_; }  ///< the last before the end
  /// It ended because nothing was seen to move.
  bool unseen() const { return unseen_; }
  /// The power stays off, for a meter at the output.
  void without_power() { unpowered_ = true; }

 private:
  static constexpr std::size_t kSamples = 10;
  /// The latest conversions of a potentiometer, with the count at each.
  struct Track {
    std::array<double, kSamples> volts{}, counts{};
    std::size_t next = 0;
    int failed = 0;  ///< consecutive conversions
    double start_volts = 0;
    std::int64_t start_count = 0, last_count = 0;
  };

  void read_mean();
  void read_pot(std::size_t joint);
  void start_here();
  double by_encoder(std::size_t joint) const;
  double by_pot(std::size_t joint) const;
  std::string watch_wires();
  std::string watch_motion(double dt);
  std::string watch_unseen(double dt);
  std::string moving_at_zero(bool brakes_open) const;

  Cards& cards_;
  const ArmSettings& settings_;
  const DriveModels& drives_;
  Transmission transmission_;
  std::size_t joint_;
  MotionLimits limits_;
  Host host_;

  std::array<Track, 6> tracks_;
  std::size_t next_other_ = 0;
  double volts_ = 0;
  bool unpowered_ = false, on_ = false, starting_ = false, unseen_ = false;
  bool power_seen_ = false;
  int power_missing_ = 0;
  bool watchdog_ = false;
  int watchdog_missed_ = 0;
  std::int64_t last_ns_ = 0;
  double speed_time_ = 0, speed_from_ = 0;
  double unseen_speed_ = 0, unseen_travel_ = 0;  ///< rad/s, rad that the joint may have moved
  Moved seen_;                                   ///< when the last motion was seen
};

}  // namespace puma_hardware::cli

#endif  // CLI__JOINT_MOTION_HPP_
