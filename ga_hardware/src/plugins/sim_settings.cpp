// SPDX-License-Identifier: Apache-2.0
#include "plugins/sim_settings.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "ga_hardware/arm_model.hpp"
#include "ga_hardware/arm_system.hpp"
#include "ga_hardware/parameter_text.hpp"
#include "plugins/arm_interfaces.hpp"

namespace ga_hardware {
namespace {

using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;
using hardware_interface::ComponentInfo;
using hardware_interface::HardwareInfo;

/// Brake torque if neither a parameter nor an effort limit defines it, N m.
constexpr double kStrongBrake = 1000;

std::vector<double> start_of(const std::string& where, const HardwareInfo& info, const Chain& chain,
                             ParameterText& parameters) {
  std::map<std::string, double> given = parameters.by_joint("initial_positions");
  std::vector<double> start;
  for (const ChainJoint& joint : chain.joints()) {
    double position = 0;
    for (const auto& state : find_joint(info, joint.name)->state_interfaces) {
      if (state.name != "position" || state.initial_value.empty()) continue;
      if (!read_number(state.initial_value, position)) {
        throw std::runtime_error(where + ": joint '" + joint.name + "': initial_value is '" +
                                 state.initial_value + "'; give a number");
      }
    }
    if (const auto found = given.find(joint.name); found != given.end()) {
      position = found->second;
      given.erase(found);
    }
    if (position < joint.limits.lower || position > joint.limits.upper) {
      throw std::runtime_error(where + ": joint '" + joint.name + "' starts at " +
                               std::to_string(position) + ", outside its limits " +
                               std::to_string(joint.limits.lower) + " … " +
                               std::to_string(joint.limits.upper) + "; change initial_positions");
    }
    start.push_back(position);
  }
  if (!given.empty()) {
    throw std::runtime_error(where + ": parameter initial_positions: there is no joint '" +
                             given.begin()->first + "' on the chain");
  }
  return start;
}

std::vector<double> brakes_of(const std::string& where, const Chain& chain,
                              ParameterText& parameters) {
  const double otherwise = parameters.number("brake_torque", 0, 0, 1e6);
  std::vector<double> torques;
  for (const ChainJoint& joint : chain.joints()) {
    ParameterText own(where + ", joint '" + joint.name + "'",
                      {joint.parameters.begin(), joint.parameters.end()});
    const double effort = std::isfinite(joint.limits.effort) ? joint.limits.effort : kStrongBrake;
    const double torque = own.number("brake_torque", otherwise > 0 ? otherwise : effort, 0, 1e6);
    torques.push_back(own.flag("brake", true) ? torque : 0);
  }
  return torques;
}

}  // namespace

SimSetup sim_setup_of(const HardwareInfo& info) {
  const std::string where = "hardware '" + info.name + "'";
  ParameterText parameters(where, info.hardware_parameters);
  SimSetup setup{chain_of(info.original_xml, parameters), {}};
  setup.simulated_time = parameters.flag("simulated_time", false);
  setup.real_time_factor = parameters.number("real_time_factor", 1, 0, 1000);
  check_joints(where, info, setup.chain);

  SimulatedArmSettings& s = setup.settings;
  s.start = start_of(where, info, setup.chain, parameters);
  s.plant.brake_torque = brakes_of(where, setup.chain, parameters);
  s.plant.friction = parameters.flag("friction", true);
  s.plant.sub_step = parameters.number("sub_step", s.plant.sub_step, 1e-6, 0.01);
  s.payload.mass = parameters.number("payload_mass", 0, 0, 1000);
  s.payload.com = vector_of(parameters.list("payload_com", {0, 0, 0}));
  s.disturbances = read_disturbances(where, parameters);
  s.signals = signals_of(setup.chain);
  const bool encoders = parameters.flag("encoders", true), dac = parameters.flag("dac", true);
  const double noise = parameters.number("noise", 0, 0, 0.1);
  for (JointSignals& signals : s.signals) {
    if (!encoders) signals.counts_per_rad = 0;
    if (!dac) signals.torque_per_volt = 0;
    signals.noise = noise;
  }
  s.seed = static_cast<unsigned>(parameters.whole("seed", 1, 0, 1000000));
  s.observer_bandwidth = parameters.number("observer_bandwidth", s.observer_bandwidth, 1, 10000);
  s.brake_release_time = parameters.number("brake_release_time", s.brake_release_time, 0, 10);
  s.plant.stop_margin = parameters.number("stop_margin", s.plant.stop_margin, 0, 1);
  SafetySettings& safety = s.safety;
  safety.ramp_time = parameters.number("ramp_time", safety.ramp_time, 0, 10);
  safety.hold_time = parameters.number("hold_time", safety.hold_time, 0, 60);
  safety.power_delay = parameters.number("power_delay", safety.power_delay, 0, 5);
  safety.brake_delay = parameters.number("brake_delay", safety.brake_delay, 0, 5);
  safety.soft_limit_margin = parameters.number("soft_limit_margin", safety.soft_limit_margin, 0, 1);
  safety.overspeed_ratio = parameters.number("overspeed_ratio", safety.overspeed_ratio, 0, 100);
  safety.jump_ratio = parameters.number("jump_ratio", safety.jump_ratio, 1, 100);
  safety.torque_ratio = parameters.number("torque_ratio", safety.torque_ratio, 1, 100);
  safety.deadline_ratio = parameters.number("deadline_ratio", safety.deadline_ratio, 0, 1000);
  if (safety.deadline_ratio > 0 && safety.deadline_ratio <= 1) {
    throw std::runtime_error(where + ": parameter deadline_ratio must be above 1, or 0 for none");
  }
  safety.max_missed_deadlines = parameters.whole("max_missed_deadlines", 3, 1, 1000);
  if (info.rw_rate > 0) s.period = 1.0 / info.rw_rate;
  // A slow loop renews its commands once per cycle.
  const double timeout = std::max(safety.command_timeout, 2.5 * s.period);
  safety.command_timeout = parameters.number("command_timeout", timeout, 1e-3, 10);
  parameters.refuse_others();
  return setup;
}

}  // namespace ga_hardware
