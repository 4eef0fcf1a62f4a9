// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <string>

#include "ga_controllers/stability.hpp"
#include "loop_matrix.hpp"

namespace ga_controllers {

namespace {

using Complex = std::complex<double>;

constexpr double kPointsPerDecade = 80;

/// Open loop L at rho = 1, cut at the plant's input, for z = exp(jθ): the loop with rho has the
/// characteristic equation 1 + rho L(z) = 0. Computed in z − 1, without cancellation near z = 1.
class OpenLoop {
 public:
  explicit OpenLoop(const LoopSettings& loop) : g_(loop), delay_(loop.delay) {
    // Observer x⁺ = (A − B F)(x + L (y − x1)), A = [1 1 ½; 0 1 1; 0 0 1], B = [½ 1 0].
    direct_ = g_.f1 * g_.l1 + g_.f2 * g_.l2 + g_.f3 * g_.l3;
    input_[0] = g_.l1 + g_.l2 + 0.5 * g_.l3 - 0.5 * direct_;
    input_[1] = g_.l2 + g_.l3 - direct_;
    input_[2] = g_.l3;
  }

  Complex operator()(double theta) const {
    const Complex less_one = 2.0 * std::sin(0.5 * theta) * std::polar(1.0, 0.5 * (theta + kPi));
    const double f1 = g_.f1, f2 = g_.f2, f3 = g_.f3;
    // (z − 1) I − (observer matrix − I), solved for x by elimination from below.
    const Complex a00 = less_one + 0.5 * f1 + input_[0], a01 = -1 + 0.5 * f2, a02 = 0.5 * (f3 - 1);
    const Complex a10 = f1 + input_[1], a11 = less_one + f2, a12 = f3 - 1, a20 = input_[2],
                  a22 = less_one;
    // Third row: x3 = (input3 − a20 x1)/a22.
    const Complex b00 = a00 * a22 - a02 * a20, b01 = a01 * a22,
                  r0 = input_[0] * a22 - a02 * input_[2];
    const Complex b10 = a10 * a22 - a12 * a20, b11 = a11 * a22,
                  r1 = input_[1] * a22 - a12 * input_[2];
    const Complex determinant = b00 * b11 - b01 * b10;
    const Complex x1 = (r0 * b11 - b01 * r1) / determinant;
    const Complex x2 = (b00 * r1 - r0 * b10) / determinant;
    const Complex x3 = (input_[2] - a20 * x1) / a22;
    const Complex law = (f1 - direct_) * x1 + f2 * x2 + f3 * x3 + direct_;
    return law * 0.5 * (2.0 + less_one) / (less_one * less_one) * std::polar(1.0, -delay_ * theta);
  }

