// SPDX-License-Identifier: Apache-2.0

// The linear algebra of the stability check, compared with Eigen.

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "small_matrix.hpp"

namespace ga_controllers {
namespace {

using Complex = std::complex<double>;

std::mt19937& random_engine() {
  static std::mt19937 engine(1);
  return engine;
}
double uniform(double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random_engine());
}

Eigen::MatrixXd to_eigen(const Matrix& a) {
  return Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(
      a.values.data(), static_cast<long>(a.n), static_cast<long>(a.n));
}
Matrix from_eigen(const Eigen::MatrixXd& a) {
  Matrix result(static_cast<std::size_t>(a.rows()));
  for (long i = 0; i < a.rows(); ++i) {
    for (long j = 0; j < a.cols(); ++j)
      result(static_cast<std::size_t>(i), static_cast<std::size_t>(j)) = a(i, j);
  }
  return result;
}
Matrix random_matrix(std::size_t n) {
  Matrix result(n);
  for (double& value : result.values) value = uniform(-1, 1);
  return result;
}

/// Largest distance in the best greedy pairing of two sets of eigenvalues.
double distance(std::vector<Complex> ours, std::vector<Complex> theirs) {
  if (ours.size() != theirs.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (const Complex& value : ours) {
    const auto nearest =
        std::min_element(theirs.begin(), theirs.end(), [&](const Complex& a, const Complex& b) {
          return std::abs(a - value) < std::abs(b - value);
        });
    // Written so that NaN counts as the largest.
    if (!(std::abs(*nearest - value) <= largest)) largest = std::abs(*nearest - value);
    theirs.erase(nearest);
  }
  return largest;
}

std::vector<Complex> of_eigen(const Matrix& a) {
  const Eigen::VectorXcd values = to_eigen(a).eigenvalues();
  return {values.begin(), values.end()};
}

TEST(Eigenvalues, AgreeWithEigenOnRandomMatrices) {
  for (int k = 0; k < 600; ++k) {
    const Matrix a = random_matrix(1 + static_cast<std::size_t>(k) % 48);
    EXPECT_LT(distance(eigenvalues(a), of_eigen(a)), 1e-9) << "size " << a.n;
  }
}

TEST(Eigenvalues, AgreeWithEigenOnSparseMatrices) {
  // Zeros at random: reducible matrices, zero rows, early deflation.
  for (int k = 0; k < 600; ++k) {
    Matrix a = random_matrix(2 + static_cast<std::size_t>(k) % 12);
    for (double& value : a.values) value = uniform(0, 1) < 0.7 ? 0 : std::round(4 * value);
    // Eigenvalues of Jordan blocks are accurate to the n-th root of the rounding error only.
    EXPECT_LT(distance(eigenvalues(a), of_eigen(a)), 0.05) << "size " << a.n;
    Complex sum = 0;
    double trace = 0;
    for (const Complex& value : eigenvalues(a)) sum += value;
    for (std::size_t i = 0; i < a.n; ++i) trace += a(i, i);
    EXPECT_NEAR(sum.real(), trace, 1e-10);
    EXPECT_NEAR(sum.imag(), 0, 1e-10);
  }
}

TEST(Eigenvalues, DefectiveMatricesAreAccurateToTheirCondition) {
  for (const std::size_t n : {2u, 3u, 4u, 6u}) {
    for (int k = 0; k < 50; ++k) {
      // A Jordan block in random orthonormal coordinates.
      const double value = uniform(-1, 1);
      Eigen::MatrixXd jordan =
          value * Eigen::MatrixXd::Identity(static_cast<long>(n), static_cast<long>(n));
      for (long i = 0; i + 1 < jordan.rows(); ++i) jordan(i, i + 1) = 1;
      const Eigen::MatrixXd turn = to_eigen(random_matrix(n)).householderQr().householderQ() *
                                   Eigen::MatrixXd::Identity(jordan.rows(), jordan.cols());
      const Matrix a = from_eigen(turn * jordan * turn.transpose());
      const std::vector<Complex> expected(n, value);
      EXPECT_LT(distance(eigenvalues(a), expected), 4 * std::pow(1e-15, 1 / static_cast<double>(n)))
          << "size " << n;
    }
  }
}

TEST(Eigenvalues, ClustersOfEqualEigenvaluesConverge) {
  // A multiple of the identity but for rounding errors, as from a queue of delayed commands.
  for (int k = 0; k < 200; ++k) {
    Matrix a = 1e-14 * random_matrix(3 + static_cast<std::size_t>(k) % 10);
    for (std::size_t i = 0; i < a.n; ++i) a(i, i) -= 1;
    EXPECT_LT(distance(eigenvalues(a), std::vector<Complex>(a.n, -1)), 1e-13);
  }
}

TEST(Eigenvalues, BadlyScaledMatricesKeepTheirSmallEigenvalues) {
  // D A D⁻¹ has the eigenvalues of A.
  for (int k = 0; k < 100; ++k) {
    const Matrix a = random_matrix(6);
    Matrix scaled = a;
    std::vector<double> scales(6);
    for (double& s : scales) s = std::pow(10, uniform(-6, 6));
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t j = 0; j < 6; ++j) scaled(i, j) *= scales[i] / scales[j];
    }
    EXPECT_LT(distance(eigenvalues(scaled), of_eigen(a)), 1e-8);
  }
}

