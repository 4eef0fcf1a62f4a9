// SPDX-License-Identifier: Apache-2.0
// main() of the tests that need a ROS context.

#include <gtest/gtest.h>

#include "rclcpp/rclcpp.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  rclcpp::init(argc, argv);
  const int result = RUN_ALL_TESTS();
  rclcpp::shutdown();
  return result;
}
