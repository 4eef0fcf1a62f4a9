// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PLUGINS__STATE_MESSAGE_HPP_
#define GA_CONTROLLERS__PLUGINS__STATE_MESSAGE_HPP_

// ~/controller_state: control_msgs/DynamicJointState. No stock controller state has torque terms.
// This message lists named values per joint, which the usual tools plot by name, and needs no
// message package of its own.

#include <control_msgs/msg/dynamic_joint_state.hpp>
#include <span>
#include <string>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_controllers/law_monitor.hpp"

namespace ga_controllers {

/// The message with all names and NaN values; its joint k is the chain's joint listed[k].
/// Allocates.
control_msgs::msg::DynamicJointState make_state_message(const std::vector<std::string>& joints,
                                                        const std::vector<std::size_t>& listed);

/// Fills in the values of the law's last update, without the header. Real-time safe.
void fill_state_message(control_msgs::msg::DynamicJointState& message,
                        std::span<const std::size_t> listed, std::span<const double> q,
                        std::span<const double> qd, ControlLaw& law,
                        const LawMonitor& monitor) noexcept;

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PLUGINS__STATE_MESSAGE_HPP_
