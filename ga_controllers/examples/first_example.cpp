// SPDX-License-Identifier: Apache-2.0
// Computed-torque control of a simulated arm at 1 kHz, to a goal 0.3 rad away.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/plant.hpp"

int main(int, char** arguments) {
  const auto chain = ga_dynamics::Chain::from_urdf_file(arguments[1]);
  const auto n = chain.joints().size();
  const std::vector<double> start(n, 0.2), goal(n, 0.5), zero(n);

  ga_controllers::LawParameters parameters;
  parameters.kind = ga_controllers::LawKind::kTrackingIntegral;
  parameters.gains = {ga_controllers::gains_from_bandwidth(40, 1)};  // rad/s; for all joints
  parameters.friction = 1;                                           // feed all of it forward
  ga_controllers::ControlLaw law(chain, parameters);

  ga_dynamics::Plant arm(chain);
  arm.reset(start, zero);
  law.start(arm.q(), arm.qd(), zero);
  std::vector<double> tau(n);
  const double period = 0.001;
  for (int cycle = 1; cycle <= 2000; ++cycle) {
    law.update(arm.q(), arm.qd(), {.q = goal, .qd = {}, .qdd = {}}, period, tau);
    arm.step(tau, period);
    if (cycle % 500 != 0) continue;
    double error = 0;
    for (std::size_t i = 0; i < n; ++i) error = std::max(error, std::abs(goal[i] - arm.q()[i]));
    std::printf("%.1f s: %.0f mrad from the goal\n", cycle * period, 1000 * error);
  }
}
