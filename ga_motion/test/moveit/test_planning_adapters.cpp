// SPDX-License-Identifier: Apache-2.0

// Timing by motor torque, and the checks of torques and goals, as MoveIt's planning pipeline calls them.

#include <geometric_shapes/shapes.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <moveit/kinematic_constraints/utils.hpp>
#include <moveit/kinematics_base/kinematics_base.hpp>
#include <moveit/planning_interface/planning_interface.hpp>
#include <moveit/planning_interface/planning_request_adapter.hpp>
#include <moveit/planning_interface/planning_response_adapter.hpp>
#include <moveit/planning_scene/planning_scene.hpp>
#include <moveit/robot_state/robot_state.hpp>
#include <moveit/trajectory_processing/time_optimal_trajectory_generation.hpp>
#include <moveit/utils/robot_model_test_utils.hpp>
#include <random>
#include <sstream>
#include <tf2_eigen/tf2_eigen.hpp>

#include "puma_model.hpp"

namespace ga_motion {
namespace {

using moveit::core::MoveItErrorCode;
using planning_interface::MotionPlanRequest;
using planning_interface::MotionPlanResponse;
using planning_interface::PlanningResponseAdapter;
using robot_trajectory::RobotTrajectory;
using Points = std::vector<std::vector<double>>;

const Points kPath{
    {0, -1.0, 1.5, 0, 0, 0}, {0.3, -0.8, 1.2, 0.4, 0.3, 0}, {0.6, -1.0, 1.0, 0, 0.6, 0.5}};
const Points kShort{{0, -1.0, 1.5, 0, 0.3, 0}, {0.1, -0.95, 1.4, 0.1, 0.3, 0.1}};

/// A pipeline's adapters for one model, loaded as MoveIt loads them.
class Adapters : public testing::Test {
 protected:
  Adapters()
      : model(test::puma_model()),
        node(test::make_node(test::text_of(PUMA_URDF))),
        scene(std::make_shared<planning_scene::PlanningScene>(model)) {
    request.group_name = "arm";
    set("intervals", rclcpp::ParameterValue(300));  // faster, and 0.1 % longer motions
  }

  void set(const std::string& parameter, const rclcpp::ParameterValue& value) {
    const std::string name = "ompl.torque_limits." + parameter;
    if (node->has_parameter(name)) {
      node->set_parameter(rclcpp::Parameter(name, value));
    } else {
      node->declare_parameter(name, value);
    }
  }

  RobotTrajectory trajectory(const Points& points, const std::string& group = "arm") const {
    RobotTrajectory result(model, group);
    moveit::core::RobotState state(model);
    state.setToDefaultValues();
    for (const auto& q : points) {
      state.setJointGroupPositions("arm", q);
      result.addSuffixWayPoint(state, 0);
    }
    return result;
  }

  std::shared_ptr<PlanningResponseAdapter> load(const std::string& name) const {
    const auto adapter = test::load<PlanningResponseAdapter>(
        "planning_interface::PlanningResponseAdapter", "ga_motion/" + name);
    adapter->initialize(node, "ompl");
    return adapter;
  }
  MotionPlanResponse adapt(const std::string& name, const RobotTrajectory& planned) const {
    MotionPlanResponse response;
    response.trajectory = std::make_shared<RobotTrajectory>(planned, true);
    response.error_code = MoveItErrorCode::SUCCESS;
    EXPECT_NO_THROW(load(name)->adapt(scene, request, response));
    return response;
  }
  MotionPlanResponse time(const RobotTrajectory& planned) const {
    return adapt("TorqueLimitedTiming", planned);
  }
  MotionPlanResponse time(const Points& points) const { return time(trajectory(points)); }
  MotionPlanResponse check(const RobotTrajectory& timed) const {
    return adapt("CheckTorques", timed);
  }

  static double largest_velocity(const RobotTrajectory& timed, const std::string& joint) {
    double largest = 0;
    for (std::size_t k = 0; k < timed.getWayPointCount(); ++k)
      largest = std::max(largest, std::abs(timed.getWayPoint(k).getVariableVelocity(joint)));
    return largest;
  }

  void put_box(double x, double y, double z, double size) {
    Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
    pose.translation() = Eigen::Vector3d(x, y, z);
    scene->getWorldNonConst()->addToObject("box", std::make_shared<shapes::Box>(size, size, size),
                                           pose);
  }

