// SPDX-License-Identifier: Apache-2.0
// Checks the data of a report (format: report/README.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace ga_tools {

/// Throws std::runtime_error naming the first member that is missing or has the wrong size, as
/// 'runs[0].q'. The page makes the same checks, but only when it is opened.
void check_report_document(const nlohmann::json& data);

}  // namespace ga_tools
