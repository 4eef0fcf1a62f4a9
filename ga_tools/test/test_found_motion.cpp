// SPDX-License-Identifier: Apache-2.0

// Motions that are found for arms of which nothing but their description is known, and their runs.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "ga_motion/cartesian_line.hpp"
#include "ga_motion/kinematics.hpp"
#include "ga_motion/trajectory.hpp"
#include "study/demonstration.hpp"
#include "study/stick_figure.hpp"

namespace ga_tools {
namespace {

using namespace ga_motion;
using ga_dynamics::Chain;
using ga_dynamics::Pose;
using ga_dynamics::Vector3;

Chain robot(const char* name) { return Chain::from_urdf_file(std::string(ROBOTS) + "/" + name); }

/// Arms of bars of 0.3 m and 1 kg, joints about z and y in turn, without limits.
Chain bars(std::size_t joints, const ga_dynamics::JointLimits& limits = {-2.5, 2.5, 2, 100}) {
  std::vector<ga_dynamics::DhJoint> rows(joints);
  for (std::size_t i = 0; i < joints; ++i) {
    rows[i].body = {1, {0.15, 0, 0}, {0.01, 0, 0, 0, 0.02, 0, 0, 0, 0.02}};
    rows[i].limits = limits;
    if (i > 0)
      rows[i].dh = {i % 2 == 1 ? 1.5707963267948966 : -1.5707963267948966, 0.3, 0.05, 0, 0};
  }
  return Chain::from_dh(rows);
}

struct Sample {
  std::vector<double> q, qd, qdd;
  explicit Sample(const ga_motion::Trajectory& motion, double t)
      : q(static_cast<std::size_t>(motion.size())), qd(q.size()), qdd(q.size()) {
    motion.sample(t, q, qd, qdd);
  }
};

/// Largest distance of the tool from the straight line between the motion's ends, and largest turn
/// of it [rad].
struct Straightness {
  double distance = 0, turn = 0, length = 0;
};
Straightness straightness_of(const ga_motion::Trajectory& motion, const Chain& chain) {
  const ga_motion::NumericKinematics kinematics(chain);
  Pose from, to;
  kinematics.forward(Sample(motion, 0).q, from);
  kinematics.forward(Sample(motion, motion.duration()).q, to);
  Straightness s;
  Vector3 u{};
  for (std::size_t k = 0; k < 3; ++k) u[k] = to.translation[k] - from.translation[k];
  s.length = std::hypot(u[0], u[1], u[2]);
  for (double& component : u) component /= s.length;
  for (double t = 0; t <= motion.duration(); t += 0.01) {
    Pose pose;
    kinematics.forward(Sample(motion, t).q, pose);
    Vector3 off{};
    double way = 0, trace = 0;
    for (std::size_t k = 0; k < 3; ++k) way += u[k] * (pose.translation[k] - from.translation[k]);
    for (std::size_t k = 0; k < 3; ++k)
      off[k] = pose.translation[k] - from.translation[k] - way * u[k];
    for (std::size_t k = 0; k < 9; ++k) trace += pose.rotation[k] * from.rotation[k];
    s.distance = std::max(s.distance, std::hypot(off[0], off[1], off[2]));
    s.turn = std::max(s.turn, std::acos(std::clamp(0.5 * (trace - 1), -1.0, 1.0)));
  }
  return s;
}

void expect_within_limits(const ga_motion::Trajectory& motion, const Chain& chain) {
  for (double t = 0; t <= motion.duration(); t += 0.01) {
    const Sample s(motion, t), ahead(motion, t + 1e-4), behind(motion, t - 1e-4);
    for (std::size_t i = 0; i < s.q.size(); ++i) {
      const auto& limits = chain.joints()[i].limits;
      ASSERT_TRUE(s.q[i] >= limits.lower && s.q[i] <= limits.upper) << "joint " << i << " at " << t;
      ASSERT_LE(std::abs(s.qd[i]), limits.velocity) << "joint " << i << " at " << t;
      if (t < 1e-3 || t > motion.duration() - 1e-3) continue;
      ASSERT_NEAR(s.qd[i], (ahead.q[i] - behind.q[i]) / 2e-4, 1e-5) << "joint " << i << " at " << t;
      ASSERT_NEAR(s.qdd[i], (ahead.qd[i] - behind.qd[i]) / 2e-4, 1e-3)
          << "joint " << i << " at " << t;
    }
  }
}

TEST(FoundMotion, KeepsTheOrientationOfArmsWithSixJointsAndMore) {
  for (const Chain& chain :
       {robot("puma560_akb.urdf"), robot("seven_joints.urdf"), bars(6), bars(8)}) {
    const auto line = find_line(chain);
    ASSERT_TRUE(line) << chain.size();
    EXPECT_NE(line->description.find("orientation kept"), std::string::npos) << line->description;
    const Straightness s = straightness_of(*line->trajectory, chain);
    EXPECT_GT(s.length, 0.05) << line->description;
    EXPECT_LT(s.distance, 1e-6) << line->description;
    EXPECT_LT(s.turn, 1e-6) << line->description;
    expect_within_limits(*line->trajectory, chain);
  }
}

TEST(FoundMotion, LeavesTheOrientationOfArmsWithThreeToFiveJointsFree) {
  for (const Chain& chain : {robot("scara.urdf"), bars(4), bars(5)}) {
    const auto line = find_line(chain);
    ASSERT_TRUE(line) << chain.size();
    EXPECT_NE(line->description.find("orientation free"), std::string::npos) << line->description;
    const Straightness s = straightness_of(*line->trajectory, chain);
    EXPECT_GT(s.length, 0.02) << line->description;
    EXPECT_LT(s.distance, 2e-6) << line->description;
    expect_within_limits(*line->trajectory, chain);
  }
}

TEST(FoundMotion, FindsNoLineForAnArmThatMovesInAPlane) {
  std::vector<ga_dynamics::DhJoint> rows(4);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].body = {1, {0.15, 0, 0}, {0.01, 0, 0, 0, 0.02, 0, 0, 0, 0.02}};
    if (i > 0) rows[i].dh.a = 0.3;
  }
  const Chain planar = Chain::from_dh(rows);
  EXPECT_FALSE(find_line(planar));
  EXPECT_FALSE(find_line(bars(3))) << "the third turns the tool about itself";
  EXPECT_FALSE(find_line(bars(2)));
  EXPECT_THROW(choose_motion("line", planar), std::runtime_error);
  EXPECT_NE(choose_motion("auto", planar).description.find("all joints"), std::string::npos);
}