  moveit::core::RobotModelPtr model;
  rclcpp::Node::SharedPtr node;
  planning_scene::PlanningScenePtr scene;
  MotionPlanRequest request;
};

// --- TorqueLimitedTiming ---

TEST_F(Adapters, TimeAPathFromRestToRestWithinTheTorques) {
  const MotionPlanResponse timed = time(kPath);
  ASSERT_TRUE(timed.error_code) << timed.error_code.message;
  const RobotTrajectory& motion = *timed.trajectory;
  ASSERT_GT(motion.getWayPointCount(), 50u);
  for (const std::string& joint : model->getJointModelGroup("arm")->getVariableNames()) {
    EXPECT_EQ(motion.getFirstWayPoint().getVariableVelocity(joint), 0);
    EXPECT_EQ(motion.getLastWayPoint().getVariableVelocity(joint), 0);
    EXPECT_EQ(motion.getLastWayPoint().getVariableAcceleration(joint), 0);
    EXPECT_LE(largest_velocity(motion, joint), model->getVariableBounds(joint).max_velocity_);
  }
  std::vector<double> q;
  motion.getLastWayPoint().copyJointGroupPositions("arm", q);
  EXPECT_EQ(q, kPath.back());
  for (std::size_t k = 1; k < motion.getWayPointCount(); ++k) {
    EXPECT_LE(motion.getWayPointDurationFromPrevious(k), 0.005 + 1e-9);
    EXPECT_GT(motion.getWayPointDurationFromPrevious(k), 0.004);
  }
  EXPECT_TRUE(check(motion).error_code);
  // The message for the controller has velocities and accelerations of every point.
  moveit_msgs::msg::RobotTrajectory message;
  motion.getRobotTrajectoryMsg(message);
  for (const auto& point : message.joint_trajectory.points) {
    EXPECT_EQ(point.velocities.size(), 6u);
    EXPECT_EQ(point.accelerations.size(), 6u);
  }
}

TEST_F(Adapters, KeepTheReserve) {
  set("torque_reserve", rclcpp::ParameterValue(0.4));
  const MotionPlanResponse timed = time(kShort);
  ASSERT_TRUE(timed.error_code) << timed.error_code.message;
  // With a payload the same motion takes more, and still passes.
  set("payload.mass", rclcpp::ParameterValue(2.0));
  EXPECT_TRUE(check(*timed.trajectory).error_code);
  set("payload.mass", rclcpp::ParameterValue(0.0));
  set("torque_reserve", rclcpp::ParameterValue(0.0));
  EXPECT_LT(time(kShort).trajectory->getDuration(), timed.trajectory->getDuration());
}

TEST_F(Adapters, TakeThePayloadThatIsSetMeanwhile) {
  set("payload.mass", rclcpp::ParameterValue(0.0));
  const double empty = time(kShort).trajectory->getDuration();
  set("payload.mass", rclcpp::ParameterValue(2.5));
  const MotionPlanResponse loaded = time(kShort);
  ASSERT_TRUE(loaded.error_code) << loaded.error_code.message;
  EXPECT_GT(loaded.trajectory->getDuration(), empty);
}

TEST_F(Adapters, AreFasterThanConstantAccelerationLimitsThatAreSafeEverywhere) {
  const std::vector<double> safe{8.05, 10.0, 48.3, 102, 93.1, 99.7};  // docs/timing.md
  std::mt19937 engine(5);
  std::uniform_real_distribution<double> step(-0.4, 0.4);
  double ratios = 0;
  constexpr int kPlans = 10;
  for (int k = 0; k < kPlans; ++k) {
    Points points{{0, -1.0, 1.5, 0, 0.3, 0}, {0, -1.0, 1.5, 0, 0.3, 0}};
    for (double& q : points[1]) q += step(engine);
    const MotionPlanResponse timed = time(points);
    ASSERT_TRUE(timed.error_code) << timed.error_code.message;
    RobotTrajectory other = trajectory(points);
    std::unordered_map<std::string, double> velocities, accelerations;
    for (std::size_t i = 0; i < 6; ++i) {
      const std::string name = "joint" + std::to_string(i + 1);
      velocities[name] = model->getVariableBounds(name).max_velocity_;
      accelerations[name] = safe[i];
    }
    const trajectory_processing::TimeOptimalTrajectoryGeneration totg(0.1, 0.005);
    ASSERT_TRUE(totg.computeTimeStamps(other, velocities, accelerations));
    ratios += other.getDuration() / timed.trajectory->getDuration() / kPlans;
  }
  std::printf("%d short motions: with safe acceleration limits %.2f times as long\n", kPlans,
              ratios);
  EXPECT_GT(ratios, 1.05);  // with a reserve of 10 % and torque ramps
}

TEST_F(Adapters, ScaleVelocityAndAcceleration) {
  const MotionPlanResponse full = time(kPath);
  request.max_velocity_scaling_factor = 0.3;
  const MotionPlanResponse slow = time(kPath);
  ASSERT_TRUE(slow.error_code) << slow.error_code.message;
  for (const std::string& joint : model->getJointModelGroup("arm")->getVariableNames()) {
    EXPECT_LE(largest_velocity(*slow.trajectory, joint),
              0.3 * model->getVariableBounds(joint).max_velocity_ + 1e-9);
  }
  EXPECT_GT(slow.trajectory->getDuration(), full.trajectory->getDuration());
  // A quarter of the acceleration: half of the speed, on a way too short for the velocity limits.
  request.max_velocity_scaling_factor = 1;
  set("torque_ramp", rclcpp::ParameterValue(0.0));
  const double fastest = time(kShort).trajectory->getDuration();
  request.max_acceleration_scaling_factor = 0.25;
  const MotionPlanResponse gentle = time(kShort);
  ASSERT_TRUE(gentle.error_code) << gentle.error_code.message;
  EXPECT_NEAR(gentle.trajectory->getDuration() / fastest, 2, 0.05);
  EXPECT_TRUE(check(*gentle.trajectory).error_code);
  EXPECT_NEAR(gentle.trajectory->getWayPointDurationFromPrevious(1), 0.005, 5e-4);
  // RViz asks for a tenth of both.
  request.max_velocity_scaling_factor = request.max_acceleration_scaling_factor = 0.1;
  EXPECT_TRUE(time(kPath).error_code);
}

TEST_F(Adapters, DropRepeatedPointsAndTakeTheGoalForAMotionOfNone) {
  const MotionPlanResponse once = time(kPath);
  Points repeated;
  for (const auto& q : kPath) repeated.insert(repeated.end(), 3, q);
  const MotionPlanResponse timed = time(repeated);
  ASSERT_TRUE(timed.error_code) << timed.error_code.message;
  EXPECT_NEAR(timed.trajectory->getDuration(), once.trajectory->getDuration(), 1e-6);
  for (const Points& points : {Points{kPath[0]}, Points{kPath[0], kPath[0]}}) {
    const MotionPlanResponse none = time(points);
    EXPECT_TRUE(none.error_code) << none.error_code.message;
    EXPECT_EQ(none.trajectory->getWayPointCount(), 1u);
    EXPECT_EQ(none.trajectory->getDuration(), 0);
  }
}

TEST_F(Adapters, FollowDensePathsOfSamplingPlanners) {
  std::mt19937 engine(2);
  std::uniform_real_distribution<double> noise(-0.002, 0.002);
  Points points;
  for (std::size_t k = 0; k + 1 < kPath.size(); ++k) {
    for (int piece = 0; piece < 40; ++piece) {
      points.push_back(kPath[k]);
      for (std::size_t i = 0; i < 6; ++i)
        points.back()[i] += piece / 40.0 * (kPath[k + 1][i] - kPath[k][i]) + noise(engine);
    }
  }
  points.push_back(kPath.back());
  const MotionPlanResponse dense = time(points);
  ASSERT_TRUE(dense.error_code) << dense.error_code.message;
  EXPECT_LT(dense.trajectory->getDuration(), 1.15 * time(kPath).trajectory->getDuration());
}

TEST_F(Adapters, MoveAGroupThatIsAPartOfTheArm) {
  Points points{kPath[0], kPath[0]};
  points[1][0] += 0.4, points[1][1] += 0.2;
  request.group_name = "shoulder";
  const MotionPlanResponse timed = time(trajectory(points, "shoulder"));
  ASSERT_TRUE(timed.error_code) << timed.error_code.message;
  // The other joints are loads, at rest where they are.
  EXPECT_EQ(timed.trajectory->getLastWayPoint().getVariablePosition("joint5"), kPath[0][4]);
  EXPECT_EQ(largest_velocity(*timed.trajectory, "joint5"), 0);
  EXPECT_TRUE(check(*timed.trajectory).error_code);
}

TEST_F(Adapters, TimeAMovingStartFromRest) {
  RobotTrajectory planned = trajectory(kPath);
  planned.getFirstWayPointPtr()->setVariableVelocity("joint1", 0.5);
  const MotionPlanResponse timed = time(planned);
  ASSERT_TRUE(timed.error_code) << timed.error_code.message;
  EXPECT_EQ(timed.trajectory->getFirstWayPoint().getVariableVelocity("joint1"), 0);
}

TEST_F(Adapters, RoundCornersLessWhereTheyWouldCollide) {
  set("path_tolerance", rclcpp::ParameterValue(1.5));
  // The stretched arm goes up, then round.
  const Points points{
      {-1.2, 0.3, 1.5, 0, 0, 0}, {-1.2, -1.4, 1.5, 0, 0, 0}, {1.0, -1.4, 1.5, 0, 0, 0}};
  const RobotTrajectory planned = trajectory(points);
  RobotTrajectory dense(model, "arm");
  moveit::core::RobotState between(model);
  for (std::size_t k = 0; k + 1 < points.size(); ++k) {
    for (int piece = 0; piece <= 100; ++piece) {
      planned.getWayPoint(k).interpolate(planned.getWayPoint(k + 1), piece / 100.0, between);
      dense.addSuffixWayPoint(between, 0);
    }
  }
  const auto nearest = [&](const RobotTrajectory& motion) {
    double least = 10;
    for (std::size_t k = 0; k < motion.getWayPointCount(); ++k) {
      double off = 0;
      for (const char* joint : {"joint1", "joint2"}) {
        off = std::max(off, std::abs(motion.getWayPoint(k).getVariablePosition(joint) -
                                     planned.getWayPoint(1).getVariablePosition(joint)));
      }
      least = std::min(least, off);
    }
    return least;
  };
  const MotionPlanResponse open = time(planned);
  ASSERT_TRUE(open.error_code) << open.error_code.message;
  EXPECT_GT(nearest(*open.trajectory), 0.1);
  // A box where the rounded path leads the tool, half-way round the corner.
  std::size_t middle = 0;
  double most = 0;
  for (std::size_t k = 0; k < open.trajectory->getWayPointCount(); ++k) {
    const auto& state = open.trajectory->getWayPoint(k);
    const double off = std::min(state.getVariablePosition("joint1") + 1.2,
                                state.getVariablePosition("joint2") + 1.4);
    if (off > most) most = off, middle = k;
  }
  const Eigen::Vector3d tool =
      open.trajectory->getWayPoint(middle).getGlobalLinkTransform("tool0").translation();
  put_box(tool.x(), tool.y(), tool.z(), 0.02);
  ASSERT_FALSE(scene->isPathValid(*open.trajectory, "arm"));
  ASSERT_TRUE(scene->isPathValid(dense, "arm"));
  const MotionPlanResponse timed = time(planned);
  ASSERT_TRUE(timed.error_code) << timed.error_code.message;
  EXPECT_TRUE(scene->isPathValid(*timed.trajectory, "arm"));
  EXPECT_LT(nearest(*timed.trajectory), nearest(*open.trajectory));
}

TEST_F(Adapters, RefuseMotionsOfTooManyPointsAndSayWhatToDo) {
  request.max_velocity_scaling_factor = 1e-6;
  const MotionPlanResponse endless = time(kPath);
  EXPECT_EQ(endless.error_code, MoveItErrorCode::INVALID_MOTION_PLAN);
  for (const char* part : {"points, more than 50000", "max_velocity_scaling_factor",
                           "torque_limits.sample_period (now 0.005 s)"}) {
    EXPECT_NE(endless.error_code.message.find(part), std::string::npos)
        << endless.error_code.message;
  }
  request.max_velocity_scaling_factor = 0.01;
  const MotionPlanResponse slow = time(kShort);
  EXPECT_TRUE(slow.error_code) << slow.error_code.message;
}

TEST_F(Adapters, RefuseWhatTheMotorsCannotDoAndSayWhy) {
  set("payload.mass", rclcpp::ParameterValue(60.0));
  const Points stretched{{0, 0, 1.5, 0, 0, 0}, {0.5, 0, 1.5, 0, 0, 0}};
  const MotionPlanResponse heavy = time(stretched);
  EXPECT_EQ(heavy.error_code, MoveItErrorCode::INVALID_MOTION_PLAN);
  EXPECT_EQ(heavy.error_code.source, "TorqueLimitedTiming");
  for (const char* part : {"joint", "N m", "s = "}) {
    EXPECT_NE(heavy.error_code.message.find(part), std::string::npos) << heavy.error_code.message;
  }
}

TEST_F(Adapters, RefuseBadInputByName) {
  Points bad = kPath;
  bad[1][2] = NAN;
  const MotionPlanResponse nan = time(bad);
  EXPECT_EQ(nan.error_code, MoveItErrorCode::INVALID_MOTION_PLAN);
  EXPECT_EQ(nan.error_code.message, "joint 'joint3' is nan at way-point 2 of 3");
  MotionPlanResponse nothing;
  load("TorqueLimitedTiming")->adapt(scene, request, nothing);
  EXPECT_EQ(nothing.error_code, MoveItErrorCode::INVALID_MOTION_PLAN);
  set("torque_reserve", rclcpp::ParameterValue(1.5));
  const MotionPlanResponse reserve = time(kPath);
  EXPECT_EQ(reserve.error_code, MoveItErrorCode::FAILURE);
  EXPECT_EQ(reserve.error_code.message,
            "parameter ompl.torque_limits.torque_reserve is 1.5; give 0 to 0.95");
  set("torque_reserve", rclcpp::ParameterValue(0.1));
  set("payload.com", rclcpp::ParameterValue(std::vector<double>{0, 0}));
  EXPECT_NE(time(kPath).error_code.message.find("ompl.torque_limits.payload"), std::string::npos);
  set("payload.com", rclcpp::ParameterValue(std::vector<double>{}));
  set("tip", rclcpp::ParameterValue("nowhere"));
  EXPECT_NE(time(kPath).error_code.message.find("nowhere"), std::string::npos);
}

// --- CheckTorques ---

TEST_F(Adapters, CheckRefusesTooMuchTorqueAndNamesIt) {
  RobotTrajectory fast = trajectory(kShort);
  std::unordered_map<std::string, double> velocities, accelerations;
  for (const std::string& name : model->getJointModelGroup("arm")->getVariableNames())
    velocities[name] = 5, accelerations[name] = 300;
  const trajectory_processing::TimeOptimalTrajectoryGeneration totg(0.1, 0.005);
  ASSERT_TRUE(totg.computeTimeStamps(fast, velocities, accelerations));
  const MotionPlanResponse refused = check(fast);
  EXPECT_EQ(refused.error_code, MoveItErrorCode::INVALID_MOTION_PLAN);
  for (const char* part : {"joint '", "N m at ", " s, ", "of its limit", "beyond it for"}) {
    EXPECT_NE(refused.error_code.message.find(part), std::string::npos)
        << refused.error_code.message;
  }
  set("warn_only", rclcpp::ParameterValue(true));
  EXPECT_TRUE(check(fast).error_code);
}

TEST_F(Adapters, CheckRefusesATrajectoryWithoutTimes) {
  const MotionPlanResponse refused = check(trajectory(kPath));
  EXPECT_EQ(refused.error_code, MoveItErrorCode::INVALID_MOTION_PLAN);
  EXPECT_NE(refused.error_code.message.find("timed"), std::string::npos);
}

TEST_F(Adapters, CheckRefusesValuesThatAreNotFiniteByJointAndTime) {
  const MotionPlanResponse timed = time(kShort);
  ASSERT_TRUE(timed.error_code) << timed.error_code.message;
  const double t = timed.trajectory->getWayPointDurationFromStart(7);
  using Change = std::function<void(moveit::core::RobotState&)>;
  const std::vector<std::pair<std::string, Change>> changes{
      {"position is nan", [](auto& state) { state.setVariablePosition("joint2", NAN); }},
      {"velocity is inf", [](auto& state) { state.setVariableVelocity("joint2", INFINITY); }},
      {"acceleration is nan", [](auto& state) { state.setVariableAcceleration("joint2", NAN); }}};
  for (const bool warn_only : {false, true}) {
    set("warn_only", rclcpp::ParameterValue(warn_only));
    for (const auto& [said, change] : changes) {
      RobotTrajectory bad(*timed.trajectory, true);
      change(*bad.getWayPointPtr(7));
      const MotionPlanResponse refused = check(bad);
      EXPECT_EQ(refused.error_code, MoveItErrorCode::INVALID_MOTION_PLAN);
      EXPECT_NE(refused.error_code.message.find("joint 'joint2': its " + said), std::string::npos)
          << refused.error_code.message;
      std::ostringstream when;
      when << "at " << t << " s, point 8 of " << bad.getWayPointCount();
      EXPECT_NE(refused.error_code.message.find(when.str()), std::string::npos)
          << refused.error_code.message;
    }
  }
}

TEST_F(Adapters, CheckRefusesTooMuchVelocityAndNamesIt) {
  // So slow that no torque is exceeded, but for one point.
  request.max_velocity_scaling_factor = 0.2;
  const MotionPlanResponse timed = time(kPath);
  ASSERT_TRUE(check(*timed.trajectory).error_code);
  RobotTrajectory fast(*timed.trajectory, true);
  const std::size_t middle = fast.getWayPointCount() / 2;
  fast.setWayPointDurationFromPrevious(middle, 10);
  moveit::core::RobotState& state = *fast.getWayPointPtr(middle);
  state.setVariableVelocity("joint6", 1.02 * model->getVariableBounds("joint6").max_velocity_);
  const MotionPlanResponse refused = check(fast);
  EXPECT_EQ(refused.error_code, MoveItErrorCode::INVALID_MOTION_PLAN);
  for (const char* part : {"joint 'joint6': ", "rad/s at ", "beyond its velocity limit"}) {
    EXPECT_NE(refused.error_code.message.find(part), std::string::npos)
        << refused.error_code.message;
  }
}

TEST_F(Adapters, CheckRefusesPositionsBeyondTheLimitsAndNamesThem) {
  const double limit = model->getVariableBounds("joint1").max_position_;
  Points points{{limit - 0.2, -1.0, 1.5, 0, 0, 0}, {limit + 0.01, -1.0, 1.5, 0, 0, 0}};
  const auto slowly = [&](const Points& way) {
    RobotTrajectory motion = trajectory(way);
    motion.setWayPointDurationFromPrevious(1, 5);
    return check(motion).error_code;
  };
  const MoveItErrorCode code = slowly(points);
  EXPECT_EQ(code, MoveItErrorCode::INVALID_MOTION_PLAN);
  for (const char* part : {"joint 'joint1': ", "rad at 5 s", "beyond its limits"})
    EXPECT_NE(code.message.find(part), std::string::npos) << code.message;
  points[1][0] = limit - 0.2;
  points[1][1] = -0.9;
  // Soft limits of the description are narrower.
  points[0][0] = points[1][0] = limit - 0.5;
  EXPECT_TRUE(slowly(points)) << slowly(points).message;
}

// --- joints that are not the arm's ---

TEST(OtherJoints, AreTimedByMoveItsAccelerationLimits) {
  const std::string link = R"(<inertial><origin xyz="0.1 0 0"/><mass value="1"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>)";
  const std::string joint =
      R"(<axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="50" velocity="2"/>)";
  const std::string finger =
      R"(<axis xyz="0 1 0"/><limit lower="-0.1" upper="0.1" effort="5" velocity="0.1"/>)";
  const std::string urdf = R"(<robot name="two"><link name="base"/>
      <joint name="a" type="revolute"><parent link="base"/><child link="one"/>)" +
                           joint + R"(</joint>
      <link name="one">)" + link +
                           R"(</link>
      <joint name="b" type="revolute"><parent link="one"/><child link="two"/><origin xyz="0.3 0 0"/>)" +
                           joint + R"(</joint><link name="two">)" + link + R"(</link>
      <joint name="left" type="prismatic"><parent link="two"/><child link="left_finger"/>)" +
                           finger + R"(</joint><link name="left_finger">)" + link + R"(</link>
      <joint name="right" type="prismatic"><parent link="two"/><child link="right_finger"/>)" +
                           finger + R"(</joint><link name="right_finger">)" + link +
                           R"(</link></robot>)";
  const auto model = test::model_of(urdf, R"(<robot name="two">
      <group name="arm"><joint name="a"/><joint name="b"/></group>
      <group name="gripper"><joint name="left"/><joint name="right"/></group>
      <group name="all"><group name="arm"/><group name="gripper"/></group></robot>)");
  for (const char* name : {"left", "right"}) {
    moveit::core::VariableBounds bounds = model->getVariableBounds(name);
    bounds.acceleration_bounded_ = true;
    bounds.max_acceleration_ = 1, bounds.min_acceleration_ = -1;
    model->getJointModel(name)->setVariableBounds(name, bounds);
  }
  const auto node = test::make_node(urdf);
  const auto scene = std::make_shared<planning_scene::PlanningScene>(model);
  const auto adapter = test::load<PlanningResponseAdapter>(
      "planning_interface::PlanningResponseAdapter", "ga_motion/TorqueLimitedTiming");
  adapter->initialize(node, "ompl");
  const auto time = [&](const std::string& group, double arm, double gripper) {
    MotionPlanResponse response;
    response.trajectory = std::make_shared<RobotTrajectory>(model, group);
    moveit::core::RobotState state(model);
    state.setToDefaultValues();
    response.trajectory->addSuffixWayPoint(state, 0);
    state.setVariablePosition("a", arm), state.setVariablePosition("left", gripper);
    response.trajectory->addSuffixWayPoint(state, 0);
    adapter->adapt(scene, MotionPlanRequest(), response);
    return response;
  };
  EXPECT_TRUE(time("gripper", 0, 0.05).error_code);
  EXPECT_TRUE(time("arm", 0.5, 0).error_code);
  EXPECT_TRUE(time("all", 0.5, 0).error_code);
  const MotionPlanResponse both = time("all", 0.5, 0.05);
  EXPECT_EQ(both.error_code, MoveItErrorCode::FAILURE);
  EXPECT_NE(both.error_code.message.find("joint 'left' moves with the arm"), std::string::npos);
}

