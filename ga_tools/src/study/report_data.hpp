// SPDX-License-Identifier: Apache-2.0
#ifndef STUDY__REPORT_DATA_HPP_
#define STUDY__REPORT_DATA_HPP_

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "study/demonstration.hpp"

namespace ga_tools {

struct ReportTexts {
  std::string title, subtitle, generated;
};

/// Runs in the format of report/README.md. `rate` [Hz]: of the samples. `one_reference`: all runs
/// share the first one's reference. Throws what read_visuals() throws.
nlohmann::json report_data(const Demonstration& demonstration, const std::filesystem::path& urdf,
                           const ReportTexts& texts, double rate, bool one_reference);
/// The same for a simulation, with texts that name its options.
nlohmann::json report_data(const Demonstration& demonstration, const DemonstrationOptions& options);

}  // namespace ga_tools

#endif  // STUDY__REPORT_DATA_HPP_
