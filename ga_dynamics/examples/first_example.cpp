// SPDX-License-Identifier: Apache-2.0
// Holds an arm against gravity, then lets it fall for 0.2 s.
#include <cmath>
#include <cstdio>
#include <vector>

#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/plant.hpp"

int main(int, char** arguments) {
  const auto chain = ga_dynamics::Chain::from_urdf_file(arguments[1]);
  const auto n = chain.joints().size();
  const std::vector<double> q(n, 0.3), zero(n);  // one value per joint: rad, rad/s, rad/s², N m

  // Inverse dynamics of an arm at rest: the torques that hold it.
  ga_dynamics::Dynamics dynamics(chain);
  std::vector<double> tau(n);
  dynamics.inverse_dynamics(q, zero, zero, tau);
  for (std::size_t i = 0; i < n; ++i) {
    if (std::abs(tau[i]) < 0.1) continue;
    std::printf("%s: %.1f N m\n", chain.joints()[i].name.c_str(), tau[i]);
  }

  // Simulation: forward dynamics with friction, torque limits and joint stops.
  ga_dynamics::Plant plant(chain);
  std::vector<ga_dynamics::Pose> poses(chain.links().size());
  const auto tool_height = [&] {
    dynamics.link_poses(plant.q(), poses);
    return poses[static_cast<std::size_t>(chain.tip_index())].translation[2];
  };
  plant.reset(q, zero);
  plant.step(tau, 0.2);
  std::printf("held:   tool at %.3f m\n", tool_height());
  plant.step(zero, 0.2);
  std::printf("fallen: tool at %.3f m\n", tool_height());
}
