// SPDX-License-Identifier: Apache-2.0
#ifndef STUDY__PROVENANCE_HPP_
#define STUDY__PROVENANCE_HPP_

// The settings that a report was made with, so that it can be reproduced.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "study/demonstration.hpp"

namespace ga_tools {

/// The member "made_with" of the report's data (report/README.md). Throws std::runtime_error if the
/// description cannot be read.
nlohmann::json provenance(const Demonstration& demonstration, const DemonstrationOptions& options);
/// The same for runs that were recorded elsewhere: command, version and robot.
nlohmann::json provenance(const ga_dynamics::Chain& chain, const std::filesystem::path& urdf,
                          const std::string& command);

}  // namespace ga_tools

#endif  // STUDY__PROVENANCE_HPP_