/// A robot of revolute and prismatic joints with the limits that MoveIt needs.
class Built {
 public:
  /// A joint and the link behind it, `x` from its parent.
  void add(const std::string& joint, const std::string& parent, const std::string& link, double x,
           bool finger = false) {
    text_ += "<joint name='" + joint + "' type='" + (finger ? "prismatic" : "revolute") +
             "'><parent link='" + parent + "'/><child link='" + link + "'/><origin xyz='" +
             std::to_string(x) + " 0 0'/><axis xyz='0 1 0'/>" +
             (finger ? "<limit lower='-0.1' upper='0.1' effort='0' velocity='0.1'/>"
                     : "<limit lower='-2' upper='2' effort='50' velocity='2'/>") +
             "</joint><link name='" + link + R"('><inertial><origin xyz='0.1 0 0'/><mass value='1'/>
      <inertia ixx='0.01' ixy='0' ixz='0' iyy='0.01' iyz='0' izz='0.01'/></inertial></link>)";
    joints_.push_back(joint);
  }
  std::string urdf() const {
    return "<robot name='built'><link name='base'/>" + text_ + "</robot>";
  }
  moveit::core::RobotModelPtr model(const std::string& groups) const {
    const auto result = test::model_of(urdf(), "<robot name='built'>" + groups + "</robot>");
    for (const std::string& name : joints_) {
      moveit::core::VariableBounds bounds = result->getVariableBounds(name);
      bounds.acceleration_bounded_ = true;
      bounds.max_acceleration_ = 1, bounds.min_acceleration_ = -1;
      result->getJointModel(name)->setVariableBounds(name, bounds);
    }
    return result;
  }

 private:
  std::string text_;
  std::vector<std::string> joints_;
};

