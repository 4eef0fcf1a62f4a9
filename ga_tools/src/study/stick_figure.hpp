// SPDX-License-Identifier: Apache-2.0
#ifndef STUDY__STICK_FIGURE_HPP_
#define STUDY__STICK_FIGURE_HPP_

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "ga_dynamics/chain.hpp"

namespace ga_tools {

/// Shapes in place of meshes, in the report's format, by link: for each body of the chain without a
/// shape in `visuals`, a bar from its joint to the next one (the last: to the tip) and a ball at its
/// joint, or a cube if the joint is prismatic. Empty if every body has a shape.
std::map<std::string, nlohmann::json> stick_figure(
    const ga_dynamics::Chain& chain, const std::map<std::string, nlohmann::json>& visuals);

}  // namespace ga_tools

#endif  // STUDY__STICK_FIGURE_HPP_
