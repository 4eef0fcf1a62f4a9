// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include "cli/experiments.hpp"
#include "cli/text_table.hpp"
#include "experiments/hydraulic_arm.hpp"
#include "ga_dynamics/number.hpp"

namespace ga_tools::cli {

using namespace ga_dynamics;
using namespace ga_motion;
namespace {

using namespace experiments;

std::string show(double value, int digits = 4) { return number_text(value, digits); }

/// Figures 3 and 4: the motion through three points and its torques, by d'Alembert and GA.
std::string torques_text(const HydraulicArm& arm) {
  Dynamics dalembert(arm.chain, {.method = Method::kDalembert}), tensor(arm.chain);
  const std::unique_ptr<Trajectory> motion = lifting_motion();
  TextTable table({"t", "τ2, kN m", "τ3, kN m", "τ4, kN m", "paper"}, 0);
  double difference = 0, largest = 0;
  for (int k = 0; k <= 80; ++k) {
    const double t = motion->duration() * k / 80;
    JointValues q(5), qd(5), qdd(5), tau(5), other(5);
    motion->sample(t, q, qd, qdd);
    dalembert.inverse_dynamics(q, qd, qdd, tau);
    tensor.inverse_dynamics(q, qd, qdd, other);
    for (std::size_t i = 0; i < 5; ++i) {
      difference = std::max(difference, std::abs(tau[i] - other[i]));
      largest = std::max(largest, std::abs(tau[i]));
    }
    if (k % 20 == 0) {
      table.add({show(t, 2) + " s", show(tau[1] / 1e3), show(tau[2] / 1e3), show(tau[3] / 1e3),
                 "curves, lost"});
    }
  }
  return "  Figures 3 and 4, inverse problem: cubics through three points, no stop at the middle "
         "one, load level.\n" +
         table.text() + "  D'Alembert's closed equations and Gibbs–Appell agree to " +
         show(difference / largest, 2) + " of the largest torque.\n";
}

/// Figure 5: what the valves' closing sets off.
std::string oscillation_text(const HydraulicArm& arm, const Told& told) {
  const JointValues q = closing_position(), qd = closing_speed();
  const JointValues free = free_positions(arm, q, qd), rest = rest_positions(arm, free);
  told("oscillation after the valves have closed");
  const RingDown motion = ring_down(arm, q, qd, 2), end = ring_down(arm, q, qd, 25, 0.05);
  const std::vector<Mode> linear = linear_modes(arm, rest), seen = observed_modes(motion, rest);
  const std::vector<double> undamped = undamped_frequencies(arm, rest);

  TextTable modes({"mode", "K, D: Hz", "linearised: Hz", "damping ratio", "simulated: Hz",
                   "damping ratio", "paper"},
                  0);
  double frequency = 0, damping = 0;  // relative differences
  for (std::size_t i = 0; i < linear.size(); ++i) {
    const bool found = i < seen.size();
    modes.add({std::to_string(i + 1), show(undamped[i], 5), show(linear[i].frequency(), 5),
               show(linear[i].damping_ratio(), 3), found ? show(seen[i].frequency(), 5) : "-",
               found ? show(seen[i].damping_ratio(), 3) : "-", "curves, lost"});
    if (!found) continue;
    frequency = std::max(frequency, std::abs(seen[i].frequency() / linear[i].frequency() - 1));
    damping = std::max(damping, std::abs(seen[i].damping_ratio() / linear[i].damping_ratio() - 1));
  }
  TextTable joints({"joint", "k, N m/rad", "d, N m s/rad", "speed at closing, rad/s",
                    "largest swing, mrad", "static deflection, mrad", "left after 25 s, mrad"},
                   0);
  for (std::size_t i = 0; i < q.size(); ++i) {
    double swing = 0;
    for (const JointValues& at : motion.q) swing = std::max(swing, std::abs(at[i] - rest[i]));
    const double deflection = 1e3 * (free[i] - rest[i]);
    joints.add({std::to_string(i + 1), show(arm.stiffness[i]), show(arm.damping[i]), show(qd[i]),
                show(1e3 * swing, 3), show(std::abs(deflection) < 1e-9 ? 0.0 : deflection, 3),
                show(1e3 * std::abs(end.q.back()[i] - rest[i]), 2)});
  }
  return "  Figure 5, forward problem: the valves close on the moving arm; τ = k (θ0 − θ) − d θ̇ "
         "from "
         "then on (equation 14).\n" +
         joints.text() + modes.text() +
         "  K, D: without damping, from the stiffness (of oil and gravity) and the inertia matrix "
         "at "
         "rest. Simulated: told from the\n"
         "  integrated nonlinear motion alone; it differs from the linearised arm by " +
         show(100 * frequency, 2) + " % in frequency and " + show(100 * damping, 2) +
         " % in damping.\n";
}

}  // namespace

std::string hydraulic_arm_text(const Told& told) {
  told("torques");
  const HydraulicArm arm = make_hydraulic_arm(LoadModel::kBody);
  return torques_text(arm) + oscillation_text(arm, told) +
         "  Not comparable: the figures' curves are lost, and the paper gives no numbers for its "
         "arm: lengths, masses, inertias,\n"
         "  stiffnesses, dampings, the three points. The arm here is our own; the load is the "
         "paper's, 3200 N, taken as a body.\n";
}

}  // namespace ga_tools::cli
