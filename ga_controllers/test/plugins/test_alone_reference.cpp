// SPDX-License-Identifier: Apache-2.0

// A law with set-points from the topic: followed, approached, rejected.

#include <gtest/gtest.h>
#include <rcutils/logging.h>

#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <thread>

#include "operator.hpp"

namespace test {
namespace {

using rclcpp::Parameter;

/// Log messages of the nodes.
std::string log_text;
void hear(const rcutils_log_location_t*, int, const char*, rcutils_time_point_value_t,
          const char* format, va_list* arguments) {
  char line[1000];
  va_list copy;
  va_copy(copy, *arguments);
  std::vsnprintf(line, sizeof(line), format, copy);
  va_end(copy);
  log_text += line;
}

TEST(Alone, FollowsSetPointsOfTheTopic) {
  Arm arm(scara());
  Bench bench(kLaw, scara());
  Operator user(bench);
  ASSERT_TRUE(user.start(arm));
  JointTrajectory goal = message(arm.chain, {0.5, -0.4, 0.15, 1});
  std::swap(goal.joint_names[0], goal.joint_names[2]);
  std::swap(goal.points[0].positions[0], goal.points[0].positions[2]);
  user.send(goal);
  EXPECT_LT(bench.cycles(arm, 4000), 0.01);
  EXPECT_LT(arm.distance({0.5, -0.4, 0.15, 1}), 1e-3) << "a resting set-point cannot become stale";
  bench.deactivate();
  arm.put({0, 0, 0.1, 0});
  ASSERT_TRUE(bench.activate(arm));
  bench.cycles(arm, 1000);
  EXPECT_LT(arm.distance({0, 0, 0.1, 0}), 1e-3) << "an old set-point was followed";
}

TEST(Alone, ExtrapolatesMovingSetPointsAndStopsWhenTheyStop) {
  Arm arm(scara());
  Bench bench(kLaw, scara());
  Operator user(bench);
  arm.put({0, 0, 0.1, 0});
  ASSERT_TRUE(user.start(arm));
  double change = 0;
  for (int k = 0; k < 40; ++k) {  // 50 Hz
    const double t = 0.02 * k;
    user.send(message(arm.chain, {0.3 * t, -0.2 * t, 0.1, 0.5 * t}, {0.3, -0.2, 0, 0.5}));
    change = std::max(change, bench.cycles(arm, 20));
  }
  if (tracks(kLaw)) {
    EXPECT_NEAR(arm.plant.qd()[0], 0.3, 0.03);
  }
  change = std::max(change, bench.cycles(arm, 3000));
  EXPECT_LT(change, 0.01);
  EXPECT_LT(arm.speed(), 1e-3);
  // It continues for reference_timeout and while its velocity fades.
  EXPECT_LT(arm.plant.q()[0], 0.3 * (0.8 + 0.1 + 0.2) + 0.01);
}

TEST(Alone, AFarSetPointIsApproachedWithinTheVelocityLimits) {
  Arm arm(puma());
  Bench bench(kLaw, puma(), {Parameter("gains.bandwidth", Values{40})});
  Operator user(bench);
  const Values start{-1, -1.9, 0.6, -1, -0.7, -1};
  arm.put(start);
  ASSERT_TRUE(user.start(arm));
  Values far = start;
  for (std::size_t i = 0; i < 6; ++i) far[i] += i == 4 ? 1.4 : 2;
  user.send(message(arm.chain, far));
  double fastest = 0;
  for (int k = 0; k < 5000; ++k) {
    ASSERT_LT(bench.cycle(arm), 0.01);
    for (std::size_t i = 0; i < 6; ++i) {
      fastest =
          std::max(fastest, std::abs(arm.plant.qd()[i]) / arm.chain.joints()[i].limits.velocity);
    }
    if (k != 200) continue;
    // Meanwhile the state shows the set-point as given and the followed reference.
    ASSERT_TRUE(user.wait([&] {
      bench.cycles(arm, 1);
      return !user.states.empty() && value(user.states.back(), 1, "reference.position") == far[1];
    }));
    EXPECT_LT(value(user.states.back(), 1, "followed.position"), far[1] - 0.1);
  }
  EXPECT_LT(fastest, 1.03);
  EXPECT_GT(fastest, 0.8);
  EXPECT_LT(arm.distance(far), 1e-3);
}

TEST(Alone, ASetPointThatIsTooOldOrTooEarlyIsRefused) {
  Arm arm(scara());
  Bench bench(kLaw, scara());
  Operator user(bench);
  ASSERT_TRUE(bench.configure() && user.connect());
  const Values start{0, 0, 0.1, 0};
  arm.put(start);
  log_text.clear();
  rcutils_logging_set_output_handler(hear);
  user.send(message(arm.chain, {0.5, 0, 0.1, 0}));
  ASSERT_TRUE(bench.activate(arm));
  bench.cycles(arm, 200);
  EXPECT_LT(arm.distance(start), 1e-4);
  EXPECT_NE(log_text.find("not active"), std::string::npos) << log_text;
  JointTrajectory old = message(arm.chain, {0.5, 0, 0.1, 0}, {0.1, 0, 0, 0});
  old.header.stamp = bench.controller->get_node()->now() - rclcpp::Duration::from_seconds(60);
  // Rejections are logged once a second.
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  user.send(old);
  rcutils_logging_set_output_handler(rcutils_logging_console_output_handler);
  bench.cycles(arm, 200);
  EXPECT_LT(arm.distance(start), 1e-4);
  EXPECT_NE(log_text.find("header.stamp"), std::string::npos) << log_text;
  old.header.stamp = bench.controller->get_node()->now();
  user.send(old);
  bench.cycles(arm, 200);
  EXPECT_GT(arm.distance(start), 1e-3);
}

TEST(Alone, ARefusedSetPointMovesNothing) {
  Arm arm(scara());
  Bench bench(kLaw, scara());
  Operator user(bench);
  arm.put({0, 0, 0.1, 0});
  ASSERT_TRUE(user.start(arm));
  JointTrajectory bad = message(arm.chain, {0.5, 0.5, 0.15, 0.5});
  bad.joint_names[0] = "nobody";
  user.send(bad);
  user.send(message(arm.chain, {NAN, 0.5, 0.15, 0.5}));
  bench.cycles(arm, 500);
  EXPECT_LT(arm.distance({0, 0, 0.1, 0}), 1e-4);
  user.send(message(arm.chain, {0.1, 0, 0.1, 0}));
  bench.cycles(arm, 3000);
  EXPECT_LT(arm.distance({0.1, 0, 0.1, 0}), 1e-3);
}

TEST(Alone, TorquesStayWithinTheLimitsOfDescriptionAndParameters) {
  const std::string urdf = scara();
  Arm arm(urdf);
  Bench bench(kLaw, urdf,
              {Parameter("torque_limit", Values{1000, 2, 1000, 0.5}),
               Parameter("torque_rate_limit", Values{200, 100, 2000, 10}),
               Parameter("gains.bandwidth", Values{80}), Parameter("blend_time", 0.01),
               Parameter("keep_path", false)});  // it would stay below the limits
  Operator user(bench);
  arm.put({-1, 0, 0.1, 0});
  ASSERT_TRUE(user.start(arm));
  user.send(message(arm.chain, {1.5, 1, 0.18, 2}));
  const Values limit{120, 2, 300, 0.5}, rate{200, 100, 2000, 10};
  Values before = arm.torque();
  bool cut = false;
  for (int k = 0; k < 1000; ++k) {
    bench.cycle(arm);
    const Values torque = arm.torque();
    for (std::size_t i = 0; i < 4; ++i) {
      ASSERT_LE(std::abs(torque[i]), limit[i]);
      ASSERT_LE(std::abs(torque[i] - before[i]), rate[i] * kDt + 1e-9);
      cut = cut || std::abs(torque[i]) == limit[i];
    }
    before = torque;
  }
  EXPECT_TRUE(cut);
}

}  // namespace
}  // namespace test
