// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "score/output.hpp"

namespace ga_tools::score {

using nlohmann::json;

namespace {

json value_of(double value) {
  if (!std::isfinite(value)) return nullptr;
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return std::stod(text);
}

/// The baseline's entry of a cell; null: it has none.
const json* entry_of(const json& baseline, const Cell& cell) {
  for (const json& row : baseline.at("rows")) {
    if (row.at("id") != cell.scenario->id) continue;
    const json& laws = row.at("laws");
    if (laws.contains(cell.law->id)) return &laws.at(cell.law->id);
  }
  return nullptr;
}

std::string line(const Cell& cell, const char* what, const std::string& now,
                 const std::string& before, const char* unit) {
  return "row " + std::string(cell.scenario->id) + " (" + cell.scenario->title + "), " +
         cell.law->id + ": " + what + " is " + now + unit + ", was " + before + unit;
}

std::string text(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.4g", value);
  return buffer;
}

void compare(const Cell& cell, const json& before, double share, std::vector<std::string>& worse) {
  for (const Figure figure : cell.scenario->figures) {
    const FigureKind& kind = kind_of(figure);
    if (!before.contains(kind.key) || before.at(kind.key).is_null()) continue;
    const double was = before.at(kind.key), is = cell.figures[figure];
    const std::string unit = " " + std::string(kind.unit);
    if (std::isnan(is)) {
      worse.push_back(line(cell, kind.label, "missing", text(was) + unit, ""));
    } else if (is > (1 + share) * was && is > was + kind.floor) {
      worse.push_back(line(cell, kind.label, text(is), text(was), unit.c_str()));
    }
  }
  // The number of seeds may differ.
  const double was = before.value("failed", 0.0) / std::max(1.0, before.value("runs", 1.0));
  const double is = static_cast<double>(cell.failed) / static_cast<double>(cell.runs.size());
  if (is > was) {
    worse.push_back(
        line(cell, "the share of runs that are not ok", text(100 * is), text(100 * was), " %"));
  }
}

}  // namespace

json to_json(const Score& score) {
  json rows = json::array();
  for (std::size_t r = 0; r < score.rows.size(); ++r) {
    json laws = json::object();
    for (std::size_t l = 0; l < score.laws.size(); ++l) {
      const Cell& cell = score.cell(r, l);
      json entry{{"failed", cell.failed}, {"runs", cell.runs.size()}};
      for (const FigureKind& kind : figure_kinds()) {
        entry[kind.key] = value_of(cell.figures[kind.figure]);
      }
      for (const Run& run : cell.runs) {
        json one{{"state", run.state}};
        for (const FigureKind& kind : figure_kinds()) {
          one[kind.key] = value_of(run.figures[kind.figure]);
        }
        entry["seeds"].push_back(one);
      }
      laws[cell.law->id] = entry;
    }
    rows.push_back({{"id", score.rows[r]->id}, {"title", score.rows[r]->title}, {"laws", laws}});
  }
  return {{"seeds", score.seeds},
          {"first_seed", score.first_seed},
          {"short", score.short_form},
          {"rows", rows}};
}

std::vector<std::string> worse_than(const Score& score, const json& baseline, double share) {
  std::vector<std::string> worse;
  bool compared = false;
  try {
    for (const Cell& cell : score.cells) {
      const json* const before = entry_of(baseline, cell);
      if (before == nullptr) continue;
      compared = true;
      compare(cell, *before, share, worse);
    }
  } catch (const json::exception& error) {
    throw std::runtime_error(std::string("is not a law score (") + error.what() +
                             "); give a file written with --json");
  }
  if (!compared) {
    throw std::runtime_error("has none of these rows and laws; give a file written with --json");
  }
  return worse;
}

}  // namespace ga_tools::score