TEST(FoundMotion, IsTheSameEveryTime) {
  const Chain chain = bars(6);
  const auto first = find_line(chain), again = find_line(chain);
  ASSERT_TRUE(first && again);
  EXPECT_EQ(first->description, again->description);
  EXPECT_EQ(Sample(*first->trajectory, 1).q, Sample(*again->trajectory, 1).q);
}

TEST(FoundMotion, TakesItsTimeWhereVelocitiesAndTorquesAreLimited) {
  const Motion free = find_joint_motion(bars(2, {-2.5, 2.5, 10, 1000}));
  EXPECT_DOUBLE_EQ(free.trajectory->duration(), 3);
  const Chain slow = bars(2, {-2.5, 2.5, 0.2, 1000});
  const Motion careful = find_joint_motion(slow);
  EXPECT_GT(careful.trajectory->duration(), 10);
  expect_within_limits(*careful.trajectory, slow);
  // Horizontal, the arm weighs 9.81 (0.15 + 0.45) = 5.9 N m on its second joint: no posture is
  // lighter.
  const Motion overloaded = find_joint_motion(bars(3, {-0.1, 0.1, 1, 0.5}));
  EXPECT_NE(overloaded.description.find("more torque than the limits"), std::string::npos);
}

TEST(UsableRange, IsAboutZeroOrAboutTheMiddleOfTheLimits) {
  const auto range = [](double lower, double upper) {
    ga_dynamics::ChainJoint joint;
    joint.limits.lower = lower, joint.limits.upper = upper;
    const Range r = usable_range(joint);
    return std::pair(r.low, r.high);
  };
  EXPECT_EQ(range(-INFINITY, INFINITY), std::pair(-2.0, 2.0));
  // 0.05 rad from the limits, or 7 % of the range: clear of the hardware's soft limits.
  EXPECT_EQ(range(-1, 3), std::pair(-0.95, 2.0));
  EXPECT_EQ(range(2.5, 3.5), std::pair(2.55, 3.45));
  EXPECT_NEAR(range(-0.1, 0.1).first, -0.086, 1e-12);
  EXPECT_EQ(range(3, 13), std::pair(6.0, 10.0));
  EXPECT_EQ(range(3, INFINITY), std::pair(3.05, 7.05));
  EXPECT_EQ(range(-INFINITY, -4), std::pair(-8.05, -4.05));
}

