// SPDX-License-Identifier: Apache-2.0
#include "plugins/sim_clock.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace ga_hardware {

using namespace std::chrono_literals;

SimClock::SimClock(const rclcpp::Node::SharedPtr& node, double period, double real_time_factor,
                   std::function<bool()> cycling)
    : publisher_(node->create_publisher<rosgraph_msgs::msg::Clock>("/clock", rclcpp::ClockQoS())),
      thread_([this, period, real_time_factor, cycling = std::move(cycling)] {
        run(period, real_time_factor, cycling);
      }) {}

SimClock::~SimClock() {
  stop_ = true;
  thread_.join();
}

void SimClock::run(double period, double real_time_factor, const std::function<bool()>& cycling) {
  using Clock = std::chrono::steady_clock;
  const auto step = rclcpp::Duration::from_seconds(period);
  const auto pace = real_time_factor > 0
                        ? std::chrono::duration_cast<Clock::duration>(
                              std::chrono::duration<double>(period) / real_time_factor)
                        : Clock::duration::zero();
  rclcpp::Time now = rclcpp::Clock(RCL_SYSTEM_TIME).now();
  auto next = Clock::now();
  while (!stop_ && rclcpp::ok()) {
    rosgraph_msgs::msg::Clock message;
    message.clock = now;
    publisher_->publish(message);
    wait_for_cycle(message, cycling);
    now = now + step;
    // Do not catch up on lost time: a burst of cycles would exceed the real-time factor.
    next = std::max(next + pace, Clock::now());
    std::this_thread::sleep_until(next);
  }
}

void SimClock::wait_for_cycle(const rosgraph_msgs::msg::Clock& now,
                              const std::function<bool()>& cycling) {
  for (int tries = 0; tries < 25 && !stop_; ++tries) {
    if (done_.try_acquire_for(20ms)) {
      while (done_.try_acquire()) {
      }
      return;
    }
    if (!cycling()) return;
    publisher_->publish(now);  // the last one may have been lost
  }
}

}  // namespace ga_hardware
