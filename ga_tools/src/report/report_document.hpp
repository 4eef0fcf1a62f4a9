// SPDX-License-Identifier: Apache-2.0
// What the data of a report must hold (report/README.md describes them).
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace ga_tools {

/// Throws std::runtime_error naming the first member of the data that is missing or of the wrong
/// size, as 'runs[0].q'. The page makes the same checks; but a page that shows nothing is no
/// report.
void check_report_document(const nlohmann::json& data);

}  // namespace ga_tools
