// SPDX-License-Identifier: Apache-2.0
#ifndef SCORE__LAWS_HPP_
#define SCORE__LAWS_HPP_

// The laws that the law score compares. A new law is a new line of the table in laws.cpp.

#include <span>
#include <string>
#include <vector>

#include "ga_tools/closed_loop.hpp"

namespace ga_tools::score {

/// Of the joint PID: Ki = integral · w³, Kd = 2 · damping · w, times the joint's inertia. The tuning
/// rule of joint_controller_gains() is the default.
struct PidTuning {
  double integral = 0.25;
  double damping = 1;
  bool operator==(const PidTuning&) const = default;
};

/// What a law receives about the arm and its task.
struct LawSetup {
  const ga_dynamics::Chain& model;
  std::vector<ga_controllers::JointGains> gains;  ///< one per joint
  std::vector<JointSignals> signals;              ///< one per joint
  std::vector<std::vector<double>> postures;      ///< along the motion, the first at its start
  double rate = 1000;                             ///< Hz
  bool keep_limits = true;                        ///< the law's reference governor
  bool keep_path = true;                          ///< its time scaling
  /// N m, what held the arm before, if the law takes it over; empty: unknown.
  std::vector<double> held = {};
  PidTuning pid = {};
  bool fits_resonance = false;  ///< the gains are those for elastic drives
};

struct ScoreLaw {
  const char* id;
  const char* label;
  LawUnderTest (*make)(const LawSetup& setup);
  PidTuning pid = {};
};

std::span<const ScoreLaw> score_laws() noexcept;
/// Throws std::invalid_argument that lists the laws.
const ScoreLaw& score_law(const std::string& id);

}  // namespace ga_tools::score

#endif  // SCORE__LAWS_HPP_
