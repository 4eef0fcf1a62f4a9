// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__ROWS_HPP_
#define CLI__ROWS_HPP_

// The commands that map rows of states to rows of results: `ga id`, `ga fd`, …

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ga_dynamics/dynamics.hpp"

namespace ga_tools::cli {

using ga_dynamics::Dynamics;

/// The columns that a command reads and writes, and the call between them.
struct RowTask {
  std::vector<std::string> inputs;   ///< quantities, one value per joint each: "q", "qd", …
  std::vector<std::string> outputs;  ///< column names, ready for a CSV header
  std::function<void(std::span<const double> in, std::span<double> out)> evaluate;
};

struct RowCommand {
  const char* name;
  const char* description;
  const char* columns;  ///< in and out, for --help
  const char* examples;
  bool kinematics;                       ///< needs no inertia and no method
  RowTask (*make_task)(Dynamics& with);  ///< the task keeps a reference to `with`
};

std::span<const RowCommand> row_commands();

/// Reads states from the file (`-`: standard input) and writes the results to standard output, row
/// by row in constant memory. Flushes its results before it waits for input, so that a program can
/// send a state and wait for its result. Throws InputError, after the results of the rows before
/// the bad one are out, OutputError and ReaderGone. With `show` it reports progress and ignored
/// columns on standard error.
void stream_rows(const RowTask& task, const std::vector<std::string>& joints,
                 const std::string& states, bool show);

}  // namespace ga_tools::cli

#endif  // CLI__ROWS_HPP_
