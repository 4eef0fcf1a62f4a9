// SPDX-License-Identifier: Apache-2.0
// EffortCommands without an arm; with one: effort_switch_suite.hpp.

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "plugins/effort_commands.hpp"

namespace {

TEST(EffortCommands, AreOfOneTo64Joints) {
  for (const std::size_t joints : {0, 65}) {
    EXPECT_THROW(ga_hardware::EffortCommands{joints}, std::invalid_argument) << joints;
  }
  for (const std::size_t joints : {1, 63, 64}) {
    ga_hardware::EffortCommands commands(joints);
    ga_hardware::ArmInterfaces interfaces;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < joints; ++i) names.push_back("joint" + std::to_string(i));
    interfaces.effort_names = names;
    commands.bind(interfaces);
    EXPECT_EQ(commands.refuse(names, {}), "") << joints;
    names.pop_back();
    EXPECT_EQ(commands.refuse(names, {}).empty(), names.empty()) << joints;
  }
}

}  // namespace
