// SPDX-License-Identifier: Apache-2.0
#ifndef PLUGINS__SIM_SETTINGS_HPP_
#define PLUGINS__SIM_SETTINGS_HPP_

// The simulated arm that a <ros2_control> tag describes.
//
// Parameters of the hardware, all optional:
//   base, tip, freeze, freeze_off_chain, gravity   the chain: parameter_text.hpp
//   initial_positions   JOINT:POSITION,… [rad, m]; otherwise the initial_value of the joint's
//                       position state, or zero
//   payload_mass        kg, and
//   payload_com         x,y,z [m] at the tip link: in the arm, not in its description
//   friction            false: none (true)
//   sub_step            s, of the integration (0.00025)
//   encoders, dac       false: no counts, no 12-bit torque steps (true, where the joint gives
//                       gear_ratio and encoder_counts_per_rev, and torque_per_volt)
//   noise, seed         rad or m, standard deviation of the positions before the encoders (0)
//   observer_bandwidth  rad/s, of the velocity from counts (150)
//   ramp_time           s in which a controlled stop takes the torque away (0.25)
//   hold_time           s that the arm is held after a command time-out before it ramps down (2)
//   soft_limit_margin   rad or m from a limit where torque outwards begins to fade (0.035)
//   brake_release_time  s that the brakes stay closed after the first torque (0.2)
//   brake_torque        N m, of the joints that do not give one of their own (their effort limit)
//   overspeed_ratio     of the velocity limit (1.2); 0: not watched
//   jump_ratio          of the velocity limit, for steps of the encoder (3)
//   torque_ratio        of the effort limit; a larger command is a fault (1.5)
//   deadline_ratio      of the cycle time; 0: not watched (0)
//   max_missed_deadlines   in a row (3)
//   command_timeout     s; a torque that no controller has renewed for longer is a fault (0.01)
//   simulated_time      true: the hardware publishes /clock, one period per control cycle, for a
//                       controller manager with use_sim_time (false)
//   real_time_factor    how fast simulated time may go; 0: as fast as it can (1)
// Parameters of a joint: brake (true where not given), brake_torque, and those of the drive.

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
