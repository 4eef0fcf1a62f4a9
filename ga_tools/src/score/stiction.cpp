// SPDX-License-Identifier: Apache-2.0
#include "score/stiction.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>

namespace ga_tools::score {

namespace {

constexpr double kLevels[] = {1, 1.5, 2};  // break-away over Coulomb friction
constexpr double kPayload = 2.5;           // kg
constexpr double kError = 0.2;             // of masses and inertias, and of the friction
constexpr double kNoise = 3e-5;            // rad
constexpr double kSettle = 6;              // s

constexpr std::array kMotions{"line", "quintic-1.5", "sine", "med"};
constexpr std::array kOtherMotions{"stretched", "folded", "small-sine", "quintic-back"};

std::vector<Scenario> make_scenarios(std::span<const char* const> motions) {
  std::vector<Scenario> list;
  for (const double level : kLevels) {
    for (const char* motion : motions) {
      for (unsigned variant = 0; variant < 8; ++variant) {
        Scenario s{.id = "stiction", .title = motion, .motion = motion, .settle = kSettle};
        s.disturbances.stiction = level;
        s.disturbances.mismatch = (variant & 1U) != 0 ? kError : 0;
        s.disturbances.friction_error = (variant & 2U) != 0 ? kError : 0;
        s.payload.mass = (variant & 4U) != 0 ? kPayload : 0;
        s.noise = kNoise;
        s.figures = {Figure::kHunt, Figure::kRest};
        list.push_back(s);
      }
    }
  }
  return list;
}

struct Count {
  std::size_t runs = 0, hunting = 0;
  double hunt = 0, rest = 0;  ///< mrad, the worst

  void add(const Run& run) {
    ++runs;
    if (hunts(run)) ++hunting;
    hunt = std::max(hunt, run.figures[Figure::kHunt]);
    rest = std::max(rest, run.figures[Figure::kRest]);
  }
};

/// "  pid, sine, stiction 2, payload 2.5 kg, mismatch 20 %, friction error 0 %, seed 1: 3.1 mrad".
std::string hunting_line(const Cell& cell, std::size_t index, unsigned first_seed) {
  const Scenario& s = *cell.scenario;
  char line[192];
  std::snprintf(line, sizeof line,
                "  %s, %s, stiction %g, payload %g kg, mismatch %g %%, friction error %g %%, seed "
                "%zu: %.3g mrad\n",
                cell.law->id, s.motion, s.disturbances.stiction, s.payload.mass,
                100 * s.disturbances.mismatch, 100 * s.disturbances.friction_error,
                first_seed + index, cell.runs[index].figures[Figure::kHunt]);
  return line;
}

}  // namespace

const std::vector<Scenario>& stiction_scenarios(bool other_motions) {
  static const std::vector<Scenario> list = make_scenarios(kMotions);
  static const std::vector<Scenario> others = make_scenarios(kOtherMotions);
  return other_motions ? others : list;
}

std::string stiction_text(const Score& score) {
  std::string text =
      "law          stiction   runs  hunting  largest motion, mrad  largest error, mrad\n";
  for (std::size_t l = 0; l < score.laws.size(); ++l) {
    for (const double level : kLevels) {
      Count count;
      for (std::size_t r = 0; r < score.rows.size(); ++r) {
        if (score.rows[r]->disturbances.stiction != level) continue;
        for (const Run& run : score.cell(r, l).runs) count.add(run);
      }
      char line[128];
      std::snprintf(line, sizeof line, "%-12s %8.1f %6zu %8zu %21.3f %20.3f\n", score.laws[l]->id,
                    level, count.runs, count.hunting, count.hunt, count.rest);
      text += line;
    }
  }
  for (const Cell& cell : score.cells) {
    for (std::size_t k = 0; k < cell.runs.size(); ++k) {
      if (hunts(cell.runs[k])) text += hunting_line(cell, k, score.first_seed);
    }
  }
  return text;
}

}  // namespace ga_tools::score
