// SPDX-License-Identifier: Apache-2.0
// SimSystem in the control loop: no allocation, and little time.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <ctime>

#include "counting_allocator.hpp"
#include "hardware_bench.hpp"

namespace {

using test::Bench;
using test::Return;

double thread_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The component alone: its node's callbacks (diagnostics) run in other threads and may allocate.
struct Loop {
  Loop() {
    hardware_interface::HardwareComponentInterfaceParams params;
    params.hardware_info =
        hardware_interface::parse_control_resources_from_urdf(test::puma()).at(0);
    params.hardware_info.rw_rate = 1000;
    EXPECT_EQ(plugin.on_init(params), hardware_interface::CallbackReturn::SUCCESS);
    states = plugin.on_export_state_interfaces();
    for (const auto& command : plugin.on_export_command_interfaces()) {
      for (int i = 1; i <= 6; ++i) {
        const std::string name = "joint" + std::to_string(i) + "/effort";
        if (command->get_name() == name) commands[static_cast<std::size_t>(i - 1)] = command;
      }
    }
    const rclcpp_lifecycle::State none;
    EXPECT_EQ(plugin.on_configure(none), hardware_interface::CallbackReturn::SUCCESS);
    EXPECT_EQ(plugin.on_activate(none), hardware_interface::CallbackReturn::SUCCESS);
    for (int i = 1; i <= 6; ++i) efforts.push_back("joint" + std::to_string(i) + "/effort");
  }
  Return cycle(int k) {
    for (std::size_t i = 0; i < 6; ++i) {
      const double push = std::sin(0.02 * k + static_cast<double>(i)) * amplitude[i];
      EXPECT_TRUE(commands[i]->set_value(push));
    }
    const Return result = plugin.read(now, period);
    return result == Return::OK ? plugin.write(now, period) : result;
  }

  ga_hardware::SimSystem plugin;
  std::vector<hardware_interface::StateInterface::ConstSharedPtr> states;
  std::array<hardware_interface::CommandInterface::SharedPtr, 6> commands;
  std::vector<std::string> efforts;
  double amplitude[6] = {40, 30, 10, 1.5, 1.5, 1};
  rclcpp::Time now{0, 0, RCL_STEADY_TIME};
  rclcpp::Duration period = rclcpp::Duration::from_seconds(1e-3);
};

TEST(SimSystemRealtime, DoesNotAllocateInTenThousandCycles) {
  Loop loop;
  ASSERT_EQ(loop.plugin.perform_command_mode_switch(loop.efforts, {}), Return::OK);
  const std::vector<std::string> nothing;
  int failures = 0;
  const long before = test::allocations();
  for (int k = 0; k < 10000; ++k) {
    failures += loop.cycle(k) == Return::OK ? 0 : 1;
    if (k % 1000 == 900) {  // a controlled stop and a new start are part of it
      failures +=
          loop.plugin.perform_command_mode_switch(nothing, loop.efforts) == Return::OK ? 0 : 1;
    } else if (k % 1000 == 950) {
      failures +=
          loop.plugin.perform_command_mode_switch(loop.efforts, nothing) == Return::OK ? 0 : 1;
    }
  }
  EXPECT_EQ(test::allocations() - before, 0);
  EXPECT_EQ(failures, 0);
}

TEST(SimSystemRealtime, TakesLessThanATenthOfACoreAtOneKilohertz) {
  Loop loop;
  ASSERT_EQ(loop.plugin.perform_command_mode_switch(loop.efforts, {}), Return::OK);
  for (int k = 0; k < 500; ++k) loop.cycle(k);
  constexpr int kCycles = 5000;
  const double before = thread_time();
  for (int k = 0; k < kCycles; ++k) loop.cycle(k);
  const double mean = (thread_time() - before) / kCycles;
  std::printf("read and write of 1 ms: %.1f us of processor time\n", 1e6 * mean);
  EXPECT_LT(mean, 100e-6);
}

}  // namespace
