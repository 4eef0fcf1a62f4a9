// SPDX-License-Identifier: Apache-2.0

// Adaptation as a parameter of a controller, its state, and the service that resets it.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <control_msgs/msg/dynamic_joint_state.hpp>
#include <std_srvs/srv/trigger.hpp>

#include "bench.hpp"

namespace test {
namespace {

using control_msgs::msg::DynamicJointState;
using rclcpp::Parameter;
using std_srvs::srv::Trigger;

constexpr double kMass = 2;

/// A node beside the controller.
class User {
 public:
  explicit User(Bench& bench)
      : bench_(bench),
        node_(std::make_shared<rclcpp::Node>("user")),
        prefix_(bench.controller->get_node()->get_fully_qualified_name()) {
    executor_.add_node(node_);
    subscription_ = node_->create_subscription<DynamicJointState>(
        prefix_ + "/controller_state", rclcpp::SystemDefaultsQoS(),
        [this](const DynamicJointState& message) { state_ = message; });
  }
  void spin(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
      bench_.spin_some();
      executor_.spin_some(std::chrono::milliseconds(1));
    }
  }
  /// Of the last controller_state; NaN: it is not in there.
  double state(const std::string& name) {
    if (state_.interface_values.empty()) return NAN;
    const auto& values = state_.interface_values.front();
    for (std::size_t i = 0; i < values.interface_names.size(); ++i) {
      if (values.interface_names[i] == name) return values.values[i];
    }
    return NAN;
  }
  /// Calls ~/reset_adaptation. False if there is no such service.
  bool reset() {
    const auto client = node_->create_client<Trigger>(prefix_ + "/reset_adaptation");
    if (!client->wait_for_service(std::chrono::seconds(1))) return false;
    auto future = client->async_send_request(std::make_shared<Trigger::Request>());
    for (int k = 0; k < 1000; ++k) {
      bench_.spin_some();
      if (executor_.spin_until_future_complete(future, std::chrono::milliseconds(10)) ==
          rclcpp::FutureReturnCode::SUCCESS) {
        return future.get()->success;
      }
    }
    return false;
  }

 private:
  Bench& bench_;
  rclcpp::Node::SharedPtr node_;
  std::string prefix_;
  rclcpp::executors::SingleThreadedExecutor executor_;
  rclcpp::Subscription<DynamicJointState>::SharedPtr subscription_;
  DynamicJointState state_;
};

TEST(AdaptationController, LearnsThePayloadReportsItAndForgetsIt) {
  Arm arm(puma());
  Bench bench(kLaw, puma(),
              {Parameter("adaptation.enabled", true), Parameter("friction", 1.0),
               Parameter("state_publish_rate", 1000.0)});
  ASSERT_TRUE(bench.set_in_motion(arm, 0.01));
  const Values q = arm.q(), qd(arm.plant.qd().begin(), arm.plant.qd().end());
  arm.plant =
      ga_dynamics::Plant(arm.chain.with_payload(ga_dynamics::make_payload(kMass, {}, {})), {});
  arm.plant.reset(q, qd);
  User user(bench);
  user.spin(std::chrono::milliseconds(300));  // discovery
  bench.follow(arm, 0.01, 2);
  user.spin(std::chrono::milliseconds(300));
  EXPECT_NEAR(user.state("adaptation.payload_mass"), kMass, 0.3);
  EXPECT_LT(user.state("adaptation.payload_mass_deviation"), 0.5);
  EXPECT_EQ(user.state("adaptation.paused"), 0);

  ASSERT_TRUE(user.reset());
  const double step = bench.follow(arm, 2, 2.002);
  user.spin(std::chrono::milliseconds(300));
  EXPECT_LT(user.state("adaptation.payload_mass"), 0.5) << "it has forgotten the payload";
  EXPECT_LT(step, 0.02);
}

TEST(AdaptationController, IsOffByDefault) {
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.configure());
  User user(bench);
  EXPECT_FALSE(user.reset());
}

}  // namespace
}  // namespace test
