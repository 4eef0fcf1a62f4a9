// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__JOINT_CHECK_HPP_
#define CLI__JOINT_CHECK_HPP_

// Which sign or wire of a joint is wrong: a growing voltage moves it by a fraction of a motor turn.
// Of voltage, encoder and potentiometer two usually agree; which way the joint really turned is for a
// person to say.

#include <string>

#include "cli/joint_motion.hpp"

namespace puma_hardware::cli {

struct CheckedMotion {
  std::string ended;  ///< why it ended before its end, or nothing
  double volts = 0;   ///< that moved the joint
  Moved moved;
};

/// Limits of a check's motion: the check itself ends it after half a motor turn.
constexpr MotionLimits kCheckLimits{2, 0, false, 0.27, 2.5};

/// The voltage that `puma cards check` raises the output to: 1.5 times what the joint's friction takes.
double default_voltage(const DriveModel& drive, const JointSettings& joint);
/// Throws std::runtime_error if such a voltage cannot move the joint, or is needlessly high.
void check_voltage(const DriveModel& drive, const JointSettings& joint, double most);

/// Power, 0 V, the rising voltage up to `most` [V], 0 V and power off.
CheckedMotion move_for_check(JointMotion& motion, double most, bool open_brakes);

struct Diagnosis {
  bool good = false;
  std::string text;
};
/// `turned`: the direction that a person has seen, 1 or −1; 0: unknown.
Diagnosis diagnose(const ArmSettings& settings, const DriveModels& drives, std::size_t joint,
                   const CheckedMotion& motion, int turned);
/// The joint has turned, so that a person can say which way.
bool turned_visibly(const CheckedMotion& motion, std::size_t joint);

}  // namespace puma_hardware::cli

#endif  // CLI__JOINT_CHECK_HPP_
