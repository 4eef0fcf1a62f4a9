// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <stdexcept>

#include "ga_dynamics/dynamics.hpp"
#include "ga_motion/time_parameterization.hpp"
#include "join.hpp"

namespace ga_motion {

using ga_dynamics::Chain;
using ga_dynamics::Dynamics;

namespace {

/// sum over k of |M_jk| A_k <= what gravity, velocity and friction leave of the torque limit.
struct Rows {
  std::size_t joints;
  std::vector<double> factors;  // row by row
  std::vector<double> bounds;
};

void check(const Chain& chain, const TimingLimits& limits) {
  for (std::size_t i = 0; i < chain.joints().size(); ++i) {
    if (std::isfinite(limits.torque[i]) && std::isfinite(limits.velocity[i])) continue;
    throw std::invalid_argument(join("safe_accelerations: ", chain.joints()[i].name,
                                     " has no torque or no velocity limit; give both"));
  }
}

/// Velocities at the corners of their limits: all of few joints, else random ones.
class Corners {
 public:
  Corners(const TimingLimits& limits, std::mt19937_64& random)
      : limits_(limits), random_(random), n_(limits.velocity.size()) {}

  static constexpr std::size_t kMostJoints = 8;
  std::size_t count() const { return std::size_t{1} << std::min(n_, kMostJoints); }
  void corner(std::size_t index, std::vector<double>& qd) {
    const auto bits = n_ <= kMostJoints ? static_cast<std::uint64_t>(index) : random_();
    for (std::size_t i = 0; i < n_; ++i) {
      qd[i] = (bits >> (i % 64) & 1U) != 0 ? limits_.velocity[i] : -limits_.velocity[i];
    }
  }

 private:
  const TimingLimits& limits_;
  std::mt19937_64& random_;
  std::size_t n_;
};

Rows rows_at(const Chain& chain, const TimingLimits& limits, int postures, unsigned seed) {
  const auto n = static_cast<std::size_t>(chain.size());
  Dynamics dynamics(chain, {.drives = ga_dynamics::Drives::kAll});
  std::mt19937_64 random(seed);
  Corners corners(limits, random);
  std::vector<double> q(n), qd(n), bias(n), inertia(n * n), largest(n);
  Rows rows{n, {}, {}};
  for (int posture = 0; posture < postures; ++posture) {
    for (std::size_t i = 0; i < n; ++i) {
      const double low = std::isfinite(limits.lower[i]) ? limits.lower[i] : -std::numbers::pi;
      const double high = std::isfinite(limits.upper[i]) ? limits.upper[i] : std::numbers::pi;
      // The same numbers with every standard library.
      const double share = static_cast<double>(random() >> 11U) * 0x1p-53;
      q[i] = low + share * (high - low);
    }
    std::fill(largest.begin(), largest.end(), 0.0);
    for (std::size_t corner = 0; corner < corners.count(); ++corner) {
      corners.corner(corner, qd);
      dynamics.bias(q, qd, bias);
      for (std::size_t i = 0; i < n; ++i) largest[i] = std::max(largest[i], std::abs(bias[i]));
    }
    dynamics.inertia_matrix(q, inertia);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) rows.factors.push_back(std::abs(inertia[i * n + k]));
      rows.bounds.push_back(limits.torque[i] - largest[i]);
    }
  }
  return rows;
}

/// The accelerations of the largest product, by Newton's method on the barrier of the rows.
class Product {
 public:
  explicit Product(const Rows& rows) : rows_(rows), n_(rows.joints) {}

  std::vector<double> maximize() {
    double share = std::numeric_limits<double>::infinity();
    for (std::size_t row = 0; row < rows_.bounds.size(); ++row) {
      double sum = 0;
      for (std::size_t k = 0; k < n_; ++k) sum += rows_.factors[row * n_ + k];
      share = std::min(share, rows_.bounds[row] / sum);
    }
    std::vector<double> a(n_, 0.5 * share);
    const auto slacks = static_cast<double>(rows_.bounds.size());
    for (double weight = 1; weight < 1e4 * slacks; weight *= 10) center(a, weight);
    return a;
  }

