// SPDX-License-Identifier: Apache-2.0
#ifndef SCORE__SCENARIO_HPP_
#define SCORE__SCENARIO_HPP_

// The rows of the law score: an arm that differs from its model, a motion, and how the reference
// reaches the law. A new scenario is a new entry of the list in scenario.cpp.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "ga_hardware/simulated_arm.hpp"
#include "ga_motion/trajectory.hpp"

namespace ga_tools::score {

enum class Robot { kPuma560, kUr10e };

/// What the law gets of the motion.
enum class ReferenceSignal {
  kComplete,        ///< positions, velocities and accelerations in every cycle
  kNoisyPositions,  ///< white noise on the positions; velocities and accelerations as they are
  kHeldPositions,   ///< positions alone, sampled at 100 Hz and held
  kNoAcceleration   ///< positions and velocities
};

/// A figure of a run; `figures.hpp` has its definition and unit.
enum class Figure {
  kRms,
  kLate,
  kRest,
  kHunt,
  kChatter,
  kRestChatter,
  kTorqueStep,
  kPath,
  kSettled,
  kStretch
};

struct Scenario {
  const char* id;     ///< "1"; variants have a letter: "1h"
  const char* title;  ///< what is disturbed
  Robot robot = Robot::kPuma560;
  /// As of choose_motion() for the arm; or one of motions.cpp: quintic-1.5, quintic-0.8, sine, med,
  /// fast, fast-line, step, rest, stretched, folded, small-sine, quintic-back.
  const char* motion = "line";
  double settle = 3;  ///< s at rest after the motion
  // --- the arm
  ga_hardware::Disturbances disturbances = {};
  ga_dynamics::LinkInertia payload = {};
  double armature = 1;      ///< actual over described, of every joint
  double noise = 0;         ///< rad, on the positions before the encoders
  double effort_limit = 1;  ///< of the description's; law and arm know it
  // --- the law
  ReferenceSignal reference = ReferenceSignal::kComplete;
  bool keep_limits = true;
  bool hand_over = false;  ///< the law receives the torque that held the arm before
  /// The gains are those that gains_for_resonance() recommends for the elastic drives.
  bool fit_resonance = false;
  // --- the score
  std::vector<Figure> figures = {};  ///< the first one is the row's main figure
  bool in_short_form = true;

  /// Nothing depends on the seed.
  bool deterministic() const;
};

const std::vector<Scenario>& scenarios();
/// Throws std::invalid_argument that lists the rows.
const Scenario& scenario(const std::string& id);

/// Allocates. Throws what choose_motion() throws.
std::unique_ptr<ga_motion::Trajectory> motion_of(const Scenario& scenario,
                                                 const ga_dynamics::Chain& chain);

}  // namespace ga_tools::score

#endif  // SCORE__SCENARIO_HPP_
