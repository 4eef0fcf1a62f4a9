// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__CLI__EXPERIMENTS_HPP_
#define GA_DYNAMICS__CLI__EXPERIMENTS_HPP_

// The papers' experiments, run again: our numbers beside the printed ones, and what cannot be
// compared because the paper does not say it, or our copy has lost it.

#include <functional>
#include <string>
#include <vector>

namespace ga_tools::cli {

/// Says what is being done.
using Told = std::function<void(const std::string& what)>;

struct Experiment {
  const char* name;   ///< for --only
  const char* title;  ///< of its table
  std::string (*text)(const Told& told);
};

/// In the order in which they run.
const std::vector<Experiment>& experiments();

/// Names and titles, one per line.
std::string experiments_list();

/// Runs those of these names, or all if there are none, and prints each as it is done. Throws
/// InputError for a name that there is not, before any is run.
void run_experiments(const std::vector<std::string>& only, bool quiet);

// Each one's table.
std::string single_precision_text(const Told& told);
std::string joint_errors_text(const Told& told);
std::string tool_errors_text(const Told& told);
std::string line_torques_text(const Told& told);
std::string hydraulic_arm_text(const Told& told);

}  // namespace ga_tools::cli

#endif  // GA_DYNAMICS__CLI__EXPERIMENTS_HPP_
