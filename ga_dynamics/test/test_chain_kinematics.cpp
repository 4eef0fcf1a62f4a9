// SPDX-License-Identifier: Apache-2.0

// The poses of all links, through our modified-DH frames, against Orocos KDL's, which keeps the
// URDF's own frames.

#include <gtest/gtest.h>

#include <kdl/chainfksolverpos_recursive.hpp>
#include <kdl/chainjnttojacdotsolver.hpp>
#include <kdl/chainjnttojacsolver.hpp>

#include "ga_dynamics/dynamics.hpp"
#include "random_robot.hpp"
#include "worse.hpp"

namespace ga_dynamics {
namespace {

using test::RandomRobot;
using test::RobotKind;

double pose_difference(const Pose& pose, const KDL::Frame& frame) {
  double difference = 0;
  for (int i = 0; i < 3; ++i) {
    const auto at = static_cast<std::size_t>(i);
    difference = test::worse(difference, std::abs(pose.translation[at] - frame.p(i)));
    for (int k = 0; k < 3; ++k) {
      difference = test::worse(
          difference,
          std::abs(pose.rotation[3 * at + static_cast<std::size_t>(k)] - frame.M(i, k)));
    }
  }
  return difference;
}

double worst_pose(const RobotKind& kind, unsigned seeds) {
  double worst = 0;
  for (int n = 1; n <= 12; ++n) {
    for (unsigned seed = 1; seed <= seeds; ++seed) {
      RandomRobot robot(n, seed * 31u + static_cast<unsigned>(n), kind);
      const Chain chain = Chain::from_urdf_text(robot.urdf());
      Dynamics dynamics(chain);
      const KDL::Chain kdl = robot.kdl();
      KDL::ChainFkSolverPos_recursive solver(kdl);
      const std::vector<double> q = robot.positions(n);
      KDL::JntArray kq(static_cast<unsigned>(n));
      for (unsigned i = 0; i < q.size(); ++i) kq(i) = q[i];
      std::vector<Pose> poses(chain.links().size());
      dynamics.link_poses(q, poses);
      for (unsigned segment = 0; segment < kdl.getNrOfSegments(); ++segment) {
        KDL::Frame frame;
        solver.JntToCart(kq, frame, static_cast<int>(segment) + 1);
        const int link = chain.link_index(kdl.getSegment(segment).getName());
        const double difference = pose_difference(poses[static_cast<std::size_t>(link)], frame);
        if (difference > worst) worst = difference;
        EXPECT_LT(difference, 1e-12) << "n = " << n << ", seed " << seed << ", segment " << segment;
      }
    }
  }
  return worst;
}

TEST(ChainKinematics, EveryLinkOfGenericChainsStandsWhereKdlPutsIt) {
  RecordProperty("worst", std::to_string(worst_pose({.aligned = 0, .intersecting = 0}, 60)));
}

TEST(ChainKinematics, ExactForParallelAndIntersectingAxes) {
  RecordProperty("worst", std::to_string(worst_pose({.aligned = 1, .intersecting = 0.6}, 60)));
}

TEST(ChainKinematics, FullPrecisionForNearlyParallelAxes) {
  // A common normal would lie up to 1e12 times the arm's length away.
  RecordProperty("worst", std::to_string(worst_pose({.aligned = 0.3, .nearly_parallel = 0.7}, 60)));
}

TEST(ChainKinematics, OneLinkStandsWhereAllLinksDo) {
  for (int n = 1; n <= 12; ++n) {
    RandomRobot robot(n, 900u + static_cast<unsigned>(n), {});
    const Chain chain = Chain::from_urdf_text(robot.urdf());
    Dynamics dynamics(chain);
    const std::vector<double> q = robot.positions(n);
    std::vector<Pose> poses(chain.links().size());
    dynamics.link_poses(q, poses);
    for (std::size_t link = 0; link < poses.size(); ++link) {
      Pose pose;
      dynamics.link_pose(q, static_cast<int>(link), pose);
      for (std::size_t k = 0; k < 9; ++k)
        EXPECT_NEAR(pose.rotation[k], poses[link].rotation[k], 1e-14);
      for (std::size_t k = 0; k < 3; ++k)
        EXPECT_NEAR(pose.translation[k], poses[link].translation[k], 1e-13);
    }
  }
}

TEST(ChainKinematics, VelocityProductAgreesWithKdl) {
  for (int n = 1; n <= 12; ++n) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
      RandomRobot robot(n, 700u + seed * 13u, {.nearly_parallel = 0.1});
      const KDL::Chain kdl = robot.kdl();
      const Chain chain = Chain::from_urdf_text(robot.urdf());
      const Dynamics dynamics(chain);
      const std::vector<double> q = robot.positions(n), qd = robot.rates(n);
      KDL::JntArrayVel state(static_cast<unsigned>(n));
      for (unsigned i = 0; i < q.size(); ++i) state.q(i) = q[i], state.qdot(i) = qd[i];
      KDL::Twist expected;
      KDL::ChainJntToJacDotSolver(kdl).JntToJacDot(state, expected);
      double product[6];
      const int tip = chain.link_index(kdl.getSegment(kdl.getNrOfSegments() - 1).getName());
      dynamics.velocity_product(q, qd, tip, product);
      for (int row = 0; row < 6; ++row) {
        EXPECT_NEAR(product[row], expected(row), 1e-10) << "n = " << n << ", seed " << seed;
      }
      dynamics.velocity_product(q, qd, 0, product);  // the base
      for (const double value : product) EXPECT_EQ(value, 0);
    }
  }
}

TEST(ChainKinematics, JacobianAgreesWithKdl) {
  for (int n = 1; n <= 12; ++n) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
      RandomRobot robot(n, 500u + seed * 17u, {});
      const Chain chain = Chain::from_urdf_text(robot.urdf());
      Dynamics dynamics(chain);
      const KDL::Chain kdl = robot.kdl();
      KDL::ChainJntToJacSolver solver(kdl);
      const std::vector<double> q = robot.positions(n);
      KDL::JntArray kq(static_cast<unsigned>(n));
      for (unsigned i = 0; i < q.size(); ++i) kq(i) = q[i];
      KDL::Jacobian expected(static_cast<unsigned>(n));
      solver.JntToJac(kq, expected);
      std::vector<double> jacobian(6 * q.size());
      const int tip = chain.link_index(kdl.getSegment(kdl.getNrOfSegments() - 1).getName());
      dynamics.jacobian(q, tip, jacobian);
      for (unsigned row = 0; row < 6; ++row) {
        for (unsigned i = 0; i < q.size(); ++i) {
          EXPECT_NEAR(jacobian[row * q.size() + i], expected(row, i), 1e-12)
              << "n = " << n << ", seed " << seed;
        }
      }
    }
  }
}

}  // namespace
}  // namespace ga_dynamics