/// Times a motion of the group's joints by 0.05 and returns the response.
MotionPlanResponse timed_motion(const Built& robot, const moveit::core::RobotModelPtr& model,
                                const std::string& group, const std::string& plugin,
                                const std::shared_ptr<RobotTrajectory>& given = nullptr) {
  const auto adapter = test::load<PlanningResponseAdapter>(
      "planning_interface::PlanningResponseAdapter", "ga_motion/" + plugin);
  adapter->initialize(test::make_node(robot.urdf()), "ompl");
  MotionPlanResponse response;
  response.trajectory = given ? given : std::make_shared<RobotTrajectory>(model, group);
  if (!given) {
    moveit::core::RobotState state(model);
    state.setToDefaultValues();
    response.trajectory->addSuffixWayPoint(state, 0);
    for (const std::string& name : model->getJointModelGroup(group)->getVariableNames())
      state.setVariablePosition(name, 0.05);
    response.trajectory->addSuffixWayPoint(state, 0);
  }
  adapter->adapt(std::make_shared<planning_scene::PlanningScene>(model), MotionPlanRequest(),
                 response);
  return response;
}

TEST(Arms, AreTheGroupsThatAreChainsSoEachOfTwoIsTimedByItsTorque) {
  Built robot;
  robot.add("l1", "base", "l_upper", 0);
  robot.add("l2", "l_upper", "l_hand", 0.3);
  robot.add("r1", "base", "r_upper", -0.5);
  robot.add("r2", "r_upper", "r_lower", 0.3);
  robot.add("r3", "r_lower", "r_hand", 0.3);
  const auto model = robot.model(R"(
      <group name="left"><chain base_link="base" tip_link="l_hand"/></group>
      <group name="right"><chain base_link="base" tip_link="r_hand"/></group>)");
  for (const char* group : {"left", "right"}) {
    const MotionPlanResponse timed = timed_motion(robot, model, group, "TorqueLimitedTiming");
    ASSERT_TRUE(timed.error_code) << timed.error_code.message;
    // MoveIt's timing keeps 1 rad/s²; torque allows more.
    double largest = 0;
    for (std::size_t k = 0; k < timed.trajectory->getWayPointCount(); ++k) {
      for (const std::string& name : model->getJointModelGroup(group)->getVariableNames()) {
        largest = std::max(
            largest, std::abs(timed.trajectory->getWayPoint(k).getVariableAcceleration(name)));
      }
    }
    EXPECT_GT(largest, 3) << group;
    EXPECT_TRUE(timed_motion(robot, model, group, "CheckTorques", timed.trajectory).error_code);
  }
}

