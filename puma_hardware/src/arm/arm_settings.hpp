// SPDX-License-Identifier: Apache-2.0
#ifndef ARM__ARM_SETTINGS_HPP_
#define ARM__ARM_SETTINGS_HPP_

// Drives and sensors of the six joints, from the <ros2_control> joint parameters of the description,
// and limits of the safety machine, from its hardware parameters. Reading them
// allocates and throws std::runtime_error.
//
// Joint parameters: gear_ratio, encoder_counts_per_rev, encoder_direction, torque_per_volt,
// max_voltage, voltage_direction, on joints 5 and 6 coupling_joint4, on joint 6 coupling_motor5;
// and with defaults brake, pot_volts_per_rev, pot_direction. What an owner measures may also be a
// hardware parameter, which goes before: joint1.encoder_direction, and so on. Position, speed and
// torque limits are those of the <limit> tag. Hardware parameters: calibration_file,
// observer_bandwidth, manual_power, safety.<name of a field of SafetySettings>, and those of the
// cards.

#include <array>
#include <string>

#include "cards/card_settings.hpp"
#include "ga_dynamics/chain.hpp"
#include "ga_hardware/safety_machine.hpp"

namespace puma_hardware {

struct JointSettings {
  std::string name;
  double gear_ratio = 1;                  ///< motor turns per joint turn
  double counts_per_rev = 1000;           ///< quadrature counts per motor turn, a whole number
  int encoder_direction = 1;              ///< sign of the counts for a positive motion
  double torque_per_volt = 1;             ///< N m at the joint per V, magnitude
  int voltage_direction = 1;              ///< sign of the voltage for a positive torque
  double max_voltage = 10;                ///< V
  double max_torque = 0;                  ///< N m
  double max_speed = 0;                   ///< rad/s
  double lower = 0, upper = 0;            ///< hard limits, rad
  double soft_lower = 0, soft_upper = 0;  ///< rad; the hard limits where there are none
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

using ga_hardware::BrakeRequest;
using ga_hardware::describe;
using ga_hardware::Fault;
using ga_hardware::FaultRecord;
using ga_hardware::Reaction;
using ga_hardware::reaction_to;
using ga_hardware::SafetyInputs;
using ga_hardware::SafetyMachine;
using ga_hardware::SafetyOutputs;
using ga_hardware::SafetySettings;
using ga_hardware::SafetyState;
using ga_hardware::spoils_calibration;
using ga_hardware::to_string;

struct ArmSettings {
  std::array<JointSettings, 6> joints;
  WristCoupling coupling;
  SafetySettings safety;
  CardSettings cards;
  std::string calibration_file;     ///< empty: none
  double observer_bandwidth = 150;  ///< rad/s, of the velocity observer
  /// A person switches arm power, and the brakes where they have no output.
  bool manual_power = false;

  /// Why no torque may flow: without an output that drops power, the end of the torque would drop the
  /// arm. Empty if it may.
  std::string power_refusal() const;
  /// The same without the text; real-time safe.
  bool power_controlled() const noexcept { return cards.pcl726.power_output >= 0 || manual_power; }
  /// What an owner of real cards should know before power: without an arm-power input the emergency stop
  /// is noticed late. Empty if there is nothing.
  std::string power_warning() const;
  /// The first limit of the safety machine that is too lax for a real arm; empty if there is none.
  std::string relaxed_limit() const;
  /// A person closes the brakes at every stop.
  bool manual_brakes() const noexcept { return manual_power && cards.pcl726.brake_output < 0; }

  /// Joint parameters from the chain (exactly six joints), hardware parameters as text. Throws
  /// std::runtime_error naming the joint or the setting; unknown names are refused.
  static ArmSettings from(const ga_dynamics::Chain& chain, const Parameters& hardware);
};

/// The safety machine of an arm with these settings; `nominal_period`: s of a cycle.
SafetyMachine safety_machine(const ArmSettings& settings, double nominal_period);
/// "joint2: overspeed: 2.31 rad/s, allowed 1.81"; allocates. A lost PCL-726 shows itself by its
/// watchdog's read-back alone, which is named.
std::string describe(const FaultRecord& record, const ArmSettings& settings);

}  // namespace puma_hardware

#endif  // ARM__ARM_SETTINGS_HPP_
