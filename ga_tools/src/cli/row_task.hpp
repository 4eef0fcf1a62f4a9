// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__CLI__ROW_TASK_HPP_
#define GA_DYNAMICS__CLI__ROW_TASK_HPP_

// What each command does with one state: the columns it reads, those it writes, and the call
// between them.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "ga_dynamics/dynamics.hpp"

namespace ga_tools::cli {

using ga_dynamics::Dynamics;

struct RowTask {
  std::vector<std::string> inputs;   ///< quantities, one value per joint each: "q", "qd", …
  std::vector<std::string> outputs;  ///< names of the columns, ready for a CSV header
  std::function<void(std::span<const double> in, std::span<double> out)> evaluate;
};

/// For the commands that read states. The task keeps a reference to `dynamics`.
RowTask make_row_task(Command command, Dynamics& dynamics);

}  // namespace ga_tools::cli

#endif  // GA_DYNAMICS__CLI__ROW_TASK_HPP_
