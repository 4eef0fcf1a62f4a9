// SPDX-License-Identifier: Apache-2.0

// The kinematics plugin as MoveIt loads and calls it, and KDL's beside it.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <moveit/kinematics_base/kinematics_base.hpp>
#include <moveit/robot_model/joint_model_group.hpp>
#include <moveit/robot_state/robot_state.hpp>
#include <random>
#include <tf2_eigen/tf2_eigen.hpp>

#include "puma_model.hpp"

namespace ga_motion {
namespace {

using kinematics::KinematicsBase;
using moveit_msgs::msg::MoveItErrorCodes;
using Joints = std::vector<double>;
using PoseMessage = geometry_msgs::msg::Pose;
using Solver = std::shared_ptr<KinematicsBase>;

Solver load(const std::string& name, const moveit::core::RobotModel& model,
            const std::string& group = "arm", const std::string& tip = "tool0",
            const std::string& base = "base_link") {
  static const auto node = std::make_shared<rclcpp::Node>("test_kinematics");
  const auto solver = test::load<KinematicsBase>("kinematics::KinematicsBase", name);
  return solver->initialize(node, model, group, base, {tip}, 0.1) ? solver : nullptr;
}

Solver closed_form(const moveit::core::RobotModel& model, const std::string& group = "arm",
                   const std::string& tip = "tool0") {
  return load("ga_motion/ClosedFormKinematics", model, group, tip);
}

/// Reachable poses of the group's tip, from random states within the bounds, with seeds.
class Poses {
 public:
  explicit Poses(const moveit::core::RobotModelPtr& model, const std::string& group = "arm",
                 const std::string& tip = "tool0")
      : state(model), group_(model->getJointModelGroup(group)), tip_(tip) {}

  PoseMessage next() {
    state.setToRandomPositions(group_, random_);
    state.update();
    return pose();
  }
  Joints seed() {
    Joints seed;
    group_->getVariableRandomPositions(random_, seed);
    return seed;
  }
  Joints joints() const {
    Joints q;
    state.copyJointGroupPositions(group_, q);
    return q;
  }
  PoseMessage pose() const { return tf2::toMsg(state.getGlobalLinkTransform(tip_)); }
  /// m or rad, by MoveIt's forward kinematics.
  double error(const PoseMessage& wanted, const Joints& q) {
    state.setJointGroupPositions(group_, q);
    state.update();
    Eigen::Isometry3d target;
    tf2::fromMsg(wanted, target);
    const Eigen::Isometry3d off = target.inverse() * state.getGlobalLinkTransform(tip_);
    return std::max(off.translation().norm(),
                    (off.linear() - Eigen::Matrix3d::Identity()).norm() / std::sqrt(2.0));
  }
  bool within_bounds() { return state.satisfiesBounds(group_, 1e-8); }

  moveit::core::RobotState state;

