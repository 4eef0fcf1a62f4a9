// SPDX-License-Identifier: Apache-2.0
#include "bench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <lifecycle_msgs/msg/state.hpp>

namespace test {

using ga_controllers::Reference;
using ga_dynamics::Chain;
using lifecycle_msgs::msg::State;

std::unique_ptr<LawController> make_controller(LawKind kind) {
  switch (kind) {
    case LawKind::kPointToPoint:
      return std::make_unique<ga_controllers::PointToPointController>();
    case LawKind::kTracking:
      return std::make_unique<ga_controllers::TrackingController>();
    case LawKind::kTrackingIntegral:
      return std::make_unique<ga_controllers::TrackingIntegralController>();
    case LawKind::kHandGuiding:
      return std::make_unique<ga_controllers::HandGuidingController>();
    case LawKind::kGravityHold:
    case LawKind::kGravityCompensation:  // has no controller of its own
      break;
  }
  return std::make_unique<ga_controllers::GravityHoldController>();
}

std::vector<rclcpp::Parameter> friction_parameters(LawKind kind) {
  using rclcpp::Parameter;
  if (kind == LawKind::kPointToPoint || kind == LawKind::kHandGuiding) {
    return {Parameter("friction", 0.7)};
  }
  return {Parameter("friction", 1.0), Parameter("friction_velocity", 3e-4)};
}

Arm::Arm(const std::string& urdf, bool friction)
    : chain(Chain::from_urdf_text(urdf)), plant(chain, {.friction = friction}) {
  using hardware_interface::CommandInterface;
  using hardware_interface::StateInterface;
  for (const auto& joint : chain.joints()) {
    effort.push_back(std::make_shared<CommandInterface>(joint.name, "effort"));
    position.push_back(std::make_shared<StateInterface>(joint.name, "position"));
    velocity.push_back(std::make_shared<StateInterface>(joint.name, "velocity"));
    std::ignore = effort.back()->set_value(std::nan(""));
  }
  const Motion start(chain, 0);
  put(start.q);
}

void Arm::put(const Values& q, const Values& qd) {
  plant.reset(q, qd);
  write_states();
}

void Arm::drive(const Values& qdd) {
  Values tau(size());
  ga_dynamics::Dynamics dynamics(chain, {.drives = ga_dynamics::Drives::kArmature});
  dynamics.inverse_dynamics(plant.q(), plant.qd(), qdd, tau);
  for (std::size_t i = 0; i < size(); ++i) std::ignore = effort[i]->set_value(tau[i]);
}

void Arm::write_states() {
  for (std::size_t i = 0; i < size(); ++i) {
    std::ignore = position[i]->set_value(plant.q()[i]);
    std::ignore = velocity[i]->set_value(plant.qd()[i]);
  }
}

void Arm::add_effort_state(const Values& torque) {
  for (std::size_t i = 0; i < size(); ++i) {
    effort_state.push_back(
        std::make_shared<hardware_interface::StateInterface>(chain.joints()[i].name, "effort"));
    std::ignore = effort_state.back()->set_value(torque[i]);
  }
}

void Arm::step() { plant.step(torque(), kDt); }

Values Arm::torque() const {
  Values torque;
  for (const auto& handle : effort) torque.push_back(handle->get_optional().value());
  return torque;
}

double Arm::speed() const {
  double speed = 0;
  for (const double qd : plant.qd()) speed = std::max(speed, std::abs(qd));
  return speed;
}

double Arm::distance(const Values& q) const {
  double distance = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    distance = std::max(distance, std::abs(plant.q()[i] - q[i]));
  }
  return distance;
}

