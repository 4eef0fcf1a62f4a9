// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__LANES_HPP_
#define GA_DYNAMICS__ALGORITHM__LANES_HPP_

// Several values of a scalar in one SIMD register. A Lane<double> is itself a scalar to the
// templates of this library: the same formula then works on several links, or several columns, at
// once. For every other scalar a lane holds one.

#include <cstring>

#include "ga_dynamics/algorithm/isa.hpp"

namespace ga_dynamics {
inline namespace GA_DYNAMICS_ISA {

template <class S>
struct LaneTraits {
  using Type = S;
  static constexpr int kWidth = 1;
};

#if defined(__GNUC__)
template <>
struct LaneTraits<double> {
#if defined(__AVX2__)
  static constexpr int kWidth = 4;
#else
  static constexpr int kWidth =
      2;  // SSE2 or NEON; wider than the target is slower than scalar code
#endif
  using Type = double __attribute__((vector_size(8 * kWidth)));
};
#endif

template <class S>
using Lane = typename LaneTraits<S>::Type;
template <class S>
inline constexpr int kLanes = LaneTraits<S>::kWidth;

/// Memory for n values is padded to this many, so that whole lanes can be read and written.
inline constexpr int padded(int n) { return (n + 7) / 8 * 8; }

template <class S>
GA_DYNAMICS_INLINE Lane<S> load_lane(const S* from) {
  if constexpr (kLanes<S> == 1) {
    return *from;
  } else {
    Lane<S> lane;
    std::memcpy(&lane, from, sizeof lane);
    return lane;
  }
}
template <class S>
GA_DYNAMICS_INLINE void store_lane(const Lane<S>& lane, S* to) {
  if constexpr (kLanes<S> == 1) {
    *to = lane;
  } else {
    std::memcpy(to, &lane, sizeof lane);
  }
}
template <class S>
GA_DYNAMICS_INLINE Lane<S> all_lanes(const S& value) {
  if constexpr (kLanes<S> == 1) {
    return value;
  } else {
    return Lane<S>{} + value;
  }
}

}  // namespace GA_DYNAMICS_ISA
}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__ALGORITHM__LANES_HPP_
