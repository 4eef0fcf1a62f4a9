// SPDX-License-Identifier: Apache-2.0
// PumaSystem in the control loop: no allocation, and how well a law follows through it.

#include <gtest/gtest.h>

#include <cmath>

#include "arm_bench.hpp"
#include "counting_allocator.hpp"
#include "ga_motion/trajectory.hpp"

namespace {

using test::ArmBench;
using test::Return;

struct Cycles {
  long count = 0, allocations = 0;
};

class CountingSystem : public puma_hardware::PumaSystem {
 public:
  explicit CountingSystem(Cycles& cycles) : cycles_(cycles) {}
  Return read(const rclcpp::Time& time, const rclcpp::Duration& period) override {
    return counted([&] { return PumaSystem::read(time, period); });
  }
  Return write(const rclcpp::Time& time, const rclcpp::Duration& period) override {
    return counted([&] { return PumaSystem::write(time, period); });
  }
  Return perform_command_mode_switch(const std::vector<std::string>& start,
                                     const std::vector<std::string>& stop) override {
    return counted([&] { return PumaSystem::perform_command_mode_switch(start, stop); });
  }

 private:
  template <typename Call>
  Return counted(const Call& call) {
    const long before = test::allocations_of_this_thread();
    const Return result = call();
    cycles_.allocations += test::allocations_of_this_thread() - before;
    ++cycles_.count;
    return result;
  }
  Cycles& cycles_;
};

TEST(ArmSystemRealtime, DoesNotAllocateWhetherItCalibratesDrivesStopsOrFails) {
  Cycles cycles;
  ArmBench bench({}, std::make_unique<CountingSystem>(cycles));
  ASSERT_TRUE(bench.bring_up());
  EXPECT_GT(cycles.count, 10000) << "the calibration";
  ASSERT_EQ(bench.hold(5000), Return::OK);
  ASSERT_EQ(bench.move(2000, 0.2), Return::OK);
  ASSERT_TRUE(bench.stop());
  ASSERT_EQ(bench.cycles(500), Return::OK);
  ASSERT_TRUE(bench.engage());
  ASSERT_EQ(bench.hold(1000), Return::OK);
  ASSERT_EQ(bench.inject("thermal:joint2"), "");
  EXPECT_EQ(bench.hold(10), Return::DEACTIVATE);
  ASSERT_EQ(bench.cycles(1000), Return::OK);
  EXPECT_EQ(cycles.allocations, 0);
  EXPECT_GT(cycles.count, 25000);
}

struct Tracking {
  double largest = 0, rms = 0;  ///< rad
};

Tracking follow_line(const std::string& feed) {
  const auto chain = ga_dynamics::Chain::from_urdf_file(PUMA_URDF);
  const auto line = ga_motion::make_motion("line", chain);
  std::vector<double> q(6), qd(6), qdd(6);
  line->sample(0, q, qd, qdd);
  std::array<double, 6> start;
  std::copy_n(q.begin(), 6, start.begin());
  ArmBench bench({{"initial_positions", test::positions_text(start)}, {"observer_feed", feed}});
  Tracking result;
  if (!bench.bring_up()) {
    ADD_FAILURE() << "the arm did not come up";
    return result;
  }
  for (int k = 0; k < 1000; ++k) EXPECT_EQ(bench.drive({q, qd, qdd}), Return::OK);
  const int cycles = static_cast<int>(line->duration() * 1000);
  double sum = 0;
  for (int k = 0; k < cycles; ++k) {
    line->sample(k * 1e-3, q, qd, qdd);
    if (bench.drive({q, qd, qdd}) != Return::OK) {
      ADD_FAILURE() << "stopped at " << k << " ms, fault " << bench.state("arm/fault_code");
      return result;
    }
    for (std::size_t i = 0; i < 6; ++i) {
      const double error = bench.position(i) - q[i];
      result.largest = std::max(result.largest, std::abs(error));
      sum += error * error;
    }
  }
  result.rms = std::sqrt(sum / 6 / cycles);
  return result;
}

TEST(ArmSystemRealtime, FollowsTheLineThroughTheRegisters) {
  const Tracking fed = follow_line("true"), bare = follow_line("false");
  std::printf("line, acceleration by the model: %.3f mrad at most, %.3f mrad RMS\n",
              1e3 * fed.largest, 1e3 * fed.rms);
  std::printf("line, no acceleration:           %.3f mrad at most, %.3f mrad RMS\n",
              1e3 * bare.largest, 1e3 * bare.rms);
  EXPECT_LT(fed.largest, 2e-3);
  EXPECT_LT(fed.rms, 0.5e-3);
  EXPECT_LT(bare.largest, 2e-3) << "the law observes the velocity itself";
}

}  // namespace
