// SPDX-License-Identifier: Apache-2.0

// Postures of the stability check: spread over the position limits, and a search from the best one.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "posture_search.hpp"

namespace ga_controllers {
namespace {

using ga_dynamics::Chain;

Chain puma() { return Chain::from_urdf_file(std::string(GA_ROBOTS) + "/puma560_akb.urdf"); }

/// Position within the limits, 0 … 1.
double share(const Chain& chain, std::size_t joint, double q) {
  const auto& limits = chain.joints()[joint].limits;
  return (q - limits.lower) / (limits.upper - limits.lower);
}

TEST(SpreadPostures, FillTheLimitsEvenly) {
  const Chain chain = puma();
  const std::vector<Posture> postures = spread_postures(chain, 128);
  ASSERT_EQ(postures.size(), 128u);
  for (std::size_t j = 0; j < 6; ++j) {
    std::vector<int> bins(16);
    for (const Posture& q : postures) {
      const double at = share(chain, j, q[j]);
      ASSERT_GE(at, 0);
      ASSERT_LT(at, 1);
      ++bins[static_cast<std::size_t>(16 * at)];
    }
    for (const int count : bins) EXPECT_NEAR(count, 8, 4) << "joint " << j;
  }
  // Pairs of joints, too: a quarter of the postures in every quadrant.
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = i + 1; j < 6; ++j) {
      std::vector<int> quadrants(4);
      for (const Posture& q : postures)
        ++quadrants[(share(chain, i, q[i]) < 0.5 ? 0u : 1u) +
                    (share(chain, j, q[j]) < 0.5 ? 0u : 2u)];
      for (const int count : quadrants) EXPECT_NEAR(count, 32, 10) << i << " " << j;
    }
  }
  for (std::size_t j = 0; j < 6; ++j) EXPECT_NEAR(share(chain, j, postures[0][j]), 0.5, 1e-12);
}

TEST(Largest, FindsAMaximumBetweenThePosturesAndAtTheLimits) {
  const Chain chain = puma();
  const std::vector<Posture> postures = spread_postures(chain, 32);
  const std::vector<double> peak = {0.31, 0.77, 0.12, 0.55, 0.91, 1.4};  // the last one is beyond
  const LargestAt found = largest(chain, postures, [&](std::span<const double> q) {
    double sum = 1;
    for (std::size_t j = 0; j < 6; ++j) sum -= std::pow(share(chain, j, q[j]) - peak[j], 2);
    return sum;
  });
  EXPECT_NEAR(found.value, 1 - 0.16, 1e-3);
  for (std::size_t j = 0; j < 6; ++j)
    EXPECT_NEAR(share(chain, j, found.posture[j]), std::min(peak[j], 1.0), 0.015) << j;
}

TEST(Largest, EndsOnAFlatQuantityAndKeepsAPostureBeyondTheLimits) {
  const Chain chain = puma();
  const Posture beyond(6, 7.0);
  const LargestAt found = largest(chain, {spread_postures(chain, 1)[0], beyond},
                                  [&](std::span<const double> q) { return q[0] == 7 ? 2.0 : 1.0; });
  EXPECT_EQ(found.value, 2);
  EXPECT_EQ(found.posture, beyond);
}

}  // namespace
}  // namespace ga_controllers
