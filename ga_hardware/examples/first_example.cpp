// SPDX-License-Identifier: Apache-2.0
// A simulated arm with brakes and encoders, held by a control law until a motor overheats.
#include <cstdio>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_hardware/simulated_arm.hpp"

int main(int, char** arguments) {
  const auto chain = ga_dynamics::Chain::from_urdf_file(arguments[1]);
  const auto n = chain.joints().size();

  ga_hardware::SimulatedArmSettings settings;
  settings.signals = ga_hardware::signals_of(chain);  // encoders and DACs, from <ros2_control>
  settings.plant.brake_torque.assign(n, 200);         // N m
  settings.start.assign(n, 0.3);                      // rad
  ga_hardware::SimulatedArm arm(chain, settings);

  ga_controllers::LawParameters parameters;
  parameters.gains = {ga_controllers::gains_from_bandwidth(40, 1)};
  ga_controllers::ControlLaw law(chain, parameters);

  arm.power_on();  // the brakes open once torque is commanded
  const auto overheat = ga_hardware::parse_injection("thermal:" + chain.joints()[1].name, chain);
  std::vector<double> tau(n);
  const double period = 0.001;
  for (int cycle = 0; cycle <= 2000; ++cycle) {
    if (cycle == 1000) arm.inject(overheat);
    if (cycle % 500 == 0) std::printf("%.1f s: %s\n", cycle * period, to_string(arm.state()));
    law.update(arm.position(), arm.velocity(), {}, period, tau);
    arm.command(tau);
    arm.advance(period);
  }
  const auto& fault = arm.fault();
  std::printf("%s\n", describe(fault, chain.joints()[fault.joint].name).c_str());
}
