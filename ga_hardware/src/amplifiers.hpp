// SPDX-License-Identifier: Apache-2.0
#ifndef AMPLIFIERS_HPP_
#define AMPLIFIERS_HPP_

// From the commanded torque of a cycle to what the motors give in the next one: delay in whole
// cycles, current limit, torque constants and a first-order lag. Construction allocates; the rest is
// real-time safe and does not throw.

#include <cmath>
#include <span>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "ga_hardware/simulated_arm.hpp"

namespace ga_hardware {

class Amplifiers {
 public:
  /// `constants`: actual over described torque constants, one per joint.
  Amplifiers(const ga_dynamics::Chain& chain, const Disturbances& disturbances,
             std::vector<double> constants);

  /// As if this torque had been commanded for a long time.
  void settle(std::span<const double> torque) noexcept;
  /// Begins a cycle after which this torque was commanded.
  void begin(std::span<const double> torque) noexcept;
  /// Ends a cycle of dt [s].
  void end(double dt) noexcept;

  bool constant() const noexcept { return !(lag_ > 0); }  ///< within a cycle
  /// What the motor gives `since` [s] the cycle began.
  double at(std::size_t joint, double since) const noexcept {
    if (!(lag_ > 0)) return target_[joint];
    return target_[joint] + (now_[joint] - target_[joint]) * std::exp(-since / lag_);
  }
  /// At the beginning of the cycle, or after end() at its end.
  std::span<const double> now() const noexcept { return now_; }
  std::span<const double> target() const noexcept { return target_; }

 private:
  void set_target(std::span<const double> torque) noexcept;

  std::size_t n_, delay_;
  double lag_;
  std::vector<double> constants_, limits_;
  std::vector<double> queue_;  ///< commands of the last `delay_` cycles, a ring
  std::size_t oldest_ = 0;     ///< of the ring
  std::vector<double> target_, now_;
};

}  // namespace ga_hardware

#endif  // AMPLIFIERS_HPP_
