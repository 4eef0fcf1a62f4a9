// SPDX-License-Identifier: Apache-2.0
// Plans two motions of an arm: all joints at once, and a straight line of the tool.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "ga_motion/trajectory.hpp"

int main(int, char** arguments) {
  const auto chain = ga_dynamics::Chain::from_urdf_file(arguments[1]);
  const auto n = chain.joints().size();

  // From 0 to 0.5 rad in 2 s, at rest at both ends.
  const std::vector<double> start(n, 0.0), goal(n, 0.5);
  const auto quintic = ga_motion::make_quintic(start, goal, 2.0);
  std::vector<double> q(n), qd(n), qdd(n);
  quintic->sample(1.0, q, qd, qdd);  // real-time safe
  std::printf("half-way: %.3f rad, %.3f rad/s\n", q[0], qd[0]);

  // A straight line that the arm can follow within its position, velocity and torque limits.
  const auto line = ga_motion::find_line(chain);
  if (!line) return 1;
  double top_speed = 0;
  for (double t = 0; t < line->trajectory->duration(); t += 0.001) {
    line->trajectory->sample(t, q, qd, qdd);
    for (const double speed : qd) top_speed = std::max(top_speed, std::abs(speed));
  }
  std::printf("line of %.2f s: joints at up to %.2f rad/s\n", line->trajectory->duration(),
              top_speed);
}
