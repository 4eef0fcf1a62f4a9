// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__DORMAND_PRINCE_HPP_
#define GA_DYNAMICS__ALGORITHM__DORMAND_PRINCE_HPP_

// The embedded Runge–Kutta pair of order 5(4) of Dormand and Prince ("A family of embedded
// Runge-Kutta formulae", J. Comp. Appl. Math. 6, 1980) with step-size control. The last stage of a
// step is the first of the next one.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace ga_dynamics {

/// Construction allocates; integrate() does not. One object per thread.
class DormandPrince {
 public:
  /// `size` state variables; `tolerance`: of the error per step, absolute, and relative to the state
  /// and to its change over the step.
  DormandPrince(std::size_t size, double tolerance) : tolerance_(tolerance), next_(size) {
    for (std::vector<double>& stage : stages_) stage.resize(size);
  }

  /// Integrates x' = f(x, t) over `time`, beginning with one step of all of it. `derivative` is
  /// called with (const std::vector<double>& x, std::vector<double>& dx, double t). False if no step
  /// is short enough; x is then where the last step led.
  template <class Derivative>
  bool integrate(Derivative&& derivative, std::vector<double>& x, double t, double time) {
    const double end = t + time;
    derivative(std::as_const(x), stages_[0], t);
    double step = time;
    while (end - t > kSmallest * std::abs(end)) {
      step = std::min(step, end - t);
      int trials = 0;
      for (double error = try_step(derivative, x, t, step); !(error <= 1);
           error = try_step(derivative, x, t, step)) {
        if (++trials > kMostTrials || !std::isfinite(error)) return false;
        step *= std::max(kSafety * std::pow(error, -1.0 / 3), kShrink);
      }
      t += step;
      std::swap(x, next_);
      std::swap(stages_[0], stages_[6]);
      if (error_ < 0.5) step *= kSafety * std::pow(std::max(error_, kLeast), -1.0 / 5);
    }
    return true;
  }

 private:
  static constexpr double kSafety = 0.9, kShrink = 0.2;
  static constexpr double kLeast = 1.0 / 3125;  ///< error: a step grows by 5 · kSafety at most
  static constexpr double kSmallest = 1e-15;    ///< relative to the end time
  static constexpr int kMostTrials = 500;

  /// From x to next_; the error over its tolerance.
  template <class Derivative>
  double try_step(Derivative& derivative, const std::vector<double>& x, double t, double step) {
    constexpr std::array<double, 7> kTime{0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1};
    constexpr double kWeights[7][6] = {
        {},
        {1. / 5},
        {3. / 40, 9. / 40},
        {44. / 45, -56. / 15, 32. / 9},
        {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
        {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
        {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84}};
    // Order 5 minus order 4.
    constexpr std::array<double, 7> kError{71. / 57600,      0,         -71. / 16695, 71. / 1920,
                                           -17253. / 339200, 22. / 525, -1. / 40};
    for (std::size_t stage = 1; stage < 7; ++stage) {
      for (std::size_t i = 0; i < x.size(); ++i) {
        double sum = 0;
        for (std::size_t k = 0; k < stage; ++k) sum += kWeights[stage][k] * stages_[k][i];
        next_[i] = x[i] + step * sum;
      }
      derivative(std::as_const(next_), stages_[stage], t + kTime[stage] * step);
    }
    error_ = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      double error = 0;
      for (std::size_t k = 0; k < 7; ++k) error += kError[k] * stages_[k][i];
      const double scale = 1 + std::abs(x[i]) + step * std::abs(stages_[0][i]);
      const double relative = std::abs(step * error) / (tolerance_ * scale);
      // Written so that an error that is not a number is the largest.
      if (!(relative <= error_)) error_ = relative;
    }
    return error_;
  }

  double tolerance_;
  double error_ = 0;  ///< of the last step, over its tolerance
  std::array<std::vector<double>, 7> stages_;
  std::vector<double> next_;
};

}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__ALGORITHM__DORMAND_PRINCE_HPP_
