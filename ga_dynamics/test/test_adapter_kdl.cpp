// SPDX-License-Identifier: Apache-2.0

// kdl.hpp: chains of Orocos KDL from ours and back have the same torques and poses.

#include <gtest/gtest.h>

#include <kdl/chainfksolverpos_recursive.hpp>
#include <kdl/chainidsolver_recursive_newton_euler.hpp>

#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/kdl.hpp"
#include "random_robot.hpp"

namespace ga_dynamics {
namespace {

using test::RandomRobot;
using Values = std::vector<double>;

KDL::JntArray to_array(const Values& values) {
  KDL::JntArray array(static_cast<unsigned>(values.size()));
  for (unsigned i = 0; i < values.size(); ++i) array(i) = values[i];
  return array;
}

Values kdl_torques(const KDL::Chain& kdl, const KDL::Vector& gravity, const Values& q,
                   const Values& qd, const Values& qdd) {
  KDL::JntArray torque(static_cast<unsigned>(q.size()));
  KDL::ChainIdSolver_RNE solver(kdl, gravity);
  EXPECT_EQ(solver.CartToJnt(to_array(q), to_array(qd), to_array(qdd),
                             KDL::Wrenches(kdl.getNrOfSegments()), torque),
            0);
  Values result(q.size());
  for (unsigned i = 0; i < q.size(); ++i) result[i] = torque(i);
  return result;
}

/// Torques and tool pose of both in a random state.
void expect_same(const Chain& chain, const KDL::Chain& kdl, RandomRobot& random) {
  ASSERT_EQ(kdl.getNrOfJoints(), static_cast<unsigned>(chain.size()));
  const Values q = random.positions(chain.size()), qd = random.rates(chain.size()),
               qdd = random.rates(chain.size());
  Dynamics dynamics(chain, {.drives = Drives::kArmature});
  Values torque(q.size());
  dynamics.inverse_dynamics(q, qd, qdd, torque);
  const Values expected = kdl_torques(kdl, gravity_for_kdl(chain), q, qd, qdd);
  EXPECT_LT(test::relative_difference(torque, expected), 1e-12);
  Pose pose;
  dynamics.link_pose(q, chain.tip_index(), pose);
  KDL::Frame frame;
  KDL::ChainFkSolverPos_recursive(kdl).JntToCart(to_array(q), frame);
  EXPECT_TRUE(KDL::Equal(to_kdl(pose), frame, 1e-12));
}

TEST(KdlAdapter, TorquesAndPosesOfAChainAgreeWithKdl) {
  RandomRobot random(1, 5);
  for (const char* robot : {"/puma560_akb.urdf", "/scara.urdf", "/seven_joints.urdf"}) {
    const Chain chain = Chain::from_urdf_file(std::string(GA_ROBOTS) + robot);
    expect_same(chain, to_kdl(chain), random);
  }
  for (unsigned seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    RandomRobot robot(1 + static_cast<int>(seed % 8), seed, {.nearly_parallel = 0.1});
    const Chain chain = Chain::from_urdf_text(robot.urdf(), {.gravity = {1, -2, -9}});
    expect_same(chain, to_kdl(chain), robot);
  }
}

TEST(KdlAdapter, TorquesAndPosesOfAKdlChainAgreeWithOurs) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    RandomRobot robot(1 + static_cast<int>(seed % 8), seed, {.nearly_parallel = 0.1});
    const KDL::Chain kdl = robot.kdl();
    const Chain chain = chain_from_kdl(kdl, {.gravity = {1, -2, -9}});
    expect_same(chain, kdl, robot);
    EXPECT_EQ(chain.tip().name, kdl.getSegment(kdl.getNrOfSegments() - 1).getName());
  }
}

TEST(KdlAdapter, ThereAndBackAgainIsTheSameArm) {
  for (const char* robot : {"/puma560_akb.urdf", "/scara.urdf", "/seven_joints.urdf"}) {
    const Chain chain = Chain::from_urdf_file(std::string(GA_ROBOTS) + robot);
    const Chain back = chain_from_kdl(to_kdl(chain));
    ASSERT_EQ(back.size(), chain.size());
    for (std::size_t i = 0; i < chain.joints().size(); ++i) {
      const ChainJoint &a = back.joints()[i], &b = chain.joints()[i];
      EXPECT_EQ(a.name, b.name);
      EXPECT_EQ(a.link, b.link);
      EXPECT_EQ(a.revolute(), b.revolute());
      EXPECT_EQ(a.drive.armature, b.drive.armature);
      EXPECT_EQ(a.drive.viscous, b.drive.viscous);
      EXPECT_NEAR(std::abs(a.dh.alpha), std::abs(b.dh.alpha), 1e-12);
      EXPECT_NEAR(std::abs(a.dh.a), std::abs(b.dh.a), 1e-12);
      EXPECT_NEAR(a.body.mass, b.body.mass, 1e-12);
    }
    RandomRobot random(1, 6);
    expect_same(back, to_kdl(chain), random);
  }
}

TEST(KdlAdapter, TakesJointsThatAreNotOnTheirSegmentsFrameOrHaveNoName) {
  KDL::Chain kdl;
  const KDL::RigidBodyInertia body(2, {0.1, 0.2, 0.3}, KDL::RotationalInertia(0.1, 0.2, 0.25));
  kdl.addSegment(KDL::Segment(KDL::Joint(KDL::Joint::RotZ), KDL::Frame({0.5, 0, 0.1}), body));
  kdl.addSegment(KDL::Segment(KDL::Joint(KDL::Joint::TransX, 1, 0, 0.7, 0.9),
                              KDL::Frame(KDL::Rotation::RPY(1, 2, 3), {0, 0.2, 0}), body));
  kdl.addSegment(KDL::Segment(KDL::Joint("turn", {0.1, 0.2, 0.3}, {0, 1, 1}, KDL::Joint::RotAxis),
                              KDL::Frame({0.3, 0, 0}), body));
  kdl.addSegment(KDL::Segment(KDL::Joint(KDL::Joint::None), KDL::Frame({0, 0, 0.4}), body));
  RandomRobot random(1, 7);
  const Chain chain = chain_from_kdl(kdl);
  expect_same(chain, kdl, random);
  EXPECT_EQ(chain.joints()[1].name, "joint2");
  EXPECT_EQ(chain.joints()[1].drive.armature, 0.7);
  EXPECT_EQ(chain.joints()[1].drive.viscous, 0.9);
  EXPECT_EQ(chain.joints()[2].name, "turn");
}

TEST(KdlAdapter, RefusesScalesAndOffsets) {
  for (const auto& [scale, offset] : {std::pair{2.0, 0.0}, std::pair{1.0, 0.5}}) {
    KDL::Chain kdl;
    kdl.addSegment(KDL::Segment(
        KDL::Joint("geared", KDL::Joint::RotZ, scale, offset), KDL::Frame({0.5, 0, 0.1}),
        KDL::RigidBodyInertia(2, KDL::Vector::Zero(), KDL::RotationalInertia(0.1, 0.1, 0.1))));
    EXPECT_THROW(chain_from_kdl(kdl), DescriptionError);
  }
}

}  // namespace
}  // namespace ga_dynamics
