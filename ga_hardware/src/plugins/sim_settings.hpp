// SPDX-License-Identifier: Apache-2.0
#ifndef PLUGINS__SIM_SETTINGS_HPP_
#define PLUGINS__SIM_SETTINGS_HPP_

// Settings of the simulated arm, from a <ros2_control> tag.
//
// Parameters of the hardware, all optional:
//   base, tip, freeze, freeze_off_chain, gravity   the chain: parameter_text.hpp
//   initial_positions   JOINT:POSITION,… [rad, m]; default: the initial_value of the joint's
//                       position state, or zero
//   payload_mass        kg, and
//   payload_com         x,y,z [m] at the tip link: unknown to the description
//   mismatch, com_error, friction_error, armature_error, torque_constant_error, stiction, delay,
//   lag, torque_limit, elastic_frequency, elastic_ratio, elastic_damping
//                       errors of the description and imperfect drives:
//                       ga_hardware/simulated_arm.hpp
//   friction            false: none (true)
//   sub_step            s, of the integration (0.00025)
//   encoders, dac       false: no encoder counts, no 12-bit torque steps (true, if the joint has
//                       gear_ratio and encoder_counts_per_rev, or torque_per_volt)
//   noise, seed         rad or m, standard deviation of the positions before the encoders (0);
//                       of the noise and of the errors (1)
//   observer_bandwidth  rad/s, of the velocity observer (150)
//   ramp_time           s, of the ramp-down in a controlled stop (0.25)
//   hold_time           s, of the hold after a command time-out, before the ramp-down (2)
//   soft_limit_margin   of joints without soft limits: rad or m from a hard limit where the outward
//                       torque limit decreases (0.035)
//   stop_margin         rad or m of the mechanical stops beyond the hard limits (0)
//   brake_release_time  s that the brakes stay closed after the first torque (0.2)
//   brake_torque        N m, for joints without their own (their effort limit)
//   overspeed_ratio     of the velocity limit (1.2); 0: not monitored
//   jump_ratio          of the velocity limit, for encoder steps (3)
//   torque_ratio        of the effort limit; a larger command is a fault (1.5)
//   deadline_ratio      of the cycle time; 0: not monitored (0)
//   max_missed_deadlines   consecutive (3)
//   command_timeout     s, watchdog of the effort commands (0.01, or 2.5 periods if longer)
//   simulated_time      true: the hardware publishes /clock, one period per control cycle, for a
//                       controller manager with use_sim_time (false)
//   real_time_factor    upper limit of the simulation speed; 0: unlimited (1)
// Parameters of a joint: brake (default: true), brake_torque, and those of the drive.

#include "ga_dynamics/chain.hpp"
#include "ga_hardware/simulated_arm.hpp"
#include "hardware_interface/hardware_info.hpp"

namespace ga_hardware {

struct SimSetup {
  ga_dynamics::Chain chain;
  SimulatedArmSettings settings;
  bool simulated_time = false;
  double real_time_factor = 1;
};

/// Allocates. Throws std::runtime_error or ga_dynamics::DescriptionError naming the parameter or
/// the joint, its value and the remedy. The chain has exactly the hardware's joints, in the order
/// of the chain.
SimSetup sim_setup_of(const hardware_interface::HardwareInfo& info);

}  // namespace ga_hardware

#endif  // PLUGINS__SIM_SETTINGS_HPP_