 private:
  /// Change of the barrier's value by a step. The difference of two values would be lost in their
  /// rounding: the value grows with the weight.
  double change(const std::vector<double>& a, const std::vector<double>& direction, double length,
                double weight) const {
    double sum = 0;
    for (std::size_t k = 0; k < n_; ++k) {
      const double relative = length * direction[k] / a[k];
      if (!(relative > -1)) return std::numeric_limits<double>::infinity();
      sum -= weight * std::log1p(relative);
    }
    for (std::size_t row = 0; row < rows_.bounds.size(); ++row) {
      double used = 0;
      for (std::size_t k = 0; k < n_; ++k) used += rows_.factors[row * n_ + k] * direction[k];
      const double relative = -length * used / slack(a, row);
      if (!(relative > -1)) return std::numeric_limits<double>::infinity();
      sum -= std::log1p(relative);
    }
    return sum;
  }
  double slack(const std::vector<double>& a, std::size_t row) const {
    double left = rows_.bounds[row];
    for (std::size_t k = 0; k < n_; ++k) left -= rows_.factors[row * n_ + k] * a[k];
    return left;
  }

  void center(std::vector<double>& a, double weight) const {
    for (int step = 0; step < 50; ++step) {
      std::vector<double> gradient(n_), hessian(n_ * n_, 0.0), direction(n_);
      for (std::size_t k = 0; k < n_; ++k) {
        gradient[k] = -weight / a[k];
        hessian[k * n_ + k] = weight / (a[k] * a[k]);
      }
      for (std::size_t row = 0; row < rows_.bounds.size(); ++row) {
        const double* const factor = &rows_.factors[row * n_];
        const double inverse = 1 / slack(a, row);
        for (std::size_t i = 0; i < n_; ++i) {
          gradient[i] += factor[i] * inverse;
          for (std::size_t k = 0; k <= i; ++k) {
            hessian[i * n_ + k] += factor[i] * factor[k] * inverse * inverse;
          }
        }
      }
      solve(hessian, gradient, direction);
      double decrease = 0;
      for (std::size_t k = 0; k < n_; ++k) decrease -= gradient[k] * direction[k];
      if (!(decrease > 1e-9)) return;
      double length = 1;
      while (!(change(a, direction, length, weight) <= -0.1 * length * decrease)) {
        length *= 0.5;
        if (length < 1e-12) return;
      }
      for (std::size_t k = 0; k < n_; ++k) a[k] += length * direction[k];
    }
  }

  /// direction = −H⁻¹ gradient, by Cholesky's factors of the lower half of H.
  void solve(std::vector<double>& h, const std::vector<double>& gradient,
             std::vector<double>& direction) const {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t k = 0; k <= i; ++k) {
        double sum = h[i * n_ + k];
        for (std::size_t m = 0; m < k; ++m) sum -= h[i * n_ + m] * h[k * n_ + m];
        h[i * n_ + k] = i == k ? std::sqrt(sum) : sum / h[k * n_ + k];
      }
    }
    for (std::size_t i = 0; i < n_; ++i) {
      double sum = -gradient[i];
      for (std::size_t m = 0; m < i; ++m) sum -= h[i * n_ + m] * direction[m];
      direction[i] = sum / h[i * n_ + i];
    }
    for (std::size_t i = n_; i-- > 0;) {
      for (std::size_t m = i + 1; m < n_; ++m) direction[i] -= h[m * n_ + i] * direction[m];
      direction[i] /= h[i * n_ + i];
    }
  }

  const Rows& rows_;
  std::size_t n_;
};

}  // namespace

std::vector<double> safe_accelerations(const Chain& chain, const TimingLimits& limits, int postures,
                                       unsigned seed) {
  check(chain, limits);
  const Rows rows = rows_at(chain, limits, postures, seed);
  if (*std::min_element(rows.bounds.begin(), rows.bounds.end()) <= 0) return {};
  return Product(rows).maximize();
}

}  // namespace ga_motion
