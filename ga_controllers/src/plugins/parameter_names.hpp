// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PARAMETER_NAMES_HPP_
#define GA_CONTROLLERS__PARAMETER_NAMES_HPP_

// The names of the controllers' parameters. The generated code declares them in this order and does
// not say where it failed.

#include <functional>
#include <string>

namespace ga_controllers {

/// Those of law_controller_parameters.yaml, in its order.
inline constexpr const char* kParameterNames[] = {"joints",
                                                  "base",
                                                  "tip",
                                                  "freeze",
                                                  "gravity",
                                                  "gains.bandwidth",
                                                  "gains.damping",
                                                  "gains.kp",
                                                  "gains.kd",
                                                  "gains.ki",
                                                  "torque_limit",
                                                  "torque_rate_limit",
                                                  "friction",
                                                  "friction_velocity",
                                                  "integral_dead_band",
                                                  "integral_limit",
                                                  "blend_time",
                                                  "error_cycles",
                                                  "reference_timeout",
                                                  "state_publish_rate"};

/// What the generated code was about when it threw `what`: the first parameter that is not declared
/// is the one that it could not declare. Errors after that name the parameter themselves.
inline std::string explain_failure(const std::string& what,
                                   const std::function<bool(const std::string&)>& declared) {
  for (const char* name : kParameterNames) {
    if (!declared(name)) return "parameter '" + std::string(name) + "' cannot be declared: " + what;
  }
  return what;
}

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PARAMETER_NAMES_HPP_