TEST(Arms, AreNotTheHandsAtTheirEnds) {
  // The longest chain ends in a finger, which has no effort limit.
  Built robot;
  robot.add("a", "base", "upper", 0);
  robot.add("b", "upper", "palm", 0.3);
  robot.add("proximal", "palm", "knuckle", 0.1, true);
  robot.add("distal", "knuckle", "nail", 0.1, true);
  robot.add("thumb", "palm", "thumb_link", 0.1, true);
  const std::string arm = R"(<group name="arm"><chain base_link="base" tip_link="palm"/></group>)";
  for (
      const char* const hand :
      {R"(<group name="hand"><joint name="proximal"/><joint name="distal"/><joint name="thumb"/></group>)",
       R"(<group name="hand"><joint name="thumb"/></group>)",
       R"(<group name="hand"><joint name="proximal"/><joint name="distal"/></group>
           <end_effector name="hand" group="hand" parent_link="palm" parent_group="arm"/>)"}) {
    const auto model = robot.model(arm + hand);
    for (const char* group : {"arm", "hand"}) {
      const MotionPlanResponse timed = timed_motion(robot, model, group, "TorqueLimitedTiming");
      EXPECT_TRUE(timed.error_code) << group << ": " << timed.error_code.message;
      EXPECT_GT(timed.trajectory->getDuration(), 0);
      const MotionPlanResponse checked =
          timed_motion(robot, model, group, "CheckTorques", timed.trajectory);
      EXPECT_TRUE(checked.error_code) << group << ": " << checked.error_code.message;
    }
  }
}

