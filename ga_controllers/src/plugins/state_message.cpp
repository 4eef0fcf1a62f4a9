// SPDX-License-Identifier: Apache-2.0
#include "state_message.hpp"

#include <array>
#include <limits>

namespace ga_controllers {

namespace {

constexpr std::array kNames = {
    "reference.position",  // as given or held
    "reference.velocity",
    "reference.acceleration",
    "followed.position",  // smoothed after changes and jumps, and within the limits
    "followed.velocity",
    "followed.acceleration",
    "position",  // measured
    "velocity",
    "error.position",  // reference − measured, as in the stock controllers
    "error.velocity",
    "disturbance",
    "torque.inertia",
    "torque.coriolis",
    "torque.gravity",
    "torque.friction",
    "torque.feedback",
    "torque.blend",
    "torque.limit",
    "torque.total",
    "monitor.oscillation",  // law_monitor.hpp
    "monitor.torque_oscillation",
    "monitor.frequency",
    "monitor.chatter",
    "monitor.saturation",
    "monitor.model_error",
    "monitor.model_error_ratio",
    "time_scale.rate",  // the same for all joints, as is the next one
    "time_scale.lag",
    "adaptation.payload_mass",  // of the arm, as are the next ones; 0 without adaptation
    "adaptation.payload_mass_deviation",
    "adaptation.paused",
};

}  // namespace

control_msgs::msg::DynamicJointState make_state_message(const std::vector<std::string>& joints,
                                                        const std::vector<std::size_t>& listed) {
  control_msgs::msg::DynamicJointState message;
  for (const std::size_t i : listed) {
    message.joint_names.push_back(joints[i]);
    auto& values = message.interface_values.emplace_back();
    values.interface_names.assign(kNames.begin(), kNames.end());
    values.values.assign(kNames.size(), std::numeric_limits<double>::quiet_NaN());
  }
  return message;
}

void fill_state_message(control_msgs::msg::DynamicJointState& message,
                        std::span<const std::size_t> listed, std::span<const double> q,
                        std::span<const double> qd, ControlLaw& law,
                        const LawMonitor& monitor) noexcept {
  const Reference given = law.reference(), followed = law.followed();
  const TorqueTerms torque = law.terms();
  const TimeScale scale = law.time_scale();
  const AdaptedModel adapted = law.adapted_model();
  for (std::size_t k = 0; k < listed.size(); ++k) {
    const std::size_t i = listed[k];
    const JointMonitor& watched = monitor.joint(i);
    const std::array<double, kNames.size()> values = {
        given.q[i],
        given.qd[i],
        given.qdd[i],
        followed.q[i],
        followed.qd[i],
        followed.qdd[i],
        q[i],
        qd[i],
        given.q[i] - q[i],
        given.qd[i] - qd[i],
        law.disturbance()[i],
        torque.inertia[i],
        torque.coriolis[i],
        torque.gravity[i],
        torque.friction[i],
        torque.feedback[i],
        torque.blend[i],
        torque.limit[i],
        torque.total[i],
        watched.oscillation,
        watched.torque_oscillation,
        watched.frequency,
        watched.chatter,
        watched.saturation,
        watched.model_error,
        watched.model_error_ratio,
        scale.rate,
        scale.lag,
        adapted.payload_mass,
        adapted.payload_mass_deviation,
        adapted.paused ? 1.0 : 0.0,
    };
    std::copy(values.begin(), values.end(), message.interface_values[k].values.begin());
  }
}

}  // namespace ga_controllers
