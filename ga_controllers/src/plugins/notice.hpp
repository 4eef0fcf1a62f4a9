// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PLUGINS__NOTICE_HPP_
#define GA_CONTROLLERS__PLUGINS__NOTICE_HPP_

// Notices of the control loop, and their logging outside of it.

#include <atomic>
#include <chrono>
#include <rclcpp/logger.hpp>
#include <string>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_controllers/law_monitor.hpp"

namespace ga_controllers {

/// Why the arm does not follow its reference, or why update() failed.
enum class Notice {
  kNone,
  kReferenceStale,
  kReferenceNotFinite,
  kReferenceLost,
  kReferenceOutsideLimits,
  kReferenceTooFast,
  kPathLost,
  kStateNotFinite,
  kCommandRefused
};

/// True if the controller fails.
bool is_error(Notice notice);
std::string to_string(Notice notice, const std::string& joint);

/// The warning about a joint that oscillates, with size, frequency and remedy.
std::string oscillation_text(const JointMonitor& monitor, const std::string& joint);

/// Rate limiter for log messages: at most one per period. Not for the control loop.
class Throttle {
 public:
  explicit Throttle(std::chrono::steady_clock::duration period) : period_(period) {}
  bool due() {
    const auto now = std::chrono::steady_clock::now();
    if (reported_ && now - last_ < period_) return false;
    reported_ = true;
    last_ = now;
    return true;
  }
  void reset() { reported_ = false; }

 private:
  std::chrono::steady_clock::duration period_;
  std::chrono::steady_clock::time_point last_;
  bool reported_ = false;
};

/// The last notice of the control loop, to be logged by a timer. If there are several at once, the
/// last one wins; lasting conditions are noted again in every cycle.
class Notices {
 public:
  // Real-time safe.
  void set_joint(std::size_t joint) noexcept { joint_ = joint; }  ///< of the next notice
  void note(Notice notice) noexcept { notice_ = notice; }
  void note(const LimitViolation& violation) noexcept;
  /// An oscillation is reported beside the other notices.
  void note(const LawMonitor& monitor) noexcept;
  std::size_t joint() const noexcept { return joint_; }
  void clear() noexcept {
    notice_ = Notice::kNone;
    joint_ = 0;
    oscillates_ = false;
  }

  /// Logs the last notice: at once if it is new, then every few seconds. Not for the control loop.
  void report(const rclcpp::Logger& logger, const std::vector<std::string>& joints);

 private:
  void report_oscillation(const rclcpp::Logger& logger, const std::vector<std::string>& joints);

  std::atomic<Notice> notice_{Notice::kNone};
  std::atomic<std::size_t> joint_{0};
  std::atomic<bool> oscillates_{false};
  std::atomic<std::size_t> oscillating_joint_{0};
  std::atomic<double> oscillation_{0}, torque_oscillation_{0}, frequency_{0};
  Throttle oscillations_{std::chrono::seconds(10)};
  Throttle reports_{std::chrono::seconds(5)};
  Notice last_reported_ = Notice::kNone;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PLUGINS__NOTICE_HPP_
