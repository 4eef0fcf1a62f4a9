// SPDX-License-Identifier: Apache-2.0
#ifndef ARM__CALIBRATION_BUILDER_HPP_
#define ARM__CALIBRATION_BUILDER_HPP_

// Builds the potentiometer–index table while the joints move through their ranges, by hand or by a
// law that follows the Sweep. The arm's position must be known (PumaArm::set_position()), and the
// index search must be active (PumaArm::begin_index_search()).
//
// Only index pulses in positive motion are used: a pulse is a few counts wide, and its leading edge
// is always at the same count. The voltage at a pulse is that of a line fitted to the samples half
// a turn before and after it.

#include <array>
#include <cstdint>
#include <vector>

#include "arm/calibration_posture.hpp"
#include "arm/calibration_table.hpp"
#include "arm/puma_arm.hpp"
#include "arm/trapezoidal_profile.hpp"

namespace puma_hardware {

class CalibrationBuilder {
 public:
  /// Allocates.
  explicit CalibrationBuilder(const ArmSettings& settings);

  /// Call in every cycle after PumaArm::read(). Real-time safe.
  void add(const PumaArm& arm) noexcept;
  /// Throws CardError naming the joint and what is inconsistent or missing. Ends of the range where
  /// the potentiometer is at its stop are left out.
  CalibrationTable finish() const;
  /// The torques along the motion, to be compared with gravity.
  std::vector<GravityPlace> gravity() const { return gravity_.places(); }

 private:
  static constexpr int kBinsPerTurn = 4;
  static constexpr std::size_t kMostPulses = 4096;

  struct Bin {
    double counts = 0, volts = 0;  ///< sums
    int samples = 0;
  };
  struct Joint {
    std::vector<Bin> bins;
    std::int64_t first_bin = 0;
    std::vector<std::int64_t> pulses;  ///< true counts
    int seen = 0;
    bool started = false;
    std::int64_t last_count = 0;
  };

  std::int64_t bin_of(std::size_t joint, double count) const noexcept;
  JointTable build(std::size_t joint) const;
  std::vector<std::int64_t> distinct_pulses(std::size_t joint) const;
  bool volts_around(std::size_t joint, std::int64_t count, double& volts, double& slope) const;

  ArmSettings settings_;
  std::array<Joint, 6> joints_;
  GravityLog gravity_;
};

/// Reference motion of one joint after the other to the low end of its range, to the high end and
/// back. Real-time safe. The caller chooses collision-free ranges.
class Sweep {
 public:
  static constexpr double kTurnsPerSecond = 4;  ///< of the motors
  /// rad. `turns_per_second`: of the motors.
  Sweep(const ArmSettings& settings, const std::array<double, 6>& start,
        const std::array<double, 6>& low, const std::array<double, 6>& high,
        double turns_per_second = kTurnsPerSecond) noexcept;

  /// rad/s
  static double speed_of(const JointSettings& joint,
                         double turns_per_second = kTurnsPerSecond) noexcept;

  void advance(double dt) noexcept;
  bool done() const noexcept { return joint_ >= 6; }
  double progress() const noexcept;  ///< 0 … 1
  const std::array<double, 6>& q() const noexcept { return q_; }
  const std::array<double, 6>& qd() const noexcept { return qd_; }
  const std::array<double, 6>& qdd() const noexcept { return qdd_; }

 private:
  void start_leg() noexcept;

  std::array<double, 6> start_, low_, high_, speed_{}, q_, qd_{}, qdd_{};
  TrapezoidalProfile profile_;
  std::size_t joint_ = 0;
  int leg_ = 0;
};

}  // namespace puma_hardware

#endif  // ARM__CALIBRATION_BUILDER_HPP_
