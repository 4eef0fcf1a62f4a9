// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__RECORDING_HPP_
#define GA_HARDWARE__RECORDING_HPP_

// Recorded motion of an arm.

#include <vector>

namespace ga_hardware {

/// Recorded every cycle; [joint][cycle].
struct Recording {
  std::vector<double> time;  ///< s
  std::vector<std::vector<double>> q, q_ref, qd, tau;
  std::vector<double> tool[3], tool_ref[3];          ///< origin of the tip link, m
  double update_time_mean = 0, update_time_max = 0;  ///< s, of the law
};

}  // namespace ga_hardware

#endif  // GA_HARDWARE__RECORDING_HPP_
