// SPDX-License-Identifier: Apache-2.0
#include "cli/experiments.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <string_view>

#include "cli/output.hpp"
#include "experiments/hydraulic_arm.hpp"
#include "experiments/two_link.hpp"
#include "ga_motion/state_file.hpp"

namespace ga_tools::cli {

using namespace ga_dynamics;
using namespace ga_motion;
namespace {

using namespace experiments;

std::string single_precision_text(const OnStep& on_step) {
  using namespace experiments::two_link;
  on_step("180 positions, 14 implementations");
  const Table table = measure({}, 0);
  const Range cond = condition({});

  TextTable text({"", "|double − single|, rad/s²", "max 1", "mean 1", "signed 1", "max 2", "mean 2",
                  "paper: max / average"},
                 1);
  for (std::size_t row = 0; row < kRows; ++row) {
    const Difference& d = table[row];
    text.add({"", kLabels[row].name, show(d.largest[0], 3), show(d.mean[0], 3),
              show(d.signed_mean[0], 2), show(d.largest[1], 3), show(d.mean[1], 3),
              kLabels[row].published});
  }

  const double ga = table[kGaPrinted].mean[0], aba = table[kAbaBase].mean[0];
  const double limit = table[kRoundedOnceSolvedInDouble].mean[0];
  return "  Links 0.02 m, 0.1 kg and 2 m, 10 kg; joint 2 through one turn in steps of 2°; "
         "condition number of D " +
         show(cond.least) + " to " + show(cond.largest) + ".\n" + text.text() +
         "  Reproduced: the size of the maxima, and GA closer to double than CRBA about centers of "
         "mass.\n  " +
         (ga < aba ? "Reproduced" : "Not reproduced") +
         ": GA's average as the smallest. The mean of |double − single| is " + show(ga, 3) +
         " for GA and " + show(aba, 3) +
         "\n  for ABA; the paper prints 0.0087611 and 0.013240. Rounding D once to single "
         "precision, with\n  everything else exact, already costs " +
         show(limit, 3) +
         ": no method that stores D reaches the printed average of GA.\n"
         "  That average has the size of a mean of signed differences: see "
         "doc/single_precision.md in the sources.\n"
         "  Not in the paper, assumed here: q1 = 0; the bars' moments of inertia (uniform bars).\n"
         "  Not in the paper, but decisive for the digits: the implementation of the ABA, the "
         "processor's intermediate precision.\n";
}

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

/// Figure 5: the oscillation after the valves close.
std::string oscillation_text(const HydraulicArm& arm, const OnStep& on_step) {
  const JointValues q = closing_position(), qd = closing_speed();
  const JointValues free = free_positions(arm, q, qd), rest = rest_positions(arm, free);
  on_step("oscillation after the valves have closed");
  const RingDown motion = ring_down(arm, q, qd, 2), end = ring_down(arm, q, qd, 25, 0.05);
  const std::vector<Mode> linear = linear_modes(arm, rest), seen = observed_modes(motion, rest);
  const std::vector<double> undamped = undamped_frequencies(arm, rest);

  TextTable modes({"mode", "K, D: Hz", "linearized: Hz", "damping ratio", "simulated: Hz",
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
                    "largest deviation, mrad", "static deflection, mrad", "left after 25 s, mrad"},
                   0);
  for (std::size_t i = 0; i < q.size(); ++i) {
    double swing = 0;
    for (const JointValues& at : motion.q) swing = std::max(swing, std::abs(at[i] - rest[i]));
    const double deflection = 1e3 * (free[i] - rest[i]);
    joints.add({std::to_string(i + 1), show(arm.stiffness[i]), show(arm.damping[i]), show(qd[i]),
                show(1e3 * swing, 3), show(std::abs(deflection) < 1e-9 ? 0.0 : deflection, 3),
                show(1e3 * std::abs(end.q.back()[i] - rest[i]), 2)});
  }
  return "  Figure 5, forward problem: the valves close on the moving arm; from then on "
         "τ = k (θ0 − θ) − d θ̇ (equation 14).\n" +
         joints.text() + modes.text() +
         "  K, D: without damping, from the stiffness (of oil and gravity) and the inertia matrix "
         "at rest. Simulated: identified from the\n"
         "  integrated nonlinear motion alone; it differs from the linearized arm by " +
         show(100 * frequency, 2) + " % in frequency and " + show(100 * damping, 2) +
         " % in damping.\n";
}

std::string hydraulic_arm_text(const OnStep& on_step) {
  on_step("torques");
  const HydraulicArm arm = make_hydraulic_arm(LoadModel::kBody);
  return torques_text(arm) + oscillation_text(arm, on_step) +
         "  Not comparable: the figures' curves are lost, and the paper gives no lengths, masses, "
         "inertias,\n"
         "  stiffnesses, dampings or via points for its arm. The arm here is our own; the load is "
         "the paper's, 3200 N, taken as a body.\n";
}

struct Experiment {
  std::string_view name;  ///< for --only
  const char* title;      ///< of its table
  std::string (*text)(const OnStep& on_step);
};

/// In the order in which they run.
const Experiment kExperiments[] = {
    {"mata-table5",
     "Mata et al. 2002, Table 5: forward dynamics of two links, single precision against double",
     single_precision_text},
    {"mata-line", "Mata et al. 2002, §5.2: a PUMA on a straight line, errors of its joints",
     joint_errors_text},
    {"provenzano-table2",
     "Provenzano et al., Table 2: a PUMA on a straight line, errors of its tool", tool_errors_text},
    {"control-figure4",
     "Mata, Valera et al. (PC-based PUMA control), Figure 4: torques along a straight line",
     line_torques_text},
    {"dalembert-figures", "D'Alembert paper, Figures 3 to 5: a hydraulic arm with a load of 3200 N",
     hydraulic_arm_text},
};

}  // namespace

std::string experiments_list() {
  std::string text;
  for (const Experiment& e : kExperiments) {
    std::string name(e.name);
    name.resize(19, ' ');
    text += "  " + name + e.title + "\n";
  }
  return text;
}

void run_experiments(const std::vector<std::string>& only, bool quiet) {
  for (const std::string& name : only) {
    if (std::ranges::find(kExperiments, name, &Experiment::name) != std::end(kExperiments)) {
      continue;
    }
    std::string names;
    for (const Experiment& e : kExperiments)
      names += std::string(names.empty() ? "" : ", ").append(e.name);
    throw InputError("--only " + name + ": no such experiment; give one of " + names);
  }
  Output output;
  bool first = true;
  for (const Experiment& e : kExperiments) {
    if (!only.empty() && std::find(only.begin(), only.end(), e.name) == only.end()) continue;
    std::string text;
    {
      Progress progress(!quiet, Progress::Beside::kAnyOutput);
      const auto on_step = [&](const std::string& step) {
        progress.say(std::string(e.name) + ": " + step);
      };
      on_step("starting");
      text = e.text(on_step);
    }
    output.put((first ? "" : "\n") + std::string(e.title) + " [" + std::string(e.name) + "]\n" +
               text);
    output.flush();
    first = false;
  }
  output.close();
}

}  // namespace ga_tools::cli
