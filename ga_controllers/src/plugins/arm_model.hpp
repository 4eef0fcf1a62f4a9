// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PLUGINS__ARM_MODEL_HPP_
#define GA_CONTROLLERS__PLUGINS__ARM_MODEL_HPP_

// Builds the data of a ControlLaw from the robot description and the parameters. Not real-time
// safe. Throws std::invalid_argument or ga_dynamics::DescriptionError naming the parameter and the
// remedy.

#include <ga_controllers/law_controller_parameters.hpp>
#include <string>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_controllers/stability.hpp"
#include "ga_dynamics/chain.hpp"

namespace ga_controllers {

struct ArmModel {
  ArmModel(const std::string& robot_description, const law_controller::Params& parameters);

  /// Whose gains are fitted to a resonance; the caller sets it.
  LawKind fitted_kind = LawKind::kTracking;
  ga_dynamics::Chain chain;
  std::vector<std::string> joints;  ///< in the order of the chain
  bool has_effort_state = false;    ///< every joint has an effort state interface
  std::vector<std::size_t> listed;  ///< listed[k]: chain index of the k-th entry of `joints`

  /// One value for each joint of the chain, from a per-joint parameter.
  std::vector<double> spread(const std::vector<double>& values, const char* parameter) const;
  std::vector<JointGains> gains(const law_controller::Params& parameters) const;
  LawParameters law(LawKind kind, const law_controller::Params& parameters) const;
  /// Of the stability check. `declared`: the user has set a parameter of it.
  Uncertainty uncertainty(const law_controller::Params& parameters, bool declared) const;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PLUGINS__ARM_MODEL_HPP_
