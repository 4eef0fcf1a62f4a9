// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__STABILITY_TEXT_HPP_
#define GA_CONTROLLERS__STABILITY_TEXT_HPP_

// Wording of a stability report. Allocates; does not throw on values.

#include <string>
#include <vector>

#include "ga_controllers/stability.hpp"

namespace ga_controllers {

/// What the wording needs further to the report.
struct StabilityFindings {
  std::vector<LoopSettings> loops;         ///< one per joint
  bool unstable_model = false;             ///< a loop is unstable with an exact model
  bool too_low = false, too_high = false;  ///< rho within a factor of 1.5 of that end, or beyond
  /// rad/s; below it, gravity of an unknown mass exceeds the stiffness, or nearly; 0 if the
  /// bandwidth is sufficient
  double stiff_bandwidth = 0;
  /// Largest payload that is stable with a margin, kg, in the posture of the smallest rho;
  /// negative if a smaller payload does not help.
  double payload = -1;
  std::vector<std::string> without_armature;  ///< revolute joints
};

/// Three digits.
std::string number(double value);
std::string list(const std::vector<std::string>& names);

/// Sets the text from all else in the report.
void describe(StabilityReport& report, const ModelUncertainty& uncertainty,
              const StabilityFindings& findings);

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__STABILITY_TEXT_HPP_
