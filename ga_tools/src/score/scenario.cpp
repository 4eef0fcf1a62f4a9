// SPDX-License-Identifier: Apache-2.0
#include "score/scenario.hpp"

#include <stdexcept>

namespace ga_tools::score {

namespace {

using enum Figure;

/// Assumption A: masses and inertias off by up to 20 %, 2.5 kg unknown at the tool, break-away
/// friction 1.3 times the Coulomb friction, position noise.
Scenario under_a(const char* id, const char* title, const char* motion, double settle,
                 std::vector<Figure> figures) {
  Scenario s{.id = id, .title = title, .motion = motion, .settle = settle};
  s.disturbances.mismatch = 0.2;
  s.disturbances.stiction = 1.3;
  s.payload.mass = 2.5;
  s.noise = 3e-5;
  s.figures = std::move(figures);
  return s;
}

/// Assumption B: A, friction off by up to 20 %, the payload 9 cm off the flange, rotor inertias 10 %
/// above the description's.
Scenario under_b(const char* id, const char* title, const char* motion, double settle,
                 std::vector<Figure> figures) {
  Scenario s = under_a(id, title, motion, settle, std::move(figures));
  s.disturbances.friction_error = 0.2;
  s.payload.com = {0, 0, 0.09};
  s.armature = 1.1;
  return s;
}

Scenario exact(const char* id, const char* title, const char* motion, double settle,
               std::vector<Figure> figures) {
  return {
      .id = id, .title = title, .motion = motion, .settle = settle, .figures = std::move(figures)};
}

std::vector<Scenario> make_scenarios() {
  const std::vector<Figure> all{kRms, kLate, kRest, kHunt, kChatter, kRestChatter};
  std::vector<Scenario> list;
  list.push_back(under_a("1", "line, A", "line", 6, all));
  list.push_back(under_a("1h", "line, A, hand-over of the holding torque", "line", 6, all));
  list.back().hand_over = true;
  list.push_back(under_b("2", "line, B", "line", 6, all));
  list.push_back(under_a("3", "quintic 1.5 s, A", "quintic-1.5", 3, all));
  list.push_back(under_a("4", "sine 0.05 rad, 0.2 Hz, A", "sine", 3, all));
  list.push_back(exact("5", "1 s through two points, exact model", "med", 3,
                       {kRms, kLate, kRest, kHunt, kTorqueStep}));
  list.push_back(exact("6", "step of 0.5 rad", "step", 4, {kTorqueStep, kSettled, kRest}));
  list.push_back(exact("7", "at rest, reference noise 0.3 mrad", "rest", 1, {kRms, kChatter}));
  list.back().reference = ReferenceSignal::kNoisyPositions;
  list.back().keep_limits = false;
  list.push_back(
      exact("8", "line, positions at 100 Hz", "line", 3, {kPath, kRms, kRest, kChatter}));
  list.back().reference = ReferenceSignal::kHeldPositions;
  list.push_back(exact("9", "line, no accelerations", "line", 3, {kRms, kLate, kRest, kHunt}));
  list.back().reference = ReferenceSignal::kNoAcceleration;
  list.back().keep_limits = false;
  const std::vector<Figure> weak{kPath, kRms, kRest, kStretch};
  list.push_back(exact("10", "quintic 0.8 s, 50 % of the torque", "quintic-0.8", 4, weak));
  list.back().effort_limit = 0.5;
  list.push_back(exact("10w", "quintic 0.8 s, 30 % of the torque", "quintic-0.8", 4, weak));
  list.back().effort_limit = 0.3;
  list.push_back(exact("10f", "0.4 s through two points", "fast", 4, weak));
  list.push_back(exact("10l", "line at 0.8 m/s, 40 % of the torque", "fast-line", 4, weak));
  list.back().effort_limit = 0.4;
  list.push_back(exact("11", "UR10e, 1 kg unknown", "quintic", 3,
                       {kRest, kHunt, kRms, kLate, kChatter, kRestChatter}));
  list.back().robot = Robot::kUr10e;
  list.back().payload.mass = 1;
  list.push_back(list.back());
  list.back().id = "11n";
  list.back().title = "UR10e, 1 kg unknown, position noise";
  list.back().noise = 3e-5;
  list.push_back(under_a("12", "quintic, A, elastic drives 60 Hz", "quintic", 3,
                         {kChatter, kRestChatter, kRms, kLate, kRest, kHunt}));
  list.back().disturbances.elastic_frequency = 60;
  list.push_back(list.back());
  list.back().id = "12f";
  list.back().title = "12 with gains for the resonance";
  list.back().fit_resonance = true;
  list.push_back(list.back());
  list.back().id = "12s";
  list.back().title = "quintic, A, elastic drives 40 Hz, gains for the resonance";
  list.back().disturbances.elastic_frequency = 40;
  list.push_back(under_a("13", "quintic, A, delay 2 cycles", "quintic", 3, all));
  list.back().disturbances.delay = 2;
  for (Scenario& s : list) {
    const std::string id = s.id;
    s.in_short_form = id != "1h" && id != "2" && id != "4" && id != "9" && id != "11n" &&
                      id != "10w" && id != "10f" && id != "10l" && id != "12f" && id != "12s";
  }
  return list;
}

}  // namespace

bool Scenario::deterministic() const {
  return noise == 0 && reference != ReferenceSignal::kNoisyPositions &&
         disturbances == ga_hardware::Disturbances{.delay = disturbances.delay};
}

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> list = make_scenarios();
  return list;
}

const Scenario& scenario(const std::string& id) {
  std::string all;
  for (const Scenario& s : scenarios()) {
    if (id == s.id) return s;
    all += (all.empty() ? "" : ", ") + std::string(s.id);
  }
  throw std::invalid_argument("row '" + id + "' is unknown; give " + all);
}

}  // namespace ga_tools::score
