// SPDX-License-Identifier: Apache-2.0

// Lin 1995, Theorem 2: the set determines the dynamics, and no smaller one does.

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <Eigen/SVD>
#include <numbers>

#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/minimal_parameters.hpp"
#include "random_robot.hpp"

namespace ga_dynamics {
namespace {

constexpr double kPi = std::numbers::pi;
using Values = std::vector<double>;

/// Rank of the regressor: torques are linear in the ten inertia parameters of every link, so a
/// column is the torque of a chain with one parameter alone. First moments come with a mass,
/// tensors about the origin with both; the columns below span the same space.
int regressor_rank(const Chain& chain, test::RandomRobot& random) {
  const std::size_t n = chain.joints().size();
  const std::size_t samples = 12 * n;
  std::vector<Values> q, qd, qdd;
  for (std::size_t k = 0; k < samples; ++k) {
    q.push_back(random.positions(static_cast<int>(n)));
    qd.push_back(random.rates(static_cast<int>(n)));
    qdd.push_back(random.rates(static_cast<int>(n)));
  }
  Eigen::MatrixXd regressor(static_cast<Eigen::Index>(samples * n),
                            static_cast<Eigen::Index>(10 * n));
  for (std::size_t link = 0; link < n; ++link) {
    for (std::size_t parameter = 0; parameter < 10; ++parameter) {
      std::vector<DhJoint> rows;
      for (const ChainJoint& joint : chain.joints())
        rows.push_back({joint.type, joint.dh, {}, {}, {}, joint.name});
      LinkInertia& body = rows[link].body;
      if (parameter < 4) {
        body.mass = 1;
        if (parameter > 0) body.com[parameter - 1] = 1;
      } else if (parameter < 7) {
        body.inertia[4 * (parameter - 4)] = 1;
      } else {
        // a product of inertia on top of a tensor that keeps it positive definite
        const std::size_t at[3][2] = {{1, 3}, {2, 6}, {5, 7}};
        body.inertia = {2, 0, 0, 0, 2, 0, 0, 0, 2};
        body.inertia[at[parameter - 7][0]] = body.inertia[at[parameter - 7][1]] = 1;
      }
      Dynamics dynamics(Chain::from_dh(rows, chain.gravity_in_frame0()));
      Values tau(n);
      for (std::size_t k = 0; k < samples; ++k) {
        dynamics.inverse_dynamics(q[k], qd[k], qdd[k], tau);
        for (std::size_t i = 0; i < n; ++i) {
          // rounding noise is no information
          regressor(static_cast<Eigen::Index>(k * n + i),
                    static_cast<Eigen::Index>(10 * link + parameter)) =
              std::abs(tau[i]) < 1e-12 ? 0 : tau[i];
        }
      }
    }
  }
  for (Eigen::Index c = 0; c < regressor.cols(); ++c) {
    const double size = regressor.col(c).norm();
    if (size > 0) regressor.col(c) /= size;
  }
  const Eigen::VectorXd values = regressor.bdcSvd().singularValues();
  int rank = 0;
  while (rank < values.size() && values(rank) > 1e-9 * values(0)) ++rank;
  return rank;
}

Chain stanford_arm() {
  // RRPRRR with the geometry of the Stanford arm; bodies of no matter to the count
  std::vector<DhJoint> rows(6);
  const double alpha[] = {0, -kPi / 2, kPi / 2, 0, -kPi / 2, kPi / 2}, d[] = {0, 0.15, 0, 0, 0, 0};
  for (std::size_t i = 0; i < 6; ++i) {
    rows[i].type = i == 2 ? JointType::kPrismatic : JointType::kRevolute;
    rows[i].dh = {alpha[i], 0, d[i], 0, 0};
    rows[i].body = {1, {.1, .2, .3}, {1, .1, .2, .1, 1, .3, .2, .3, 1}};
  }
  return Chain::from_dh(rows);
}

TEST(MinimalParameters, ThirtySixForThePumaThirtyThreeForTheStanfordArm) {
  const Chain puma = Chain::from_urdf_file(std::string(GA_ROBOTS) + "/puma560_akb.urdf");
  EXPECT_EQ(MinimalParameters(puma).values().size(), 36U);
  EXPECT_EQ(MinimalParameters(stanford_arm()).values().size(), 33U);
  test::RandomRobot random(1, 5);
  EXPECT_EQ(regressor_rank(puma, random), 36);
  EXPECT_EQ(regressor_rank(stanford_arm(), random), 33);
}

TEST(MinimalParameters, AsManyAsTheRankOfTheRegressor) {
  for (int n = 1; n <= 5; ++n) {
    for (unsigned seed = 1; seed <= 40; ++seed) {
      test::RandomRobot robot(n, 1000 * static_cast<unsigned>(n) + seed,
                              {.prismatic = 0.35,
                               .fixed = 0,
                               .aligned = seed % 2 == 0 ? 1.0 : 0.3,
                               .intersecting = 0.5});
      // gravity along an axis of the base now and then: then some parameters drop out
      const Vector3 gravity = seed % 3 == 0 ? Vector3{1, 2, -9} : Vector3{0, 0, -9.81};
      const Chain chain = Chain::from_urdf_text(robot.urdf(), {.gravity = gravity});
      EXPECT_EQ(static_cast<int>(MinimalParameters(chain).values().size()),
                regressor_rank(chain, robot))
          << "n = " << n << ", seed " << seed;
    }
  }
}

TEST(MinimalParameters, PlanarArmWithGravityAlongItsAxes) {
  // Two parallel vertical axes: U33 of both, and k_x, k_y of the second link only.
  std::vector<DhJoint> rows(2);
  rows[1].dh.a = 0.5;
  for (DhJoint& row : rows) row.body = {1, {.1, .2, .3}, {1, .1, .2, .1, 1, .3, .2, .3, 1}};
  const MinimalParameters minimal(Chain::from_dh(rows));
  std::string names;
  for (const MlcValue& v : minimal.values()) names += v.name + " ";
  EXPECT_EQ(names, "U33_1 U33_2 kx_2 ky_2 ");
  EXPECT_EQ(minimal.first_revolute(), 0);
  EXPECT_EQ(minimal.first_nonparallel(), 2);
}

}  // namespace
}  // namespace ga_dynamics