 private:
  static constexpr double kPi = std::numbers::pi;
  CycleGains g_;
  int delay_;
  double direct_;
  double input_[3];
};

/// Calls visit(θ, next θ) along a logarithmic grid up to π; until it returns false.
template <class Visit>
void along_frequencies(const LoopSettings& loop, const Visit& visit) {
  const double slowest = std::min(loop.observer_bandwidth, design_bandwidth(loop.gains));
  const double lowest = std::clamp(1e-4 * slowest * loop.period, 1e-8, 0.01);
  const double factor = std::pow(10.0, 1 / kPointsPerDecade);
  for (double theta = lowest; theta < std::numbers::pi; theta *= factor) {
    if (!visit(theta, std::min(theta * factor, std::numbers::pi))) return;
  }
}

/// Where a function changes its sign between two frequencies.
template <class Function>
double root(const Function& function, double low, double high) {
  const bool positive = function(low) > 0;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    ((function(middle) > 0) == positive ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

[[noreturn]] void refuse(const std::string& name, double value, const std::string& remedy) {
  throw std::invalid_argument("loop stability: " + name + " is " + std::to_string(value) + "; " +
                              remedy);
}

void check(const MeasurementNoise& noise) {
  for (const auto& [value, name] :
       {std::pair(noise.resolution, "resolution"), std::pair(noise.noise, "noise")}) {
    if (!(value >= 0) || !std::isfinite(value))
      refuse(name, value, "it must be finite and not negative");
  }
  for (const auto& [value, name] :
       {std::pair(noise.inertia, "inertia"), std::pair(noise.torque_limit, "torque_limit")}) {
    if (!(value > 0) || !std::isfinite(value))
      refuse(name, value, "it must be positive and finite");
  }
}

}  // namespace

double design_bandwidth(const JointGains& gains) noexcept {
  return gains.kp > 0 ? std::sqrt(gains.kp) : 0.5 * gains.kd;
}

double spectral_radius(const LoopSettings& loop, double rho) {
  check_loop(loop);
  if (!(rho > 0) || !std::isfinite(rho)) refuse("rho", rho, "it must be positive and finite");
  return spectral_radius({&loop, 1}, scalar_plant(rho));
}

// The poles move continuously with rho, so stability ends where a pole is on the unit circle:
// 1 + rho L(exp(jθ)) = 0, that is where L is real and negative. The ends are the crossings of the
// negative real axis nearest to rho = 1, the gain margins, also for conditionally stable loops.
StableRange stable_range(const LoopSettings& loop) {
  if (!(spectral_radius(loop, 1) < kStableRadius)) return {};
  const OpenLoop open(loop);
  StableRange range{0, std::numeric_limits<double>::infinity()};
  const auto imaginary = [&](double theta) { return open(theta).imag(); };
  std::optional<double> before;
  along_frequencies(loop, [&](double theta, double next) {
    const double from = before ? *before : imaginary(theta), to = imaginary(next);
    before = to;
    if ((from > 0) == (to > 0)) return true;
    const double rho = -1 / open(root(imaginary, theta, next)).real();  // negative: no end
    if (rho < 1) range.lower = std::max(range.lower, rho);
    if (rho > 1) range.upper = std::min(range.upper, rho);
    return true;
  });
  return range;
}

double closed_loop_bandwidth(const LoopSettings& loop) {
  if (!(spectral_radius(loop, 1) < kStableRadius)) return 0;
  const OpenLoop open(loop);
  const auto excess = [&](double theta) {
    const Complex l = open(theta);
    return std::abs(l / (1.0 + l)) - std::numbers::sqrt2 / 2;
  };
  double bandwidth = std::numbers::pi;
  along_frequencies(loop, [&](double theta, double next) {
    if (excess(next) > 0) return true;
    bandwidth = excess(theta) > 0 ? root(excess, theta, next) : theta;
    return false;
  });
  return bandwidth / loop.period;
}

double chatter(const LoopSettings& loop, const MeasurementNoise& noise) {
  check_loop(loop);
  check(noise);
  const CycleGains g(loop);
  const double deviation = std::hypot(noise.resolution / std::sqrt(12.0), noise.noise);
  const double acceleration =
      (g.f1 * g.l1 + g.f2 * g.l2 + g.f3 * g.l3) / (loop.period * loop.period);
  return deviation * acceleration * noise.inertia / noise.torque_limit;
}

double recommended_observer_bandwidth(const LoopSettings& loop, const MeasurementNoise& noise,
                                      double resonance, double allowed) {
  if (!(resonance >= 0) || !std::isfinite(resonance))
    refuse("resonance", resonance, "it must be finite and not negative");
  if (!(allowed > 0) || !std::isfinite(allowed))
    refuse("allowed", allowed, "it must be positive and finite");
  const double w = design_bandwidth(loop.gains);
  LoopSettings tried = loop;
  tried.observer_bandwidth = 1;
  check_loop(tried);
  double limit = 4 * w;
  if (resonance > 0)
    limit = std::min(limit, kElasticRecommended * 2 * std::numbers::pi * resonance - w);
  if (!(limit > 0)) return 0;
  const auto excess = [&](double bandwidth) {
    tried.observer_bandwidth = bandwidth;
    return chatter(tried, noise) - allowed;
  };
  return excess(limit) <= 0 ? limit : root(excess, 1e-9 * limit, limit);
}

}  // namespace ga_controllers
