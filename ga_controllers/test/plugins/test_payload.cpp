// SPDX-License-Identifier: Apache-2.0

// The payload as a parameter of a controller, and the service that sets it for all controllers of an
// arm.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <ga_msgs/srv/set_payload.hpp>

#include "bench.hpp"

namespace test {
namespace {

using ga_msgs::srv::SetPayload;
using rclcpp::Parameter;

constexpr double kMass = 2;
const Values kCom{0.0, 0.02, 0.1};
const Values kInertia{0.01, 0, 0, 0.01, 0, 0.01};

/// A controller of an arm that carries the payload.
ga_dynamics::Plant carrying(const Arm& arm) {
  return ga_dynamics::Plant(
      arm.chain.with_payload(ga_dynamics::make_payload(kMass, kCom, kInertia)),
      {.friction = false});
}

Values gravity(const Arm& arm, double mass) {
  Values torque(arm.size());
  ga_dynamics::Dynamics dynamics(arm.chain);
  if (mass > 0) dynamics.set_payload(ga_dynamics::make_payload(mass, kCom, kInertia));
  dynamics.gravity(arm.plant.q(), torque);
  return torque;
}

TEST(Payload, AChangeMakesNoStepAndIsUsed) {
  Arm arm(puma());
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.configure());
  const Values start = arm.q();
  arm.plant = carrying(arm);
  arm.put(start);
  ASSERT_TRUE(bench.activate(arm));
  bench.cycles(arm, 2000);
  const auto node = bench.controller->get_node();
  ASSERT_TRUE(node->set_parameters_atomically({Parameter("payload.mass", kMass),
                                               Parameter("payload.com", kCom),
                                               Parameter("payload.inertia", kInertia)})
                  .successful);
  const double step = bench.cycles(arm, 2000);
  RecordProperty("step", std::to_string(step));
  EXPECT_LT(step, 0.02);
  const Values expected = gravity(arm, kMass), torque = arm.torque();
  for (std::size_t i = 0; i < arm.size(); ++i) EXPECT_NEAR(torque[i], expected[i], 1e-3);
  EXPECT_LT(arm.speed(), 1e-5);
}

TEST(Payload, IsUsedFromTheFirstCycleIfItIsKnownBefore) {
  Arm arm(puma());
  Bench bench(kLaw, puma(), {Parameter("payload.mass", kMass), Parameter("payload.com", kCom)});
  ASSERT_TRUE(bench.configure());
  const auto node = bench.controller->get_node();
  ASSERT_TRUE(node->set_parameter(Parameter("payload.inertia", kInertia)).successful) << "inactive";
  const Values start = arm.q();
  arm.plant = carrying(arm);
  arm.put(start);
  ASSERT_TRUE(bench.activate(arm));
  bench.cycles(arm, 1);
  const Values expected = gravity(arm, kMass), torque = arm.torque();
  for (std::size_t i = 0; i < arm.size(); ++i) EXPECT_NEAR(torque[i], expected[i], 1e-6);
  bench.cycles(arm, 500);
  EXPECT_LT(arm.distance(start), 1e-6);
}

TEST(Payload, ImpossibleOnesAreRefusedWithValueAndRemedy) {
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.configure());
  const auto node = bench.controller->get_node();
  ASSERT_TRUE(node->set_parameter(Parameter("payload.mass", kMass)).successful);
  const auto refused = [&](const Parameter& parameter, const std::string& reason) {
    const auto result = node->set_parameter(parameter);
    EXPECT_FALSE(result.successful) << parameter.get_name();
    EXPECT_NE(result.reason.find(reason), std::string::npos) << result.reason;
  };
  refused(Parameter("payload.mass", -1.0), "payload.mass is -1 kg; give 0");
  refused(Parameter("payload.mass", std::nan("")), "payload.mass is nan kg");
  refused(Parameter("payload.com", Values{0, 0}), "give x, y, z");
  refused(Parameter("payload.com", Values{0, 0, std::nan("")}), "payload.com: z is nan m");
  refused(Parameter("payload.inertia", Values{1, 0, 0, 1, 0, -1}), "not positive definite");
  refused(Parameter("payload.inertia", Values{1, 0, 0, 1, 0, 3}), "triangle inequality");
  EXPECT_EQ(node->get_parameter("payload.mass").as_double(), kMass);
  EXPECT_FALSE(Bench(kLaw, puma(),
                     {Parameter("payload.mass", 1.0),
                      Parameter("payload.inertia", Values{1, 0, 0, 1, 0, 3})},
                     "impossible")
                   .configure());
}

