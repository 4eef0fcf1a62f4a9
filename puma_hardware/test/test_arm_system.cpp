// SPDX-License-Identifier: Apache-2.0
// PumaSystem on emulated cards: connection, calibration, power and brakes, command-mode switches.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "arm_bench.hpp"
#include "emulator/emulated_cell.hpp"
#include "pluginlib/class_loader.hpp"
#include "plugins/arm_setup.hpp"
#include "std_msgs/msg/float64.hpp"

namespace {

using test::ArmBench;
using test::Return;
using test::States;

std::string refusal(const test::Parameters& parameters) {
  const auto info =
      hardware_interface::parse_control_resources_from_urdf(test::real_puma(parameters)).at(0);
  try {
    puma_hardware::arm_setup_of(info);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(ArmSystem, IsFoundByItsName) {
  pluginlib::ClassLoader<hardware_interface::SystemInterface> loader(
      "hardware_interface", "hardware_interface::SystemInterface");
  ASSERT_TRUE(loader.isClassAvailable("puma_hardware/PumaSystem"));
  EXPECT_NE(loader.createUniqueInstance("puma_hardware/PumaSystem"), nullptr);
}

TEST(ArmSystem, DoesNotPretendToKnowWhereItStandsBeforeTheCalibration) {
  ArmBench bench;
  bench.system().configure();
  ASSERT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE);
  ASSERT_EQ(bench.cycles(10), Return::OK);
  for (const double q : bench.positions()) EXPECT_TRUE(std::isnan(q));
  bench.system().activate();
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE) << "refused";
}

TEST(ArmSystem, CalibratesWhileInactiveAndShowsItsProgress) {
  ArmBench bench;
  EXPECT_EQ(bench.calibrate(), "-the component is not configured; set it inactive first");
  bench.system().configure();
  double progress = 0;
  int shown = 0;
  const auto subscription = bench.client()->create_subscription<std_msgs::msg::Float64>(
      "/puma560/calibration_progress", 10, [&](const std_msgs::msg::Float64& message) {
        EXPECT_GE(message.data, progress);
        progress = message.data;
        ++shown;
      });
  ASSERT_EQ(bench.calibrate(), "+calibrated; set the component active to continue");
  EXPECT_GT(shown, 3);
  EXPECT_GT(progress, 0.5);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(bench.position(i), test::kStart[i], 2e-3) << "joint" << i + 1;
  }
  EXPECT_EQ(bench.state("arm/power"), 0) << "it ends without power";
  bench.system().activate();
  ASSERT_EQ(bench.state(), States::PRIMARY_STATE_ACTIVE);
  EXPECT_EQ(bench.calibrate(), "-the component is active; set it inactive first");
}

TEST(ArmSystem, BrakesOnAnOutputOfTheirOwnLetPowerComeFirst) {
  ArmBench bench({{"pcl726.power_output", "8"}, {"pcl726.brake_output", "9"}});
  bench.system().configure();
  ASSERT_EQ(bench.calibrate()[0], '+');
  const auto before = bench.positions();
  bench.system().activate();
  ASSERT_EQ(bench.cycles(300), Return::OK);
  EXPECT_EQ(bench.state("arm/power"), 1);
  EXPECT_EQ(bench.state("arm/brakes"), 1);
  EXPECT_LT(bench.largest_distance(before), 2e-4);
  ASSERT_TRUE(bench.engage());
  ASSERT_EQ(bench.hold(500), Return::OK);
  EXPECT_EQ(bench.state("arm/brakes"), 0);
  EXPECT_LT(bench.largest_distance(before), 1e-3);
}

TEST(ArmSystem, ACalibrationCanBeCancelled) {
  ArmBench bench;
  bench.system().configure();
  std::thread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const auto node = std::make_shared<rclcpp::Node>("canceller");
    const auto service = node->create_client<std_srvs::srv::Trigger>("/puma560/cancel_calibration");
    service->wait_for_service(std::chrono::seconds(20));
    const auto answer =
        service->async_send_request(std::make_shared<std_srvs::srv::Trigger::Request>());
    rclcpp::spin_until_future_complete(node, answer, std::chrono::seconds(20));
  });
  const std::string answer = bench.call("calibrate", 2);
  user.join();
  EXPECT_NE(answer.find("cancelled"), std::string::npos) << answer;
  EXPECT_EQ(bench.largest_effort(), 0);
  EXPECT_EQ(bench.calibrate()[0], '+') << "and done after all";
}

TEST(ArmSystem, ACalibrationThatIsAskedForDuringAStopWaitsForItsEnd) {
  ArmBench bench;
  ASSERT_TRUE(bench.bring_up());
  ASSERT_EQ(bench.hold(300), Return::OK);
  bench.system().deactivate();
  ASSERT_TRUE(bench.stop());
  ASSERT_EQ(bench.cycles(3), Return::OK);
  ASSERT_GT(bench.largest_effort(), 1) << "still stopping";
  EXPECT_EQ(bench.call("calibrate", 20), "+calibrated; set the component active to continue");
}

TEST(ArmSystem, DiagnosticsTellWhatIsMissingAndWhatFails) {
  ArmBench bench;
  EXPECT_EQ(bench.diagnosis(3, "connected"), "not connected");
  bench.system().configure();
  EXPECT_EQ(bench.diagnosis(1, "calibrated"), "not calibrated; call the service calibrate");
  ASSERT_EQ(bench.calibrate()[0], '+');
  EXPECT_EQ(bench.diagnosis(0, "calibrated"), "calibrated");
  ASSERT_EQ(bench.inject("thermal:joint5"), "");
  EXPECT_EQ(bench.diagnosis(2, "thermal").substr(0, 15), "joint5: thermal");
}

