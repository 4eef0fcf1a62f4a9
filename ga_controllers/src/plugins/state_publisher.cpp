// SPDX-License-Identifier: Apache-2.0
#include "state_publisher.hpp"

namespace ga_controllers {

StatePublisher::StatePublisher(rclcpp_lifecycle::LifecycleNode& node, const ArmModel& model,
                               double rate)
    : listed_(model.listed),
      message_(make_state_message(model.joints, model.listed)),
      publisher_(node.create_publisher<Message>("~/controller_state", rclcpp::SystemDefaultsQoS())),
      period_(1 / rate) {
  // Allocate the publisher's copy here, not in the control loop.
  publisher_.lock();
  publisher_.msg_ = message_;
  publisher_.unlock();
}

void StatePublisher::publish(const rclcpp::Time& time, double dt, std::span<const double> q,
                             std::span<const double> qd, ControlLaw& law,
                             const LawMonitor& monitor) {
  since_last_ += dt;
  // Tolerance of half a cycle: otherwise a rate that divides the update rate would skip messages.
  if (since_last_ + dt / 2 < period_) return;
  since_last_ = 0;
  message_.header.stamp = time;
  fill_state_message(message_, listed_, q, qd, law, monitor);
  publisher_.try_publish(message_);
}

}  // namespace ga_controllers
