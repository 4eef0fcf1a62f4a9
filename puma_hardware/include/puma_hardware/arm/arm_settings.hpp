// SPDX-License-Identifier: Apache-2.0
#ifndef PUMA_HARDWARE__ARM__ARM_SETTINGS_HPP_
#define PUMA_HARDWARE__ARM__ARM_SETTINGS_HPP_

// What the drives and sensors of the six joints are, from the description's <ros2_control> joint
// parameters, and what the safety machine may tolerate, from its hardware parameters. Reading them
// allocates and throws CardError.
//
// Joint parameters: gear_ratio, encoder_counts_per_rev, encoder_direction, torque_per_volt,
// max_voltage, voltage_direction, on joints 5 and 6 coupling_joint4, on joint 6 coupling_motor5;
// and with defaults brake, pot_volts_per_rev, pot_direction. Position, speed and torque limits are
// those of the <limit> tag. Hardware parameters: calibration_file, observer_bandwidth, safety.<name
// of a field of SafetySettings>, and those of the cards.

#include <array>
#include <string>

#include "ga_dynamics/chain.hpp"
#include "puma_hardware/cards/card_settings.hpp"

namespace puma_hardware {

struct JointSettings {
  std::string name;
  double gear_ratio = 1;         ///< motor turns per joint turn
  double counts_per_rev = 1000;  ///< quadrature counts per motor turn, a whole number
  int encoder_direction = 1;     ///< sign of the counts for a positive motion
  double torque_per_volt = 1;    ///< N m at the joint, magnitude
  int voltage_direction = 1;     ///< sign of the voltage for a positive torque
  double max_voltage = 10;       ///< V
  double max_torque = 0;         ///< N m
  double max_speed = 0;          ///< rad/s
  double lower = 0, upper = 0;   ///< hard limits, rad
  bool brake = false;
  double pot_volts_per_rev = 0.0485;  ///< per motor turn: 0.0097 of 5 V (PUMA 560, computed from
                                      ///< published pot tables)
  int pot_direction = 1;              ///< sign of the potentiometer's volts for a positive motion
};

/// Joint angles q from motor angles e (each divided by its own gear ratio):
/// q4 = e4, q5 = e5 − c54 q4, q6 = e6 − c64 q4 − c65 e5 (Trident ROBOT.C v4.3).
struct WristCoupling {
  double c54 = 0, c64 = 0, c65 = 0;
};

struct SafetySettings {
  double soft_limit_margin = 0.035;  ///< rad inside the hard limits
  double overspeed_ratio = 1.2;      ///< of a joint's speed limit
  double jump_ratio = 3.0;           ///< an encoder step faster than this many times its limit
  double torque_ratio = 1.5;  ///< commands are clamped at max_torque; more than this is a fault
  double pot_tolerance_turns = 0.45;  ///< motor revolutions between potentiometer and encoder
  double frozen_torque_ratio = 0.5;   ///< of max_torque: pushing this hard must move something
  double frozen_time = 0.25;          ///< s
  double frozen_turns = 0.25;         ///< of the potentiometer while the encoder stands still
  double command_timeout = 0.010;     ///< s
  double deadline_ratio = 1.5;        ///< of the period; later is a missed deadline
  int max_missed_deadlines = 3;       ///< in a row
  int max_ad_timeouts = 3;            ///< in a row
  double ramp_time = 0.25;            ///< s, of a ramp-down while the brakes come on
  double hold_time = 2.0;             ///< s that the arm is held after a fault before it ramps down
  double calibration_speed_ratio = 0.25;  ///< of a joint's speed limit, while not yet calibrated
};

struct ArmSettings {
  std::array<JointSettings, 6> joints;
  WristCoupling coupling;
  SafetySettings safety;
  CardSettings cards;
  std::string calibration_file;     ///< empty: none
  double observer_bandwidth = 150;  ///< rad/s, of the velocity observer

  /// Joint parameters from the chain (exactly six joints), hardware parameters as text. Throws
  /// CardError naming the joint or the setting; unknown names are refused.
  static ArmSettings from(const ga_dynamics::Chain& chain, const Parameters& hardware);
};

}  // namespace puma_hardware

#endif  // PUMA_HARDWARE__ARM__ARM_SETTINGS_HPP_
