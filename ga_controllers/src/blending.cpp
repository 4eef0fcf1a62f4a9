// SPDX-License-Identifier: Apache-2.0
#include "blending.hpp"

namespace ga_controllers {

double Blending::pole(const Bounds& bounds) const noexcept {
  const auto& [w, rate, bend] = offset_;
  const double* p = kShape;
  // y'Py / r² as a polynomial in r.
  const double c0 = p[5] * bend * bend, c1 = 2 * p[4] * rate * bend,
               c2 = p[3] * rate * rate + 2 * p[2] * w * bend, c3 = 2 * p[1] * w * rate,
               c4 = p[0] * w * w;
  const double most = bounds.jerk * bounds.jerk;
  const auto fits = [&](double r) {
    return r * r * (c0 + r * (c1 + r * (c2 + r * (c3 + r * c4)))) <= most;
  };
  if (fits(fastest_)) return fastest_;
  double low = std::min(std::sqrt(bounds.jerk / (3 * bounds.velocity)), fastest_), high = fastest_;
  if (!fits(low)) return low;
  for (int k = 0; k < 12; ++k) {
    const double middle = (low + high) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

void Blending::advance(double dt, const Bounds& bounds) noexcept {
  const double r = pole(bounds), w = saturated(r, bounds), beyond = offset_.q - w;
  // The saturated part is constant within the cycle; the rest is linear and solved exactly:
  // (w + slope t + bend t²) exp(−r t).
  const double slope = offset_.qd + r * w;
  const double bend = (offset_.qdd + 2 * r * offset_.qd + r * r * w) / 2;
  const double shrink = std::exp(-r * dt);
  const double left = (w + (slope + bend * dt) * dt) * shrink;
  const double left_rate = (slope + 2 * bend * dt) * shrink - r * left;
  offset_ = {left + beyond, left_rate,
             (2 * bend - r * (slope + 2 * bend * dt)) * shrink - r * left_rate};
}

}  // namespace ga_controllers
