// SPDX-License-Identifier: Apache-2.0
// SimSystem: interfaces, brakes, command-mode switches, parameters, and other robots than the PUMA.

#include <gtest/gtest.h>

#include <cmath>

#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/plant.hpp"
#include "hardware_bench.hpp"
#include "pluginlib/class_loader.hpp"
#include "plugins/arm_interfaces.hpp"
#include "plugins/sim_settings.hpp"

namespace {

using test::Bench;
using test::Return;
using test::States;

constexpr char kStretched[] = "joint1:0.3,joint2:-0.2,joint3:1.2,joint4:0.1,joint5:0.4,joint6:-0.2";

std::vector<double> gravity(const std::string& urdf, const std::vector<double>& q) {
  ga_dynamics::Dynamics dynamics(ga_dynamics::Chain::from_urdf_text(urdf));
  std::vector<double> g(q.size());
  dynamics.gravity(q, g);
  return g;
}

/// The message with which sim_setup_of() or the check of the interfaces rejects the description.
std::string refusal(const std::string& urdf) {
  const auto info = hardware_interface::parse_control_resources_from_urdf(urdf).at(0);
  try {
    ga_hardware::ArmInterfaces::check(info, ga_hardware::kMostToolOutputs);
    ga_hardware::sim_setup_of(info);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(SimSystem, IsFoundByItsName) {
  pluginlib::ClassLoader<hardware_interface::SystemInterface> loader(
      "hardware_interface", "hardware_interface::SystemInterface");
  ASSERT_TRUE(loader.isClassAvailable("ga_hardware/SimSystem"));
  EXPECT_NE(loader.createUniqueInstance("ga_hardware/SimSystem"), nullptr);
}

TEST(SimSystem, StandsOnItsBrakesUntilEffortIsClaimed) {
  Bench bench(test::puma({{"initial_positions", kStretched}}));
  bench.system().configure();
  ASSERT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE);
  const double start[] = {0.3, -0.2, 1.2, 0.1, 0.4, -0.2};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(bench.position(i), start[i], 1.5e-4);
  const auto before = bench.positions();
  for (int i = 0; i < 500; ++i) EXPECT_EQ(bench.read(), Return::OK);
  bench.system().activate();
  ASSERT_EQ(bench.state(), States::PRIMARY_STATE_ACTIVE);
  EXPECT_EQ(bench.cycles(500), Return::OK);
  EXPECT_EQ(bench.positions(), before);
  EXPECT_EQ(bench.state("arm/brakes"), 1);
  EXPECT_EQ(bench.state("arm/power"), 1);
  EXPECT_EQ(bench.state("arm/fault_code"), 0);
}

TEST(SimSystem, MovesAsThePlantOfItsDescriptionDoes) {
  const std::string urdf =
      test::puma({{"encoders", "false"}, {"dac", "false"}, {"brake_release_time", "0"}});
  Bench bench(urdf);
  bench.system().configure();
  bench.system().activate();
  ASSERT_TRUE(bench.start());
  const std::vector<double> torque{30, -40, 10, 2, -2, 1};
  // The first command of a controller opens the brakes; the plant feels it from then on.
  bench.set_efforts(torque);
  ASSERT_EQ(bench.cycles(2), Return::OK);

  const auto info = hardware_interface::parse_control_resources_from_urdf(urdf).at(0);
  const ga_hardware::SimSetup setup = ga_hardware::sim_setup_of(info);
  ga_dynamics::Plant plant(setup.chain, setup.settings.plant);
  std::vector<double> q = bench.positions(), qd;
  for (const std::string& joint : bench.joints()) qd.push_back(bench.state(joint + "/velocity"));
  plant.reset(q, qd);
  for (int k = 0; k < 300; ++k) {
    ASSERT_EQ(bench.cycle(), Return::OK);
    plant.step(torque, 1e-3);
  }
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(bench.position(i), plant.q()[i], 1e-9) << i;
    EXPECT_NEAR(bench.state(bench.joints()[i] + "/velocity"), plant.qd()[i], 1e-7) << i;
    EXPECT_DOUBLE_EQ(bench.effort(i), torque[i]);
  }
  EXPECT_GT(std::abs(bench.position(0) - q[0]), 0.01);
}

TEST(SimSystem, ReleasesTheBrakesWithoutASag) {
  const std::string urdf = test::puma({{"initial_positions", kStretched}});
  Bench bench(urdf);
  bench.system().configure();
  bench.system().activate();
  const auto before = bench.positions();
  ASSERT_TRUE(bench.start());
  ASSERT_EQ(bench.cycles(50), Return::OK);  // no command yet: nothing moves
  EXPECT_EQ(bench.positions(), before);
  bench.set_efforts(gravity(urdf, before));
  ASSERT_EQ(bench.cycles(100), Return::OK);
  EXPECT_EQ(bench.state("arm/brakes"), 1);
  ASSERT_EQ(bench.cycles(600), Return::OK);
  EXPECT_EQ(bench.state("arm/brakes"), 0);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(bench.position(i), before[i], 1e-3) << i;
}

TEST(SimSystem, VelocityFromEncoderCountsFollowsTheArm) {
  Bench bench(test::puma({{"initial_positions", test::kUpright}}));
  bench.system().configure();
  bench.system().activate();
  ASSERT_TRUE(bench.start());
  Bench exact(test::puma({{"encoders", "false"}, {"initial_positions", test::kUpright}}));
  exact.system().configure();
  exact.system().activate();
  ASSERT_TRUE(exact.start());
  double worst = 0, fastest = 0;
  for (int k = 0; k < 1500; ++k) {
    const double push = k < 500 ? 32 : -32, turn = push > 0 ? 1 : -1;
    for (Bench* b : {&bench, &exact}) {
      b->set_efforts({push, 0, 0, turn, turn, turn});
      ASSERT_EQ(b->cycle(), Return::OK);
    }
    fastest = std::max(fastest, exact.state("joint1/velocity"));
    worst =
        std::max(worst, std::abs(bench.state("joint1/velocity") - exact.state("joint1/velocity")));
    EXPECT_NEAR(bench.position(0), exact.position(0), 4e-4);
  }
  std::printf("joint1: fastest %.2f rad/s, velocity error %.4f rad/s\n", fastest, worst);
  EXPECT_GT(fastest, 0.5);
  EXPECT_LT(worst, 0.03);
}

TEST(SimSystem, PayloadIsInTheArmAndNotInItsDescription) {
  const std::string empty = test::puma({{"initial_positions", kStretched}});
  Bench bench(test::puma({{"initial_positions", kStretched}, {"payload_mass", "5"}}));
  bench.system().configure();
  bench.system().activate();
  ASSERT_TRUE(bench.start());
  const auto before = bench.positions();
  bench.set_efforts(gravity(empty, before));
  ASSERT_EQ(bench.cycles(1000), Return::OK);
  EXPECT_GT(bench.position(1) - before[1], 0.01);  // joint 2 is lowered
}

TEST(SimSystem, SimulatesAScaraWithAPrismaticJoint) {
  const std::vector<std::string> joints{"wrist", "quill", "elbow", "shoulder"};  // not the chain's
  const std::string urdf =
      test::with_control(test::read_file(std::string(GA_ROBOTS) + "/scara.urdf"), joints,
                         {{"initial_positions", "quill:0.1"}});
  Bench bench(urdf);
  bench.system().configure();
  ASSERT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE);
  EXPECT_DOUBLE_EQ(bench.state("quill/position"), 0.1);
  bench.system().activate();
  ASSERT_TRUE(bench.start());
  bench.set_efforts({0, 0, 0, 0});
  ASSERT_EQ(bench.cycles(1500), Return::OK);
  EXPECT_NEAR(bench.state("quill/position"), 0.2, 1e-3);  // fallen to its stop
  EXPECT_NEAR(bench.state("shoulder/position"), 0, 1e-9);
}

