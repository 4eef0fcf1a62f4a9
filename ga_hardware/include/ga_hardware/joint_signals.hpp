// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__JOINT_SIGNALS_HPP_
#define GA_HARDWARE__JOINT_SIGNALS_HPP_

// Quantization between a joint and its controller: encoder counts and DAC steps. All functions are
// real-time safe and do not throw.

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"

namespace ga_hardware {

/// Zero: not quantized, or no noise.
struct JointSignals {
  double counts_per_rad = 0;   ///< of the encoder
  double torque_per_volt = 0;  ///< N m/V of DAC and amplifier
  double noise = 0;            ///< standard deviation of the position before the encoder, rad
};

/// The position [rad] that the encoder reads.
inline double encoder_reading(const JointSignals& s, double q) noexcept {
  return s.counts_per_rad > 0 ? std::round(q * s.counts_per_rad) / s.counts_per_rad : q;
}

/// The torque [N m] after the DAC: 12 bits over ±10 V, offset binary, like the PCL-726.
inline double dac_torque(const JointSignals& s, double tau) noexcept {
  if (s.torque_per_volt <= 0) return tau;
  constexpr double kFullScale = 10, kStep = 2 * kFullScale / 4096;
  const double code = std::clamp(std::round(tau / s.torque_per_volt / kStep), -2048.0, 2047.0);
  return code * kStep * s.torque_per_volt;
}

/// From the joints' parameters in <ros2_control> (gear_ratio, encoder_counts_per_rev,
/// torque_per_volt); missing ones are zero. Throws std::runtime_error naming the joint and the
/// parameter if a value is not a positive number.
std::vector<JointSignals> signals_of(const ga_dynamics::Chain& chain);

/// Parameters of a law for an arm with these signals.
ga_controllers::LawParameters law_parameters(ga_controllers::LawKind kind,
                                             std::vector<ga_controllers::JointGains> gains,
                                             double friction,
                                             std::span<const JointSignals> signals);

}  // namespace ga_hardware

#endif  // GA_HARDWARE__JOINT_SIGNALS_HPP_
