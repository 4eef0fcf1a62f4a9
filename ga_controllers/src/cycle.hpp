// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__CYCLE_HPP_
#define GA_CONTROLLERS__CYCLE_HPP_

// Data of the current update, for the parts of a law.

#include <span>

namespace ga_controllers {

struct Cycle {
  double dt = 0;  ///< s
  /// Law, gains or the source of the torque changed: torque and reference restart at the arm.
  bool changed = false;
  /// The measured state was lost or recovered: the torque blends, the reference continues.
  bool state_transition = false;
  /// N m, commanded in the last update; NaN: the joint was not driven.
  std::span<const double> torque_before = {};
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__CYCLE_HPP_
