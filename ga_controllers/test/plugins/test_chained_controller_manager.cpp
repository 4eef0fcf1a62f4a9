// SPDX-License-Identifier: Apache-2.0

// MoveIt's controller manager of this package beside a real controller manager, as MoveIt loads and
// calls it: which chain it uses, how it switches, how motions end.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <moveit/controller_manager/controller_manager.hpp>
#include <pluginlib/class_loader.hpp>
#include <thread>

#include "cell.hpp"

namespace test {
namespace {

using moveit_controller_manager::ExecutionStatus;
using moveit_controller_manager::MoveItControllerManager;
using Strings = std::vector<std::string>;

constexpr const char* kDefault = "tracking_integral_trajectory";
constexpr const char* kOther = "tracking_trajectory";

/// The arm under gravity_hold, two chains, and MoveIt's side in a node and a thread of its own.
class ChainedControllerManager : public testing::Test {
 protected:
  ChainedControllerManager() : cell_(puma(), false) {
    EXPECT_TRUE(cell_.load_law("gravity_hold", LawKind::kGravityHold));
    EXPECT_TRUE(cell_.load_law("hand_guiding", LawKind::kHandGuiding));
    EXPECT_TRUE(cell_.load_law("tracking", LawKind::kTracking));
    EXPECT_TRUE(cell_.load_law("tracking_integral", LawKind::kTrackingIntegral));
    EXPECT_TRUE(cell_.load_trajectory_controller(kOther, "tracking", 0.1));
    EXPECT_TRUE(cell_.load_trajectory_controller(kDefault, "tracking_integral", 0.1));
    EXPECT_TRUE(cell_.change({"gravity_hold"}, {}));
    cell_.pass(0.1);
    node_ = std::make_shared<rclcpp::Node>(
        "moveit_simple_controller_manager",
        rclcpp::NodeOptions().append_parameter_override("ga_controllers.default_controllers",
                                                        Strings{kDefault}));
    manager_ = loader().createSharedInstance("ga_controllers/ChainedControllerManager");
    manager_->initialize(node_);
    loop_ = std::thread([this] {
      while (!stop_) {
        cell_.pass(0.005);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    executor_.add_node(node_);
    spinner_ = std::thread([this] { executor_.spin(); });
  }
  ~ChainedControllerManager() override {
    executor_.cancel();
    spinner_.join();
    stop_ = true;
    loop_.join();
  }

  static pluginlib::ClassLoader<MoveItControllerManager>& loader() {
    static pluginlib::ClassLoader<MoveItControllerManager> loader(
        "moveit_core", "moveit_controller_manager::MoveItControllerManager");
    return loader;
  }

  /// As a user does, while the control loop runs.
  bool change(const Names& activate, const Names& deactivate) {
    return cell_.manager->switch_controller(
               activate, deactivate,
               controller_manager_msgs::srv::SwitchController::Request::STRICT, true,
               rclcpp::Duration::from_seconds(5)) == controller_interface::return_type::OK;
  }
  Strings listed() {
    Strings names;
    manager_->getControllersList(names);
    std::sort(names.begin(), names.end());
    return names;
  }
  Strings active() {
    listed();  // asks the controller manager anew, as MoveIt does before every motion
    Strings names;
    manager_->getActiveControllers(names);
    return names;
  }
  bool preferred(const std::string& name) { return manager_->getControllerState(name).default_; }

  /// To start + offset; the first point is where the arm is.
  moveit_msgs::msg::RobotTrajectory motion(double offset, double seconds) {
    moveit_msgs::msg::RobotTrajectory result;
    trajectory_msgs::msg::JointTrajectoryPoint point;
    for (std::size_t i = 0; i < cell_.start.size(); ++i) {
      result.joint_trajectory.joint_names.push_back(cell_.chain.joints()[i].name);
      point.positions.push_back(cell_.start[i] + offset);
      point.velocities.push_back(0);
    }
    point.time_from_start = rclcpp::Duration::from_seconds(seconds);
    result.joint_trajectory.points.push_back(point);
    return result;
  }

  Cell cell_;
  std::atomic<bool> stop_ = false;
  std::thread loop_, spinner_;
  rclcpp::Node::SharedPtr node_;
  std::shared_ptr<MoveItControllerManager> manager_;
  rclcpp::executors::SingleThreadedExecutor executor_;
};

TEST_F(ChainedControllerManager, FindsTheChainsAndTheirJoints) {
  EXPECT_EQ(listed(), (Strings{kDefault, kOther}));
  Strings joints;
  manager_->getControllerJoints(kOther, joints);
  ASSERT_EQ(joints.size(), 6u);
  EXPECT_EQ(joints[0], cell_.chain.joints()[0].name);
  EXPECT_EQ(active(), Strings{});
  EXPECT_TRUE(preferred(kDefault));
  EXPECT_FALSE(preferred(kOther));
}

TEST_F(ChainedControllerManager, ReplacesTheHoldingLawByTheDefaultChainAndMoves) {
  ASSERT_TRUE(manager_->switchControllers({kDefault}, {}));
  EXPECT_EQ(active(), Strings{kDefault});
  EXPECT_TRUE(cell_.active("tracking_integral"));
  EXPECT_FALSE(cell_.active("gravity_hold"));
  const auto handle = manager_->getControllerHandle(kDefault);
  ASSERT_TRUE(handle);
  ASSERT_TRUE(handle->sendTrajectory(motion(0.1, 1.0)));
  EXPECT_EQ(handle->getLastExecutionStatus(), ExecutionStatus::RUNNING);
  EXPECT_TRUE(handle->waitForExecution(rclcpp::Duration::from_seconds(-1)));
  EXPECT_EQ(handle->getLastExecutionStatus(), ExecutionStatus::SUCCEEDED);
  EXPECT_NEAR(cell_.watch->position()[0], cell_.start[0] + 0.1, 0.01);
}

TEST_F(ChainedControllerManager, FollowsTheUsersChangeOfLaw) {
  ASSERT_TRUE(manager_->switchControllers({kDefault}, {}));
  ASSERT_TRUE(change({"tracking", kOther}, {"tracking_integral", kDefault}));
  EXPECT_EQ(active(), Strings{kOther});
  EXPECT_TRUE(preferred(kOther));
  EXPECT_FALSE(preferred(kDefault));
  const auto stale = manager_->getControllerHandle(kDefault);
  ASSERT_TRUE(stale);
  EXPECT_FALSE(stale->sendTrajectory(motion(0.1, 1.0)));  // inactive
  EXPECT_EQ(stale->getLastExecutionStatus(), ExecutionStatus::FAILED);
  const auto handle = manager_->getControllerHandle(kOther);
  ASSERT_TRUE(handle->sendTrajectory(motion(0.05, 0.5)));
  EXPECT_TRUE(handle->waitForExecution(rclcpp::Duration::from_seconds(-1)));
  EXPECT_EQ(handle->getLastExecutionStatus(), ExecutionStatus::SUCCEEDED);
  // And back, by MoveIt.
  ASSERT_TRUE(manager_->switchControllers({kDefault}, {kOther}));
  EXPECT_EQ(active(), Strings{kDefault});
}

TEST_F(ChainedControllerManager, CompletesTheChainOfTheActiveLaw) {
  ASSERT_TRUE(change({"tracking"}, {"gravity_hold"}));
  EXPECT_EQ(active(), Strings{});
  EXPECT_TRUE(preferred(kOther));
  EXPECT_FALSE(preferred(kDefault));
  ASSERT_TRUE(manager_->switchControllers({kOther}, {}));
  EXPECT_EQ(active(), Strings{kOther});
}

TEST_F(ChainedControllerManager, DoesNotTakeTheArmFromAPersonWhoGuidesIt) {
  ASSERT_TRUE(change({"hand_guiding"}, {"gravity_hold"}));
  EXPECT_FALSE(manager_->switchControllers({kDefault}, {}));
  EXPECT_TRUE(cell_.active("hand_guiding"));
}

TEST_F(ChainedControllerManager, CancelsAndTakesTheNextMotion) {
  ASSERT_TRUE(manager_->switchControllers({kDefault}, {}));
  const auto handle = manager_->getControllerHandle(kDefault);
  ASSERT_TRUE(handle->sendTrajectory(motion(0.3, 20.0)));
  EXPECT_FALSE(handle->waitForExecution(rclcpp::Duration::from_seconds(0.1)));
  EXPECT_TRUE(handle->cancelExecution());
  EXPECT_TRUE(handle->waitForExecution(rclcpp::Duration::from_seconds(-1)));
  EXPECT_EQ(handle->getLastExecutionStatus(), ExecutionStatus::PREEMPTED);
  EXPECT_TRUE(handle->cancelExecution());  // nothing to cancel any more
  ASSERT_TRUE(handle->sendTrajectory(motion(0.0, 0.5)));
  EXPECT_TRUE(handle->waitForExecution(rclcpp::Duration::from_seconds(-1)));
  EXPECT_EQ(handle->getLastExecutionStatus(), ExecutionStatus::SUCCEEDED);
}

TEST_F(ChainedControllerManager, ReportsAMotionThatTheControllerEnds) {
  ASSERT_TRUE(manager_->switchControllers({kDefault}, {}));
  const auto handle = manager_->getControllerHandle(kDefault);
  ASSERT_TRUE(handle->sendTrajectory(motion(1.5, 0.02)));  // beyond the path tolerance at once
  EXPECT_TRUE(handle->waitForExecution(rclcpp::Duration::from_seconds(-1)));
  EXPECT_EQ(handle->getLastExecutionStatus(), ExecutionStatus::ABORTED);
  ASSERT_TRUE(handle->sendTrajectory(motion(0.2, 20.0)));
  ASSERT_TRUE(change({"gravity_hold"}, {"tracking_integral", kDefault}));
  EXPECT_TRUE(handle->waitForExecution(rclcpp::Duration::from_seconds(-1)));
  EXPECT_NE(handle->getLastExecutionStatus(), ExecutionStatus::SUCCEEDED);
}

TEST_F(ChainedControllerManager, RefusesWhatIsNoController) {
  listed();
  EXPECT_FALSE(manager_->getControllerHandle("nobody"));
  EXPECT_FALSE(manager_->switchControllers({"nobody"}, {}));
  ASSERT_TRUE(manager_->switchControllers({kDefault}, {}));
  const auto handle = manager_->getControllerHandle(kDefault);
  EXPECT_FALSE(handle->sendTrajectory(moveit_msgs::msg::RobotTrajectory()));
  EXPECT_EQ(handle->getLastExecutionStatus(), ExecutionStatus::FAILED);
}

}  // namespace
}  // namespace test
