// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__BLENDING_HPP_
#define GA_CONTROLLERS__BLENDING_HPP_

// Decay of the offset between the followed and the input reference of one joint, by state feedback
// instead of a function of time. So references that jump in every cycle are low-pass filtered, and
// the offset returns to zero once they rest.
//
// The offset x = (w, w', w'') is a triple integrator with three equal real poles:
//   w''' = −r³ sat(w) − 3 r² w' − 3 r w''
// A linear filter with these poles does not overshoot: for positions alone, the followed position
// stays between the input positions. The pole r depends on the state: it is the largest one, up to
// `fastest`, with y'Py ≤ jerk² for y = (r³w, r²w', rw''). If even the slowest pole r_min violates
// that, r_min is used and sat() bounds the velocity of the return.
//
// Stability. P is chosen so that y'Py decreases along w''' for every gain sat(w)/w between 2/3 and
// 1, and grows with r (P A + A'P < 0 and P H + H P > 0 with H = diag(3, 2, 1); test_blending checks
// both). Then 1/r is an implicit Lyapunov function: without new jumps the pole only rises, up to
// `fastest`, and from there the filter is linear. (This holds if the whole velocity is available.
// If the input motion uses most of it, the gain is smaller, and test_blending tries a grid of
// states.) Outside the ellipsoid of r_min the pole is constant and the circle criterion holds: Re
// G(iω) ≥ −1/3 for G = 1/(s³ + 3s² + 3s), so any gain of sat() between 0 and 1 is stable. Within
// the ellipsoid the jerk is at most 1.6 times `jerk`. (Polyakov, Efimov, Perruquetti: Finite-time
// and fixed-time stabilization: Implicit Lyapunov function approach, Automatica 51, 2015; Adamy,
// Flemming: Soft variable-structure controls: a survey, Automatica 40, 2004.)
//
// Real-time safe: no allocation, no lock, no exception. Units: rad, s (m for prismatic joints).

#include <algorithm>
#include <cmath>

namespace ga_controllers {

class Blending {
 public:
  struct State {
    double q = 0, qd = 0, qdd = 0;
  };
  struct Bounds {
    double jerk = 0;          ///< rad/s³, for an offset at rest
    double velocity = 0;      ///< rad/s, of the return; r_min is sqrt(jerk / (3 velocity))
    double up = 0, down = 0;  ///< rad/s, velocity available now in either direction
  };
  /// The matrix P: upper triangle, row by row.
  static constexpr double kShape[6] = {1, 1.75, 0.77, 5.6, 2.45, 4.1};

  /// Starts with this offset, which decays with poles of up to `fastest` [1/s].
  void begin(const State& offset, double fastest) noexcept {
    offset_ = offset;
    fastest_ = fastest;
    active_ = true;
  }
  void stop() noexcept { *this = {}; }
  /// Adds a change of the input reference that its rates do not explain to the offset. The
  /// acceleration is limited to one that decays within the velocity of the return.
  void shift(const State& by, const Bounds& bounds) noexcept {
    const double most = std::sqrt(2 * bounds.jerk * bounds.velocity);
    offset_.q += by.q;
    offset_.qd += by.qd;
    offset_.qdd = std::clamp(offset_.qdd + by.qdd, -most, most);
  }
  /// Lets the offset decay for dt [s].
  void advance(double dt, const Bounds& bounds) noexcept;

  bool active() const noexcept { return active_; }  ///< the offset is not zero
  const State& offset() const noexcept { return offset_; }
  /// 1/s, for the present offset.
  double pole(const Bounds& bounds) const noexcept;
  /// rad/s², approximate peak acceleration of the return.
  double acceleration(const Bounds& bounds) const noexcept {
    const double r = pole(bounds), w = std::abs(saturated(r, bounds));
    return active_ ? r * std::max(0.23 * r * w, 0.8 * std::abs(offset_.qd)) : 0;
  }

 private:
  double saturated(double pole, const Bounds& bounds) const noexcept {
    return std::clamp(offset_.q, -3 * bounds.up / pole, 3 * bounds.down / pole);
  }

  State offset_;
  double fastest_ = 1;
  bool active_ = false;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__BLENDING_HPP_
