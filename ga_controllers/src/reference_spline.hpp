// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__REFERENCE_SPLINE_HPP_
#define GA_CONTROLLERS__REFERENCE_SPLINE_HPP_

// A smooth reference from positions alone, given in every cycle or as samples held for some cycles:
// a uniform cubic B-spline with the samples as control points, computed as three moving averages
// over the interval between samples. Position, velocity and acceleration are consistent and
// continuous. The spline lags by 1.5 intervals, by the same time in all joints, so the path stays.
//
// Real-time safe after construction: no allocation, no lock, no exception. Units: rad, s (m for
// prismatic joints).

#include <array>
#include <span>
#include <vector>

#include "blending.hpp"

namespace ga_controllers {

class ReferenceSpline {
 public:
  explicit ReferenceSpline(std::size_t joints);

  /// The next positions start a new spline, at rest.
  void reset() noexcept { begun_ = false; }
  /// The positions of a cycle of dt [s]. A longer interval between samples than before restarts the
  /// spline with that interval.
  void update(std::span<const double> positions, double dt) noexcept;

  Blending::State state(std::size_t joint) const noexcept;
  /// rad/s³
  double jerk(std::size_t joint) const noexcept;
  /// Cycles after which a position no longer counts.
  int memory() const noexcept { return kStages * interval_ + 1; }

 private:
  static constexpr int kStages = 3;
  struct Joint {
    std::array<double, kStages> sum = {};
    std::array<double, 4> output = {};  ///< of the last cycles, newest first
    double input = 0;
    int still = 0;  ///< cycles since the input changed
  };
  void begin(std::span<const double> positions) noexcept;
  void find_interval(std::span<const double> positions) noexcept;

  std::vector<Joint> joints_;
  std::vector<double> window_;  ///< last inputs of each stage of each joint
  int interval_, at_ = 0;       ///< cycles; index in the window
  int age_ = 0, last_age_ = 0;  ///< cycles since the last sample; between the two before
  double dt_ = 0;               ///< s, mean cycle
  bool begun_ = false;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__REFERENCE_SPLINE_HPP_
