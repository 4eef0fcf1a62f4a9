// SPDX-License-Identifier: Apache-2.0
#include "inertia_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "urdf_xml.hpp"

namespace ga_dynamics {
namespace {

/// Of the largest eigenvalue. Round-off of a text with ten digits stays below it.
constexpr double kDefiniteTolerance = 1e-9;
/// Of the largest moment. CAD exports print six or seven digits, and thin rods and plates sit on
/// the bound itself.
constexpr double kTriangleTolerance = 1e-6;

// Of principal moments, ascending.
bool is_definite(const Vector3& m) noexcept {
  return m[0] >= -kDefiniteTolerance * std::max(std::abs(m[0]), std::abs(m[2]));
}
bool meets_triangle(const Vector3& m) noexcept {
  return m[2] - (m[0] + m[1]) <= kTriangleTolerance * m[2];
}

}  // namespace

/// Jacobi's rotations (Golub and Van Loan, Matrix Computations, section 8.5): the closed formula
/// loses half of the digits where two eigenvalues meet, which is where slender links are.
Vector3 principal_moments(const Matrix3& inertia) {
  double scale = 0;
  for (const double entry : inertia) scale = std::max(scale, std::abs(entry));
  if (scale == 0) return {0, 0, 0};
  std::array<std::array<double, 3>, 3> a;
  for (std::size_t i = 0; i < 9; ++i)
    a[i / 3][i % 3] = inertia[i] / scale;  // so that nothing overflows
  constexpr std::array<std::pair<std::size_t, std::size_t>, 3> kPairs{{{0, 1}, {0, 2}, {1, 2}}};
  constexpr int kSweeps = 16;  // converges quadratically: five or six are enough
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (const auto& [p, q] : kPairs) {
      if (a[p][q] == 0) continue;
      // The smaller of the two rotations that make a[p][q] zero.
      const double tau = (a[q][q] - a[p][p]) / (2 * a[p][q]);
      const double t = std::copysign(1.0, tau) / (std::abs(tau) + std::hypot(1.0, tau));
      const double c = 1 / std::hypot(1.0, t);
      const double s = t * c;
      const std::size_t r = 3 - p - q;
      const double arp = a[r][p], arq = a[r][q];
      a[p][p] -= t * a[p][q];
      a[q][q] += t * a[p][q];
      a[p][q] = a[q][p] = 0;
      a[r][p] = a[p][r] = c * arp - s * arq;
      a[r][q] = a[q][r] = s * arp + c * arq;
    }
  }
  Vector3 moments{a[0][0] * scale, a[1][1] * scale, a[2][2] * scale};
  std::sort(moments.begin(), moments.end());
  return moments;
}

bool is_inertia(const Matrix3& inertia) noexcept {
  const Vector3 moments = principal_moments(inertia);
  return is_definite(moments) && meets_triangle(moments);
}

std::string inertia_flaw(const Matrix3& inertia) {
  const Vector3 moments = principal_moments(inertia);
  if (is_definite(moments)) return {};
  const double smallest = moments[0];
  const bool negative_moment = std::min({inertia[0], inertia[4], inertia[8]}) < 0;
  return "inertia is not positive definite (smallest eigenvalue " + urdf::to_text(smallest) +
         "); " +
         (negative_moment ? "ixx, iyy and izz must not be negative"
                          : "check the signs of the products of inertia");
}

std::string triangle_flaw(const Matrix3& inertia) {
  const auto [smallest, middle, largest] = principal_moments(inertia);
  if (meets_triangle({smallest, middle, largest})) return {};
  return "inertia breaks the triangle inequality (principal moments " + urdf::to_text(smallest) +
         ", " + urdf::to_text(middle) + ", " + urdf::to_text(largest) +
         "): no body has a moment larger than the sum of the other two; check that it is taken "
         "about the center of "
         "mass, and its units";
}

}  // namespace ga_dynamics
