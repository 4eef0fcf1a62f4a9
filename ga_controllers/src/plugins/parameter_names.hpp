// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PARAMETER_NAMES_HPP_
#define GA_CONTROLLERS__PARAMETER_NAMES_HPP_

// Names of the controllers' parameters. The generated code declares them in this order, but its
// exceptions do not name the parameter that failed.

#include <functional>
#include <string>

namespace ga_controllers {

/// As in law_controller_parameters.yaml, in the same order.
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
                                                  "payload.mass",
                                                  "payload.com",
                                                  "payload.inertia",
                                                  "torque_limit",
                                                  "torque_rate_limit",
                                                  "friction",
                                                  "friction_velocity",
                                                  "integral_dead_band",
                                                  "integral_limit",
                                                  "blend_time",
                                                  "keep_path",
                                                  "look_ahead",
                                                  "adaptation.enabled",
                                                  "adaptation.mass",
                                                  "adaptation.com",
                                                  "adaptation.payload_mass",
                                                  "adaptation.payload_offset",
                                                  "adaptation.friction",
                                                  "adaptation.armature",
                                                  "hand_guiding.friction_uncertainty",
                                                  "hand_guiding.dead_zone",
                                                  "hand_guiding.damping",
                                                  "hand_guiding.speed",
                                                  "hand_guiding.limit_zone",
                                                  "hand_guiding.limit_torque",
                                                  "error_cycles",
                                                  "reference_timeout",
                                                  "state_publish_rate",
                                                  "uncertainty.payload",
                                                  "uncertainty.payload_radius",
                                                  "uncertainty.mass",
                                                  "uncertainty.armature_low",
                                                  "uncertainty.armature_high",
                                                  "uncertainty.delay",
                                                  "uncertainty.resonance",
                                                  "uncertainty.fit_gains"};

/// Adds the parameter to the message `what` of the generated code: the first undeclared parameter
/// is the one whose declaration failed. Later errors name the parameter themselves.
inline std::string explain_failure(const std::string& what,
                                   const std::function<bool(const std::string&)>& declared) {
  for (const char* name : kParameterNames) {
    if (!declared(name)) return "parameter '" + std::string(name) + "' cannot be declared: " + what;
  }
  return what;
}

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PARAMETER_NAMES_HPP_
