// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__CHOLESKY_HPP_
#define GA_DYNAMICS__ALGORITHM__CHOLESKY_HPP_

// Cholesky's decomposition in its square-root-free form D = L diag(d) Lᵀ. Real-time safe, no
// exception.

#include "ga_dynamics/algorithm/isa.hpp"

namespace ga_dynamics {
inline namespace GA_DYNAMICS_ISA {

namespace detail {

/// Solves a x = b for symmetric positive definite n×n `a` (lower half, row by row), destroying
/// both: x is left in `b`, L below the diagonal of `a` and 1/d on it. n² + (n³+3n²−4n)/6 products,
/// n divisions, n² − n + (n³−n)/6 sums. kSize > 0 is n known to the compiler.
template <int kSize, class S>
GA_DYNAMICS_INLINE void cholesky_solve(int size, S* a, S* b) {
  const int n = kSize > 0 ? kSize : size;
#pragma GCC unroll 8
  for (int j = 0; j < n; ++j) {
    S* const row = a + j * n;
    S pivot = row[j];
#pragma GCC unroll 8
    for (int k = 0; k < j; ++k) {
      const S scaled = row[k];  // L_jk d_k
      row[k] = scaled * a[k * n + k];
      pivot = pivot - scaled * row[k];
    }
    row[j] = S(1) / pivot;
#pragma GCC unroll 8
    for (int i = j + 1; i < n; ++i) {
      S* const below = a + i * n;
      S sum = below[j];
#pragma GCC unroll 8
      for (int k = 0; k < j; ++k) sum = sum - below[k] * row[k];
      below[j] = sum;
    }
  }
#pragma GCC unroll 8
  for (int i = 1; i < n; ++i) {
    S sum = b[i];
#pragma GCC unroll 8
    for (int k = 0; k < i; ++k) sum = sum - a[i * n + k] * b[k];
    b[i] = sum;
  }
#pragma GCC unroll 8
  for (int i = 0; i < n; ++i) b[i] = b[i] * a[i * n + i];
#pragma GCC unroll 8
  for (int i = n - 2; i >= 0; --i) {
    S sum = b[i];
#pragma GCC unroll 8
    for (int k = n - 1; k > i; --k) sum = sum - a[k * n + i] * b[k];
    b[i] = sum;
  }
}

}  // namespace detail

/// As detail::cholesky_solve, written out for the usual numbers of joints.
template <class S>
GA_DYNAMICS_INLINE void cholesky_solve(int n, S* a, S* b) {
  switch (n) {
    case 5:
      return detail::cholesky_solve<5>(n, a, b);
    case 6:
      return detail::cholesky_solve<6>(n, a, b);
    case 7:
      return detail::cholesky_solve<7>(n, a, b);
    default:
      return detail::cholesky_solve<0>(n, a, b);
  }
}

}  // namespace GA_DYNAMICS_ISA
}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__ALGORITHM__CHOLESKY_HPP_
