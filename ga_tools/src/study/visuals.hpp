// SPDX-License-Identifier: Apache-2.0
#ifndef STUDY__VISUALS_HPP_
#define STUDY__VISUALS_HPP_

// The shapes of a robot's links, for the report's 3D view.

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ga_tools {

/// <visual>s of every link of a URDF, in the report's format. Meshes must be binary STL;
/// package://NAME/… is searched in the folders above the URDF. What cannot be shown (missing files,
/// other formats) is left out and named in `notes`. Throws std::runtime_error if the file is not a
/// robot description.
std::map<std::string, nlohmann::json> read_visuals(const std::filesystem::path& urdf,
                                                   std::vector<std::string>& notes);

}  // namespace ga_tools

#endif  // STUDY__VISUALS_HPP_
