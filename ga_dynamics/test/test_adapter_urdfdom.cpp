// SPDX-License-Identifier: Apache-2.0

// urdfdom.hpp: the chain of a robot that urdfdom has read is the one that its text gives.

#include <gtest/gtest.h>
#include <urdf_parser/urdf_parser.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/urdfdom.hpp"
#include "random_robot.hpp"

namespace ga_dynamics {
namespace {

std::string text_of(const char* robot) {
  std::ifstream file(std::string(GA_ROBOTS) + "/" + robot);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The <ros2_control> elements of a text.
std::string ros2_control(const std::string& text) {
  const std::size_t begin = text.find("<ros2_control"), end = text.rfind("</ros2_control>");
  return begin == std::string::npos ? "" : text.substr(begin, end + 15 - begin);
}

void expect_same(const Chain& chain, const Chain& expected) {
  ASSERT_EQ(chain.size(), expected.size());
  EXPECT_EQ(chain.tip().name, expected.tip().name);
  EXPECT_EQ(chain.links().size(), expected.links().size());
  for (std::size_t i = 0; i < chain.joints().size(); ++i) {
    const ChainJoint &a = chain.joints()[i], &b = expected.joints()[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.link, b.link);
    EXPECT_EQ(a.type, b.type);
    EXPECT_EQ(a.parameters, b.parameters);
    EXPECT_NEAR(a.dh.alpha, b.dh.alpha, 1e-12);
    EXPECT_NEAR(a.dh.beta, b.dh.beta, 1e-12);
    EXPECT_NEAR(a.dh.a, b.dh.a, 1e-12);
    EXPECT_NEAR(a.dh.d, b.dh.d, 1e-11);
    EXPECT_NEAR(std::remainder(a.dh.theta - b.dh.theta, 2 * M_PI), 0, 1e-11);
    EXPECT_EQ(a.limits.lower, b.limits.lower);
    EXPECT_EQ(a.limits.upper, b.limits.upper);
    EXPECT_EQ(a.limits.velocity, b.limits.velocity);
    EXPECT_EQ(a.limits.effort, b.limits.effort);
    EXPECT_EQ(a.limits.soft_lower, b.limits.soft_lower);
    EXPECT_EQ(a.limits.soft_upper, b.limits.soft_upper);
    EXPECT_EQ(a.drive.armature, b.drive.armature);
    EXPECT_EQ(a.drive.viscous, b.drive.viscous);
    EXPECT_EQ(a.drive.coulomb_positive, b.drive.coulomb_positive);
    EXPECT_EQ(a.drive.coulomb_negative, b.drive.coulomb_negative);
    EXPECT_NEAR(a.body.mass, b.body.mass, 1e-12);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(a.body.com[k], b.body.com[k], 1e-11);
    for (std::size_t k = 0; k < 9; ++k) EXPECT_NEAR(a.body.inertia[k], b.body.inertia[k], 1e-11);
  }
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_NEAR(chain.tip().pose.translation[k], expected.tip().pose.translation[k], 1e-11);
}

void expect_same_as_text(const std::string& text) {
  const urdf::ModelInterfaceSharedPtr robot = urdf::parseURDF(text);
  ASSERT_TRUE(robot);
  const std::string drives = ros2_control(text);
  expect_same(chain_from_urdfdom(*robot, {}, {.ros2_control = drives}),
              Chain::from_urdf_text(text));
}

/// An arm with a fixed joint, a gripper that mimics, a rotated inertia, friction and odd names; at
/// the second joint pitch is ±90°, where roll and yaw cannot be told apart.
const char* const kArm = R"(<robot name="arm &amp; hand">
<link name="base"/>
<link name="upper &lt;arm&gt;"><inertial><origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/>
  <mass value="3"/><inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="0.002" iyz="-0.003"/>
  </inertial></link>
<link name="bracket"><inertial><origin xyz="0 0.1 0"/><mass value="0.5"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="forearm"><inertial><mass value="1"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="left"><inertial><mass value="0.1"/>
  <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="right"/>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper &lt;arm&gt;"/>
  <origin xyz="0 0 0.3" rpy="0.1 0.2 0.3"/><axis xyz="0 0 1"/>
  <limit lower="-1.5" upper="0" velocity="2" effort="50"/>
  <safety_controller soft_lower_limit="-1.4" soft_upper_limit="-0.1" k_position="5" k_velocity="9"/><dynamics damping="0.3" friction="0.7"/></joint>
<joint name="mount" type="fixed"><parent link="upper &lt;arm&gt;"/><child link="bracket"/>
  <origin xyz="0.4 0 0" rpy="0.3 1.5707963267948966 0.4"/></joint>
<joint name="elbow" type="continuous"><parent link="bracket"/><child link="forearm"/>
  <origin xyz="0.1 0 0" rpy="1 -1.5707963267948966 2"/><axis xyz="0 1 0"/>
  <limit velocity="0" effort="20"/><safety_controller k_velocity="10"/></joint>
<joint name="slide" type="prismatic"><parent link="forearm"/><child link="left"/>
  <axis xyz="1 0 0"/><limit lower="0" upper="0.05" velocity="1" effort="5"/></joint>
<joint name="slide2" type="prismatic"><parent link="forearm"/><child link="right"/>
  <axis xyz="-1 0 0"/><limit lower="0" upper="0.05" velocity="1" effort="5"/><mimic joint="slide"/></joint>
</robot>)";

TEST(UrdfdomAdapter, GivesTheSameChainAsTheText) {
  for (const char* robot : {"puma560_akb.urdf", "scara.urdf", "seven_joints.urdf"}) {
    SCOPED_TRACE(robot);
    expect_same_as_text(text_of(robot));
  }
  expect_same_as_text(kArm);
}

TEST(UrdfdomAdapter, GivesTheSameTorquesAndPosesForRandomRobots) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    test::RandomRobot random(6, seed, {.aligned = 0.7});
    const urdf::ModelInterfaceSharedPtr robot = urdf::parseURDF(random.urdf());
    Dynamics dynamics(chain_from_urdfdom(*robot));
    Dynamics expected(Chain::from_urdf_text(random.urdf()));
    const auto q = random.positions(6), qd = random.rates(6), qdd = random.rates(6);
    std::vector<double> torque(6), reference(6);
    dynamics.inverse_dynamics(q, qd, qdd, torque);
    expected.inverse_dynamics(q, qd, qdd, reference);
    EXPECT_LT(test::relative_difference(torque, reference), 1e-12) << seed;
    Pose a, b;
    dynamics.link_pose(q, dynamics.chain().tip_index(), a);
    expected.link_pose(q, expected.chain().tip_index(), b);
    EXPECT_LT(test::relative_difference(a.rotation, b.rotation), 1e-12) << seed;
    EXPECT_LT(test::relative_difference(a.translation, b.translation), 1e-12) << seed;
  }
}

