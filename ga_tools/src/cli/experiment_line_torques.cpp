// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "cli/experiments.hpp"
#include "cli/text_table.hpp"
#include "experiments/line_torques.hpp"
#include "experiments/paper_puma.hpp"
#include "ga_dynamics/number.hpp"

namespace ga_tools::cli {

using namespace ga_dynamics;
using namespace ga_motion;
namespace {

using namespace experiments;

constexpr std::size_t kHeavy[] = {1, 2}, kLight[] = {0, 3, 4, 5};

std::string show(double value, int digits = 4) { return number_text(value, digits); }

/// Two decimals: the torques are told apart in N m, not in digits.
std::string newton_metres(double value) {
  const double rounded = std::round(100 * value) / 100;
  return show(rounded == 0 ? 0.0 : rounded, 6);
}

std::string range_text(const TorqueRange& range) {
  return newton_metres(range.start) + " → " + newton_metres(range.end) + " (" +
         newton_metres(range.least) + " … " + newton_metres(range.most) + ")";
}

std::string branch_text(const PumaBranch& branch) {
  const auto sign = [](int value) { return value > 0 ? "+" : "−"; };
  return std::string("(") + sign(branch.arm) + "," + sign(branch.elbow) + "," + sign(branch.wrist) +
         ")";
}

}  // namespace

std::string line_torques_text(const Told& told) {
  const LineCase c = line_of_control_paper();
  const CartesianLine line = cartesian_line(c);
  told("torques on every branch");
  const Chain puma = make_chain(PaperPuma{});
  const std::vector<LineTorques> within = line_torques(puma, c);
  const std::vector<LineTorques> printed =
      line_torques(make_chain({.signs = OffsetSigns::kPrinted, .limits = false}), c);
  told("effect of the lost tensors");
  const std::array<double, 6> change =
      torque_change(puma, make_chain({.inertia_scale = kOpenLoopInertiaScale}), c);
  told("time of one pass");
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
          newton_metres(std::max(std::abs(t.joints[i].least), std::abs(t.joints[i].most))));
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
  for (const std::size_t i : kHeavy) effect.push_back("± " + newton_metres(change[i]));
  for (const std::size_t i : kLight) effect.push_back("± " + newton_metres(change[i]));
  torques.add(effect);

  return "  [0.6 0.175 0.25] to [0.018 0.757 0] m, tool at (45°, 60°, 90°), 0.1 m/s throughout. "
         "Torques in N m.\n" +
         general.text() + torques.text() + "  Last row: largest change with tensors " +
         show(kOpenLoopInertiaScale, 3) +
         " times as large. Gravity rules joints 2 and 3; the lost tensors matter to joint 1 "
         "alone.\n"
         "  This library's four forms of inverse dynamics agree to " +
         show(disagreement, 2) +
         " N m on all of these.\n"
         "  Not comparable: Figure 4's curves are lost from our copy, as are Figures 3 and 5.\n"
         "  Lost or not given: the inertia tensors (here: uniform bodies of the links' size), the "
         "branch (arm, elbow, wrist; with\n"
         "  positive d3 and d4 the four above keep within the 560's limits), the tool's length "
         "(here: 0). Table 5 prints d3 and d4\n"
         "  negative, which puts Table 7's centres of mass off the links; positive signs put them "
         "on, "
         "and change τ2 and τ3 much.\n";
}

}  // namespace ga_tools::cli
