// SPDX-License-Identifier: Apache-2.0
#ifndef PATH_HPP_
#define PATH_HPP_

// References along paths, most of which need more torque or velocity than the PUMA has, for the tests
// of time scaling.

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "wave.hpp"

namespace ga_controllers {

inline const Values kStart{0, -1, 1, 0, 0.4, 0};
inline const Values kNear{0.9, -0.6, 1, 0, 0.4, 0};
inline const Values kFar{0.9, -0.6, 1.3, 0.3, 0.4, 0};

/// A reference: positions and rates at a time, all joints at rest before 0 and after `duration`.
struct Path {
  double duration = 1;
  std::function<Values(double s)> q, qd, qdd;

  /// Sum of the squared distances [rad²] of the joints from the path at time t.
  double squares(double t, std::span<const double> from) const {
    const Values there = q(t);
    double sum = 0;
    for (std::size_t i = 0; i < there.size(); ++i) sum += std::pow(there[i] - from[i], 2);
    return sum;
  }
};

/// Interpolates between two points by a polynomial with these values of position and derivatives.
inline Path between(const Values& from, const Values& to, double duration,
                    const std::function<double(double)>& p, const std::function<double(double)>& p1,
                    const std::function<double(double)>& p2) {
  const auto blend = [=](const std::function<double(double)>& shape, double scale, bool position) {
    return [=](double t) {
      Values out(from.size());
      const double x = std::clamp(t / duration, 0.0, 1.0);
      const bool rests = t < 0 || t > duration;
      for (std::size_t i = 0; i < out.size(); ++i) {
        const double value = !position && rests ? 0 : shape(x);
        out[i] = (position ? from[i] : 0) + (to[i] - from[i]) * value * scale;
      }
      return out;
    };
  };
  return {duration, blend(p, 1, true), blend(p1, 1 / duration, false),
          blend(p2, 1 / (duration * duration), false)};
}

inline Path quintic(const Values& from, const Values& to, double duration) {
  return between(
      from, to, duration, [](double x) { return x * x * x * (10 + x * (-15 + 6 * x)); },
      [](double x) { return 30 * x * x * (1 + x * (-2 + x)); },
      [](double x) { return 60 * x * (1 + x * (-3 + 2 * x)); });
}

/// Its acceleration steps at both ends, as that of a spline through two points.
inline Path cubic(const Values& from, const Values& to, double duration) {
  return between(
      from, to, duration, [](double x) { return x * x * (3 - 2 * x); },
      [](double x) { return 6 * x * (1 - x); }, [](double x) { return 6 - 12 * x; });
}

/// Constant acceleration, constant velocity, constant deceleration: a quarter, a half, a quarter.
inline Path ramp(const Values& from, const Values& to, double duration) {
  const double v = 4.0 / 3, a = 16.0 / 3;
  return between(
      from, to, duration,
      [=](double x) {
        if (x < 0.25) return a * x * x / 2;
        if (x < 0.75) return v * (x - 0.125);
        return 1 - a * (1 - x) * (1 - x) / 2;
      },
      [=](double x) { return x < 0.25   ? a * x
                             : x < 0.75 ? v
                                        : a * (1 - x); },
      [=](double x) { return x < 0.25   ? a
                             : x < 0.75 ? 0
                                        : -a; });
}

/// All joints on curves of different frequencies, from rest to rest.
inline Path curve(const Values& middle, double amplitude, double duration) {
  const auto at = [=](double t, int derivative) {
    // Quintic progress u of the curve parameter.
    const double x = std::clamp(t / duration, 0.0, 1.0);
    const double length = 6;
    const double u = length * x * x * x * (10 + x * (-15 + 6 * x));
    const double u1 = length * 30 * x * x * (1 + x * (-2 + x)) / duration;
    const double u2 = length * 60 * x * (1 + x * (-3 + 2 * x)) / (duration * duration);
    Values out(middle.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double w = 1 + 0.3 * static_cast<double>(i), phase = static_cast<double>(i);
      const double s = std::sin(w * u + phase), c = std::cos(w * u + phase);
      if (derivative == 0) out[i] = middle[i] + amplitude * s;
      if (derivative == 1) out[i] = amplitude * w * c * u1;
      if (derivative == 2) out[i] = amplitude * (w * c * u2 - w * w * s * u1 * u1);
    }
    return out;
  };
  return {duration, [at](double t) { return at(t, 0); }, [at](double t) { return at(t, 1); },
          [at](double t) { return at(t, 2); }};
}

/// The torque limits times a share.
inline Values limits(const ga_dynamics::Chain& chain, double share) {
  Values out;
  for (const auto& joint : chain.joints()) out.push_back(share * joint.limits.effort);
  return out;
}

/// A reference that needs more than there is.
struct Case {
  const char* name;
  Path path;
  double share;    ///< of the torque limits
  double stretch;  ///< largest
};

/// References that need 117 to 469 % of the torque, or up to 170 % of the velocity.
inline std::vector<Case> cases() {
  return {{"quintic 0.8 s, 50 %", quintic(kStart, kFar, 0.8), 0.5, 1.1},
          {"quintic 0.8 s, 40 %", quintic(kStart, kFar, 0.8), 0.4, 1.35},
          {"quintic 0.4 s, 50 %", quintic(kStart, kFar, 0.4), 0.5, 1.8},
          {"quintic 0.4 s, 30 %", quintic(kStart, kFar, 0.4), 0.3, 6},
          {"quintic back 0.4 s, 50 %", quintic(kFar, kStart, 0.4), 0.5, 1.95},
          {"cubic 0.4 s", cubic(kStart, kNear, 0.4), 1, 1.4},
          {"cubic 0.4 s, 50 %", cubic(kStart, kNear, 0.4), 0.5, 1.8},
          {"ramp 0.4 s, 50 %", ramp(kStart, kNear, 0.4), 0.5, 1.8},
          {"curve 3 s, 40 %", curve(kStart, 0.4, 3), 0.4, 1.15},
          {"curve 2 s", curve(kStart, 0.4, 2), 1, 1.2}};
}

}  // namespace ga_controllers

#endif  // PATH_HPP_
