// SPDX-License-Identifier: Apache-2.0
#ifndef PLUGINS__ARM_SETUP_HPP_
#define PLUGINS__ARM_SETUP_HPP_

// The arm over the cards that a <ros2_control> tag describes.
//
// Parameters of the hardware, beside those of ArmSettings (pcl*, safety.*, calibration_file,
// observer_bandwidth), all optional:
//   base, tip, freeze, freeze_off_chain, gravity   the chain: ga_hardware/described_chain.hpp
//   io                 ports: the machine's I/O ports; emulated (ports)
//   cell               io emulated: name of a running `puma emulate NAME`; without it the cards are
//                      emulated in this process
//   guard              false: no `puma guard` has to be on watch (true; cards that are emulated in
//                      this process end with it and need none)
//   guard_timeout      s; a guard silent for longer is lost (0.1)
//   observer_feed      true: the velocity observer knows the torque and the model (true)
// and for cards that are emulated in this process
//   initial_positions  JOINT:POSITION,… [rad] where the arm stands
//   seed               of the noise (1)
//   simulated_time     true: /clock goes on by one period per control cycle, for a controller
//                      manager with use_sim_time (false)
//   real_time_factor   how fast simulated time may go; 0: as fast as it can (1)

#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "hardware_interface/hardware_info.hpp"
#include "runtime/arm_driver.hpp"
#include "runtime/robot.hpp"

namespace puma_hardware {

struct ArmSetup {
  ga_dynamics::Chain chain;
  std::vector<std::string> joints = {};
  Bus bus = Bus::kPorts;
  std::string cell = {};
  Parameters parameters = {};  ///< of ArmSettings
  emulator::EmulatedArmOptions emulated = default_emulated_arm();
  std::string heartbeat = {};  ///< its name; empty: no guard
  ArmDriverOptions driver = {};
  bool simulated_time = false;
  double real_time_factor = 1;
};

/// Allocates. Throws std::runtime_error, CardError or ga_dynamics::DescriptionError naming the
/// parameter or the joint, its value and the remedy.
ArmSetup arm_setup_of(const hardware_interface::HardwareInfo& info);

}  // namespace puma_hardware

#endif  // PLUGINS__ARM_SETUP_HPP_
