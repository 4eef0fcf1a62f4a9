// SPDX-License-Identifier: Apache-2.0
#include "score/score.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace ga_tools::score {

namespace {

struct Task {
  Cell* cell;
  std::size_t index;  ///< into the cell's runs
  unsigned seed;
};

/// Runs all tasks; throws the first exception of any of them.
void run_all(std::vector<Task>& tasks, unsigned threads, const Arms& arms,
             const std::function<void(std::size_t, std::size_t)>& progress) {
  std::atomic<std::size_t> next{0};
  std::size_t done = 0;
  std::exception_ptr problem;
  std::mutex mutex;
  const auto work = [&] {
    for (std::size_t k = next++; k < tasks.size(); k = next++) {
      try {
        const auto& [cell, index, seed] = tasks[k];
        Run result = run(*cell->scenario, *cell->law, seed, arms);
        const std::lock_guard lock(mutex);
        cell->runs[index] = std::move(result);
        if (progress) progress(++done, tasks.size());
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!problem) problem = std::current_exception();
        next = tasks.size();
      }
    }
  };
  std::vector<std::thread> pool;
  for (unsigned t = 1; t < threads; ++t) pool.emplace_back(work);
  work();
  for (std::thread& thread : pool) thread.join();
  if (problem) std::rethrow_exception(problem);
}

void summarize(Cell& cell) {
  for (const FigureKind& kind : figure_kinds()) {
    double sum = 0, worst = -INFINITY;
    bool complete = true;
    for (const Run& run : cell.runs) {
      const double value = run.figures[kind.figure];
      complete = complete && !std::isnan(value);
      sum += value;
      worst = std::max(worst, value);
    }
    const double mean = sum / static_cast<double>(cell.runs.size());
    cell.figures[kind.figure] = !complete ? NAN : kind.mean ? mean : worst;
  }
  cell.failed = static_cast<std::size_t>(std::count_if(
      cell.runs.begin(), cell.runs.end(), [](const Run& run) { return run.state != "ok"; }));
}

}  // namespace

std::vector<const ScoreLaw*> laws_of(const std::vector<std::string>& ids) {
  std::vector<const ScoreLaw*> laws;
  for (const std::string& id : ids) laws.push_back(&score_law(id));
  if (ids.empty()) {
    for (const ScoreLaw& law : score_laws()) laws.push_back(&law);
  }
  return laws;
}

std::vector<const Scenario*> rows_of(const ScoreOptions& options) {
  std::vector<const Scenario*> rows;
  for (const std::string& id : options.rows) rows.push_back(&scenario(id));
  if (options.rows.empty()) {
    for (const Scenario& s : scenarios()) {
      if (s.in_short_form || !options.short_form) rows.push_back(&s);
    }
  }
  return rows;
}

Score measure_score(const ScoreOptions& options, const Arms& arms,
                    const std::function<void(std::size_t, std::size_t)>& progress) {
  ScoreOptions own = options;
  if (options.short_form) own.seeds = 1;
  Score score = measure_rows(rows_of(options), laws_of(options.laws), own, arms, progress);
  score.short_form = options.short_form;
  return score;
}

Score measure_rows(std::vector<const Scenario*> rows, std::vector<const ScoreLaw*> laws,
                   const ScoreOptions& options, const Arms& arms,
                   const std::function<void(std::size_t, std::size_t)>& progress) {
  if (options.seeds < 1 || options.seeds > 1000) {
    throw std::invalid_argument("seeds: " + std::to_string(options.seeds) + "; give 1 to 1000");
  }
  if (options.first_seed < 1 || options.first_seed > 1000000) {
    throw std::invalid_argument("first_seed: " + std::to_string(options.first_seed) +
                                "; give 1 to 1000000");
  }
  Score score;
  score.seeds = options.seeds;
  score.first_seed = options.first_seed;
  score.rows = std::move(rows);
  score.laws = std::move(laws);
  for (const Scenario* row : score.rows) {
    for (const ScoreLaw* law : score.laws) {
      score.cells.push_back(
          {row, law, std::vector<Run>(row->deterministic() ? 1 : score.seeds), {}, 0});
    }
  }
  std::vector<Task> tasks;
  for (Cell& cell : score.cells) {
    for (std::size_t k = 0; k < cell.runs.size(); ++k) {
      tasks.push_back({&cell, k, score.first_seed + static_cast<unsigned>(k)});
    }
  }
  const unsigned processors = std::max(1U, std::thread::hardware_concurrency());
  run_all(tasks, options.threads > 0 ? options.threads : processors, arms, progress);
  for (Cell& cell : score.cells) summarize(cell);
  return score;
}

}  // namespace ga_tools::score
