// SPDX-License-Identifier: Apache-2.0

// Trajectories through an action server that answers late.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <control_msgs/action/follow_joint_trajectory.hpp>
#include <memory>
#include <string>
#include <thread>

#include "moveit/action_handle.hpp"

namespace ga_controllers {
namespace {

using Action = control_msgs::action::FollowJointTrajectory;
using moveit_controller_manager::ExecutionStatus;
using Seconds = std::chrono::duration<double>;

class Handle final : public ActionHandle<Action> {
 public:
  using ActionHandle::ActionHandle;

 private:
  std::string fill(const Trajectory& trajectory, Goal& goal) const override {
    goal.trajectory = trajectory.joint_trajectory;
    return "";
  }
};

void sleep(double seconds) { std::this_thread::sleep_for(Seconds(seconds)); }

/// Accepts a goal after a delay; the goal runs until it is canceled, or ends at once.
class SlowServer {
 public:
  SlowServer(double delay, bool ends)
      : node_(std::make_shared<rclcpp::Node>("slow_server")), delay_(delay), ends_(ends) {
    using GoalPtr = std::shared_ptr<rclcpp_action::ServerGoalHandle<Action>>;
    server_ = rclcpp_action::create_server<Action>(
        node_, "follow",
        [this](const rclcpp_action::GoalUUID&, const std::shared_ptr<const Action::Goal>&) {
          sleep(delay_);
          return rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE;
        },
        [this](const GoalPtr&) {
          canceled = true;
          return rclcpp_action::CancelResponse::ACCEPT;
        },
        [this](const GoalPtr& goal) {
          accepted = true;
          if (ends_) {
            goal->succeed(std::make_shared<Action::Result>());
          } else {
            running_ = goal;
          }
        });
    executor_.add_node(node_);
    thread_ = std::thread([this] { executor_.spin(); });
  }
  ~SlowServer() {
    executor_.cancel();
    thread_.join();
    if (running_) running_->abort(std::make_shared<Action::Result>());
  }

  std::atomic<bool> accepted{false}, canceled{false};

 private:
  rclcpp::Node::SharedPtr node_;
  double delay_;
  bool ends_;
  std::shared_ptr<rclcpp_action::ServerGoalHandle<Action>> running_;
  rclcpp_action::Server<Action>::SharedPtr server_;
  rclcpp::executors::SingleThreadedExecutor executor_;
  std::thread thread_;
};

class ActionHandleTest : public testing::Test {
 protected:
  ActionHandleTest() : node_(std::make_shared<rclcpp::Node>("client")) {
    executor_.add_node(node_);
    thread_ = std::thread([this] { executor_.spin(); });
  }
  ~ActionHandleTest() override {
    executor_.cancel();
    thread_.join();
  }

  std::shared_ptr<Handle> handle(double timeout) {
    const auto result = std::make_shared<Handle>(node_, "arm", "follow", Seconds(timeout));
    // The server is found within the timeout: not a part of these tests.
    const auto client = rclcpp_action::create_client<Action>(node_, "follow");
    EXPECT_TRUE(client->wait_for_action_server(std::chrono::seconds(10)));
    return result;
  }
  static bool comes_true(const std::atomic<bool>& flag) {
    for (int k = 0; k < 1000 && !flag; ++k) sleep(0.01);
    return flag;
  }

  rclcpp::Node::SharedPtr node_;
  rclcpp::executors::SingleThreadedExecutor executor_;
  std::thread thread_;
};

TEST_F(ActionHandleTest, ExecutesATrajectory) {
  const SlowServer server(0, true);
  const auto arm = handle(5);
  ASSERT_TRUE(arm->sendTrajectory(moveit_msgs::msg::RobotTrajectory()));
  EXPECT_TRUE(arm->waitForExecution(rclcpp::Duration::from_seconds(-1)));
  EXPECT_EQ(arm->getLastExecutionStatus(), ExecutionStatus::SUCCEEDED);
  EXPECT_FALSE(server.canceled);
}

TEST_F(ActionHandleTest, CancelsAGoalThatIsAcceptedAfterTheTimeout) {
  const SlowServer server(1.5, false);
  const auto arm = handle(0.5);
  EXPECT_FALSE(arm->sendTrajectory(moveit_msgs::msg::RobotTrajectory()));
  EXPECT_EQ(arm->getLastExecutionStatus(), ExecutionStatus::FAILED);
  EXPECT_FALSE(server.accepted);
  EXPECT_TRUE(comes_true(server.accepted));
  EXPECT_TRUE(comes_true(server.canceled));
  EXPECT_EQ(arm->getLastExecutionStatus(), ExecutionStatus::FAILED);
}

TEST_F(ActionHandleTest, CancelsAGoalThatIsAcceptedAfterItsCancellation) {
  const SlowServer server(1.0, false);
  const auto arm = handle(10);
  std::thread sender(
      [&] { EXPECT_TRUE(arm->sendTrajectory(moveit_msgs::msg::RobotTrajectory())); });
  sleep(0.5);
  EXPECT_TRUE(arm->cancelExecution());
  EXPECT_EQ(arm->getLastExecutionStatus(), ExecutionStatus::PREEMPTED);
  sender.join();
  EXPECT_TRUE(arm->waitForExecution(rclcpp::Duration::from_seconds(-1)));
  EXPECT_TRUE(comes_true(server.canceled));
  EXPECT_EQ(arm->getLastExecutionStatus(), ExecutionStatus::PREEMPTED);
}

}  // namespace
}  // namespace ga_controllers

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  rclcpp::init(argc, argv);
  const int result = RUN_ALL_TESTS();
  rclcpp::shutdown();
  return result;
}
