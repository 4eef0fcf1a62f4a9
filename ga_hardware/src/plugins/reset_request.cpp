// SPDX-License-Identifier: Apache-2.0
#include "ga_hardware/reset_request.hpp"

#include <chrono>
#include <thread>

namespace ga_hardware {

void answer_reset(std::atomic<ResetRequest>& request, bool cycling,
                  std_srvs::srv::Trigger::Response& response) {
  using namespace std::chrono_literals;
  request = ResetRequest::kAsked;
  response.success = true;
  if (!cycling) {
    response.message = "the component is not configured: the fault is cleared when it is";
    return;
  }
  const auto answered = [&] { return request.load() > ResetRequest::kTried; };
  for (int i = 0; i < 100 && !answered(); ++i) std::this_thread::sleep_for(5ms);
  switch (request.exchange(ResetRequest::kNone)) {
    case ResetRequest::kDone:
      response.message = "cleared; set the component active again to go on";
      return;
    case ResetRequest::kUncalibrated:
      response.message = "cleared; call calibrate, then set the component active to go on";
      return;
    case ResetRequest::kStopping:
      response.message = "the arm is still stopping; call again when it stands";
      break;
    case ResetRequest::kRefused:
      response.message = "the cause of the fault lasts; remove it first";
      break;
    default:
      response.message = "no control cycle took the request up within 0.5 s; is the loop running?";
  }
  response.success = false;
}

}  // namespace ga_hardware
