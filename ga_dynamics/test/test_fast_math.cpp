// SPDX-License-Identifier: Apache-2.0

// Compiled with -ffast-math, as some users do: the checks of the templates hold all the same.
// GoogleTest's comparisons would be folded too, so everything here compares bits and booleans.

#define GA_DYNAMICS_ISA fast_math

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "ga_dynamics/algorithm/forward_dynamics.hpp"
#include "ga_dynamics/chain.hpp"

#ifndef __FAST_MATH__
#error "compile this file with -ffast-math"
#endif

namespace ga_dynamics {
namespace {

template <class S>
struct Numbers {
  using Bits = std::conditional_t<sizeof(S) == 8, std::uint64_t, std::uint32_t>;
  static constexpr Bits kSign = Bits(1) << (8 * sizeof(S) - 1);
  static constexpr Bits kInfinity = sizeof(S) == 8 ? Bits(0x7ff0000000000000) : Bits(0x7f800000);

  static S from(Bits bits) { return std::bit_cast<S>(bits); }
  static std::vector<S> not_finite() {
    return {from(kInfinity),
            from(kSign | kInfinity),
            from(kInfinity + 1),
            from(kSign | (kInfinity + 1)),
            from(kInfinity | (kInfinity >> 1)),  // signaling, quiet
            from(kSign - 1),
            from(~Bits(0))};
  }
  static std::vector<S> positive_below_one() {
    return {from(1), from(kInfinity >> 2), S(1e-30), S(0.5), from(std::bit_cast<Bits>(S(1)) - 1)};
  }
};

template <class S>
class FastMath : public ::testing::Test {};
using Scalars = ::testing::Types<double, float>;
TYPED_TEST_SUITE(FastMath, Scalars);

TYPED_TEST(FastMath, FiniteIsToldFromTheBits) {
  using N = Numbers<TypeParam>;
  for (const TypeParam value : N::not_finite()) {
    EXPECT_FALSE(is_finite(value));
    EXPECT_FALSE(is_positive_below_one(value));
    for (std::size_t at = 0; at < 5; ++at) {
      std::vector<TypeParam> values(5, TypeParam(0.5));
      EXPECT_TRUE(all_finite(values.data(), 5));
      values[at] = value;
      EXPECT_FALSE(all_finite(values.data(), 5));
      EXPECT_EQ(all_finite(values.data(), static_cast<int>(at)), true);
    }
  }
  for (const TypeParam value : N::positive_below_one()) {
    EXPECT_TRUE(is_finite(value));
    EXPECT_TRUE(is_positive_below_one(value));
    EXPECT_FALSE(is_positive_below_one(-value));
  }
  for (const TypeParam value :
       {TypeParam(0), -TypeParam(0), TypeParam(1), TypeParam(2), TypeParam(-1),
        N::from(N::kInfinity - 1), N::from(N::kSign | (N::kInfinity - 1))}) {
    EXPECT_TRUE(is_finite(value));
    EXPECT_FALSE(is_positive_below_one(value));
  }
}

TYPED_TEST(FastMath, DecompositionOfAMatrixThatIsNotPositiveDefiniteIsReported) {
  using S = TypeParam;
  const auto sound = [](std::vector<S> d) {
    std::vector<S> diagonal{d[0], d[4], d[8]}, x(3, S(1));
    cholesky_solve(3, d.data(), x.data());
    return positive_definite(3, d.data(), diagonal.data());
  };
  const std::vector<S> good{4, 0, 0, 1, 3, 0, S(0.5), S(0.25), 2};  // lower half
  EXPECT_TRUE(sound(good));
  for (const std::size_t at : {0, 3, 4, 6, 7, 8}) {
    for (const S value : Numbers<S>::not_finite()) {
      std::vector<S> bad = good;
      bad[at] = value;
      EXPECT_FALSE(sound(bad)) << at;
    }
  }
  for (const std::size_t at : {0, 4, 8}) {
    for (const S value : {S(0), -S(0), S(-1), S(-1e-30)}) {
      std::vector<S> bad = good;
      bad[at] = value;
      EXPECT_FALSE(sound(bad)) << at;
    }
  }
  EXPECT_FALSE(sound({1, 0, 0, 1, 1, 0, 0, 0, 1}));  // singular
  EXPECT_FALSE(sound({1, 0, 0, 2, 1, 0, 0, 0, 1}));  // indefinite
}

TYPED_TEST(FastMath, ForwardDynamicsOfASingularArmOrANonFinitePositionIsReported) {
  using S = TypeParam;
  for (int n = 1; n <= 7; ++n) {
    std::vector<DhJoint> rows(static_cast<std::size_t>(n));
    for (DhJoint& row : rows) {
      row.dh = {1.2, 0.3, 0.1, 0, 0};
      row.body = {2, {0.1, 0.02, 0.05}, {0.02, 0, 0, 0, 0.03, 0, 0, 0, 0.04}};
    }
    const auto sound = [&](const Chain& chain, const std::vector<S>& q) {
      const Model<S> model = make_model<S>(chain);
      Workspace<S> work(model);
      const std::vector<S> one(q.size(), S(1));
      std::vector<S> qdd(q.size());
      forward_dynamics(model, work, q.data(), one.data(), one.data(), qdd.data());
      return positive_definite(n, work.matrix.data(), work.row.data());
    };
    std::vector<S> q(rows.size(), S(0.4));
    EXPECT_TRUE(sound(Chain::from_dh(rows), q)) << n;
    for (const S value : Numbers<S>::not_finite()) {
      if (n == 1) break;  // D does not depend on the first angle
      q.back() = value;
      EXPECT_FALSE(sound(Chain::from_dh(rows), q)) << n;
      q.back() = S(0.4);
    }
    rows.back().body = {};
    EXPECT_FALSE(sound(Chain::from_dh(rows), q)) << n;
  }
}

}  // namespace
}  // namespace ga_dynamics
