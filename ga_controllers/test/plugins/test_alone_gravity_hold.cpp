// SPDX-License-Identifier: Apache-2.0

// Gravity hold on its own: it ignores set-points, and it is the fallback of the others.

#include <gtest/gtest.h>

#include <cmath>

#include "operator.hpp"

namespace test {
namespace {

TEST(Alone, TakesNoSetPointsOfTheTopic) {
  Arm arm(scara());
  Bench bench(kLaw, scara());
  Operator user(bench);
  const Values start{0, 0, 0.1, 0};
  arm.put(start);
  ASSERT_TRUE(user.start(arm));
  user.send(message(arm.chain, {0.5, -0.4, 0.15, 1}));
  bench.cycles(arm, 1000);
  EXPECT_LT(arm.distance(start), 1e-4);
  EXPECT_EQ(bench.controller->get_node()->count_subscribers("/controller/reference"), 0u);
}

TEST(Alone, NewGainsMakeNoStepWhileItBrakes) {
  Arm arm(puma());
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.set_in_motion(arm, 0.02));
  EXPECT_GT(arm.speed(), 0.1);
  const auto node = bench.controller->get_node();
  ASSERT_TRUE(node->set_parameter(rclcpp::Parameter("gains.bandwidth", Values{60})).successful);
  const double first = bench.cycle(arm), step = bench.cycles(arm, 300);
  RecordProperty("first_step", std::to_string(first));
  RecordProperty("step", std::to_string(step));
  EXPECT_LT(first, 0.01);
  EXPECT_LT(step, 0.005);
}

TEST(Alone, WithoutAStateItKeepsTheTorqueOfTheFailedControllerForAFewCycles) {
  Arm arm(puma());
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.configure());
  std::ignore = arm.velocity[2]->set_value(std::nan(""));
  ASSERT_FALSE(bench.activate(arm)) << "there is no torque to keep";
  arm.drive(Values(6, 0.0));
  ASSERT_TRUE(bench.activate(arm));
  const Values before = arm.torque();
  for (int k = 0; k < 10; ++k) {
    EXPECT_EQ(bench.update(), k < 9);
    EXPECT_EQ(arm.torque(), before);
  }
}

}  // namespace
}  // namespace test
