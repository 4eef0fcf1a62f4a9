// SPDX-License-Identifier: Apache-2.0
#ifndef SIM__REPORT_DATA_HPP_
#define SIM__REPORT_DATA_HPP_

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/demonstration.hpp"

namespace puma_hardware::sim {

struct ReportTexts {
  std::string title, subtitle, generated;
};

/// Runs in the format of report/README.md; `rate` [Hz] of their samples. `one_reference`: all have
/// the first one's. Throws what read_visuals() throws.
nlohmann::json report_data(const Demonstration& demonstration, const std::filesystem::path& urdf,
                           const ReportTexts& texts, double rate, bool one_reference);
/// The same for a demonstration, with texts that tell its options.
nlohmann::json report_data(const Demonstration& demonstration, const DemonstrationOptions& options);

}  // namespace puma_hardware::sim

#endif  // SIM__REPORT_DATA_HPP_
