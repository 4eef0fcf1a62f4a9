// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__CYCLE_HPP_
#define GA_CONTROLLERS__CYCLE_HPP_

// What the parts of a law are told of the update they are in.

#include <span>

namespace ga_controllers {

struct Cycle {
  double dt = 0;  ///< s
  /// Law, gains or what drove the arm have changed: torque and reference go on from the arm.
  bool changed = false;
  /// The torque goes on from the one before, the reference as it was.
  bool takes_over = false;
  /// N m, given in the last update; NaN: nothing drove the joint.
  std::span<const double> torque_before = {};
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__CYCLE_HPP_
