// SPDX-License-Identifier: Apache-2.0
#ifndef SCORE__RUN_HPP_
#define SCORE__RUN_HPP_

// One run of the law score: a law, a scenario and a seed.

#include <string>
#include <vector>

#include "score/figures.hpp"
#include "score/laws.hpp"
#include "score/scenario.hpp"

namespace ga_tools::score {

struct Arms {
  ga_dynamics::Chain puma560, ur10e;
  const ga_dynamics::Chain& of(Robot robot) const {
    return robot == Robot::kPuma560 ? puma560 : ur10e;
  }
};

struct Run {
  Figures figures;
  std::string state;  ///< "ok", or why it is not: "oscillating at 3.2 s: …"
  /// Tool error [mm] over time [s], some hundred samples, for plots.
  std::vector<double> time, error;
};

inline constexpr double kRate = 1000;     ///< Hz
inline constexpr double kBandwidth = 40;  ///< rad/s

/// mrad; a joint that moves by more than this in the last quarter of the rest hunts, and so does a run
/// that is reported as oscillating, or that ended early.
inline constexpr double kHuntingMotion = 0.3;
bool hunts(const Run& run);

/// The same arguments give the same figures. Allocates. Throws what the arm and the motion throw.
/// Any number of threads may run at the same time.
Run run(const Scenario& scenario, const ScoreLaw& law, unsigned seed, const Arms& arms);

}  // namespace ga_tools::score

#endif  // SCORE__RUN_HPP_
