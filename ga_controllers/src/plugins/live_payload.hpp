// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PLUGINS__LIVE_PAYLOAD_HPP_
#define GA_CONTROLLERS__PLUGINS__LIVE_PAYLOAD_HPP_

// A payload that changes while the controller runs: validated before the parameters are accepted,
// then passed to the control loop without blocking it.

#include <atomic>
#include <ga_controllers/law_controller_parameters.hpp>
#include <rclcpp/parameter.hpp>
#include <realtime_tools/realtime_thread_safe_box.hpp>
#include <vector>

#include "ga_dynamics/chain.hpp"

namespace ga_controllers {

/// The payload of the parameters. Throws std::invalid_argument naming the parameter, its value and
/// the remedy.
ga_dynamics::Payload payload_of(const law_controller::Params& parameters);

/// Applies the changes of the payload to the parameters.
law_controller::Params with_payload(law_controller::Params parameters,
                                    const std::vector<rclcpp::Parameter>& changes);

/// The parameters of a payload.
std::vector<rclcpp::Parameter> parameters_of(const ga_dynamics::Payload& payload);

class LivePayload {
 public:
  /// Sets the payload that the law was built with. Not while the control loop runs.
  void start(const ga_dynamics::Payload& payload);
  /// Passes a payload to the control loop, from another thread.
  void offer(const ga_dynamics::Payload& payload);
  /// For the control loop: a new payload, or null. Real-time safe; valid until the next call.
  const ga_dynamics::Payload* take();

 private:
  realtime_tools::RealtimeThreadSafeBox<ga_dynamics::Payload> offered_;
  std::atomic<bool> is_new_{false};
  ga_dynamics::Payload current_;  ///< used by the control loop
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PLUGINS__LIVE_PAYLOAD_HPP_
