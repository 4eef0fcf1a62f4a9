// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__EXPERIMENTS_HPP_
#define CLI__EXPERIMENTS_HPP_

// The papers' experiments, repeated: our numbers beside the printed ones, and what cannot be
// compared because the paper omits it or our copy lacks it.

#include <functional>
#include <string>
#include <vector>

#include "ga_dynamics/number.hpp"

namespace ga_tools::cli {

/// Called with the name of each step of an experiment.
using OnStep = std::function<void(const std::string& step)>;

/// Names and titles, one per line.
std::string experiments_list();

/// Runs the named experiments, or all if `only` is empty, and prints each when it is done. Throws
/// InputError for an unknown name before any is run.
void run_experiments(const std::vector<std::string>& only, bool quiet);

// The tables of the straight-line experiments.
std::string joint_errors_text(const OnStep& on_step);
std::string tool_errors_text(const OnStep& on_step);
std::string line_torques_text(const OnStep& on_step);

inline std::string show(double value, int digits = 4) {
  return ga_dynamics::number_text(value, digits);
}

}  // namespace ga_tools::cli

#endif  // CLI__EXPERIMENTS_HPP_
