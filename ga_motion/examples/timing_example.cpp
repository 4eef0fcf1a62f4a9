// SPDX-License-Identifier: Apache-2.0
// Times a path by motor torque, and shows what it costs to ramp the torques.
#include <cstdio>
#include <vector>

#include "ga_motion/time_parameterization.hpp"

int main(int, char** arguments) {
  const auto chain = ga_dynamics::Chain::from_urdf_file(arguments[1]);
  const std::vector<std::vector<double>> points{
      {0, -1.0, 1.5, 0, 0, 0}, {0.3, -0.8, 1.2, 0.4, 0.3, 0}, {0.6, -1.0, 1.0, 0, 0.6, 0.5}};
  const auto path = ga_motion::make_spline_path(points);
  auto limits = ga_motion::limits_of(chain);
  try {
    const auto fastest = ga_motion::PathTimer(chain, limits).time(path);
    // From no torque to the limit in 20 ms or more.
    for (std::size_t i = 0; i < limits.torque.size(); ++i)
      limits.torque_rate[i] = limits.torque[i] / 0.02;
    const auto smooth = ga_motion::PathTimer(chain, limits).time(path);
    std::printf("%.3f s, with torque ramps %.3f s\n", fastest.trajectory->duration(),
                smooth.trajectory->duration());
    const auto use = ga_motion::limit_use(chain, limits, *smooth.trajectory);
    for (std::size_t i = 0; i < use.joints.size(); ++i) {
      std::printf("%s: %.0f %% of the torque, %.0f %% of the velocity\n",
                  chain.joints()[i].name.c_str(), 100 * use.joints[i].torque.share,
                  100 * use.joints[i].velocity.share);
    }
  } catch (const ga_motion::TimingError& error) {
    std::printf("%s\n", error.what());  // joint, place on the path, torque, limit, remedy
  }
}
