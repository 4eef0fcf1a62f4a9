// SPDX-License-Identifier: Apache-2.0
#ifndef ARM__CALIBRATION_POSTURE_HPP_
#define ARM__CALIBRATION_POSTURE_HPP_

// Does the arm stand where its owner says? Two things contradict a wrong position: a potentiometer
// that would not reach over the joint's range, and the torque against gravity along a slow motion. Both
// see little of a joint whose axis is vertical or that carries next to nothing.

#include <array>
#include <string>
#include <vector>

#include "arm/arm_settings.hpp"
#include "arm/puma_arm.hpp"
#include "ga_dynamics/chain.hpp"

namespace puma_hardware {

/// Why the potentiometers contradict the position [rad], naming the joint; empty if they do not. A
/// potentiometer covers its joint's range, or the range all of the potentiometer.
std::string pot_contradiction(const ArmSettings& settings, const std::array<double, 6>& position,
                              const std::array<double, 6>& volts);

/// Torque of a joint at one place, mean of slow motions in both directions: without Coulomb friction
/// but for its difference between the directions.
struct GravityPlace {
  std::size_t joint = 0;
  std::array<double, 6> q{};  ///< rad
  double torque = 0;          ///< N m
};

/// Collects them while one joint after the other moves. Construction allocates; add() is real-time
/// safe.
class GravityLog {
 public:
  explicit GravityLog(const ArmSettings& settings);
  void add(const ArmReading& reading) noexcept;
  std::vector<GravityPlace> places() const;

 private:
  static constexpr std::size_t kBins = 128;
  struct Bin {
    std::array<double, 6> q{};       ///< sums
    std::array<double, 2> torque{};  ///< sums, moving down and up
    std::array<int, 2> samples{};
  };
  ArmSettings settings_;
  std::array<std::vector<Bin>, 6> bins_;
};

/// By how much the arm stands elsewhere than it is said to.
struct PostureEstimate {
  std::array<bool, 6> seen{};         ///< gravity shows where the joint stands
  std::array<double, 6> error{};      ///< rad, true minus stated
  std::array<double, 6> deviation{};  ///< rad, standard deviation of that
  /// Joints that surely stand elsewhere, with the angles; empty if none.
  std::string contradiction(const ArmSettings& settings) const;
};

/// Fits the model's gravity to the torques; masses may be wrong by a factor near 1, friction by a
/// share of it. Allocates.
PostureEstimate estimate_posture(const ga_dynamics::Chain& chain,
                                 const std::vector<GravityPlace>& places);

}  // namespace puma_hardware

#endif  // ARM__CALIBRATION_POSTURE_HPP_