 private:
  const moveit::core::JointModelGroup* group_;
  std::string tip_;
  random_numbers::RandomNumberGenerator random_{17};
};

struct Outcome {
  int solved = 0;
  double worst = 0;           // m or rad
  std::vector<double> times;  // s
  double median() {
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return times[times.size() / 2];
  }
};

Outcome solve(const KinematicsBase& solver, Poses& poses, int count, double timeout) {
  Outcome outcome;
  for (int k = 0; k < count; ++k) {
    const PoseMessage pose = poses.next();
    const Joints seed = poses.seed();
    Joints q;
    MoveItErrorCodes code;
    const auto start = std::chrono::steady_clock::now();
    const bool solved = solver.searchPositionIK(pose, seed, timeout, q, code);
    const auto end = std::chrono::steady_clock::now();
    outcome.times.push_back(std::chrono::duration<double>(end - start).count());
    EXPECT_EQ(solved, code.val == MoveItErrorCodes::SUCCESS);
    if (!solved) continue;
    ++outcome.solved;
    outcome.worst = std::max(outcome.worst, poses.error(pose, q));
    EXPECT_TRUE(poses.within_bounds());
  }
  return outcome;
}

TEST(ClosedFormKinematics, SolvesEveryReachablePoseTwentyTimesFasterThanKdl) {
  const auto model = test::puma_model();
  const Solver ours = closed_form(*model);
  ASSERT_TRUE(ours);
  Poses poses(model);
  constexpr int kPoses = 10000, kKdlPoses = 300;
  Outcome closed = solve(*ours, poses, kPoses, 0.05);
  std::printf("closed form: %d of %d poses, median %.1f us, largest error %.1e\n", closed.solved,
              kPoses, 1e6 * closed.median(), closed.worst);
  EXPECT_EQ(closed.solved, kPoses);
  EXPECT_LT(closed.worst, 1e-9);

  Solver kdl;
  try {
    kdl = load("kdl_kinematics_plugin/KDLKinematicsPlugin", *model);
  } catch (const pluginlib::PluginlibException&) {
    GTEST_SKIP() << "without the comparison: moveit_kinematics is not installed";
  }
  ASSERT_TRUE(kdl);
  Outcome searched = solve(*kdl, poses, kKdlPoses, 0.05);
  std::printf("KDL: %d of %d poses, median %.1f us: %.0f times as long\n", searched.solved,
              kKdlPoses, 1e6 * searched.median(), searched.median() / closed.median());
  EXPECT_GE(searched.median(), 20 * closed.median());
}

TEST(ClosedFormKinematics, GivesTheBranchNearestToTheSeed) {
  const auto model = test::puma_model();
  const Solver solver = closed_form(*model);
  ASSERT_TRUE(solver);
  Poses poses(model);
  for (int k = 0; k < 1000; ++k) {
    const PoseMessage pose = poses.next();
    const Joints start = poses.joints();
    Joints q;
    MoveItErrorCodes code;
    ASSERT_TRUE(solver->getPositionIK(pose, start, q, code));
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(q[i], start[i], 1e-6);
    std::vector<Joints> all;
    kinematics::KinematicsResult result;
    ASSERT_TRUE(solver->getPositionIK({pose}, start, all, result, {}));
    EXPECT_EQ(result.kinematic_error, kinematics::KinematicErrors::OK);
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all[0], q);
    for (const Joints& one : all) EXPECT_LT(poses.error(pose, one), 1e-9);
  }
}

TEST(ClosedFormKinematics, TakesTheNextNearestIfTheCallbackRejectsOne) {
  const auto model = test::puma_model();
  const Solver solver = closed_form(*model);
  ASSERT_TRUE(solver);
  Poses poses(model);
  const PoseMessage pose = poses.next();
  const Joints seed = poses.joints();
  std::vector<Joints> all;
  kinematics::KinematicsResult result;
  ASSERT_TRUE(solver->getPositionIK({pose}, seed, all, result, {}));
  ASSERT_GE(all.size(), 4u);
  std::size_t calls = 0, refused = 2;
  const KinematicsBase::IKCallbackFn callback = [&](const PoseMessage&, const Joints& q,
                                                    MoveItErrorCodes& code) {
    ASSERT_LT(calls, all.size());
    EXPECT_EQ(q, all[calls]);
    code.val = calls++ < refused ? MoveItErrorCodes::NO_IK_SOLUTION : MoveItErrorCodes::SUCCESS;
  };
  Joints q;
  MoveItErrorCodes code;
  EXPECT_TRUE(solver->searchPositionIK(pose, seed, 1, q, callback, code));
  EXPECT_EQ(q, all[2]);
  calls = 0, refused = 1000;
  EXPECT_FALSE(solver->searchPositionIK(pose, seed, 1, q, callback, code));
  EXPECT_EQ(code.val, MoveItErrorCodes::NO_IK_SOLUTION);
  EXPECT_EQ(calls, all.size());
}

TEST(ClosedFormKinematics, KeepsConsistencyLimits) {
  const auto model = test::puma_model();
  const Solver solver = closed_form(*model);
  ASSERT_TRUE(solver);
  Poses poses(model);
  const PoseMessage pose = poses.next();
  Joints seed = poses.joints(), q;
  seed[1] += 0.02;
  MoveItErrorCodes code;
  EXPECT_TRUE(solver->searchPositionIK(pose, seed, 1, Joints(6, 0.03), q, code));
  EXPECT_FALSE(solver->searchPositionIK(pose, seed, 1, Joints(6, 0.01), q, code));
  EXPECT_EQ(code.val, MoveItErrorCodes::NO_IK_SOLUTION);
  EXPECT_FALSE(solver->searchPositionIK(pose, seed, 1, Joints(5, 1.0), q, code));
}

TEST(ClosedFormKinematics, FailsAtOnceOutOfReach) {
  const auto model = test::puma_model();
  const Solver solver = closed_form(*model);
  ASSERT_TRUE(solver);
  PoseMessage pose;
  pose.position.x = 2, pose.orientation.w = 1;
  Joints q;
  MoveItErrorCodes code;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(solver->searchPositionIK(pose, Joints(6, 0.0), 5.0, q, code));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(100));
  EXPECT_EQ(code.val, MoveItErrorCodes::NO_IK_SOLUTION);
}

