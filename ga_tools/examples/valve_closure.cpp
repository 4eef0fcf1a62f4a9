// SPDX-License-Identifier: Apache-2.0

// The valves of a moving five-joint hydraulic arm with a load of 3200 N close: from then on the
// compressed oil acts on the joints as springs and dampers, and the arm oscillates. Writes the motion
// as CSV to standard output, and the frequencies of the linearized arm to standard error.
//   valve_closure [--seconds S] [--load-without-inertia] > swing.csv

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "experiments/hydraulic_arm.hpp"
#include "ga_dynamics/plant.hpp"

int main(int argc, char** argv) {
  using namespace ga_dynamics;
  using namespace ga_tools::experiments;
  double seconds = 2;
  LoadModel load = LoadModel::kBody;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--load-without-inertia") == 0) {
      load = LoadModel::kForce;
    } else if (std::strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
      seconds = std::atof(argv[++i]);
    } else {
      seconds = 0;
    }
  }
  if (!(seconds > 0 && seconds <= 3600)) {
    std::fprintf(stderr, "usage: valve_closure [--seconds S] [--load-without-inertia]\n");
    return 2;
  }

  const HydraulicArm arm = make_hydraulic_arm(load);
  const JointValues q = closing_position(), qd = closing_speed();
  const JointValues free = free_positions(arm, q, qd), rest = rest_positions(arm, free);
  for (const Mode& mode : linear_modes(arm, rest)) {
    std::fprintf(stderr, "linearized: %8.4f Hz, damping ratio %.4f\n", mode.frequency(),
                 mode.damping_ratio());
  }

  Plant plant(arm.chain);
  const TorqueFunction drives = [&](double, std::span<const double> at,
                                    std::span<const double> rate, std::span<double> tau) {
    apply_load(arm, at, plant.dynamics());  // the force stays vertical while the link turns
    for (std::size_t i = 0; i < tau.size(); ++i) {
      tau[i] = arm.stiffness[i] * (free[i] - at[i]) - arm.damping[i] * rate[i];
    }
  };
  plant.reset(q, qd);
  std::printf("t,q1,q2,q3,q4,q5,swing1,swing2,swing3,swing4,swing5\n");
  const double interval = 0.005;
  const auto rows = static_cast<long>(seconds / interval + 0.5);
  for (long k = 0; k <= rows; ++k) {
    if (k > 0) plant.step(drives, interval);
    std::printf("%.4f", plant.time());
    for (const double at : plant.q()) std::printf(",%.9g", at);
    for (std::size_t i = 0; i < rest.size(); ++i) std::printf(",%.9g", plant.q()[i] - rest[i]);
    std::printf("\n");
  }
  return 0;
}
