// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__FINITE_HPP_
#define GA_DYNAMICS__ALGORITHM__FINITE_HPP_

// Whether numbers are finite or positive, read from their bits. Under -ffinite-math-only, with
// which the kernels are compiled, and under -ffast-math the compiler removes std::isfinite(), and
// may turn
// !(x > 0) into x <= 0, which is false for not-a-number too. Real-time safe, no exception.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "ga_dynamics/algorithm/isa.hpp"

namespace ga_dynamics {
inline namespace GA_DYNAMICS_ISA {

namespace detail {

/// float and double in IEEE 754 format.
template <class S>
struct FloatBits {
  static_assert(std::is_same_v<S, double> || std::is_same_v<S, float>);
  using Signed = std::conditional_t<sizeof(S) == 8, std::int64_t, std::int32_t>;
  using Unsigned = std::make_unsigned_t<Signed>;
  static constexpr int kFraction = sizeof(S) == 8 ? 52 : 23;  ///< bits behind the point
  static constexpr Unsigned kSign = Unsigned(1) << (8 * sizeof(S) - 1);
  static constexpr Unsigned kInfinity = (kSign - 1) >> kFraction << kFraction;
  static constexpr Unsigned kOne = kInfinity >> 1 >> kFraction << kFraction;

  GA_DYNAMICS_INLINE static Unsigned of(const S& value) {
    Unsigned bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
};

}  // namespace detail

/// Finite. Of a sum: all its terms are, and none is anywhere near the largest number.
template <class S>
GA_DYNAMICS_INLINE bool is_finite(const S& value) {
  using Bits = detail::FloatBits<S>;
  return (Bits::of(value) & Bits::kInfinity) != Bits::kInfinity;
}

/// All n values are finite.
template <class S>
GA_DYNAMICS_INLINE bool all_finite(const S* values, int n) {
  bool finite = true;
  for (int i = 0; i < n; ++i) finite &= is_finite(values[i]);
  return finite;
}

/// 0 < value < 1. Positive numbers are ordered as their bits are.
template <class S>
GA_DYNAMICS_INLINE bool is_positive_below_one(const S& value) {
  using Bits = detail::FloatBits<S>;
  return Bits::of(value) - 1 < Bits::kOne - 1;
}

}  // namespace GA_DYNAMICS_ISA
}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__ALGORITHM__FINITE_HPP_
