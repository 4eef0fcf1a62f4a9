// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "cli/experiments.hpp"
#include "cli/text_table.hpp"
#include "experiments/paper_puma.hpp"
#include "experiments/straight_line.hpp"
#include "ga_dynamics/number.hpp"

namespace ga_tools::cli {

using namespace ga_dynamics;
using namespace ga_motion;
namespace {

using namespace experiments;

constexpr int kRounds = 61;
constexpr std::size_t kGa = 2;  // in kSolvers
constexpr const char* kSolverNames[] = {"CRBA", "ABA", "GA", "GA, this library"};
using AllErrors = std::array<LineErrors, kSolvers.size()>;

std::string show(double value, int digits = 4) { return number_text(value, digits); }

AllErrors run_all(LineSimulation& simulation, const Told& told) {
  AllErrors to;
  for (std::size_t i = 0; i < to.size(); ++i) {
    told(std::string("simulation with ") + kSolverNames[i]);
    to[i] = simulation.run(kSolvers[i]);
  }
  return to;
}

Ratios timed(LineSimulation& simulation, const Told& told) {
  return time_ratios(simulation, kRounds, [&](int round) {
    told("processing time, round " + std::to_string(round + 1) + " of " + std::to_string(kRounds));
  });
}

/// What becomes of the same line with tensors of the links' own size: it does not stay on it.
std::string divergence_text(const LineCase& c, const Told& told) {
  told("the same with the tensors of uniform bodies");
  LineSimulation whole(make_chain(PaperPuma{}), c);
  LineCase first_second = c;
  first_second.seconds = 1;
  LineSimulation begin(make_chain(PaperPuma{}), first_second);
  return "  With the uniform bodies' own tensors small errors grow by " +
         show(whole.growth().mean, 3) + " 1/s; the tool is " +
         show(begin.run(Solver::kGaLibrary).distance, 2) + " m off after 1 s and " +
         show(whole.run(Solver::kGaLibrary).distance, 2) + " m after " + show(c.seconds, 3) +
         " s:\n  without feedback no such arm follows the line, by any method.\n";
}

const std::string kMissing =
    "  Lost or not given: the inertia tensors (here: uniform bodies times " +
    show(kOpenLoopInertiaScale, 3) +
    ", chosen after the fact to grow errors\n"
    "  as Provenzano et al. Table 2 does), the branch (here: arm +, elbow +, wrist −), the tool's "
    "length (here: 0), the\n"
    "  step control (here: Dormand–Prince 5(4), 1e-6). They decide the errors' size, not the "
    "methods.\n";

}  // namespace

std::string joint_errors_text(const Told& told) {
  const Chain chain = make_chain({.inertia_scale = kOpenLoopInertiaScale});
  std::string text =
      "  Torques by inverse dynamics for every instant, forward dynamics integrated without "
      "feedback; "
      "means of |error| every 0.1 s.\n"
      "  The paper names 0.1 m/s, and 5 s for the same 0.329 m: both are run.\n";
  LineSimulation by_speed(chain, line_of_2002_by_speed());
  LineSimulation by_time(chain, line_of_2002_by_time());
  const AllErrors fast = run_all(by_speed, told), slow = run_all(by_time, told);
  const Ratios fast_times = timed(by_speed, told), slow_times = timed(by_time, told);
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
         "  Not comparable: the paper's Tables 6 and 7 are lost from our copy.\n" +
         kMissing + divergence_text(line_of_2002_by_time(), told);
}

std::string tool_errors_text(const Told& told) {
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
  const AllErrors errors = run_all(simulation, told);
  const Ratios times = timed(simulation, told);
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
  std::vector<std::string> alone{"", "of it, forward dynamics alone"};
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

  return "  [0.60 0.175 0.25] to [0.244 0.527 0.25] m, 0.1 m/s, 5 s. Torques by inverse dynamics "
         "for "
         "every instant, forward dynamics\n"
         "  integrated without feedback, looked at every 0.1 s. CRBA, ABA and GA are written "
         "alike; "
         "this library's GA is not.\n" +
         table.text() + shape.text() +
         "  Not reproduced: the errors' size. They are the first steps' rounding and truncation, "
         "grown by " +
         show(simulation.growth().mean, 3) +
         " 1/s for 5 s.\n"
         "  Nor that one method's errors are smaller: the methods agree to far more digits than "
         "the "
         "integration has.\n"
         "  Nor GA as the fastest: written alike, the forward dynamics of CRBA and ABA take " +
         show(bare[0], 2) + " and " + show(bare[1], 2) + " of GA's time, this library's " +
         show(bare[3], 2) + ".\n" + kMissing + divergence_text(line_of_provenzano(), told);
}

}  // namespace ga_tools::cli
