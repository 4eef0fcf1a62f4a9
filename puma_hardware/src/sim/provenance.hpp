// SPDX-License-Identifier: Apache-2.0
#ifndef SIM__PROVENANCE_HPP_
#define SIM__PROVENANCE_HPP_

// What a report was made with, so that it can be made again.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/demonstration.hpp"

namespace puma_hardware::sim {

/// The member "made_with" of the report's data (report/README.md). Throws std::runtime_error if the
/// description cannot be read.
nlohmann::json provenance(const Demonstration& demonstration, const DemonstrationOptions& options);
/// The same of runs that were recorded elsewhere: command, version and robot.
nlohmann::json provenance(const ga_dynamics::Chain& chain, const std::filesystem::path& urdf,
                          const std::string& command);

}  // namespace puma_hardware::sim

#endif  // SIM__PROVENANCE_HPP_
