// SPDX-License-Identifier: Apache-2.0

// After construction nothing allocates: every algorithm, 10⁵ calls each, with the global allocator
// counting.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <tuple>

#include "ga_dynamics/dynamics.hpp"

namespace {
std::atomic<long> allocations{0};

void* counted_allocation(std::size_t size, std::size_t alignment) {
  ++allocations;
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t size) { return counted_allocation(size, alignof(std::max_align_t)); }
void* operator new[](std::size_t size) {
  return counted_allocation(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t a) {
  return counted_allocation(size, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t size, std::align_val_t a) {
  return counted_allocation(size, static_cast<std::size_t>(a));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

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
    const long before = allocations;
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
      dynamics.jacobian(q, static_cast<int>(poses.size()) - 1, jacobian);
      sum += dynamics.energy(q, qd).kinetic + dynamics.gibbs_function(q, qd, qdd);
    }
    const long during = allocations - before;
    EXPECT_EQ(during, 0) << robot;
    EXPECT_GT(sum, 0);
  }
}

TEST(CountingAllocator, SeesAllocations) {
  const long before = allocations;
  const std::vector<double> memory(100);
  EXPECT_EQ(allocations - before, 1);
  const Chain chain = Chain::from_dh({DhJoint{}});
  const long between = allocations;
  const Dynamics dynamics(chain);
  EXPECT_GT(allocations, between);
}

INSTANTIATE_TEST_SUITE_P(Methods, NoAllocation,
                         ::testing::Combine(::testing::Values(Method::kTensor, Method::kVector,
                                                              Method::kDalembert, Method::kMinimal),
                                            ::testing::Values(Isa::kGeneric, Isa::kAutomatic)));

}  // namespace
}  // namespace ga_dynamics
