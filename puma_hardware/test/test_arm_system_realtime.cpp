// SPDX-License-Identifier: Apache-2.0
// PumaSystem in the control loop: no allocation, and how well a law follows through it.

#include <gtest/gtest.h>

#include <cmath>

#include "arm_bench.hpp"
#include "counting_allocator.hpp"
#include "sim/motion.hpp"

namespace {

using test::ArmBench;
using test::Return;

TEST(ArmSystemRealtime, DoesNotAllocateInTenThousandCycles) {
  // The component alone: its node's callbacks run in other threads and may allocate.
  puma_hardware::PumaSystem plugin;
  hardware_interface::HardwareComponentInterfaceParams params;
  params.hardware_info = hardware_interface::parse_control_resources_from_urdf(
                             test::real_puma({{"pcl726.power_output", "2"}}))
                             .at(0);
  params.hardware_info.rw_rate = 1000;
  ASSERT_EQ(plugin.on_init(params), hardware_interface::CallbackReturn::SUCCESS);
  const auto states = plugin.on_export_state_interfaces();
  const auto commands = plugin.on_export_command_interfaces();
  const rclcpp_lifecycle::State none;
  ASSERT_EQ(plugin.on_configure(none), hardware_interface::CallbackReturn::SUCCESS);
  const rclcpp::Time now{0, 0, RCL_STEADY_TIME};
  const auto period = rclcpp::Duration::from_seconds(1e-3);
  ASSERT_EQ(plugin.read(now, period), Return::OK);
  const long before = test::allocations();
  int failures = 0;
  for (int k = 0; k < 10000; ++k) {
    failures += plugin.read(now, period) == Return::OK ? 0 : 1;
    failures += plugin.write(now, period) == Return::OK ? 0 : 1;
  }
  EXPECT_EQ(test::allocations() - before, 0);
  EXPECT_EQ(failures, 0);
}

struct Tracking {
  double largest = 0, rms = 0;  ///< rad
};

Tracking follow_line(const std::string& feed) {
  const auto chain = ga_dynamics::Chain::from_urdf_file(PUMA_URDF);
  const auto line = puma_hardware::sim::make_motion("line", chain);
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
  EXPECT_LT(fed.largest, bare.largest);
}

}  // namespace