TEST(ClosedFormKinematics, RefusesPosesAndSeedsThatAreNone) {
  const auto model = test::puma_model();
  const Solver solver = closed_form(*model);
  ASSERT_TRUE(solver);
  Poses poses(model);
  PoseMessage pose = poses.next();
  Joints q;
  MoveItErrorCodes code;
  EXPECT_FALSE(solver->getPositionIK(pose, Joints(5, 0.0), q, code));
  EXPECT_FALSE(solver->getPositionIK(pose, Joints(6, NAN), q, code));
  pose.orientation = geometry_msgs::msg::Quaternion();
  pose.orientation.w = 0;
  EXPECT_FALSE(solver->getPositionIK(pose, Joints(6, 0.0), q, code));
  EXPECT_EQ(code.val, MoveItErrorCodes::NO_IK_SOLUTION);
}

TEST(ClosedFormKinematics, TakesTheGroupsOwnTip) {
  const auto model = test::puma_model();
  const Solver solver = closed_form(*model, "flange", "link6");
  ASSERT_TRUE(solver);
  Poses poses(model, "flange", "link6");
  EXPECT_EQ(solve(*solver, poses, 100, 0.05).solved, 100);
}

TEST(ClosedFormKinematics, ForwardKinematicsOfAnyLinkIsMoveIts) {
  const auto model = test::puma_model();
  const Solver solver = closed_form(*model);
  ASSERT_TRUE(solver);
  Poses poses(model);
  poses.next();
  const std::vector<std::string> links{"link2", "tool0", "link4"};
  std::vector<PoseMessage> found;
  ASSERT_TRUE(solver->getPositionFK(links, poses.joints(), found));
  for (std::size_t i = 0; i < links.size(); ++i) {
    Eigen::Isometry3d pose;
    tf2::fromMsg(found[i], pose);
    EXPECT_TRUE(pose.isApprox(poses.state.getGlobalLinkTransform(links[i]), 1e-9)) << links[i];
  }
  EXPECT_FALSE(solver->getPositionFK({"nothing"}, poses.joints(), found));
}

TEST(ClosedFormKinematics, KeepsTheBoundsOfTheRobotModel) {
  const auto model = test::puma_model();
  // As joint_limits.yaml tightens them.
  moveit::core::VariableBounds bounds = model->getVariableBounds("joint1");
  EXPECT_NEAR(bounds.max_position_, 2.740167, 1e-6);  // soft limit of the description
  bounds.min_position_ = -0.2, bounds.max_position_ = 0.2;
  model->getJointModel("joint1")->setVariableBounds("joint1", bounds);
  const Solver solver = closed_form(*model);
  ASSERT_TRUE(solver);
  Poses poses(model);
  std::vector<Joints> all;
  kinematics::KinematicsResult result;
  for (int k = 0; k < 200; ++k) {
    const PoseMessage pose = poses.next();
    ASSERT_TRUE(solver->getPositionIK({pose}, poses.seed(), all, result, {}));
    for (const Joints& q : all) EXPECT_LE(std::abs(q[0]), 0.2 + 1e-8);
  }
}

TEST(ClosedFormKinematics, RefusesArmsOfAnotherStructure) {
  const std::string srdf = R"(<robot name="ur10e"><group name="arm">
      <chain base_link="base_link" tip_link="tool0"/></group></robot>)";
  const auto model = test::model_of(test::text_of(std::string(GA_ROBOTS) + "/ur10e.urdf"), srdf);
  EXPECT_FALSE(closed_form(*model));
}

}  // namespace
}  // namespace ga_motion

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  rclcpp::init(argc, argv);
  const int result = RUN_ALL_TESTS();
  rclcpp::shutdown();
  return result;
}