TEST(SimSettings, TakeInitialPositionsFromTheStateInterface) {
  std::string urdf = test::with_control(test::read_file(std::string(GA_ROBOTS) + "/scara.urdf"),
                                        {"shoulder", "elbow", "quill", "wrist"});
  const std::string tag = "<state_interface name=\"position\"/>";
  urdf.replace(urdf.find(tag), tag.size(),
               "<state_interface name=\"position\"><param name=\"initial_value\">0.25</param>"
               "</state_interface>");
  Bench bench(urdf);
  bench.system().configure();
  EXPECT_DOUBLE_EQ(bench.state("shoulder/position"), 0.25);
}

TEST(SimSettings, DisturbancesHaveTheNamesAndUnitsOfTheOptionsOfTheSimulation) {
  test::Parameters parameters;
  ga_hardware::Disturbances expected;
  for (const auto& option : ga_hardware::disturbance_options()) {
    const double value = option.whole ? 3 : 0.5 * (option.least + option.most);
    parameters[option.name] = std::to_string(value);
    expected.*option.value = value * option.scale;
  }
  const auto settings = [](const test::Parameters& given) {
    const std::string urdf = test::puma(given);
    return ga_hardware::sim_setup_of(
               hardware_interface::parse_control_resources_from_urdf(urdf).at(0))
        .settings;
  };
  EXPECT_EQ(settings({}).disturbances, ga_hardware::Disturbances{});
  const ga_hardware::Disturbances read = settings(parameters).disturbances;
  for (const auto& option : ga_hardware::disturbance_options()) {
    EXPECT_NEAR(read.*option.value, expected.*option.value, 1e-9) << option.name;
    for (const char* bad : {"nan", "-1", "1e9", "much"}) {
      EXPECT_NE(refusal(test::puma({{option.name, bad}})).find(option.name), std::string::npos)
          << option.name << ' ' << bad;
    }
  }
  EXPECT_NE(refusal(test::puma({{"delay", "1.5"}})).find("whole cycles"), std::string::npos);
}