// --- goals ---

class Goals : public Adapters {
 protected:
  Goals() {
    moveit::core::loadIKPluginForGroup(node, model->getJointModelGroup("arm"), "base_link", "tool0",
                                       "ga_motion/ClosedFormKinematics");
    start().setToDefaultValues();
    start().setJointGroupPositions("arm", kPath[0]);
    start().update();
  }
  moveit::core::RobotState& start() { return scene->getCurrentStateNonConst(); }

  MoveItErrorCode verdict() {
    const auto planner = test::load<planning_interface::PlannerManager>(
        "planning_interface::PlannerManager", "ga_motion/CheckGoal");
    planner->initialize(model, node, "ompl");
    MotionPlanResponse response;
    const auto context = planner->getPlanningContext(scene, request, response.error_code);
    context->solve(response);
    EXPECT_FALSE(response.trajectory);
    return response.error_code;
  }
  void resolve() {
    const auto adapter = test::load<planning_interface::PlanningRequestAdapter>(
        "planning_interface::PlanningRequestAdapter", "ga_motion/NearestGoal");
    EXPECT_TRUE(adapter->adapt(scene, request));
  }
  void joint_goal(const std::vector<double>& q) {
    moveit::core::RobotState state(start());
    state.setJointGroupPositions("arm", q);
    request.goal_constraints = {kinematic_constraints::constructGoalConstraints(
        state, model->getJointModelGroup("arm"), 1e-4)};
  }
  Eigen::Isometry3d tool_at(const std::vector<double>& q) {
    moveit::core::RobotState state(start());
    state.setJointGroupPositions("arm", q);
    state.update();
    return state.getGlobalLinkTransform("tool0");
  }
  void pose_goal(const Eigen::Isometry3d& pose) {
    geometry_msgs::msg::PoseStamped message;
    message.header.frame_id = "base_link";
    message.pose = tf2::toMsg(pose);
    request.goal_constraints = {kinematic_constraints::constructGoalConstraints("tool0", message)};
  }
};

