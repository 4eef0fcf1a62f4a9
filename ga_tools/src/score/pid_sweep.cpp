// SPDX-License-Identifier: Apache-2.0
#include "score/pid_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "score/output.hpp"

namespace ga_tools::score {

namespace {

constexpr double kIntegral[] = {0.1, 0.25, 0.5, 1, 1.5};  // Ki over w³
constexpr double kDamping[] = {0.7, 1, 1.5, 2};
constexpr std::size_t kName = 24, kColumn = 16;

std::vector<ScoreLaw> make_grid() {
  std::vector<ScoreLaw> grid;
  for (const double integral : kIntegral) {
    for (const double damping : kDamping) {
      // Beyond, the joint alone, without any delay, is unstable: s³ + 2 z w s² + w² s + Ki.
      if (integral >= 2 * damping) continue;
      grid.push_back(score_law("pid"));
      grid.back().pid = {integral, damping};
    }
  }
  return grid;
}

bool any_hunts(const Cell& cell) {
  return std::any_of(cell.runs.begin(), cell.runs.end(), [](const Run& run) { return hunts(run); });
}

Figure main_figure(const Cell& cell) { return cell.scenario->figures.front(); }

/// The cell with the smaller main figure; not-a-number loses.
const Cell* better(const Cell* one, const Cell* other) {
  const double value = other->figures[main_figure(*other)];
  if (std::isnan(value)) return one;
  return one == nullptr || value < one->figures[main_figure(*one)] ? other : one;
}

/// True if the figure of a PID is smaller than that of the integral law, which is first, by more than
/// this.
bool better_pid(const Score& score, std::size_t row, Figure figure, double floor) {
  const double integral = score.cell(row, 0).figures[figure];
  bool better = false;
  for (std::size_t l = 1; l < score.laws.size(); ++l) {
    const double pid = score.cell(row, l).figures[figure];
    better = better || (!std::isnan(pid) && !(integral <= pid + floor));
  }
  return better;
}

/// Appends to a list: "1 (rms, late)".
void append(std::string& list, const Scenario& row, const std::vector<Figure>& figures) {
  if (figures.empty()) return;
  list += (list.empty() ? "" : ", ") + std::string(row.id) + " (";
  for (std::size_t k = 0; k < figures.size(); ++k) {
    list += (k > 0 ? ", " : "") + std::string(kind_of(figures[k]).label);
  }
  list += ")";
}

std::string name_of(const Cell& cell) {
  if (cell.law->id != std::string("pid")) return cell.law->id;
  char text[64];
  std::snprintf(text, sizeof text, "pid, Ki %g w^3, z %g", cell.law->pid.integral,
                cell.law->pid.damping);
  return text;
}

std::string line_of(const Cell& cell) {
  std::string text = name_of(cell);
  text.resize(std::max(text.size(), kName), ' ');
  for (const Figure figure : cell.scenario->figures) {
    const std::string number = number_text(cell.figures[figure]);
    text += std::string(kColumn - std::min(kColumn, number.size()), ' ') + number;
  }
  if (any_hunts(cell)) text += "  hunts";
  if (cell.failed > 0) {
    text +=
        "  " + std::to_string(cell.failed) + " of " + std::to_string(cell.runs.size()) + " not ok";
  }
  return text + "\n";
}

std::string header_of(const Scenario& row) {
  std::string text = std::string(row.id) + "  " + row.title + "\n" + std::string(kName, ' ');
  for (const Figure figure : row.figures) {
    const std::string label = std::string(kind_of(figure).label) + ", " + kind_of(figure).unit;
    text += std::string(kColumn - std::min(kColumn, label.size()), ' ') + label;
  }
  return text + "\n";
}

}  // namespace

std::vector<const ScoreLaw*> sweep_laws() {
  static const std::vector<ScoreLaw> grid = make_grid();
  std::vector<const ScoreLaw*> laws{&score_law("integral")};
  for (const ScoreLaw& law : grid) laws.push_back(&law);
  return laws;
}

std::vector<SweptRow> swept_rows(const Score& score) {
  std::vector<SweptRow> rows;
  for (std::size_t r = 0; r < score.rows.size(); ++r) {
    SweptRow row{&score.cell(r, 0), nullptr, nullptr, false, false, {}};
    for (std::size_t l = 1; l < score.laws.size(); ++l) {
      const Cell& cell = score.cell(r, l);
      row.best = better(row.best, &cell);
      if (cell.failed == 0 && !any_hunts(cell)) row.best_at_rest = better(row.best_at_rest, &cell);
    }
    const std::vector<Figure>& figures = score.rows[r]->figures;
    row.smaller = better_pid(score, r, figures[0], 0);
    row.beaten = better_pid(score, r, figures[0], kind_of(figures[0]).floor);
    for (std::size_t f = 1; f < figures.size(); ++f) {
      if (better_pid(score, r, figures[f], kind_of(figures[f]).floor)) {
        row.others.push_back(figures[f]);
      }
    }
    rows.push_back(row);
  }
  return rows;
}

std::string sweep_text(const Score& score) {
  std::string text, beaten, equal, others;
  for (const SweptRow& row : swept_rows(score)) {
    const Scenario& scenario = *row.integral->scenario;
    text += header_of(scenario) + line_of(*row.integral);
    if (row.best != nullptr) text += line_of(*row.best);
    if (row.best_at_rest == nullptr) {
      text += "every PID of the grid hunts or fails in a run\n";
    } else if (row.best_at_rest != row.best) {
      text += line_of(*row.best_at_rest);
    }
    text += '\n';
    if (row.smaller) append(row.beaten ? beaten : equal, scenario, {scenario.figures.front()});
    append(others, scenario, row.others);
  }
  const auto line = [](const char* what, const std::string& rows) {
    return std::string(what) + (rows.empty() ? "no row" : rows) + "\n";
  };
  return text + line("the best PID of the row beats the integral law in ", beaten) +
         line("by less than what counts: ", equal) +
         line("in other figures some PID of the grid does: ", others);
}

}  // namespace ga_tools::score
