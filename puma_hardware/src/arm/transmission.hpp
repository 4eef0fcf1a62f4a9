// SPDX-License-Identifier: Apache-2.0
#ifndef ARM__TRANSMISSION_HPP_
#define ARM__TRANSMISSION_HPP_

#include <cstddef>
#include <numbers>
#include <span>

#include "arm/arm_settings.hpp"

namespace puma_hardware {

/// Motor counts ↔ joint angles and joint ↔ motor-side torques, with wrist coupling. Spans hold six
/// values; input and output may be the same. Real-time safe, does not throw.
///
/// The drive angle e is the joint angle that a motor's counts give without coupling. The coupling is
/// linear, so that the same maps hold for speeds and differences.
class Transmission {
 public:
  explicit Transmission(const ArmSettings& settings) noexcept : coupling_(settings.coupling) {
    for (std::size_t i = 0; i < 6; ++i) {
      const JointSettings& joint = settings.joints[i];
      counts_per_rad_[i] = joint.encoder_direction * joint.counts_per_rev * joint.gear_ratio /
                           (2 * std::numbers::pi);
    }
  }

  /// Signed counts per radian of the drive angle.
  double counts_per_rad(std::size_t joint) const noexcept { return counts_per_rad_[joint]; }

  void counts_to_drive(std::span<const double> counts, std::span<double> e) const noexcept {
    for (std::size_t i = 0; i < 6; ++i) e[i] = counts[i] / counts_per_rad_[i];
  }
  void drive_to_counts(std::span<const double> e, std::span<double> counts) const noexcept {
    for (std::size_t i = 0; i < 6; ++i) counts[i] = e[i] * counts_per_rad_[i];
  }
  void drive_to_joints(std::span<const double> e, std::span<double> q) const noexcept {
    const double e4 = e[3], e5 = e[4], e6 = e[5];
    for (std::size_t i = 0; i < 3; ++i) q[i] = e[i];
    q[3] = e4;
    q[4] = e5 - coupling_.c54 * e4;
    q[5] = e6 - coupling_.c64 * e4 - coupling_.c65 * e5;
  }
  void joints_to_drive(std::span<const double> q, std::span<double> e) const noexcept {
    const double q4 = q[3], q5 = q[4], q6 = q[5];
    for (std::size_t i = 0; i < 3; ++i) e[i] = q[i];
    e[3] = q4;
    e[4] = q5 + coupling_.c54 * q4;
    e[5] = q6 + coupling_.c64 * q4 + coupling_.c65 * e[4];
  }

  void counts_to_joints(std::span<const double> counts, std::span<double> q) const noexcept {
    counts_to_drive(counts, q);
    drive_to_joints(q, q);
  }
  void joints_to_counts(std::span<const double> q, std::span<double> counts) const noexcept {
    joints_to_drive(q, counts);
    drive_to_counts(counts, counts);
  }

  /// Joint torques → torques at the motors times their gear ratios (what torque_per_volt refers
  /// to): the transpose of the map of rates.
  void joint_to_drive_torque(std::span<const double> joint,
                             std::span<double> drive) const noexcept {
    const double t4 = joint[3], t5 = joint[4], t6 = joint[5];
    for (std::size_t i = 0; i < 3; ++i) drive[i] = joint[i];
    drive[3] = t4 - coupling_.c54 * t5 - coupling_.c64 * t6;
    drive[4] = t5 - coupling_.c65 * t6;
    drive[5] = t6;
  }
  void drive_to_joint_torque(std::span<const double> drive,
                             std::span<double> joint) const noexcept {
    const double d4 = drive[3], d5 = drive[4], d6 = drive[5];
    for (std::size_t i = 0; i < 3; ++i) joint[i] = drive[i];
    joint[5] = d6;
    joint[4] = d5 + coupling_.c65 * d6;
    joint[3] = d4 + coupling_.c54 * joint[4] + coupling_.c64 * d6;
  }

 private:
  WristCoupling coupling_;
  std::array<double, 6> counts_per_rad_{};
};

}  // namespace puma_hardware

#endif  // ARM__TRANSMISSION_HPP_
