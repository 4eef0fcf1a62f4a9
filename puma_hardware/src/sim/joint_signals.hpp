// SPDX-License-Identifier: Apache-2.0
#ifndef SIM__JOINT_SIGNALS_HPP_
#define SIM__JOINT_SIGNALS_HPP_

// What stands between a joint and whoever controls it: encoder counts and DAC steps. All functions
// are real-time safe and do not throw.

#include <algorithm>
#include <cmath>

namespace puma_hardware::sim {

/// Zero: none, positions and torques are real numbers.
struct JointSignals {
  double counts_per_rad = 0;   ///< of the encoder
  double torque_per_volt = 0;  ///< N m/V of DAC and amplifier
  double noise = 0;            ///< standard deviation of the position before the encoder, rad
};

/// The position [rad] that the encoder shows.
inline double encoder_reading(const JointSignals& s, double q) noexcept {
  return s.counts_per_rad > 0 ? std::round(q * s.counts_per_rad) / s.counts_per_rad : q;
}

/// The torque [N m] that the DAC lets through: 12 bits over ±10 V, offset binary, the PCL-726's
/// range and step.
inline double dac_torque(const JointSignals& s, double tau) noexcept {
  if (s.torque_per_volt <= 0) return tau;
  constexpr double kFullScale = 10, kStep = 2 * kFullScale / 4096;
  const double code = std::clamp(std::round(tau / s.torque_per_volt / kStep), -2048.0, 2047.0);
  return code * kStep * s.torque_per_volt;
}

}  // namespace puma_hardware::sim

#endif  // SIM__JOINT_SIGNALS_HPP_
