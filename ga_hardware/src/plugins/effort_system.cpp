// SPDX-License-Identifier: Apache-2.0
#include "ga_hardware/effort_system.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>

namespace ga_hardware {

void EffortSystem::check_description(std::size_t tool_outputs) const {
  const auto& info = get_hardware_info();
  if (info.is_async) {
    throw std::runtime_error("hardware '" + info.name +
                             "': is_async is true, but it must run in the controllers' cycle; "
                             "remove is_async from the <ros2_control> tag");
  }
  ArmInterfaces::check(info, tool_outputs);
}

std::string EffortSystem::refuse_running_controllers() {
  if (!efforts().claimed()) return "";
  return "controllers still claim the effort interfaces; deactivate them first: ros2 control "
         "list_controllers, ros2 control switch_controllers --deactivate NAME";
}

EffortSystem::CallbackReturn EffortSystem::on_shutdown(const rclcpp_lifecycle::State& previous) {
  return on_cleanup(previous);
}

EffortSystem::Return EffortSystem::prepare_command_mode_switch(
    const std::vector<std::string>& start, const std::vector<std::string>& stop) {
  const std::string refused = efforts().refuse(start, stop);
  if (refused.empty()) return Return::OK;
  RCLCPP_ERROR(get_logger(), "%s", refused.c_str());
  return Return::ERROR;
}

EffortSystem::Return EffortSystem::perform_command_mode_switch(
    const std::vector<std::string>& start, const std::vector<std::string>& stop) {
  efforts().switched(start, stop);
  return Return::OK;
}

void answer_reset(std::atomic<ResetRequest>& request, bool cycling,
                  std_srvs::srv::Trigger::Response& response) {
  using namespace std::chrono_literals;
  request = ResetRequest::kAsked;
  response.success = true;
  if (!cycling) {
    response.message =
        "the component is not configured: the fault is cleared when it is configured";
    return;
  }
  const auto answered = [&] { return request.load() > ResetRequest::kTried; };
  for (int i = 0; i < 100 && !answered(); ++i) std::this_thread::sleep_for(5ms);
  switch (request.exchange(ResetRequest::kNone)) {
    case ResetRequest::kDone:
      response.message = "cleared; set the component active again to continue";
      return;
    case ResetRequest::kUncalibrated:
      response.message = "cleared; call calibrate, then set the component active to continue";
      return;
    case ResetRequest::kStopping:
      response.message = "the arm is still stopping; call again when it has stopped";
      break;
    case ResetRequest::kRefused:
      response.message = "the cause of the fault persists; remove it first";
      break;
    default:
      response.message =
          "no control cycle handled the request within 0.5 s; is the control loop running?";
  }
  response.success = false;
}

}  // namespace ga_hardware
