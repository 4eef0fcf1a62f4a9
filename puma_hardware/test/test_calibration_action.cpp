// SPDX-License-Identifier: Apache-2.0
// The action ~/calibrate of PumaSystem on emulated cards: feedback, result, cancellation, refusal.

#include <gtest/gtest.h>

#include <chrono>

#include "arm_bench.hpp"
#include "ga_msgs/action/calibrate.hpp"
#include "rclcpp_action/rclcpp_action.hpp"

namespace {

using ga_msgs::action::Calibrate;
using rclcpp_action::ResultCode;
using test::ArmBench;
using test::States;

struct Outcome {
  ResultCode code = ResultCode::UNKNOWN;
  std::string message;
  bool success = false;
  int feedbacks = 0;
  double progress = 0;  ///< of the last feedback
};

/// Sends a goal and runs cycles until its result; cancels it once the progress reaches `cancel_at`.
Outcome calibrate(ArmBench& bench, double cancel_at = 2) {
  using Client = rclcpp_action::Client<Calibrate>;
  const auto node = std::make_shared<rclcpp::Node>("calibration_client");
  const auto client = rclcpp_action::create_client<Calibrate>(node, "/puma560/calibrate");
  Outcome outcome;
  if (!client->wait_for_action_server(std::chrono::seconds(20))) return outcome;
  bool cancels = false;
  Client::SendGoalOptions options;
  options.feedback_callback = [&](const auto& goal, const auto& feedback) {
    EXPECT_GE(feedback->progress, outcome.progress);
    outcome.progress = feedback->progress;
    ++outcome.feedbacks;
    if (!cancels && outcome.progress >= cancel_at) {
      cancels = true;
      client->async_cancel_goal(goal);
    }
  };
  options.result_callback = [&](const auto& wrapped) {
    outcome.code = wrapped.code;
    outcome.message = wrapped.result->message;
    outcome.success = wrapped.result->success;
  };
  client->async_send_goal(Calibrate::Goal(), options);
  for (int i = 0; i < 20000 && outcome.code == ResultCode::UNKNOWN; ++i) {
    for (int k = 0; k < 20; ++k) bench.cycle();
    rclcpp::spin_some(node);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return outcome;
}

TEST(CalibrationAction, ReportsItsProgressAndSucceeds) {
  ArmBench bench;
  bench.system().configure();
  const Outcome outcome = calibrate(bench);
  EXPECT_EQ(outcome.code, ResultCode::SUCCEEDED) << outcome.message;
  EXPECT_TRUE(outcome.success);
  EXPECT_EQ(outcome.message, "calibrated; set the component active to continue");
  EXPECT_GT(outcome.feedbacks, 5);
  EXPECT_GT(outcome.progress, 0.9);
  bench.system().activate();
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_ACTIVE);
}

TEST(CalibrationAction, CancelingStopsTheArm) {
  ArmBench bench;
  bench.system().configure();
  const Outcome outcome = calibrate(bench, 0.1);
  EXPECT_EQ(outcome.code, ResultCode::CANCELED) << outcome.message;
  EXPECT_FALSE(outcome.success);
  EXPECT_LT(outcome.progress, 0.9);
  EXPECT_EQ(bench.largest_effort(), 0);
  bench.system().activate();
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE) << "not calibrated";
  EXPECT_EQ(calibrate(bench).code, ResultCode::SUCCEEDED) << "the next goal is not affected";
}

TEST(CalibrationAction, AGoalThatCannotStartIsAbortedWithTheReason) {
  ArmBench bench;
  const Outcome outcome = calibrate(bench);
  EXPECT_EQ(outcome.code, ResultCode::ABORTED);
  EXPECT_EQ(outcome.message, "the component is not configured; set it inactive first");
}

}  // namespace
