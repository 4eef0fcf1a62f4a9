// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PLUGINS__LIVE_GAINS_HPP_
#define GA_CONTROLLERS__PLUGINS__LIVE_GAINS_HPP_

// Gains that change while the controller runs: validated before the parameters are accepted, then
// passed to the control loop without blocking it.

#include <atomic>
#include <ga_controllers/law_controller_parameters.hpp>
#include <optional>
#include <rclcpp/parameter.hpp>
#include <realtime_tools/realtime_thread_safe_box.hpp>
#include <vector>

#include "arm_model.hpp"

namespace ga_controllers {

/// The gains of the parameters. Throws std::invalid_argument naming the joint or parameter and the
/// remedy, also if the loop would be unstable at this update rate [Hz; 0: unknown].
std::vector<JointGains> checked_gains(const ArmModel& model,
                                      const law_controller::Params& parameters,
                                      unsigned update_rate);

/// The stability check of the gains of the parameters at this update rate [Hz]; std::nullopt if the
/// rate is unknown (0). Takes some milliseconds. Throws std::invalid_argument with range and remedy if
/// they are refused. `declared` as in ArmModel::uncertainty().
std::optional<LawCheck> checked_stability(const ArmModel& model, LawKind kind,
                                          const law_controller::Params& parameters,
                                          unsigned update_rate, bool declared);

/// Applies the changes of gains to the parameters. Throws std::invalid_argument naming the
/// parameter if a value is not finite: the generated validation accepts NaN.
law_controller::Params with_gains(law_controller::Params parameters,
                                  const std::vector<rclcpp::Parameter>& changes);

class LiveGains {
 public:
  /// Sets the gains that the law was built with. Allocates; not while the control loop runs.
  void start(const std::vector<JointGains>& gains);
  /// Passes gains to the control loop, from another thread. Allocates.
  void offer(const std::vector<JointGains>& gains);
  /// For the control loop: new gains, or null. Real-time safe; valid until the next call.
  const std::vector<JointGains>* take();

 private:
  realtime_tools::RealtimeThreadSafeBox<std::vector<JointGains>> offered_;
  std::atomic<bool> is_new_{false};
  std::vector<JointGains> current_, next_;  ///< used by the control loop
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PLUGINS__LIVE_GAINS_HPP_