TEST(PositionLine, RefusesASingularityAndLimits) {
  const Chain chain = bars(4);
  const ga_motion::NumericKinematics kinematics(chain);
  EXPECT_LT(position_dexterity(kinematics, std::vector<double>{0, 0, 0, 0}), 0.02) << "stretched";
  EXPECT_GT(position_dexterity(kinematics, std::vector<double>{0.2, 0.8, 0.7, 0}), 0.1);
  const auto refused = [&](const PositionLine& line) {
    try {
      make_position_line(kinematics, line);
    } catch (const ga_motion::KinematicsError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refused({{0.2, 0.8, 0.7, 0}, {1, 0, 0}, 5, 0.1, 0.25}), "") << "beyond its reach";
  EXPECT_EQ(refused({{0.2, 0.8, 0.7, 0}, {1, 0, 0}, 0.05, 0.1, 0.25}), "");
  EXPECT_NE(refused({{0.2, 0.8, 0.7, 0}, {1, 0, 0}, 0.05, 20, 0.001}).find("velocity"),
            std::string::npos);
  EXPECT_NE(refused({{2.49, 0.8, 0.7, 0}, {0, 1, 0}, 0.3, 0.1, 0.25}).find("limits"),
            std::string::npos);
}

class AnyArm : public testing::TestWithParam<std::size_t> {};

TEST_P(AnyArm, IsSimulatedWithoutDrivesAndLimits) {
  const std::size_t joints = GetParam();
  // As a URDF, with nothing but inertias in it; every third joint slides.
  std::string urdf = "<robot name='bars'><link name='base'/>";
  for (std::size_t i = 0; i < joints; ++i) {
    const std::string name = std::to_string(i),
                      before = i == 0 ? "base" : "l" + std::to_string(i - 1);
    const bool slides = i % 3 == 2;
    urdf += "<link name='l" + name +
            "'><inertial><origin xyz='0.1 0 0'/><mass value='0.5'/><inertia ixx='0.001' "
            "iyy='0.002' izz='0.002' "
            "ixy='0' ixz='0' iyz='0'/></inertial></link><joint name='j" +
            name + "' type='" + (slides ? "prismatic" : "continuous") + "'><parent link='" +
            before + "'/><child link='l" + name + "'/><origin xyz='" + (i == 0 ? "0" : "0.25") +
            " 0 0.02'/><axis xyz='" + (i % 2 == 0 ? "0 0 1" : "0 1 0") + "'/>" +
            (slides ? "<limit lower='-0.2' upper='0.2' effort='100' velocity='1'/>" : "") +
            "</joint>";
  }
  const std::string file = testing::TempDir() + "/bars" + std::to_string(joints) + ".urdf";
  std::ofstream(file) << urdf << "</robot>";
  DemonstrationOptions options;
  options.urdf = file;
  options.settle_time = 1;
  const Demonstration d = demonstrate(options, {});
  EXPECT_TRUE(d.ok());
  for (const LawResult& r : d.results) {
    // Links without rotor inertia are coupled so much that a PID of each joint may oscillate.
    if (r.id == "pid") continue;
    EXPECT_TRUE(r.verdict->ok()) << r.id << " " << describe(*r.verdict);
    const bool modeled = r.id == "integral" || r.id == "tracking";
    EXPECT_LT(r.metrics.joint_max, modeled ? 2e-4 : 0.5) << r.id << ", " << d.motion;
  }
  const auto noted = [&](const char* text) {
    return std::any_of(d.notes.begin(), d.notes.end(), [&](const std::string& note) {
      return note.find(text) != std::string::npos;
    });
  };
  EXPECT_TRUE(noted("position sensors are ideal"));
  EXPECT_TRUE(noted("torque outputs are ideal"));
  EXPECT_TRUE(noted("no friction"));
  EXPECT_TRUE(noted("no torque limit"));

  // Nothing to draw in it: a stick figure with a shape on every link that moves.
  const auto figure = stick_figure(d.chain, {});
  for (std::size_t i = 0; i < joints; ++i) EXPECT_FALSE(figure.at("l" + std::to_string(i)).empty());
}

INSTANTIATE_TEST_SUITE_P(Joints, AnyArm, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 10));

TEST(StickFigure, RunsFromJointToJointAndLeavesWhatHasAShape) {
  const Chain chain = bars(3);
  auto figure = stick_figure(chain, {});
  ASSERT_EQ(figure.size(), 4u) << "base, link1 to link3";
  const auto& bar = figure.at("link1").at(0);
  EXPECT_EQ(bar.at("type"), "cylinder");
  EXPECT_NEAR(bar.at("length").get<double>(), std::hypot(0.3, 0.05), 1e-9);
  EXPECT_NEAR(bar.at("pose").at(0).get<double>(), 0.15, 1e-9) << "its middle";
  EXPECT_EQ(figure.at("link2").at(1).at("type"), "sphere");
  const nlohmann::json box = nlohmann::json::array({{{"type", "box"}}});
  figure = stick_figure(chain, {{"link1", box}});
  EXPECT_FALSE(figure.contains("link1"));
  EXPECT_TRUE(figure.contains("link2"));
  EXPECT_TRUE(
      stick_figure(chain, {{"base", box}, {"link1", box}, {"link2", box}, {"link3", box}}).empty());
}

}  // namespace
}  // namespace ga_tools