TEST_F(Goals, OfAPoseIsTheBranchNearestToTheStart) {
  std::vector<double> wanted = kPath[0];
  wanted[0] += 0.3, wanted[2] -= 0.2, wanted[4] += 0.4;
  pose_goal(tool_at(wanted));
  EXPECT_TRUE(verdict());
  resolve();
  ASSERT_EQ(request.goal_constraints.size(), 1u);
  const auto& joints = request.goal_constraints[0].joint_constraints;
  ASSERT_EQ(joints.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(joints[i].position, wanted[i], 1e-6);
  EXPECT_TRUE(verdict());
}

TEST_F(Goals, OfAPoseIsAnotherBranchIfTheNearestIsBlocked) {
  std::vector<double> wanted = kPath[0];
  wanted[0] += 0.3;
  const Eigen::Isometry3d pose = tool_at(wanted);
  moveit::core::RobotState state(start());
  state.setJointGroupPositions("arm", wanted);
  state.update();
  // At the elbow of the nearest branch.
  const Eigen::Vector3d elbow = state.getGlobalLinkTransform("link3").translation();
  put_box(elbow.x(), elbow.y(), elbow.z(), 0.05);
  pose_goal(pose);
  EXPECT_TRUE(verdict()) << verdict().message;
  resolve();
  const auto& joints = request.goal_constraints[0].joint_constraints;
  ASSERT_EQ(joints.size(), 6u);
  std::vector<double> found;
  double moved = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    found.push_back(joints[i].position);
    moved = std::max(moved, std::abs(found[i] - wanted[i]));
  }
  EXPECT_GT(moved, 0.3);
  EXPECT_TRUE(tool_at(found).isApprox(pose, 1e-6));
}