Bench::Bench(LawKind kind, const std::string& urdf, std::vector<rclcpp::Parameter> parameters,
             const std::string& name)
    : controller(make_controller(kind)) {
  controller_interface::ControllerInterfaceParams params;
  params.controller_name = name;
  params.robot_description = urdf;
  params.update_rate = params.controller_manager_update_rate = 1000;
  params.node_options = controller->define_custom_node_options();
  params.node_options.parameter_overrides(std::move(parameters));
  EXPECT_EQ(controller->init(params), controller_interface::return_type::OK);
  executor_.add_node(controller->get_node()->get_node_base_interface());
}

Bench::~Bench() {
  if (controller->get_lifecycle_id() == State::PRIMARY_STATE_ACTIVE) deactivate();
  controller->get_node()->shutdown();
}

bool Bench::configure() {
  if (controller->configure().id() != State::PRIMARY_STATE_INACTIVE) return false;
  references = controller->export_reference_interfaces();
  return true;
}

bool Bench::activate(Arm& arm, bool chained, bool readable) {
  EXPECT_TRUE(controller->set_chained_mode(chained));
  std::vector<hardware_interface::LoanedCommandInterface> commands;
  std::vector<hardware_interface::LoanedStateInterface> states;
  for (const auto& handle : arm.effort) commands.emplace_back(handle, nullptr);
  for (const auto& handle : arm.position) states.emplace_back(handle, nullptr);
  for (const auto& handle : arm.velocity) states.emplace_back(handle, nullptr);
  for (const auto& handle : arm.effort_state) states.emplace_back(handle, nullptr);
  controller->assign_interfaces(std::move(commands), std::move(states));
  const bool active = controller->get_node()->activate().id() == State::PRIMARY_STATE_ACTIVE;
  if (!active) controller->release_interfaces();
  if (readable) before_ = arm.torque();
  return active;
}

void Bench::deactivate() {
  controller->get_node()->deactivate();
  controller->release_interfaces();
}

bool Bench::update(double period) {
  now = now + rclcpp::Duration::from_seconds(kDt);
  return controller->update(now, rclcpp::Duration::from_seconds(period)) ==
         controller_interface::return_type::OK;
}

double Bench::cycle(Arm& arm, double period) {
  arm.write_states();
  EXPECT_TRUE(update(period));
  const Values torque = arm.torque();
  double change = 0;
  for (std::size_t i = 0; i < arm.size(); ++i) {
    EXPECT_LE(std::abs(torque[i]), arm.limit(i));
    if (std::isfinite(before_[i])) {
      change = std::max(change, std::abs(torque[i] - before_[i]) / arm.limit(i));
    }
  }
  before_ = torque;
  arm.step();
  return change;
}

double Bench::cycles(Arm& arm, int count) {
  double change = 0;
  for (int k = 0; k < count; ++k) change = std::max(change, cycle(arm));
  return change;
}

void Bench::refer(const Reference& reference) {
  const std::size_t n = reference.q.size();
  for (std::size_t i = 0; i < n; ++i) {
    std::ignore = references[i]->set_value(reference.q[i]);
    std::ignore = references[n + i]->set_value(reference.qd[i]);
    std::ignore = references[2 * n + i]->set_value(reference.qdd[i]);
  }
}

bool Bench::restart(Arm& arm, bool chained) {
  deactivate();
  return activate(arm, chained);
}

bool Bench::set_in_motion(Arm& arm, double until) {
  const Motion at(arm.chain, 0);
  arm.put(at.q, at.qd);
  arm.drive(at.qdd);
  if (!configure() || !activate(arm, true)) return false;
  follow(arm, 0, until);
  return true;
}

double Bench::follow(Arm& arm, double from, double to, double* worst) {
  double change = 0;
  for (int k = 0; k < static_cast<int>(std::round((to - from) / kDt)); ++k) {
    const Motion at(arm.chain, from + k * kDt);
    if (worst != nullptr) *worst = std::max(*worst, arm.distance(at.q));
    refer(at.reference());
    change = std::max(change, cycle(arm));
  }
  return change;
}

void Bench::spin_some() { executor_.spin_some(); }

}  // namespace test