TEST(Eigenvalues, CyclicMatricesConverge) {
  // A permutation matrix is a fixed point of QR without exceptional shifts.
  for (const std::size_t n : {3u, 4u, 5u, 8u, 13u}) {
    Matrix a(n);
    for (std::size_t i = 0; i < n; ++i) a(i, (i + 1) % n) = 1;
    std::vector<Complex> roots;
    for (std::size_t i = 0; i < n; ++i)
      roots.push_back(std::polar(1.0, 2 * M_PI * static_cast<double>(i) / static_cast<double>(n)));
    EXPECT_LT(distance(eigenvalues(a), roots), 1e-12) << "size " << n;
  }
}

TEST(Eigenvalues, AreNotNumbersIfTheMatrixIsNot) {
  Matrix a = random_matrix(5);
  a(2, 3) = std::numeric_limits<double>::quiet_NaN();
  const auto values = eigenvalues(a);
  ASSERT_EQ(values.size(), 5u);
  for (const Complex& value : values) EXPECT_TRUE(std::isnan(value.real()));
}

TEST(SymmetricEigenvalues, AgreeWithEigen) {
  for (int k = 0; k < 200; ++k) {
    const std::size_t n = 1 + static_cast<std::size_t>(k) % 8;
    const Matrix half = random_matrix(n), a = half * transposed(half);
    const SymmetricEigen ours = symmetric_eigen(a);
    std::vector<double> sorted = ours.values;
    std::sort(sorted.begin(), sorted.end());
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> theirs(to_eigen(a));
    for (std::size_t i = 0; i < n; ++i)
      EXPECT_NEAR(sorted[i], theirs.eigenvalues()[static_cast<long>(i)], 1e-13);
    const Eigen::MatrixXd v = to_eigen(ours.vectors);
    const Eigen::VectorXd values =
        Eigen::Map<const Eigen::VectorXd>(ours.values.data(), static_cast<long>(n));
    EXPECT_LT((v * values.asDiagonal() * v.transpose() - to_eigen(a)).norm(), 1e-13);
    EXPECT_LT((v.transpose() * v - Eigen::MatrixXd::Identity(v.rows(), v.cols())).norm(), 1e-13);
  }
}

TEST(Cholesky, SolvesAndNamesTheFirstBadPivot) {
  const Matrix half = random_matrix(6), a = half * transposed(half), b = random_matrix(6);
  Matrix lower(0);
  ASSERT_EQ(cholesky(a, lower), 6u);
  const Matrix x = solve_lower_transposed(lower, solve_lower(lower, b));
  EXPECT_LT((to_eigen(a) * to_eigen(x) - to_eigen(b)).norm(), 1e-10);
  Matrix massless = a;
  for (std::size_t i = 0; i < 6; ++i) massless(3, i) = massless(i, 3) = 0;
  EXPECT_EQ(cholesky(massless, lower), 3u);
  Matrix invalid = a;
  invalid(2, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(cholesky(invalid, lower), 2u);
}

}  // namespace
}  // namespace ga_controllers