TEST(UrdfdomAdapter, TakesDrivesByJointOrAsText) {
  const urdf::ModelInterfaceSharedPtr robot = urdf::parseURDF(kArm);
  const Chain plain = chain_from_urdfdom(*robot);
  EXPECT_EQ(plain.joints()[0].drive.armature, 0);
  EXPECT_EQ(plain.joints()[0].drive.viscous, 0.3);
  const Chain text = chain_from_urdfdom(
      *robot, {},
      {.ros2_control = "<ros2_control name='a' type='system'><joint name='shoulder'>"
                       "<param name='armature'>0.25</param></joint></ros2_control>"});
  EXPECT_EQ(text.joints()[0].drive.armature, 0.25);
  EXPECT_EQ(text.joints()[0].drive.viscous, 0.3);
  const Chain given = chain_from_urdfdom(*robot, {}, {.by_joint = {{"shoulder", {1, 2, 3, 4}}}});
  EXPECT_EQ(given.joints()[0].drive.armature, 1);
  EXPECT_EQ(given.joints()[0].drive.coulomb_negative, 4);
  EXPECT_THROW(chain_from_urdfdom(*robot, {}, {.by_joint = {{"hip", {}}}}), DescriptionError);
}

TEST(UrdfdomAdapter, RefusesWhatATextIsRefusedFor) {
  const urdf::ModelInterfaceSharedPtr robot = urdf::parseURDF(kArm);
  robot->links_.at("bracket")->inertial->izz = -1;
  try {
    chain_from_urdfdom(*robot);
    FAIL() << "accepted";
  } catch (const DescriptionError& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("link 'bracket'"), std::string::npos) << what;
    EXPECT_EQ(what.find("line"), std::string::npos) << what;
  }
  robot->links_.at("bracket")->inertial->izz = NAN;
  EXPECT_THROW(chain_from_urdfdom(*robot), DescriptionError);
}

}  // namespace
}  // namespace ga_dynamics
