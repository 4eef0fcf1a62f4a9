// SPDX-License-Identifier: Apache-2.0
// The parser of ros2_control reads the <ros2_control> tags as intended.

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "hardware_interface/component_parser.hpp"

namespace {

class ControlTagTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::ifstream file(std::string(PUMA_URDF) + "/" + GetParam() + ".urdf");
    std::ostringstream text;
    text << file.rdbuf();
    components = hardware_interface::parse_control_resources_from_urdf(text.str());
    ASSERT_EQ(components.size(), 1U);
  }

  std::vector<hardware_interface::HardwareInfo> components;
};

TEST_P(ControlTagTest, IsOneSystemWithTheSimulatedHardware) {
  EXPECT_EQ(components[0].name, GetParam());
  EXPECT_EQ(components[0].type, "system");
  EXPECT_EQ(components[0].hardware_plugin_name, "puma_hardware/PumaSimSystem");
}

TEST_P(ControlTagTest, HasSixJointsThatTakeEffortAndGiveThreeStates) {
  ASSERT_EQ(components[0].joints.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    const auto& joint = components[0].joints[i];
    EXPECT_EQ(joint.name, "joint" + std::to_string(i + 1));
    ASSERT_EQ(joint.command_interfaces.size(), 1U);
    EXPECT_EQ(joint.command_interfaces[0].name, "effort");
    ASSERT_EQ(joint.state_interfaces.size(), 3U);
    EXPECT_EQ(joint.state_interfaces[0].name, "position");
    EXPECT_EQ(joint.state_interfaces[1].name, "velocity");
    EXPECT_EQ(joint.state_interfaces[2].name, "effort");
  }
}

TEST_P(ControlTagTest, CommandsAreBoundedByTheJointsEffort) {
  for (const auto& joint : components[0].joints) {
    const auto& command = joint.command_interfaces[0];
    const double effort = components[0].limits.at(joint.name).max_effort;
    EXPECT_DOUBLE_EQ(std::stod(command.max), effort) << joint.name;
    EXPECT_DOUBLE_EQ(std::stod(command.min), -effort) << joint.name;
  }
}

TEST_P(ControlTagTest, DrivesArriveAsJointParameters) {
  for (const auto& joint : components[0].joints) {
    for (const char* name :
         {"gear_ratio", "armature", "viscous_friction", "coulomb_friction_positive",
          "coulomb_friction_negative", "torque_per_volt", "torque_rate_limit", "max_voltage",
          "voltage_direction", "encoder_counts_per_rev", "encoder_direction", "brake"}) {
      EXPECT_TRUE(joint.parameters.contains(name)) << joint.name << ' ' << name;
    }
  }
  EXPECT_EQ(components[0].joints[0].parameters.at("torque_rate_limit"), "19520.0");
  EXPECT_EQ(components[0].joints[1].parameters.at("gear_ratio"), "107.815");
  EXPECT_EQ(components[0].joints[5].parameters.at("coupling_motor5"), "0.180556");
}

TEST_P(ControlTagTest, HasTheToolsOutputsAndTheArmsInputs) {
  ASSERT_EQ(components[0].gpios.size(), 2U);
  const auto names = [](const auto& interfaces) {
    std::vector<std::string> all;
    for (const auto& interface : interfaces) all.push_back(interface.name);
    return all;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(components[0].gpios[0].name, "tool");
  EXPECT_EQ(names(components[0].gpios[0].command_interfaces), (Names{"output1", "output2"}));
  EXPECT_EQ(names(components[0].gpios[0].state_interfaces), (Names{"output1", "output2"}));
  EXPECT_EQ(components[0].gpios[1].name, "arm");
  EXPECT_EQ(names(components[0].gpios[1].command_interfaces), (Names{"power", "fault_reset"}));
  EXPECT_EQ(names(components[0].gpios[1].state_interfaces),
            (Names{"power", "brakes", "thermal", "fault_code"}));
}

INSTANTIATE_TEST_SUITE_P(Descriptions, ControlTagTest, testing::Values("puma560", "puma600"),
                         [](const auto& robot) { return robot.param; });

}  // namespace
