// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PLUGINS__ARM_MODEL_HPP_
#define GA_CONTROLLERS__PLUGINS__ARM_MODEL_HPP_

// From the robot description and the parameters to what a ControlLaw is built of. Not real-time
// safe; everything throws std::invalid_argument or ga_dynamics::DescriptionError, naming the
// parameter and the remedy.

#include <ga_controllers/law_controller_parameters.hpp>
#include <string>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"

namespace ga_controllers {

struct ArmModel {
  ArmModel(const std::string& robot_description, const law_controller::Params& parameters);

  ga_dynamics::Chain chain;
  std::vector<std::string> joints;  ///< in the chain's order, as the law knows them
  bool tells_effort = false;        ///< the hardware has an effort state for each of them
  std::vector<std::size_t> listed;  ///< listed[k]: index in the chain of the k-th joint parameter

  /// One value for each joint of the chain, from a per-joint parameter.
  std::vector<double> spread(const std::vector<double>& values, const char* parameter) const;
  std::vector<JointGains> gains(const law_controller::Params& parameters) const;
  LawParameters law(LawKind kind, const law_controller::Params& parameters) const;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PLUGINS__ARM_MODEL_HPP_
