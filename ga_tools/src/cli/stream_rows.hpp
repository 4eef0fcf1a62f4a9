// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__CLI__STREAM_ROWS_HPP_
#define GA_DYNAMICS__CLI__STREAM_ROWS_HPP_

#include <string>
#include <vector>

#include "cli/row_task.hpp"

namespace ga_tools::cli {

/// Reads states from the file (`-`: standard input) and writes the results to standard output, row
/// by row in constant memory. Whenever it has to wait for input, all results so far are out: a
/// program can send a state and wait for its result. Throws InputError, after the results of the
/// rows before the bad one are out, OutputError and ReaderGone.
/// Columns of the states that it does not read are named on standard error. `show`: progress and
/// that.
void stream_rows(const RowTask& task, const std::vector<std::string>& joints,
                 const std::string& states, bool show);

}  // namespace ga_tools::cli

#endif  // GA_DYNAMICS__CLI__STREAM_ROWS_HPP_
