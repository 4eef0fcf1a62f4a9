// SPDX-License-Identifier: Apache-2.0
#ifndef STUDY__STABILITY_LINES_HPP_
#define STUDY__STABILITY_LINES_HPP_

// The stability check of the laws of a simulation, before it runs.

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "ga_controllers/stability.hpp"
#include "ga_hardware/simulated_arm.hpp"

namespace ga_tools {

/// Laws that close the same loop.
struct StabilityLine {
  std::vector<std::string> laws;  ///< their names
  ga_controllers::LawCheck check;
};

/// What a simulation is made with, as hints for the check.
ga_controllers::Uncertainty assumed_uncertainty(const ga_hardware::Disturbances& disturbances,
                                                const ga_dynamics::LinkInertia& payload);

/// "stability of integral: stable for rho …", and one line for each refusal.
std::vector<std::string> texts_of(std::span<const StabilityLine> lines);
/// All warnings, each once, with "stability: " before them.
std::vector<std::string> warnings_of(std::span<const StabilityLine> lines);
nlohmann::json json_of(std::span<const StabilityLine> lines);

}  // namespace ga_tools

#endif  // STUDY__STABILITY_LINES_HPP_
