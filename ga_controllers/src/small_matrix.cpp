// SPDX-License-Identifier: Apache-2.0
#include "small_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ga_controllers {

Matrix identity(std::size_t n) {
  Matrix result(n);
  for (std::size_t i = 0; i < n; ++i) result(i, i) = 1;
  return result;
}

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix result(a.n);
  for (std::size_t i = 0; i < a.n; ++i) {
    for (std::size_t k = 0; k < a.n; ++k) {
      for (std::size_t j = 0; j < a.n; ++j) result(i, j) += a(i, k) * b(k, j);
    }
  }
  return result;
}

Matrix operator*(double factor, const Matrix& a) {
  Matrix result = a;
  for (double& value : result.values) value *= factor;
  return result;
}

Matrix operator+(const Matrix& a, const Matrix& b) {
  Matrix result = a;
  for (std::size_t i = 0; i < result.values.size(); ++i) result.values[i] += b.values[i];
  return result;
}

Matrix operator-(const Matrix& a, const Matrix& b) { return a + -1 * b; }

Matrix transposed(const Matrix& a) {
  Matrix result(a.n);
  for (std::size_t i = 0; i < a.n; ++i) {
    for (std::size_t j = 0; j < a.n; ++j) result(j, i) = a(i, j);
  }
  return result;
}

std::size_t cholesky(const Matrix& a, Matrix& lower) {
  lower = Matrix(a.n);
  for (std::size_t i = 0; i < a.n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = a(i, j);
      for (std::size_t k = 0; k < j; ++k) rest -= lower(i, k) * lower(j, k);
      if (j < i) {
        lower(i, j) = rest / lower(j, j);
        continue;
      }
      // A pivot that is rounding error of its diagonal element counts as zero.
      if (!(rest > 1e-14 * a(i, i)) || !std::isfinite(rest)) return i;
      lower(i, i) = std::sqrt(rest);
    }
  }
  return a.n;
}

Matrix solve_lower(const Matrix& lower, const Matrix& b) {
  Matrix x = b;
  for (std::size_t column = 0; column < b.n; ++column) {
    for (std::size_t i = 0; i < b.n; ++i) {
      for (std::size_t k = 0; k < i; ++k) x(i, column) -= lower(i, k) * x(k, column);
      x(i, column) /= lower(i, i);
    }
  }
  return x;
}

Matrix solve_lower_transposed(const Matrix& lower, const Matrix& b) {
  Matrix x = b;
  for (std::size_t column = 0; column < b.n; ++column) {
    for (std::size_t i = b.n; i-- > 0;) {
      for (std::size_t k = i + 1; k < b.n; ++k) x(i, column) -= lower(k, i) * x(k, column);
      x(i, column) /= lower(i, i);
    }
  }
  return x;
}

SymmetricEigen symmetric_eigen(Matrix a) {
  const std::size_t n = a.n;
  SymmetricEigen result{std::vector<double>(n), identity(n)};
  double norm = 0;
  for (const double value : a.values) norm = std::max(norm, std::abs(value));
  for (int sweep = 0; sweep < 30; ++sweep) {
    bool rotated = false;
    for (std::size_t p = 0; p + 1 < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        const double scale = std::max(std::sqrt(std::abs(a(p, p) * a(q, q))), 1e-10 * norm);
        if (std::abs(a(p, q)) <= std::numeric_limits<double>::epsilon() * scale) continue;
        rotated = true;
        const double theta = (a(q, q) - a(p, p)) / (2 * a(p, q));
        const double t = std::copysign(1 / (std::abs(theta) + std::hypot(theta, 1)), theta);
        const double c = 1 / std::hypot(t, 1), s = t * c;
        for (std::size_t k = 0; k < n; ++k) {
          const double kp = a(k, p), kq = a(k, q);
          a(k, p) = c * kp - s * kq;
          a(k, q) = s * kp + c * kq;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double pk = a(p, k), qk = a(q, k), vp = result.vectors(k, p),
                       vq = result.vectors(k, q);
          a(p, k) = c * pk - s * qk;
          a(q, k) = s * pk + c * qk;
          result.vectors(k, p) = c * vp - s * vq;
          result.vectors(k, q) = s * vp + c * vq;
        }
        a(p, q) = a(q, p) = 0;
      }
    }
    if (!rotated) break;
  }
  for (std::size_t i = 0; i < n; ++i) result.values[i] = a(i, i);
  return result;
}

bool dominates(double factor, std::span<const double> a, std::span<const double> b, std::size_t n,
               std::span<double> work) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = factor * a[i * n + j] - b[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= work[i * n + k] * work[j * n + k];
      if (i == j && !(sum > 0)) return false;
      work[i * n + j] = i == j ? std::sqrt(sum) : sum / work[j * n + j];
    }
  }
  return true;
}

}  // namespace ga_controllers
