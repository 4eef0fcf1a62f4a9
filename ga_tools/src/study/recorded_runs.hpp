// SPDX-License-Identifier: Apache-2.0
#ifndef STUDY__RECORDED_RUNS_HPP_
#define STUDY__RECORDED_RUNS_HPP_

// Runs that were recorded elsewhere, for the same report and table as those of `ga sim`.

#include <nlohmann/json.hpp>

#include "study/demonstration.hpp"

namespace ga_tools {

/// `data`: {"recordings": [run, …]} with, for each run,
///   "id", "label"           text
///   "duration"              s of the motion; after it the arm is at rest
///   "time"                  s, increasing
///   "q", "q_ref", "tau"     one list per joint, as long as "time"
///   "joints"                the joints' names, in the order of these lists (default: the chain's)
/// Throws std::runtime_error naming the run and the member that is missing or does not fit.
Demonstration recorded_runs(const nlohmann::json& data, const ga_dynamics::Chain& chain);

}  // namespace ga_tools

#endif  // STUDY__RECORDED_RUNS_HPP_
