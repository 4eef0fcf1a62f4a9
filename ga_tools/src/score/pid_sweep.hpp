// SPDX-License-Identifier: Apache-2.0
#ifndef SCORE__PID_SWEEP_HPP_
#define SCORE__PID_SWEEP_HPP_

// The PID sweep: is the integral law better than the joint PID, or only than the PID of one tuning
// rule? Every row of the law score runs with a grid of integral gains and damping ratios at the same
// bandwidth and with the same measurements, and the integral law is compared with the PID of the grid
// that is best in that row: gains that are not known in advance.

#include <string>
#include <vector>

#include "score/score.hpp"

namespace ga_tools::score {

/// The integral law, then the joint PID with every tuning of the grid; score_law("pid") is one of them.
std::vector<const ScoreLaw*> sweep_laws();

/// A row of the sweep. Pointers into the score.
struct SweptRow {
  const Cell* integral;
  /// The PID with the smallest value of the row's main figure; null: none has that figure.
  const Cell* best;
  /// The same of those that do not hunt and have no failed run; null: there is none.
  const Cell* best_at_rest;
  /// The main figure of the best PID is smaller than that of the integral law; by more than the
  /// figure's floor (FigureKind).
  bool smaller, beaten;
  /// Other figures of the row that are smaller with some PID of the grid, not necessarily the best one,
  /// by more than their floor.
  std::vector<Figure> others;
};
/// Of a score with sweep_laws().
std::vector<SweptRow> swept_rows(const Score& score);

/// For a terminal: a block per row with the integral law and the best PIDs; the rows in which the
/// integral law is beaten, and in which figures.
std::string sweep_text(const Score& score);

}  // namespace ga_tools::score

#endif  // SCORE__PID_SWEEP_HPP_
