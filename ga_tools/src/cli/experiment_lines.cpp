// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "cli/experiments.hpp"
#include "cli/output.hpp"
#include "experiments/line_torques.hpp"
#include "experiments/paper_puma.hpp"
#include "experiments/straight_line.hpp"

namespace ga_tools::cli {

using namespace ga_dynamics;
using namespace ga_motion;
namespace {

using namespace experiments;

constexpr int kRounds = 61;
constexpr std::size_t kGa = 2;  // in kSolvers
constexpr const char* kSolverNames[] = {"CRBA", "ABA", "GA", "GA, this library"};
using AllErrors = std::array<LineErrors, kSolvers.size()>;

AllErrors run_all(LineSimulation& simulation, const OnStep& on_step) {
  AllErrors to;
  for (std::size_t i = 0; i < to.size(); ++i) {
    on_step(std::string("simulation with ") + kSolverNames[i]);
    to[i] = simulation.run(kSolvers[i]);
  }
  return to;
}

Ratios timed(LineSimulation& simulation, const OnStep& on_step) {
  return time_ratios(simulation, kRounds, [&](int round) {
    on_step("processing time, round " + std::to_string(round + 1) + " of " +
            std::to_string(kRounds));
  });
}

/// The lost and assumed data, and the divergence with tensors of the links' own size.
std::string assumptions_text(const LineCase& c, const OnStep& on_step) {
  on_step("the same with the tensors of uniform bodies");
  LineSimulation whole(make_chain(PaperPuma{}), c);
  LineCase first_second = c;
  first_second.seconds = 1;
  LineSimulation begin(make_chain(PaperPuma{}), first_second);
  return "  Lost or not given: the inertia tensors (here: uniform bodies times " +
         show(kOpenLoopInertiaScale, 3) +
         ", chosen after the fact so that errors grow\n"
         "  as in Provenzano et al. Table 2), the branch (here: arm +, elbow +, wrist −), the "
         "tool's length (here: 0), the\n"
         "  step-size control (here: Dormand–Prince 5(4), 1e-6). These determine the size of the "
         "errors; the methods do not.\n"
         "  With the uniform bodies' own tensors small errors grow by " +
         show(whole.growth().mean, 3) + " 1/s; the tool is " +
         show(begin.run(Solver::kGaLibrary).distance, 2) + " m off after 1 s and " +
         show(whole.run(Solver::kGaLibrary).distance, 2) + " m after " + show(c.seconds, 3) +
         " s:\n  without feedback no such arm follows the line, by any method.\n";
}

constexpr std::size_t kHeavy[] = {1, 2}, kLight[] = {0, 3, 4, 5};

/// Two decimals: absolute differences in N m matter, not relative ones.
std::string newton_meters(double value) {
  const double rounded = std::round(100 * value) / 100;
  return show(rounded == 0 ? 0.0 : rounded, 6);
}

std::string range_text(const TorqueRange& range) {
  return newton_meters(range.start) + " → " + newton_meters(range.end) + " (" +
         newton_meters(range.least) + " … " + newton_meters(range.most) + ")";
}

std::string branch_text(const PumaBranch& branch) {
  const auto sign = [](int value) { return value > 0 ? "+" : "−"; };
  return std::string("(") + sign(branch.arm) + "," + sign(branch.elbow) + "," + sign(branch.wrist) +
         ")";
}

}  // namespace

std::string joint_errors_text(const OnStep& on_step) {
  const Chain chain = make_chain({.inertia_scale = kOpenLoopInertiaScale});
  std::string text =
      "  Torques from inverse dynamics at every instant, forward dynamics integrated without "
      "feedback; means of |error| every 0.1 s.\n"
      "  The paper gives both 0.1 m/s and 5 s for the same 0.329 m: both are run.\n";
  LineSimulation by_speed(chain, line_of_2002_by_speed());
  LineSimulation by_time(chain, line_of_2002_by_time());
  const AllErrors fast = run_all(by_speed, on_step), slow = run_all(by_time, on_step);
  const Ratios fast_times = timed(by_speed, on_step), slow_times = timed(by_time, on_step);
  TextTable joints({"joint", "0.1 m/s, 3.2 s: rad", "rad/s", "rad/s²", "0.0657 m/s, 5 s: rad",
                    "rad/s", "rad/s²", "paper"},
                   0);
  for (std::size_t i = 0; i < 6; ++i) {
    std::vector<std::string> row{std::to_string(i + 1)};
    for (const LineErrors* e : {&fast[kGa], &slow[kGa]}) {
      for (const double value : {e->q[i], e->qd[i], e->qdd[i]}) row.push_back(show(value, 3));
    }
    row.emplace_back("Table 6, lost");
    joints.add(row);
  }
  TextTable methods({"", "method", "3.2 s: tool off, m", "evaluations", "time over GA's",
                     "5 s: tool off, m", "evaluations", "time over GA's", "paper"},
                    1);
  for (std::size_t i = 0; i < kSolvers.size(); ++i) {
    methods.add({"", kSolverNames[i], show(fast[i].distance), std::to_string(fast[i].evaluations),
                 show(fast_times[i], 3), show(slow[i].distance),
                 std::to_string(slow[i].evaluations), show(slow_times[i], 3), "Table 7, lost"});
  }
  double apart = 0;
  for (const AllErrors* errors : {&fast, &slow}) {
    for (const LineErrors& e : *errors) {
      for (std::size_t i = 0; i < 6; ++i) {
        apart = std::max(apart, std::abs(e.q[i] - (*errors)[kGa].q[i]));
      }
    }
  }
  return text + joints.text() + methods.text() + "  The methods' mean angles differ by " +
         show(apart, 2) +
         " rad at most; the paper: \"practically the same\".\n"
         "  Not comparable: the paper's Tables 6 and 7 are missing from our copy.\n" +
         assumptions_text(line_of_2002_by_time(), on_step);
}

std::string tool_errors_text(const OnStep& on_step) {
  struct PaperRow {
    const char* name;
    MaxAndMean LineErrors::*error;
    double max[3], mean[3];  // CRBM, ABM, GAH
  };
  const PaperRow rows[] = {{"position, m",
                            &LineErrors::position,
                            {2.24416e-3, 2.24506e-3, 2.24446e-3},
                            {1.98474e-4, 1.98552e-4, 1.98500e-4}},
                           {"velocity, m/s",
                            &LineErrors::velocity,
                            {1.48353e-3, 1.48402e-3, 1.48370e-3},
                            {1.01924e-4, 1.01960e-4, 1.01937e-4}},
                           {"acceleration, m/s²",
                            &LineErrors::acceleration,
                            {1.96068e-2, 1.96293e-2, 1.96184e-2},
                            {1.73333e-3, 1.73432e-3, 1.73377e-3}}};
  constexpr double kPaperSeconds[] = {0.57, 0.65, 0.56};

  LineSimulation simulation(make_chain({.inertia_scale = kOpenLoopInertiaScale}),
                            line_of_provenzano());
  const AllErrors errors = run_all(simulation, on_step);
  const Ratios times = timed(simulation, on_step);
  const Ratios bare = acceleration_time_ratios(simulation, kRounds, [](int) {});

  TextTable table({"", "error of the modulus of the tool's", "CRBA", "ABA", "GA",
                   "GA, this library", "paper: CRBM", "ABM", "GAH"},
                  1);
  for (const PaperRow& row : rows) {
    std::vector<std::string> max{"", std::string(row.name) + ": max"};
    std::vector<std::string> mean{"", std::string(row.name) + ": average"};
    for (const LineErrors& e : errors) {
      max.push_back(show((e.*row.error).max));
      mean.push_back(show((e.*row.error).mean));
    }
    for (std::size_t i = 0; i < 3; ++i) {
      max.push_back(show(row.max[i], 6));
      mean.push_back(show(row.mean[i], 6));
    }
    table.add(max);
    table.add(mean);
  }
  std::vector<std::string> time{"", "processing time over GA's"};
  for (const double ratio : times) time.push_back(show(ratio, 3));
  for (const double seconds : kPaperSeconds) time.push_back(show(seconds / kPaperSeconds[2], 3));
  table.add(time);
  std::vector<std::string> alone{"", "forward dynamics alone"};
  for (const double ratio : bare) alone.push_back(show(ratio, 3));
  table.add(alone);
  std::vector<std::string> evaluations{"", "evaluations"};
  for (const LineErrors& e : errors) evaluations.push_back(std::to_string(e.evaluations));
  table.add(evaluations);

  TextTable shape({"", "shape of GA's errors", "ours", "paper"}, 1);
  const LineErrors& ga = errors[kGa];
  for (const PaperRow& row : rows) {
    shape.add({"", std::string("average over max, ") + row.name,
               show((ga.*row.error).mean / (ga.*row.error).max, 2),
               show(row.mean[2] / row.max[2], 2)});
  }
  shape.add({"", "velocity over position, 1/s", show(ga.velocity.max / ga.position.max, 2),
             show(rows[1].max[2] / rows[0].max[2], 2)});
  shape.add({"", "acceleration over position, 1/s²", show(ga.acceleration.max / ga.position.max, 2),
             show(rows[2].max[2] / rows[0].max[2], 2)});
  double least = ga.position.max, most = least;
  for (const LineErrors& e : errors) {
    least = std::min(least, e.position.max);
    most = std::max(most, e.position.max);
  }
  shape.add({"", "spread of the methods over their error", show(most / least - 1, 2),
             show(rows[0].max[1] / rows[0].max[0] - 1, 2)});

  return "  [0.60 0.175 0.25] to [0.244 0.527 0.25] m, 0.1 m/s, 5 s. Torques from inverse dynamics "
         "at every instant, forward dynamics\n"
         "  integrated without feedback, sampled every 0.1 s. CRBA, ABA and GA are implemented "
         "alike; this library's GA is not.\n" +
         table.text() + shape.text() +
         "  Not reproduced: the errors' size. They start as rounding and truncation in the first "
         "steps and grow by " +
         show(simulation.growth().mean, 3) +
         " 1/s for 5 s.\n"
         "  Not reproduced: that one method's errors are smaller. The methods agree to far more "
         "digits than the integration has.\n"
         "  Not reproduced: GA as the fastest. Implemented alike, the forward dynamics of CRBA and "
         "ABA take " +
         show(bare[0], 2) + " and " + show(bare[1], 2) + " of GA's time, this library's " +
         show(bare[3], 2) + ".\n" + assumptions_text(line_of_provenzano(), on_step);
}

std::string line_torques_text(const OnStep& on_step) {
  const LineCase c = line_of_control_paper();
  const CartesianLine line = cartesian_line(c);
  on_step("torques on every branch");
  const Chain puma = make_chain(PaperPuma{});
  const std::vector<LineTorques> within = line_torques(puma, c);
  const std::vector<LineTorques> printed =
      line_torques(make_chain({.signs = OffsetSigns::kPrinted, .limits = false}), c);
  on_step("effect of the lost tensors");
  const std::array<double, 6> change =
      torque_change(puma, make_chain({.inertia_scale = kOpenLoopInertiaScale}), c);
  on_step("time of one pass");
  const double seconds = inverse_dynamics_seconds(puma);

  TextTable general({"", "quantity", "ours", "paper"}, 1);
  general.add({"", "duration at 0.1 m/s, s", show(line.duration(), 5), "8.6"});
  general.add({"", "control law's model, ms", show(1e3 * seconds, 2),
               "0.225 (Pentium 150 MHz), 0.061 (Pentium II 350 MHz)"});

  double disagreement = 0;
  TextTable torques(
      {"", "d3, d4", "branch", "τ2: start → end (least … most)", "τ3: start → end (least … most)",
       "|τ1| ≤", "|τ4| ≤", "|τ5| ≤", "|τ6| ≤", "paper"},
      2);
  const auto add = [&](const char* signs, const LineTorques& t) {
    std::vector<std::string> row{"", signs, branch_text(t.branch)};
    for (const std::size_t i : kHeavy) row.push_back(range_text(t.joints[i]));
    for (const std::size_t i : kLight) {
      row.push_back(
          newton_meters(std::max(std::abs(t.joints[i].least), std::abs(t.joints[i].most))));
    }
    row.emplace_back("curves, lost");
    torques.add(row);
    disagreement = std::max(disagreement, t.disagreement);
  };
  for (const LineTorques& t : within) add("+, +", t);
  std::set<std::pair<int, int>> seen;
  for (const LineTorques& t : printed) {  // the wrist's branch hardly matters
    if (seen.insert({t.branch.arm, t.branch.elbow}).second) add("printed", t);
  }
  std::vector<std::string> effect{"", "+, +", branch_text(c.branch)};
  for (const std::size_t i : {1U, 2U, 0U, 3U, 4U, 5U}) {
    effect.push_back("± " + newton_meters(change[i]));
  }
  torques.add(effect);

  return "  [0.6 0.175 0.25] to [0.018 0.757 0] m, tool at (45°, 60°, 90°), 0.1 m/s throughout. "
         "Torques in N m.\n" +
         general.text() + torques.text() + "  Last row: largest change with tensors " +
         show(kOpenLoopInertiaScale, 3) +
         " times as large. Gravity dominates joints 2 and 3; the lost tensors matter only to joint "
         "1.\n"
         "  This library's four forms of inverse dynamics agree to " +
         show(disagreement, 2) +
         " N m on all of these.\n"
         "  Not comparable: Figure 4's curves are lost from our copy, as are Figures 3 and 5.\n"
         "  Lost or not given: the inertia tensors (here: uniform bodies of the links' size), the "
         "branch (arm, elbow, wrist; with\n"
         "  positive d3 and d4 the four above stay within the 560's limits), the tool's length "
         "(here: 0). Table 5 prints d3 and d4\n"
         "  negative, which puts Table 7's centers of mass off the links; positive signs put them "
         "on, and change τ2 and τ3 much.\n";
}

}  // namespace ga_tools::cli
