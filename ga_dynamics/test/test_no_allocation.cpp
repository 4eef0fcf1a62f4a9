// SPDX-License-Identifier: Apache-2.0

// After construction nothing allocates: every algorithm, 10⁵ calls each, with the global allocator
// counting.

#include <gtest/gtest.h>

#include <tuple>

#include "counting_allocator.hpp"
#include "ga_dynamics/dynamics.hpp"

namespace ga_dynamics {
namespace {

constexpr int kCalls = 100000;

class NoAllocation : public ::testing::TestWithParam<std::tuple<Method, Isa>> {};

TEST_P(NoAllocation, InAHundredThousandCallsOfEveryFunction) {
  for (const char* robot : {"/puma560_akb.urdf", "/scara.urdf"}) {
    const Chain chain = Chain::from_urdf_file(std::string(GA_ROBOTS) + robot);
    Dynamics dynamics(chain, {.method = std::get<Method>(GetParam()),
                              .drives = Drives::kAll,
                              .isa = std::get<Isa>(GetParam())});
    const std::size_t n = chain.joints().size();
    std::vector<double> q(n, 0.3), qd(n, -0.2), qdd(n, 0.7), tau(n), d(n * n), jacobian(6 * n);
    std::vector<Pose> poses(chain.links().size());
    double sum = 0;
    const long before = test::allocations();
    for (int call = 0; call < kCalls; ++call) {
      q[0] = 1e-5 * call;
      dynamics.set_external_wrench(static_cast<int>(poses.size()) - 1, {1, 2, 3}, {0, 0, 1});
      dynamics.inverse_dynamics(q, qd, qdd, tau);
      dynamics.forward_dynamics(q, qd, tau, qdd);
      dynamics.clear_external_wrenches();
      dynamics.inertia_matrix(q, d);
      dynamics.bias(q, qd, tau);
      dynamics.gravity(q, tau);
      dynamics.link_poses(q, poses);
      dynamics.link_pose(q, static_cast<int>(poses.size()) - 1, poses[0]);
      dynamics.jacobian(q, static_cast<int>(poses.size()) - 1, jacobian);
      dynamics.velocity_product(q, qd, static_cast<int>(poses.size()) - 1, jacobian);
      sum += dynamics.energy(q, qd).kinetic + dynamics.gibbs_function(q, qd, qdd);
    }
    const long during = test::allocations() - before;
    EXPECT_EQ(during, 0) << robot;
    EXPECT_GT(sum, 0);
  }
}

TEST(CountingAllocator, SeesAllocations) {
  const long before = test::allocations();
  const std::vector<double> memory(100);
  EXPECT_EQ(test::allocations() - before, 1);
  const Chain chain = Chain::from_dh({DhJoint{}});
  const long between = test::allocations();
  const Dynamics dynamics(chain);
  EXPECT_GT(test::allocations(), between);
}

INSTANTIATE_TEST_SUITE_P(Methods, NoAllocation,
                         ::testing::Combine(::testing::Values(Method::kTensor, Method::kVector,
                                                              Method::kDalembert, Method::kMinimal),
                                            ::testing::Values(Isa::kGeneric, Isa::kAutomatic)));

}  // namespace
}  // namespace ga_dynamics
