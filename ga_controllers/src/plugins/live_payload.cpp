// SPDX-License-Identifier: Apache-2.0
#include "live_payload.hpp"

#include <string>

namespace ga_controllers {

using ga_dynamics::Payload;

namespace {

bool equal(const Payload& a, const Payload& b) {
  return a.mass == b.mass && a.com == b.com && a.inertia == b.inertia;
}

}  // namespace

Payload payload_of(const law_controller::Params& parameters) {
  const auto& p = parameters.payload;
  return ga_dynamics::make_payload(p.mass, p.com, p.inertia);
}

law_controller::Params with_payload(law_controller::Params parameters,
                                    const std::vector<rclcpp::Parameter>& changes) {
  auto& payload = parameters.payload;
  for (const rclcpp::Parameter& change : changes) {
    if (change.get_name() == "payload.mass") payload.mass = change.as_double();
    if (change.get_name() == "payload.com") payload.com = change.as_double_array();
    if (change.get_name() == "payload.inertia") payload.inertia = change.as_double_array();
  }
  return parameters;
}

std::vector<rclcpp::Parameter> parameters_of(const Payload& payload) {
  const ga_dynamics::Matrix3& i = payload.inertia;
  const std::vector<double> com(payload.com.begin(), payload.com.end());
  const std::vector<double> inertia{i[0], i[1], i[2], i[4], i[5], i[8]};
  return {rclcpp::Parameter("payload.mass", payload.mass), rclcpp::Parameter("payload.com", com),
          rclcpp::Parameter("payload.inertia", inertia)};
}

void LivePayload::start(const Payload& payload) {
  current_ = payload;
  is_new_ = false;
}

void LivePayload::offer(const Payload& payload) {
  offered_.set(payload);
  is_new_ = true;
}

const Payload* LivePayload::take() {
  if (!is_new_.exchange(false)) return nullptr;
  Payload next;
  const bool taken = offered_.try_get([&next](const Payload& payload) { next = payload; });
  if (!taken) is_new_ = true;
  if (!taken || equal(next, current_)) return nullptr;  // another parameter may have been set
  current_ = next;
  return &current_;
}

}  // namespace ga_controllers
