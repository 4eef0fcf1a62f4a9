// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PLUGINS__NOTICE_HPP_
#define GA_CONTROLLERS__PLUGINS__NOTICE_HPP_

// What the control loop has to say, and how it is said outside of it.

#include <atomic>
#include <chrono>
#include <rclcpp/logger.hpp>
#include <string>
#include <vector>

#include "ga_controllers/control_law.hpp"

namespace ga_controllers {

/// Why the arm does not follow its reference, or why update() gave up.
enum class Notice {
  kNone,
  kReferenceStale,
  kReferenceNotFinite,
  kReferenceLost,
  kReferenceOutsideLimits,
  kReferenceTooFast,
  kStateNotFinite,
  kCommandRefused
};

/// Does the controller give up?
bool is_error(Notice notice);
std::string to_string(Notice notice, const std::string& joint);

/// Says each thing so often and no oftener. Not for the control loop.
class Throttle {
 public:
  explicit Throttle(std::chrono::steady_clock::duration period) : period_(period) {}
  bool due() {
    const auto now = std::chrono::steady_clock::now();
    if (said_ && now - last_ < period_) return false;
    said_ = true;
    last_ = now;
    return true;
  }
  void forget() { said_ = false; }

 private:
  std::chrono::steady_clock::duration period_;
  std::chrono::steady_clock::time_point last_;
  bool said_ = false;
};

/// The last thing that the control loop has to say, left there for a timer. Of what is noted at
/// once the last one counts; what lasts is noted again in every cycle.
class Notices {
 public:
  // Real-time safe.
  void blame(std::size_t joint) noexcept { joint_ = joint; }  ///< that the next notice is about
  void note(Notice notice) noexcept { notice_ = notice; }
  void note(const LimitViolation& violation) noexcept;
  std::size_t joint() const noexcept { return joint_; }
  void clear() noexcept {
    notice_ = Notice::kNone;
    joint_ = 0;
  }

  /// Says what was noted since, at once where it is new, and every few seconds. Not for the control
  /// loop.
  void report(const rclcpp::Logger& logger, const std::vector<std::string>& joints);

 private:
  std::atomic<Notice> notice_{Notice::kNone};
  std::atomic<std::size_t> joint_{0};
  Throttle reports_{std::chrono::seconds(5)};
  Notice last_reported_ = Notice::kNone;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PLUGINS__NOTICE_HPP_
