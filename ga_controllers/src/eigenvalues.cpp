// SPDX-License-Identifier: Apache-2.0

// The spectral radius could also be bounded by a Schur–Cohn (Jury) test on the characteristic
// polynomial. The polynomial of a loop with all poles near z = 1 has coefficients like those of
// (z − 1)^n, whose roots are lost to rounding; the eigenvalues of the matrix are not.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "small_matrix.hpp"

namespace ga_controllers {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kLargestIterations = 60;  // per eigenvalue; 2 to 4 are usual

/// Scales rows and columns by powers of 2 to similar norms: a similarity transformation without
/// rounding errors.
void balance(Matrix& a) {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < a.n; ++i) {
      double row = 0, column = 0;
      for (std::size_t j = 0; j < a.n; ++j) {
        if (j == i) continue;
        row += std::abs(a(i, j));
        column += std::abs(a(j, i));
      }
      if (row == 0 || column == 0) continue;
      const double factor = std::exp2(std::round(0.5 * std::log2(row / column)));
      if (!(column * factor + row / factor < 0.95 * (row + column))) continue;
      changed = true;
      for (std::size_t j = 0; j < a.n; ++j) a(i, j) /= factor;
      for (std::size_t j = 0; j < a.n; ++j) a(j, i) *= factor;
    }
  }
}

/// Householder reflection I − beta w wᵀ that maps (x, y, z) to a multiple of the first axis.
struct Reflection {
  std::array<double, 3> w{};
  double beta = 0;

  Reflection(double x, double y, double z) {
    const double scale = std::max({std::abs(x), std::abs(y), std::abs(z)});
    if (scale == 0) return;
    w = {x / scale, y / scale, z / scale};
    const double norm = std::sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    w[0] += std::copysign(norm, w[0]);
    beta = 2 / (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  }
};

/// Orthogonal similarity transformation to upper Hessenberg form.
void reduce_to_hessenberg(Matrix& a) {
  const std::size_t n = a.n;
  std::vector<double> w(n);
  for (std::size_t k = 0; k + 2 < n; ++k) {
    double norm = 0;
    for (std::size_t i = k + 1; i < n; ++i) norm = std::hypot(norm, w[i] = a(i, k));
    if (norm == 0) continue;
    w[k + 1] += std::copysign(norm, w[k + 1]);
    double square = 0;
    for (std::size_t i = k + 1; i < n; ++i) square += w[i] * w[i];
    const double beta = 2 / square;
    std::vector<double> sums(n);
    for (std::size_t i = k + 1; i < n; ++i) {
      for (std::size_t j = k; j < n; ++j) sums[j] += w[i] * a(i, j);
    }
    for (std::size_t i = k + 1; i < n; ++i) {
      for (std::size_t j = k; j < n; ++j) a(i, j) -= beta * w[i] * sums[j];
    }
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::size_t j = k + 1; j < n; ++j) sum += a(i, j) * w[j];
      for (std::size_t j = k + 1; j < n; ++j) a(i, j) -= beta * sum * w[j];
    }
    for (std::size_t i = k + 2; i < n; ++i) a(i, k) = 0;
  }
}

/// One implicit double-shift QR step on rows and columns low … high (at least three) of a
/// Hessenberg matrix. The shifts are the eigenvalues of a 2 × 2 matrix with the diagonal p, q and
/// the product of the other elements `coupling`: their differences to the diagonal of `h` are
/// exact, also in a cluster of equal eigenvalues.
void francis_step(Matrix& h, std::size_t low, std::size_t high, double p, double q,
                  double coupling) {
  double x = (h(low, low) - p) * (h(low, low) - q) - coupling + h(low, low + 1) * h(low + 1, low);
  double y = h(low + 1, low) * ((h(low, low) - p) + (h(low + 1, low + 1) - q));
  double z = h(low + 1, low) * h(low + 2, low + 1);
  for (std::size_t k = low; k < high; ++k) {
    const std::size_t rows = std::min<std::size_t>(3, high - k + 1);
    const Reflection mirror(x, y, rows == 3 ? z : 0);
    for (std::size_t j = k > low ? k - 1 : low; j <= high; ++j) {
      double total = 0;
      for (std::size_t i = 0; i < rows; ++i) total += mirror.w[i] * h(k + i, j);
      for (std::size_t i = 0; i < rows; ++i) h(k + i, j) -= mirror.beta * total * mirror.w[i];
    }
    for (std::size_t i = low; i <= std::min(k + 3, high); ++i) {
      double total = 0;
      for (std::size_t j = 0; j < rows; ++j) total += h(i, k + j) * mirror.w[j];
      for (std::size_t j = 0; j < rows; ++j) h(i, k + j) -= mirror.beta * total * mirror.w[j];
    }
    if (k > low) {
      for (std::size_t i = k + 1; i < k + rows; ++i) h(i, k - 1) = 0;
    }
    x = h(k + 1, k);
    y = k + 2 <= high ? h(k + 2, k) : 0;
    z = k + 3 <= high ? h(k + 3, k) : 0;
  }
}

/// First row of the block that ends at row `high` and has no negligible subdiagonal element.
std::size_t first_row(Matrix& h, std::size_t high, double norm) {
  for (std::size_t i = high; i > 0; --i) {
    const double near = std::abs(h(i, i)) + std::abs(h(i - 1, i - 1));
    if (std::abs(h(i, i - 1)) > kEpsilon * (near > 0 ? near : norm)) continue;
    h(i, i - 1) = 0;
    return i;
  }
  return 0;
}

}  // namespace

std::vector<std::complex<double>> eigenvalues(Matrix a) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::complex<double>> none(a.n, {nan, nan});
  double norm = 0;
  for (const double value : a.values) norm += std::abs(value);
  if (!std::isfinite(norm)) return none;
  balance(a);
  reduce_to_hessenberg(a);
  std::vector<std::complex<double>> result;
  int iterations = 0;
  for (std::size_t rows = a.n; rows > 0;) {
    const std::size_t high = rows - 1, low = first_row(a, high, norm);
    if (low == high) {
      result.emplace_back(a(high, high));
      rows -= 1;
      iterations = 0;
      continue;
    }
    const double p = a(high - 1, high - 1), q = a(high, high);
    const double coupling = a(high, high - 1) * a(high - 1, high);
    if (low + 1 == high) {
      const double half = 0.5 * (p - q), square = half * half + coupling;
      if (square < 0) {
        const double imaginary = std::sqrt(-square);
        result.emplace_back(q + half, imaginary);
        result.emplace_back(q + half, -imaginary);
      } else {
        const double far = half + std::copysign(std::sqrt(square), half);
        result.emplace_back(q + far);
        result.emplace_back(far != 0 ? q - coupling / far : q);
      }
      rows -= 2;
      iterations = 0;
      continue;
    }
    if (++iterations > kLargestIterations) return none;
    if (iterations % 10 == 0) {  // an exceptional shift breaks cycles
      const double size = std::abs(a(high, high - 1)) + std::abs(a(high - 1, high - 2));
      const double shift = q + 0.75 * size;
      francis_step(a, low, high, shift, shift, -0.4375 * size * size);
    } else {
      francis_step(a, low, high, p, q, coupling);
    }
  }
  return result;
}

}  // namespace ga_controllers