TEST(SimSettings, RefusalsNameTheParameterAndTheRemedy) {
  const auto refused = [](const test::Parameters& parameters) {
    return refusal(test::puma(parameters));
  };
  EXPECT_EQ(refused({}), "");
  EXPECT_EQ(refused({{"ramp_time", "fast"}}),
            "hardware 'puma560': parameter ramp_time is 'fast'; give a number between 0 and 10");
  EXPECT_EQ(refused({{"encoders", "maybe"}}),
            "hardware 'puma560': parameter encoders is 'maybe'; give true or false");
  EXPECT_EQ(refused({{"gravity", "0,-9.81"}}),
            "hardware 'puma560': parameter gravity is '0,-9.81'; give 3 numbers with commas "
            "between them");
  EXPECT_EQ(refused({{"initial_positions", "joint1=1"}}),
            "hardware 'puma560': parameter initial_positions is 'joint1=1'; give "
            "JOINT:VALUE,JOINT:VALUE, every joint once");
  EXPECT_EQ(refused({{"initial_positions", "joint7:1"}}),
            "hardware 'puma560': parameter initial_positions: there is no joint 'joint7' on the "
            "chain");
  EXPECT_NE(refused({{"initial_positions", "joint2:2"}}).find("outside its limits"),
            std::string::npos);
  EXPECT_NE(refused({{"payload", "2"}}).find("parameter payload is unknown; known are "),
            std::string::npos);
  EXPECT_NE(refused({{"max_missed_deadlines", "2.5"}}).find("give a whole number"),
            std::string::npos);
  EXPECT_NE(refused({{"deadline_ratio", "0.5"}}).find("deadline_ratio must be above 1"),
            std::string::npos);
  EXPECT_NE(refused({{"tip", "link4"}}).find("joints 'joint5'"), std::string::npos);
  EXPECT_NE(refused({{"tip", "link4"}, {"freeze_off_chain", "true"}})
                .find("joint 'joint5' is not on the chain"),
            std::string::npos);
  EXPECT_NE(refused({{"tip", "nowhere"}}).find("nowhere"), std::string::npos);
}

TEST(SimSettings, ALimitOfZeroCountsAsNotGiven) {
  for (const char* kind : {"effort", "velocity"}) {
    std::string urdf = test::puma();
    const std::size_t joint = urdf.find("<joint name=\"joint3\"");
    const std::string tag = std::string(kind) + "=\"";
    const std::size_t begin = urdf.find(tag, urdf.find("<limit", joint)) + tag.size();
    urdf.replace(begin, urdf.find('"', begin) - begin, "0");
    EXPECT_EQ(refusal(urdf), "") << kind;
    Bench bench(urdf);
    EXPECT_NO_THROW(bench.system().configure()) << kind;
  }
}

TEST(SimSettings, RefuseInterfacesThatAnArmDoesNotHave) {
  std::string urdf = test::puma();
  const std::string effort = "<command_interface name=\"effort\">";
  urdf.replace(urdf.find(effort), effort.size(), "<command_interface name=\"position\">");
  EXPECT_EQ(refusal(urdf),
            "hardware 'puma560', joint 'joint1': command interface 'position' is unknown; known "
            "are effort");
  urdf = test::puma();
  const std::string power = "<command_interface name=\"power\"/>";
  urdf.replace(urdf.find(power), power.size(), "<command_interface name=\"laser\"/>");
  EXPECT_NE(refusal(urdf).find("gpio 'arm': command interface 'laser' is unknown"),
            std::string::npos);
}

TEST(SimSettings, AJointOfTheChainThatIsNotControlledIsRefused) {
  const std::string urdf = test::with_control(
      test::read_file(std::string(GA_ROBOTS) + "/scara.urdf"), {"shoulder", "elbow", "quill"});
  EXPECT_NE(refusal(urdf).find("joint 'wrist' of the chain"), std::string::npos);
  const std::string frozen =
      test::with_control(test::read_file(std::string(GA_ROBOTS) + "/scara.urdf"),
                         {"shoulder", "elbow", "quill"}, {{"freeze", "wrist:0.5"}});
  EXPECT_EQ(refusal(frozen), "");
}

}  // namespace
