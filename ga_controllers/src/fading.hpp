// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__FADING_HPP_
#define GA_CONTROLLERS__FADING_HPP_

// How the followed reference of one joint goes over from where it was to a given one: the
// difference e = (error + slope t + bend t²) exp(−decay t) has three equal real poles, and starts
// with any position, velocity and acceleration. Its acceleration peaks at 0.23 decay² error or 0.8
// decay rate, the derivative of that at decay³ error or 3 decay² rate, its velocity at 0.27 decay
// error.
//
// Real-time safe: no allocation, no lock, no exception. Units: rad, s (m for prismatic joints).

#include <algorithm>
#include <cmath>
#include <vector>

namespace ga_controllers {

struct Fading {
  struct State {
    double q = 0, qd = 0, qdd = 0;
  };
  /// What the way may cost.
  struct Bounds {
    double decay = 1;         ///< 1/s
    double acceleration = 0;  ///< rad/s²
    double jerk = 0;          ///< rad/s³
    double velocity = 0;      ///< rad/s, besides that of the given reference
  };

  double error = 0, rate = 0;  ///< at the start
  double decay = 1;            ///< 1/s
  double bend = 0;             ///< for a continuous acceleration

  /// `difference`: of where the reference was to the given one.
  void start(const State& difference, const Bounds& bounds) noexcept {
    error = difference.q;
    rate = difference.qd;
    const double way = std::abs(error) + 1e-12, speed = std::abs(rate) + 1e-12;
    // The error's share and the velocity's add up.
    const double of_way =
        std::min(std::sqrt(bounds.acceleration / (0.23 * way)), std::cbrt(bounds.jerk / way));
    const double of_speed =
        std::min(bounds.acceleration / (0.8 * speed), std::sqrt(bounds.jerk / (3 * speed)));
    const double both =
        1 / std::cbrt(1 / (of_way * of_way * of_way) + 1 / (of_speed * of_speed * of_speed));
    decay = std::min({bounds.decay, both, bounds.velocity / (0.27 * way)});
    bend = (difference.qdd + 2 * decay * rate + decay * decay * error) / 2;
  }
  void stop() noexcept { *this = {}; }
  bool over(double t) const noexcept { return decay * t > 40; }
  /// What is left of the difference after `t` seconds.
  State at(double t) const noexcept {
    const double shrink = std::exp(-decay * t), slope = rate + decay * error;
    const double left = (error + (slope + bend * t) * t) * shrink;
    const double left_rate = (slope + 2 * bend * t) * shrink - decay * left;
    return {left, left_rate,
            (2 * bend - decay * (slope + 2 * bend * t)) * shrink - decay * left_rate};
  }
};

/// Of all joints at once. Construction allocates.
struct Fadings {
  explicit Fadings(std::size_t n) : joints(n) {}
  std::vector<Fading> joints;
  double time = 0;  ///< s, since they began
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__FADING_HPP_
