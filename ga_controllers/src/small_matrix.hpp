// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__SMALL_MATRIX_HPP_
#define GA_CONTROLLERS__SMALL_MATRIX_HPP_

// Linear algebra for the stability check: dense matrices of up to about 100 rows. The package
// depends on ga_dynamics only, so it brings its own routines; the tests compare them with Eigen.
//
// Everything but dominates() allocates and is not real-time safe. No function throws on values: results that do not
// exist are reported.

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace ga_controllers {

/// Square matrix, stored row by row; zero at construction.
struct Matrix {
  explicit Matrix(std::size_t size) : n(size), values(size * size) {}
  double& operator()(std::size_t row, std::size_t column) { return values[row * n + column]; }
  double operator()(std::size_t row, std::size_t column) const { return values[row * n + column]; }

  std::size_t n;
  std::vector<double> values;
};

Matrix identity(std::size_t n);
Matrix operator*(const Matrix& a, const Matrix& b);
Matrix operator*(double factor, const Matrix& a);
Matrix operator+(const Matrix& a, const Matrix& b);
Matrix operator-(const Matrix& a, const Matrix& b);
Matrix transposed(const Matrix& a);

/// Lower triangle L with L Lᵀ = a. Returns the index of the first row whose pivot is not positive,
/// or n for success. Only the lower triangle of `a` is read.
std::size_t cholesky(const Matrix& a, Matrix& lower);
/// L⁻¹ B for a lower triangular L.
Matrix solve_lower(const Matrix& lower, const Matrix& b);
/// L⁻ᵀ B for a lower triangular L.
Matrix solve_lower_transposed(const Matrix& lower, const Matrix& b);

struct SymmetricEigen {
  std::vector<double> values;  ///< not sorted
  Matrix vectors;              ///< orthonormal, in columns
};
/// Cyclic Jacobi rotations: slow for large matrices, but accurate to the last digits for small ones.
SymmetricEigen symmetric_eigen(Matrix a);

/// All eigenvalues of a real matrix: balancing, Householder reduction to Hessenberg form, QR with
/// implicit double shifts (Golub and Van Loan, Matrix Computations, 7.4 and 7.5). Backward stable,
/// so it also handles defective matrices, with the usual loss of digits. All are not-a-number if a
/// value is not finite or, in theory, if the iteration does not converge.
std::vector<std::complex<double>> eigenvalues(Matrix a);

/// True if factor · a − b is positive definite (n·n values each; the lower triangles count).
/// `work`: scratch of that size. Real-time safe.
bool dominates(double factor, std::span<const double> a, std::span<const double> b, std::size_t n,
               std::span<double> work) noexcept;

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__SMALL_MATRIX_HPP_
