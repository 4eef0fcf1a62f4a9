// SPDX-License-Identifier: Apache-2.0
#ifndef SCORE__OUTPUT_HPP_
#define SCORE__OUTPUT_HPP_

// The law score as a table, as JSON, as a page, and compared with an earlier one. Allocates.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "score/score.hpp"

namespace ga_tools::score {

/// Three significant digits, without exponent; "-" for what does not exist.
std::string number_text(double value);

/// For a terminal: a block per row, a line per law.
std::string table_text(const Score& score);

/// {"seeds": …, "first_seed": …, "rows": [{"id", "title", "laws": {ID: {FIGURE: value, …, "failed": n, "seeds": […]}}}]};
/// null for figures that do not exist.
nlohmann::json to_json(const Score& score);

/// One self-contained HTML file.
std::string page(const Score& score, const std::string& command);

/// What is worse than in the baseline, written by to_json(): a line for each figure of the rows that
/// is larger by more than `share` (0.25: a quarter) and by more than the figure's floor, or that no
/// longer exists; and for each cell with more failed runs. Rows, laws and figures that one of the two
/// does not have are not compared. Throws std::runtime_error if the baseline has another form or
/// nothing in common with the score.
std::vector<std::string> worse_than(const Score& score, const nlohmann::json& baseline,
                                    double share);

}  // namespace ga_tools::score

#endif  // SCORE__OUTPUT_HPP_
