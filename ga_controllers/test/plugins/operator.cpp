// SPDX-License-Identifier: Apache-2.0
#include "operator.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

namespace test {

Operator::Operator(Bench& bench) : bench_(bench), node_(std::make_shared<rclcpp::Node>("user")) {
  const std::string name = bench.controller->get_node()->get_name();
  publisher_ = node_->create_publisher<JointTrajectory>("/" + name + "/reference", 10);
  subscription_ = node_->create_subscription<StateMessage>(
      "/" + name + "/controller_state", 10,
      [this](const StateMessage& received) { states.push_back(received); });
  executor_.add_node(node_);
}

bool Operator::start(Arm& arm) {
  if (!bench_.configure() || !connect() || !bench_.activate(arm)) return false;
  bench_.cycles(arm, 10);
  return true;
}

bool Operator::connect() {
  return !kTakesReferences || wait([this] { return publisher_->get_subscription_count() > 0; });
}

bool Operator::wait(const std::function<bool()>& done) {
  for (int k = 0; k < 2000 && !done(); ++k) {
    bench_.spin_some();
    executor_.spin_some();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return done();
}

void Operator::send(const JointTrajectory& what) {
  publisher_->publish(what);
  for (int k = 0; k < 20; ++k) {
    bench_.spin_some();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

double value(const StateMessage& state, std::size_t joint, const std::string& name) {
  const auto& values = state.interface_values.at(joint);
  for (std::size_t k = 0; k < values.interface_names.size(); ++k) {
    if (values.interface_names[k] == name) return values.values.at(k);
  }
  ADD_FAILURE() << "no value '" << name << "'";
  return std::nan("");
}

}  // namespace test
