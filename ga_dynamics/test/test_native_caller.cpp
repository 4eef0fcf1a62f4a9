// SPDX-License-Identifier: Apache-2.0

// A program that is compiled for AVX2 and uses the templates itself must not change what the
// library computes: its instances have other lanes, and were the names equal, the dynamic linker
// would exchange them.

#include <gtest/gtest.h>

#include "ga_dynamics/algorithm/forward_dynamics.hpp"
#include "ga_dynamics/dynamics.hpp"

namespace ga_dynamics {
namespace {

TEST(NativeCaller, LeavesTheLibraryAlone) {
  if (__builtin_cpu_supports("avx2") == 0 || __builtin_cpu_supports("fma") == 0) {
    GTEST_SKIP() << "this processor has no AVX2";
  }
  static_assert(kLanes<double> == 4, "compiled for AVX2");
  const Chain chain = Chain::from_urdf_file(std::string(GA_ROBOTS) + "/puma560_akb.urdf");
  const std::vector<double> q{.1, -.2, .3, -.4, .5, -.6}, expected{1, -2, 3, -4, 5, -6};
  const Model<double> model = make_model<double>(chain);
  Workspace<double> work(model);
  std::vector<double> tau(6), qdd(6);
  inverse_dynamics(model, work, q.data(), q.data(), expected.data(), tau.data());
  forward_dynamics(model, work, q.data(), q.data(), tau.data(), qdd.data());
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(qdd[i], expected[i], 1e-9);
  for (const Isa isa : {Isa::kGeneric, Isa::kAutomatic}) {
    Dynamics dynamics(chain, {.isa = isa});
    dynamics.inverse_dynamics(q, q, expected, tau);
    dynamics.forward_dynamics(q, q, tau, qdd);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(qdd[i], expected[i], 1e-9);
  }
}

}  // namespace
}  // namespace ga_dynamics