TEST_F(Goals, InCollisionAreRefusedWithTheContacts) {
  const Eigen::Vector3d tool = tool_at(kPath[1]).translation();
  put_box(tool.x(), tool.y(), tool.z(), 0.1);
  joint_goal(kPath[1]);
  MoveItErrorCode code = verdict();
  EXPECT_EQ(code, MoveItErrorCode::GOAL_IN_COLLISION);
  EXPECT_NE(code.message.find("box with "), std::string::npos) << code.message;
  pose_goal(tool_at(kPath[1]));
  code = verdict();
  EXPECT_EQ(code, MoveItErrorCode::GOAL_IN_COLLISION);
  EXPECT_EQ(code.source, "CheckGoal");
  EXPECT_NE(code.message.find("box with "), std::string::npos) << code.message;
  // The adapter leaves it to the check.
  resolve();
  EXPECT_TRUE(request.goal_constraints[0].joint_constraints.empty());
}

TEST_F(Goals, BeyondALimitAreRefusedWithTheJoint) {
  std::vector<double> far = kPath[0];
  far[2] = 4.5;
  joint_goal(far);
  const MoveItErrorCode code = verdict();
  EXPECT_EQ(code, MoveItErrorCode::GOAL_STATE_INVALID);
  EXPECT_NE(code.message.find("joint 'joint3', 4.5, is beyond its limits"), std::string::npos)
      << code.message;
}

TEST_F(Goals, OutOfReachAreRefusedWithTheDistance) {
  Eigen::Isometry3d pose = tool_at(kPath[0]);
  pose.translation() = Eigen::Vector3d(1.5, 0, 0);
  pose_goal(pose);
  const MoveItErrorCode code = verdict();
  EXPECT_EQ(code, MoveItErrorCode::NO_IK_SOLUTION);
  EXPECT_NE(code.message.find("m too far from"), std::string::npos) << code.message;
}

/// A solver that fails as no solver should.
class Throwing final : public kinematics::KinematicsBase {
 public:
  using Pose = geometry_msgs::msg::Pose;
  using Values = std::vector<double>;
  using Options = kinematics::KinematicsQueryOptions;
  using Code = moveit_msgs::msg::MoveItErrorCodes;

  explicit Throwing(const moveit::core::JointModelGroup& group)
      : joints_(group.getActiveJointModelNames()) {
    storeValues(group.getParentModel(), group.getName(), "base_link", {"tool0"}, 0.1);
  }
  bool getPositionIK(const Pose&, const Values&, Values&, Code&, const Options&) const override {
    throw std::runtime_error("the solver is broken");
  }
  bool searchPositionIK(const Pose&, const Values&, double, Values&, Code&,
                        const Options&) const override {
    throw std::runtime_error("the solver is broken");
  }
  bool searchPositionIK(const Pose&, const Values&, double, const Values&, Values&, Code&,
                        const Options&) const override {
    throw std::runtime_error("the solver is broken");
  }
  bool searchPositionIK(const Pose&, const Values&, double, Values&, const IKCallbackFn&, Code&,
                        const Options&) const override {
    throw std::runtime_error("the solver is broken");
  }
  bool searchPositionIK(const Pose&, const Values&, double, const Values&, Values&,
                        const IKCallbackFn&, Code&, const Options&) const override {
    throw std::runtime_error("the solver is broken");
  }
  bool getPositionFK(const std::vector<std::string>&, const Values&,
                     std::vector<Pose>&) const override {
    return false;
  }
  const std::vector<std::string>& getJointNames() const override { return joints_; }
  const std::vector<std::string>& getLinkNames() const override { return links_; }

 private:
  std::vector<std::string> joints_, links_{"tool0"};
};

TEST_F(Goals, ThatCannotBeCheckedAreRefusedWithTheReason) {
  model->getJointModelGroup("arm")->setSolverAllocators(
      [](const moveit::core::JointModelGroup* group) {
        return std::make_shared<Throwing>(*group);
      });
  pose_goal(tool_at(kPath[1]));
  const auto goal = request.goal_constraints;
  MoveItErrorCode code;
  EXPECT_NO_THROW(code = verdict());
  EXPECT_EQ(code, MoveItErrorCode::INVALID_GOAL_CONSTRAINTS);
  EXPECT_EQ(code.message, "the goal cannot be checked: the solver is broken");
  EXPECT_NO_THROW(resolve());
  EXPECT_EQ(request.goal_constraints, goal);
}

TEST_F(Goals, OfOtherKindsAreLeftToThePlanner) {
  pose_goal(tool_at(kPath[1]));
  request.goal_constraints[0].orientation_constraints.clear();
  const auto goal = request.goal_constraints;
  EXPECT_TRUE(verdict());
  resolve();
  EXPECT_EQ(request.goal_constraints, goal);
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
