// SPDX-License-Identifier: Apache-2.0
#ifndef PLUGINS__ARM_SETUP_HPP_
#define PLUGINS__ARM_SETUP_HPP_

// The arm on its cards, as described by a <ros2_control> tag.
//
// Parameters of the hardware, in addition to those of ArmSettings (pcl*, safety.*, calibration_file,
// observer_bandwidth), all optional:
//   base, tip, freeze, freeze_off_chain, gravity   the chain: ga_hardware/parameter_text.hpp
//   io                 ports: the computer's I/O ports; emulated (ports)
//   cell               io emulated: name of a running `puma emulate NAME`; without it the cards are
//                      emulated in this process
//   guard              true: a `puma guard` must be running (true; cards emulated in this process
//                      need none)
//   guard_timeout      s without a sign of life after which the guard is lost (0.1)
//   observer_feed      true: the velocity observers use torque and model (true)
// and for cards emulated in this process
//   initial_positions  JOINT:POSITION,… [rad]
//   seed               of the noise (1)
//   simulated_time     true: /clock advances by one period per control cycle, for a controller
//                      manager with use_sim_time (false)
//   real_time_factor   maximum speed of simulated time; 0: unlimited (1)

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
