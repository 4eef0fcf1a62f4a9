// SPDX-License-Identifier: Apache-2.0
#ifndef SCORE__SCORE_HPP_
#define SCORE__SCORE_HPP_

// The law score: all rows and laws with several seeds, and what came out.

#include <functional>
#include <string>
#include <vector>

#include "score/run.hpp"

namespace ga_tools::score {

struct ScoreOptions {
  std::vector<std::string> rows = {};  ///< ids; empty: all
  std::vector<std::string> laws = {};  ///< ids; empty: all
  unsigned seeds = 5;                  ///< so many for each row
  unsigned first_seed = 1;             ///< the others follow
  bool short_form = false;             ///< fewer rows, one seed
  unsigned threads = 0;                ///< 0: as many as there are processors
};

/// A row and a law: all seeds.
struct Cell {
  const Scenario* scenario;
  const ScoreLaw* law;
  std::vector<Run> runs;   ///< by seed; one if the row does not depend on it
  Figures figures;         ///< mean or worst of the runs, as of FigureKind
  std::size_t failed = 0;  ///< runs whose state is not "ok"
};

struct Score {
  std::vector<const Scenario*> rows;
  std::vector<const ScoreLaw*> laws;
  unsigned seeds = 0, first_seed = 1;
  bool short_form = false;
  std::vector<Cell> cells;  ///< row by row, law by law

  const Cell& cell(std::size_t row, std::size_t law) const {
    return cells[row * laws.size() + law];
  }
};

/// The runs of these rows and laws; ScoreOptions::rows, laws and short_form are not used. One run per
/// thread; the result does not depend on their number. `progress` gets how many of how
/// many runs are done, one call at a time. Allocates. Throws std::invalid_argument for unknown rows
/// and laws, and what a run throws.
Score measure_rows(std::vector<const Scenario*> rows, std::vector<const ScoreLaw*> laws,
                   const ScoreOptions& options, const Arms& arms,
                   const std::function<void(std::size_t, std::size_t)>& progress = {});

/// The law score with these options.
Score measure_score(const ScoreOptions& options, const Arms& arms,
                    const std::function<void(std::size_t, std::size_t)>& progress = {});

/// The rows of these options: those that are named, or all, or those of the short form. Throws
/// std::invalid_argument that lists the rows.
std::vector<const Scenario*> rows_of(const ScoreOptions& options);
/// The laws of these ids; all of them if there are none.
std::vector<const ScoreLaw*> laws_of(const std::vector<std::string>& ids);

}  // namespace ga_tools::score

#endif  // SCORE__SCORE_HPP_
