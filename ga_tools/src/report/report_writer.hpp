// SPDX-License-Identifier: Apache-2.0
// Writes the report of a simulation as one HTML file with its data, page and libraries.
#pragma once

#include <filesystem>
#include <string>

namespace ga_tools {

/// Writes the report. The file is self-contained: it can be mailed, archived and opened offline.
///
/// json: the data, UTF-8, in the format of report/README.md (lengths in m, angles in rad, torques
/// in N·m, times in s). share_dir: the folder of report.html and its parts, as installed in
/// share/ga_tools/report. javascript_dir: where the distribution keeps its JavaScript
/// libraries.
///
/// The file is replaced atomically: an earlier report stays until the new one is complete. Throws
/// std::runtime_error, naming the file and the remedy, if the data are not a JSON object, a part or
/// a library is missing, or the output cannot be written. Not real-time safe.
void write_report(const std::string& json, const std::filesystem::path& share_dir,
                  const std::filesystem::path& output,
                  const std::filesystem::path& javascript_dir = "/usr/share/javascript");

}  // namespace ga_tools
