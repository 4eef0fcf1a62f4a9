// SPDX-License-Identifier: Apache-2.0

// The regressor: torques are its columns times the inertia parameters; bodies that change.

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "counting_allocator.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "random_robot.hpp"
#include "variants.hpp"

namespace ga_dynamics {
namespace {

using test::RandomRobot;

constexpr std::size_t kColumns = Dynamics::kBodyParameters;

/// m, m c and the inertia tensor about the origin of the body's frame.
std::vector<double> parameters_of(const LinkInertia& body) {
  const double m = body.mass, x = body.com[0], y = body.com[1], z = body.com[2];
  const Matrix3& i = body.inertia;
  return {m,
          m * x,
          m * y,
          m * z,
          i[0] + m * (y * y + z * z),
          i[1] - m * x * y,
          i[2] - m * x * z,
          i[4] + m * (x * x + z * z),
          i[5] - m * y * z,
          i[8] + m * (x * x + y * y)};
}

std::vector<LinkInertia> bodies_of(const Chain& chain) {
  std::vector<LinkInertia> bodies;
  for (const ChainJoint& joint : chain.joints()) bodies.push_back(joint.body);
  return bodies;
}

class RegressorOfEveryMethod : public ::testing::TestWithParam<test::Variant> {};

TEST_P(RegressorOfEveryMethod, TimesTheParametersGivesTheTorques) {
  for (std::size_t n = 1; n <= 8; ++n) {
    for (unsigned seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(std::to_string(n) + " joints, seed " + std::to_string(seed));
      const int joints = static_cast<int>(n);
      RandomRobot robot(joints, 50 * static_cast<unsigned>(n) + seed, {.prismatic = 0.3});
      const Chain chain = Chain::from_urdf_text(robot.urdf());
      Dynamics dynamics = GetParam().make(chain);
      const std::vector<double> q = robot.positions(joints), qd = robot.rates(joints),
                                qdd = robot.rates(joints);
      std::vector<double> tau(n), sum(n), y(n * kColumns);
      dynamics.inverse_dynamics(q, qd, qdd, tau);
      for (std::size_t b = 0; b < n; ++b) {
        dynamics.regressor(q, qd, qdd, static_cast<int>(b), y);
        const std::vector<double> p = parameters_of(chain.joints()[b].body);
        for (std::size_t i = 0; i < n; ++i) {
          for (std::size_t k = 0; k < kColumns; ++k) {
            sum[i] += y[i * kColumns + k] * p[k];
            if (i > b) {
              EXPECT_EQ(y[i * kColumns + k], 0) << "joint " << i << " does not move body " << b;
            }
          }
        }
      }
      double largest = 1;
      for (const double t : tau) largest = std::max(largest, std::abs(t));
      for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(sum[i], tau[i], 1e-11 * largest) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, RegressorOfEveryMethod, ::testing::ValuesIn(test::variants()),
                         test::variant_test_name);

class BodiesOfEveryMethod : public ::testing::TestWithParam<test::Variant> {};

TEST_P(BodiesOfEveryMethod, EqualAChainWithTheseBodies) {
  RandomRobot robot(6, 7);
  const Chain chain = Chain::from_urdf_text(robot.urdf());
  std::vector<DhJoint> rows;
  std::vector<LinkInertia> bodies = bodies_of(chain);
  std::vector<double> armature(6);
  for (std::size_t i = 0; i < 6; ++i) {
    const ChainJoint& j = chain.joints()[i];
    bodies[i].mass *= 1.3;
    bodies[i].com[1] += 0.02;
    for (double& entry : bodies[i].inertia) entry *= 0.8;
    armature[i] = 0.1 * static_cast<double>(i + 1);
    rows.push_back({j.type, j.dh, bodies[i], j.drive, j.limits, j.name});
    rows.back().drive.armature = armature[i];
  }
  const Chain changed = Chain::from_dh(rows, chain.gravity_in_frame0());
  Dynamics described = GetParam().make(changed, Drives::kArmature);
  Dynamics set = GetParam().make(chain, Drives::kArmature);
  const std::vector<double> q = robot.positions(6), qd = robot.rates(6), qdd = robot.rates(6);
  std::vector<double> a(6), b(6), da(36), db(36);
  const auto expect_equal = [&](double tolerance) {
    described.inverse_dynamics(q, qd, qdd, a), set.inverse_dynamics(q, qd, qdd, b);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(a[i], b[i], tolerance * (1 + std::abs(a[i])));
    described.inertia_matrix(q, da), set.inertia_matrix(q, db);
    for (std::size_t i = 0; i < 36; ++i) {
      EXPECT_NEAR(da[i], db[i], tolerance * (1 + std::abs(da[i])));
    }
    EXPECT_NEAR(described.energy(q, qd).kinetic, set.energy(q, qd).kinetic, tolerance * 100);
  };
  if (GetParam().method == Method::kMinimal) {
    EXPECT_THROW(set.set_bodies(bodies, armature), std::invalid_argument);
    return;
  }
  set.set_bodies(bodies, armature);
  expect_equal(1e-11);
  // A payload stays when the bodies change, and bodies stay when the payload does.
  const LinkInertia load{2, {0.1, 0.05, 0.2}, {0.02, 0, 0, 0, 0.02, 0, 0, 0, 0.01}};
  described.set_payload(transformed(chain.tip().pose, load));  // its tip is the last frame
  set.set_payload(load);
  expect_equal(1e-11);
  set.set_bodies(bodies_of(chain), std::vector<double>(6));
  set.set_bodies(bodies, armature);
  expect_equal(1e-11);
}

INSTANTIATE_TEST_SUITE_P(Methods, BodiesOfEveryMethod, ::testing::ValuesIn(test::variants()),
                         test::variant_test_name);

TEST(Regressor, RefusesBodiesThatDoNotExistAndShortSpans) {
  const Chain chain = Chain::from_urdf_text(RandomRobot(3, 1).urdf());
  Dynamics dynamics(chain);
  const std::vector<double> zero(3);
  std::vector<double> y(3 * kColumns), small(3 * kColumns - 1);
  EXPECT_THROW(dynamics.regressor(zero, zero, zero, -1, y), std::invalid_argument);
  EXPECT_THROW(dynamics.regressor(zero, zero, zero, 3, y), std::invalid_argument);
  EXPECT_THROW(dynamics.regressor(zero, zero, zero, 0, small), std::invalid_argument);
  EXPECT_THROW(dynamics.set_bodies(std::vector<LinkInertia>(2), zero), std::invalid_argument);
  EXPECT_THROW(dynamics.set_bodies(std::vector<LinkInertia>(3), std::vector<double>(2)),
               std::invalid_argument);
}

TEST(Regressor, DoesNotAllocate) {
  const Chain chain = Chain::from_urdf_text(RandomRobot(6, 2).urdf());
  Dynamics dynamics(chain);
  const std::vector<double> q(6, 0.3), armature(6, 0.1);
  const std::vector<LinkInertia> bodies = bodies_of(chain);
  std::vector<double> y(6 * kColumns);
  const long before = ::test::allocations();
  for (int k = 0; k < 100; ++k) {
    dynamics.regressor(q, q, q, k % 6, y);
    dynamics.set_bodies(bodies, armature);
  }
  EXPECT_EQ(::test::allocations() - before, 0);
}

}  // namespace
}  // namespace ga_dynamics
