// SPDX-License-Identifier: Apache-2.0

// Gravity hold behind a predecessor, whose references it ignores.

#include <gtest/gtest.h>

#include "bench.hpp"

namespace test {
namespace {

TEST(Chained, StopsEveryArmWhateverItsReferencesSay) {
  for (const std::string& urdf : {puma(), scara(), seven_joints()}) {
    Arm arm(urdf);
    Bench bench(kLaw, urdf, {rclcpp::Parameter("gains.bandwidth", Values{60})});
    ASSERT_TRUE(bench.set_in_motion(arm));
    EXPECT_LT(bench.follow(arm, 0, 3), 0.01);
    EXPECT_LT(arm.speed(), 1e-3);
  }
}

}  // namespace
}  // namespace test
