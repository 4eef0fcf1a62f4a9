// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PLUGINS__LIVE_GAINS_HPP_
#define GA_CONTROLLERS__PLUGINS__LIVE_GAINS_HPP_

// Gains that change while the controller runs: checked before they are accepted as parameters, and
// handed over to the control loop without blocking it.

#include <atomic>
#include <ga_controllers/law_controller_parameters.hpp>
#include <rclcpp/parameter.hpp>
#include <realtime_tools/realtime_thread_safe_box.hpp>
#include <vector>

#include "arm_model.hpp"

namespace ga_controllers {

/// The gains of the parameters. Throws std::invalid_argument, naming joint or parameter and the
/// remedy, also where the loop would be unstable at this update rate [Hz; 0: not known].
std::vector<JointGains> checked_gains(const ArmModel& model,
                                      const law_controller::Params& parameters,
                                      unsigned update_rate);

/// The parameters with those of the changes that are gains. Throws std::invalid_argument, naming
/// the parameter, where one is not finite: the generated validation lets NaN pass.
law_controller::Params with_gains(law_controller::Params parameters,
                                  const std::vector<rclcpp::Parameter>& changes);

class LiveGains {
 public:
  /// With the gains that the law was built with. Allocates; not while the control loop runs.
  void start(const std::vector<JointGains>& gains);
  /// Gains for the control loop, from another thread. Allocates.
  void offer(const std::vector<JointGains>& gains);
  /// For the control loop: what the law is to change to, or null. Real-time safe; the next call may
  /// overwrite it.
  const std::vector<JointGains>* take();

 private:
  realtime_tools::RealtimeThreadSafeBox<std::vector<JointGains>> offered_;
  std::atomic<bool> is_new_{false};
  std::vector<JointGains> used_, next_;  ///< of the control loop
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PLUGINS__LIVE_GAINS_HPP_
