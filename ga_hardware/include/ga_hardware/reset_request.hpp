// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__RESET_REQUEST_HPP_
#define GA_HARDWARE__RESET_REQUEST_HPP_

// A user's wish to clear a fault, on its way from a service to the control loop and back.

#include <atomic>

#include "std_srvs/srv/trigger.hpp"

namespace ga_hardware {

/// The loop's side is real-time safe: it takes kAsked, and leaves one of the last four.
enum class ResetRequest : int {
  kNone,
  kAsked,
  kTried,         ///< cleared, and the next look will tell whether the cause lasts
  kDone,          ///< the fault is gone
  kUncalibrated,  ///< the same, but nobody knows where the arm stands
  kStopping,      ///< not while a stop is under way
  kRefused        ///< the cause lasts
};

/// Asks and waits for the loop's answer, 0.5 s at most; without a loop (`cycling` false) the wish
/// stands until there is one.
void answer_reset(std::atomic<ResetRequest>& request, bool cycling,
                  std_srvs::srv::Trigger::Response& response);

}  // namespace ga_hardware

#endif  // GA_HARDWARE__RESET_REQUEST_HPP_
