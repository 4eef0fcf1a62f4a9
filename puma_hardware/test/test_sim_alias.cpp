// SPDX-License-Identifier: Apache-2.0
// The former name of the simulated hardware still loads it.

#include <gtest/gtest.h>

#include "hardware_bench.hpp"
#include "pluginlib/class_loader.hpp"

namespace {

TEST(PumaSimSystem, IsTheSimulatedHardwareOfGaHardware) {
  pluginlib::ClassLoader<hardware_interface::SystemInterface> loader(
      "hardware_interface", "hardware_interface::SystemInterface");
  ASSERT_TRUE(loader.isClassAvailable("puma_hardware/PumaSimSystem"));
  test::Bench bench(test::puma(),
                    std::unique_ptr<hardware_interface::SystemInterface>(
                        loader.createUnmanagedInstance("puma_hardware/PumaSimSystem")));
  bench.system().configure();
  bench.system().activate();
  ASSERT_EQ(bench.state(), test::States::PRIMARY_STATE_ACTIVE);
  EXPECT_EQ(bench.cycles(10), test::Return::OK);
  EXPECT_EQ(bench.state("arm/power"), 1);
}

}  // namespace