TEST(ArmSystem, SharedCardsAreNotDrivenWithoutAGuard) {
  const std::string name = "arm_system_" + std::to_string(getpid());
  const auto chain = ga_dynamics::Chain::from_urdf_file(PUMA_URDF);
  const auto settings =
      puma_hardware::ArmSettings::from(chain, puma_hardware::with_emulated_wiring({}));
  std::atomic<bool> stop = false;
  std::thread robot([&] {
    puma_hardware::emulator::run_emulator(name, settings, chain,
                                          {puma_hardware::default_emulated_arm()}, stop);
  });
  {
    ArmBench bench(test::Parameters{{"cell", name}});
    bench.system().configure();
    EXPECT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE);
    bench.cycles(5);
    EXPECT_EQ(bench.calibrate(), "-no guard is running; start `puma guard` first");
    const test::LastError error;
    bench.system().activate();
    EXPECT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE);
    EXPECT_EQ(error().substr(0, 23), "no guard is running: if") << error();
    bench.cycles(5);
    EXPECT_NE(bench.diagnosis(1, "no guard").find("no guard is running"), std::string::npos);
  }
  stop = true;
  robot.join();
  puma_hardware::Heartbeat::remove(name);
}

TEST(ArmSetup, RefusalsNameTheParameterAndTheRemedy) {
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal({{"io", "usb"}}),
            "hardware 'puma560': parameter io is 'usb'; give ports or emulated");
  EXPECT_EQ(refusal({{"io", "ports"}, {"cell", "demo"}}),
            "hardware 'puma560': parameter cell is 'demo', but io is ports; omit cell or set "
            "io to emulated");
  EXPECT_NE(refusal({{"cell", "demo"}, {"simulated_time", "true"}}).find("simulated_time"),
            std::string::npos);
  EXPECT_NE(refusal({{"safety.ramp", "1"}}).find("safety.ramp"), std::string::npos);
  EXPECT_NE(refusal({{"initial_positions", "joint7:1"}}).find("there is no joint 'joint7'"),
            std::string::npos);
}

/// The PUMA with a gripper's finger, and with another arm beside it.
std::string with_more_joints(const test::Parameters& parameters) {
  std::string more;
  const auto add = [&](const std::string& name, const std::string& parent,
                       const std::string& type) {
    more += "<link name=\"" + name +
            "_link\"><inertial><mass value=\"0.1\"/><inertia ixx=\"1e-4\" "
            "iyy=\"1e-4\" izz=\"1e-4\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>"
            "<joint name=\"" +
            name + "\" type=\"" + type + "\"><parent link=\"" + parent + "\"/><child link=\"" +
            name +
            "_link\"/><axis xyz=\"0 0 1\"/><limit lower=\"0\" "
            "upper=\"0.05\" velocity=\"1\" effort=\"10\"/></joint>";
  };
  add("finger", "tool0", "prismatic");
  std::string parent = "base_link";
  for (int i = 1; i <= 3; ++i) {
    const std::string name = "other" + std::to_string(i);
    add(name, parent, "revolute");
    parent = name + "_link";
  }
  std::string urdf = test::real_puma(parameters);
  return urdf.insert(urdf.rfind("</robot>"), more);
}

TEST(ArmSetup, GrippersAndOtherArmsAreLeftAloneWhenTheChainIsGiven) {
  using puma_hardware::PumaSystem;
  const std::string refused = test::refusal<PumaSystem>(with_more_joints({}));
  EXPECT_NE(refused.find("freeze"), std::string::npos) << refused;
  const test::Parameters chain{{"tip", "tool0"}, {"freeze_off_chain", "true"}};
  ASSERT_EQ(test::refusal<PumaSystem>(with_more_joints(chain)), "");
  const auto info =
      hardware_interface::parse_control_resources_from_urdf(with_more_joints(chain)).at(0);
  const auto setup = puma_hardware::arm_setup_of(info);
  EXPECT_EQ(setup.joints,
            (std::vector<std::string>{"joint1", "joint2", "joint3", "joint4", "joint5", "joint6"}));
  EXPECT_EQ(setup.chain.tip().name, "tool0");
  // By name, joint by joint, does it as well.
  EXPECT_EQ(test::refusal<PumaSystem>(
                with_more_joints({{"freeze", "finger:0.02,other1:0,other2:0,other3:0"}})),
            "");
}

TEST(ArmSetup, ToolOutputsThatTheCardsDoNotDriveAreRefused) {
  std::string urdf = test::real_puma();
  const std::string output = "<command_interface name=\"output2\"/>";
  urdf.insert(urdf.find(output), "<command_interface name=\"output3\"/>");
  EXPECT_NE(test::refusal<puma_hardware::PumaSystem>(urdf).find("'output3' is unknown"),
            std::string::npos);
}

TEST(ArmSetup, AMissingTableIsToldWhenItIsNeeded) {
  ArmBench bench(test::Parameters{{"calibration_file", "/nowhere/table.json"}});
  bench.system().configure();
  ASSERT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE);
  EXPECT_NE(bench.calibrate().find("/nowhere/table.json"), std::string::npos);
}

}  // namespace
