// SPDX-License-Identifier: Apache-2.0
#ifndef EXPERIMENTS__LINE_TORQUES_HPP_
#define EXPERIMENTS__LINE_TORQUES_HPP_

// The torques along the straight line of the paper on PC-based PUMA control (Mata, Valera et al.),
// §4 and Figure 4.

#include <array>
#include <vector>

#include "experiments/straight_line.hpp"

namespace ga_tools::experiments {

using ga_dynamics::Chain;
using ga_motion::PumaBranch;

/// N m, over the whole line.
struct TorqueRange {
  double start = 0, end = 0, least = 0, most = 0;
};

struct LineTorques {
  PumaBranch branch;
  std::array<TorqueRange, 6> joints;
  /// Largest difference between this library's four forms of inverse dynamics on the line, N m.
  double disagreement = 0;
};

/// For every branch that the arm can follow within its limits, in the order of PumaKinematics.
std::vector<LineTorques> line_torques(const Chain& chain, const LineCase& c);

/// Largest change of each joint's torque between two arms on the same line and branch, N m.
std::array<double, 6> torque_change(const Chain& one, const Chain& other, const LineCase& c);

/// Median processor time of one inverse-dynamics call, s: the only use of the model in the paper's
/// control laws.
double inverse_dynamics_seconds(const Chain& chain);

}  // namespace ga_tools::experiments

#endif  // EXPERIMENTS__LINE_TORQUES_HPP_
