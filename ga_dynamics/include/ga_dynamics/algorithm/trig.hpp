// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__TRIG_HPP_
#define GA_DYNAMICS__ALGORITHM__TRIG_HPP_

// Sine and cosine of a lane of angles. Six calls of the C library cost as much as half of the
// inverse dynamics of a 6-joint arm; the polynomials below work on a whole SIMD register of angles.

#include <cmath>
#include <cstdint>

#include "ga_dynamics/algorithm/lanes.hpp"

namespace ga_dynamics {
inline namespace GA_DYNAMICS_ISA {

/// Any scalar: through the sin and cos of its own namespace or the standard library.
template <class S>
GA_DYNAMICS_INLINE void sin_cos(const Lane<S>& angle, S* sine, S* cosine) {
  using std::cos;
  using std::sin;
  *sine = sin(angle);
  *cosine = cos(angle);
}

#if defined(__GNUC__)
/// double: kLanes<double> values each. Error below 1.6 ulp for |angle| < 100 rad and 2.5 ulp to 1e5
/// rad (test_trig.cpp); larger or non-finite angles take the C library's path. Reduction by pi/2 in
/// three parts (Cody and Waite; the parts are those of fdlibm's e_rem_pio2.c), then the minimax
/// polynomials for sine and cosine on ±pi/4 with the coefficients published with Cephes (S.
/// Moshier, sin.c).
template <>
GA_DYNAMICS_INLINE void sin_cos<double>(const Lane<double>& x, double* sine, double* cosine) {
  constexpr int kWidth = kLanes<double>;
  using Bits = std::int64_t __attribute__((vector_size(8 * kWidth)));
  constexpr double kLimit = 1e5;
  constexpr double kTwoOverPi = 0.63661977236758134308;
  constexpr double kRound =
      6755399441055744.0;  // 1.5·2^52: adding it leaves the nearest integer in the low bits
  // pi/2 split so that the products with |k| < 2^17 are exact
  constexpr double kPart1 = 1.57079632673412561417e+00;
  constexpr double kPart2 = 6.07710050630396597660e-11;
  constexpr double kPart3 = 2.02226624879595063154e-21;
  const Lane<double> shifted = x * kTwoOverPi + kRound;
  const Bits k = (Bits)shifted;
  const Lane<double> kd = shifted - kRound;
  const Lane<double> r = ((x - kd * kPart1) - kd * kPart2) - kd * kPart3;
  const Lane<double> z = r * r;
  const Lane<double> s =
      r + r * z *
              (-1.66666666666666307295e-1 +
               z * (8.33333333332211858878e-3 +
                    z * (-1.98412698295895385996e-4 +
                         z * (2.75573136213857245213e-6 +
                              z * (-2.50507477628578072866e-8 + z * 1.58962301576546568060e-10)))));
  const Lane<double> c =
      1.0 - 0.5 * z +
      z * z *
          (4.16666666666665929218e-2 +
           z * (-1.38888888888730564116e-3 +
                z * (2.48015872888517045348e-5 +
                     z * (-2.75573141792967388112e-7 +
                          z * (2.08757008419747316778e-9 + z * -1.13585365213876817300e-11)))));
  const Bits sb = (Bits)s, cb = (Bits)c;
  const Bits swap = -(k & 1);
  const Bits sine_bits = ((sb & ~swap) | (cb & swap)) ^ ((k & 2) << 62);
  const Bits cosine_bits = ((cb & ~swap) | (sb & swap)) ^ (((k + 1) & 2) << 62);
  std::memcpy(sine, &sine_bits, sizeof sine_bits);
  std::memcpy(cosine, &cosine_bits, sizeof cosine_bits);
  const Bits large = (x > kLimit) | (x < -kLimit);
  std::int64_t any = 0;
  for (int l = 0; l < kWidth; ++l) any |= large[l];
  if (any != 0) [[unlikely]] {
    for (int l = 0; l < kWidth; ++l) {
      sine[l] = std::sin(x[l]);
      cosine[l] = std::cos(x[l]);
    }
  }
}
#endif

}  // namespace GA_DYNAMICS_ISA
}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__ALGORITHM__TRIG_HPP_
