// SPDX-License-Identifier: Apache-2.0

// eigen.hpp: the same results as with spans, in the caller's memory, without allocating; sizes that
// do not fit are refused.

#define EIGEN_RUNTIME_NO_MALLOC
#include <stdexcept>
#define eigen_assert(condition) \
  if (!(condition)) throw std::runtime_error(#condition)

#include <gtest/gtest.h>

#include "counting_allocator.hpp"
#include "ga_dynamics/eigen.hpp"

namespace ga_dynamics {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

class EigenAdapter : public ::testing::Test {
 protected:
  Dynamics dynamics{Chain::from_urdf_file(std::string(GA_ROBOTS) + "/puma560_akb.urdf"),
                    {.drives = Drives::kAll}};
  const int tip = dynamics.chain().tip_index();
  const VectorXd q = VectorXd::LinSpaced(6, -1, 2), qd = VectorXd::LinSpaced(6, 2, -1),
                 u = VectorXd::LinSpaced(6, 0.5, 3);
  VectorXd out = VectorXd::Zero(6);
  MatrixXd inertia = MatrixXd::Zero(6, 6);
  JacobianMatrix jac = JacobianMatrix::Zero(6, 6);

  static std::vector<double> values(const VectorXd& v) { return {v.data(), v.data() + v.size()}; }
};

TEST_F(EigenAdapter, GivesWhatSpansGive) {
  const std::vector<double> sq = values(q), sqd = values(qd), su = values(u);
  std::vector<double> expected(6), matrix(36);
  dynamics.inverse_dynamics(sq, sqd, su, expected);
  inverse_dynamics(dynamics, q, qd, u, out);
  EXPECT_EQ(values(out), expected);
  dynamics.forward_dynamics(sq, sqd, su, expected);
  EXPECT_TRUE(forward_dynamics(dynamics, q, qd, u, out));
  EXPECT_EQ(values(out), expected);
  dynamics.bias(sq, sqd, expected);
  bias(dynamics, q, qd, out);
  EXPECT_EQ(values(out), expected);
  dynamics.gravity(sq, expected);
  gravity(dynamics, q, out);
  EXPECT_EQ(values(out), expected);
  dynamics.velocity_product(sq, sqd, tip, expected);
  velocity_product(dynamics, q, qd, tip, out);
  EXPECT_EQ(values(out), expected);
  dynamics.inertia_matrix(sq, matrix);
  inertia_matrix(dynamics, q, inertia);
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k < 6; ++k)
      EXPECT_NEAR(inertia(i, k), matrix[static_cast<std::size_t>(6 * i + k)], 1e-14);
  }
  dynamics.jacobian(sq, tip, matrix);
  jacobian(dynamics, q, tip, jac);
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k < 6; ++k) EXPECT_EQ(jac(i, k), matrix[static_cast<std::size_t>(6 * i + k)]);
  }
  Pose pose;
  dynamics.link_pose(sq, tip, pose);
  const Eigen::Isometry3d transform = link_pose(dynamics, q, tip);
  EXPECT_EQ(to_pose(transform).rotation, pose.rotation);
  EXPECT_EQ(to_pose(transform).translation, pose.translation);
  EXPECT_EQ((transform * Eigen::Vector3d::Zero()).x(), pose.translation[0]);
}

TEST_F(EigenAdapter, NeitherCopiesNorAllocates) {
  MatrixXd table(6, 3);  // columns and segments of larger objects as well
  table << q, qd, u;
  VectorXd both(12);
  const long before = test::allocations();
  Eigen::internal::set_is_malloc_allowed(false);
  for (int k = 0; k < 100; ++k) {
    inverse_dynamics(dynamics, table.col(0), table.col(1), table.col(2), both.tail(6));
    forward_dynamics(dynamics, q, qd, both.tail(6), both.head(6));
    inertia_matrix(dynamics, q, inertia);
    bias(dynamics, q, qd, out);
    gravity(dynamics, q, out);
    jacobian(dynamics, q, tip, jac);
    velocity_product(dynamics, q, qd, tip, out);
    link_pose(dynamics, q, tip);
  }
  Eigen::internal::set_is_malloc_allowed(true);
  EXPECT_EQ(test::allocations(), before);
  EXPECT_LT((both.head(6) - u).norm(), 1e-8);
}

TEST_F(EigenAdapter, RefusesSizesThatDoNotFit) {
  VectorXd five(5), seven(7);
  MatrixXd wide(6, 7), large(8, 8);
  EXPECT_THROW(gravity(dynamics, five, out), std::invalid_argument);
  EXPECT_THROW(gravity(dynamics, q, seven), std::invalid_argument);
  EXPECT_THROW(inertia_matrix(dynamics, q, wide), std::invalid_argument);
  EXPECT_THROW(inertia_matrix(dynamics, q, large.topLeftCorner(6, 6)), std::invalid_argument);
  JacobianMatrix narrow(6, 5);
  EXPECT_THROW(jacobian(dynamics, q, tip, narrow), std::invalid_argument);
  EXPECT_THROW(velocity_product(dynamics, q, qd, tip, seven), std::invalid_argument);
  try {
    inverse_dynamics(dynamics, q, seven, u, out);
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "inverse_dynamics: qd has 7 values; give 6");
  }
}

}  // namespace
}  // namespace ga_dynamics
