// SPDX-License-Identifier: Apache-2.0
#ifndef SIM__REPORT_DATA_HPP_
#define SIM__REPORT_DATA_HPP_

#include <nlohmann/json.hpp>

#include "sim/demonstration.hpp"

namespace puma_hardware::sim {

/// A demonstration in the format of report/README.md. Throws what read_visuals() throws.
nlohmann::json report_data(const Demonstration& demonstration, const DemonstrationOptions& options);

}  // namespace puma_hardware::sim

#endif  // SIM__REPORT_DATA_HPP_