/// Calls the service of the bench's controller.
SetPayload::Response set_payload(Bench& bench, double mass, double x = kCom[0]) {
  const auto user = std::make_shared<rclcpp::Node>("user");
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(user);
  const auto client = user->create_client<SetPayload>(
      std::string(bench.controller->get_node()->get_fully_qualified_name()) + "/set_payload");
  EXPECT_TRUE(client->wait_for_service(std::chrono::seconds(10)));
  const auto request = std::make_shared<SetPayload::Request>();
  request->payload.mass = mass;
  std::copy(kCom.begin(), kCom.end(), request->payload.com.begin());
  request->payload.com[0] = x;
  std::copy(kInertia.begin(), kInertia.end(), request->payload.inertia.begin());
  auto future = client->async_send_request(request);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < end) {
    bench.spin_some();
    if (executor.spin_until_future_complete(future, std::chrono::milliseconds(1)) ==
        rclcpp::FutureReturnCode::SUCCESS) {
      return *future.get();
    }
  }
  ADD_FAILURE() << "no response";
  return SetPayload::Response();
}

double mass_of(const Bench& bench) {
  return bench.controller->get_node()->get_parameter("payload.mass").as_double();
}

TEST(Payload, TheServiceSetsAllControllersOfTheArm) {
  Arm arm(puma());
  Bench active(kLaw, puma(), {}, "active"), inactive(kLaw, puma(), {}, "inactive"),
      other(kLaw, scara(), {}, "other"), unloaded(kLaw, puma(), {}, "unloaded");
  for (Bench* bench : {&active, &inactive, &other}) ASSERT_TRUE(bench->configure());
  const Values start = arm.q();
  arm.plant = carrying(arm);
  arm.put(start);
  ASSERT_TRUE(active.activate(arm));
  active.cycles(arm, 1000);

  const SetPayload::Response refused = set_payload(active, -1);
  EXPECT_FALSE(refused.success);
  EXPECT_EQ(refused.message, "payload.mass is -1 kg; give 0 … 10000 kg");
  EXPECT_EQ(mass_of(active) + mass_of(inactive), 0);

  const SetPayload::Response response = set_payload(inactive, kMass);
  EXPECT_TRUE(response.success) << response.message;
  EXPECT_EQ(response.message, "active, inactive");
  for (Bench* bench : {&active, &inactive}) {
    const auto node = bench->controller->get_node();
    EXPECT_EQ(mass_of(*bench), kMass);
    EXPECT_EQ(node->get_parameter("payload.com").as_double_array(), kCom);
    EXPECT_EQ(node->get_parameter("payload.inertia").as_double_array(), kInertia);
  }
  EXPECT_EQ(mass_of(other), 0) << "another arm";
  EXPECT_EQ(mass_of(unloaded), 0) << "not configured";

  EXPECT_LT(active.cycles(arm, 2000), 0.02);
  const Values expected = gravity(arm, kMass), torque = arm.torque();
  for (std::size_t i = 0; i < arm.size(); ++i) EXPECT_NEAR(torque[i], expected[i], 1e-3);

  // The next controller takes over without a step, and holds the payload as well.
  active.deactivate();
  ASSERT_TRUE(inactive.activate(arm));
  EXPECT_LT(inactive.cycles(arm, 500), 0.02);
  for (std::size_t i = 0; i < arm.size(); ++i) EXPECT_NEAR(arm.torque()[i], expected[i], 1e-2);

  ASSERT_TRUE(unloaded.configure());
  EXPECT_EQ(mass_of(unloaded), kMass) << "takes the arm's payload when it is configured";

  // A parameter of one controller is its own; the service makes all agree again.
  ASSERT_TRUE(
      active.controller->get_node()->set_parameter(Parameter("payload.mass", 1.0)).successful);
  EXPECT_EQ(mass_of(inactive), kMass);
  EXPECT_TRUE(set_payload(active, 0).success);
  EXPECT_EQ(mass_of(active) + mass_of(inactive) + mass_of(unloaded), 0);
}

}  // namespace
}  // namespace test
