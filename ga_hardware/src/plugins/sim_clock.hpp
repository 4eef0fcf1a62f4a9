// SPDX-License-Identifier: Apache-2.0
#ifndef PLUGINS__SIM_CLOCK_HPP_
#define PLUGINS__SIM_CLOCK_HPP_

// Simulated time for a controller manager with use_sim_time: /clock advances by one period after
// each control cycle. So every cycle is exactly one period long, even on a slow or busy computer.
// Starts at the system time.

#include <atomic>
#include <functional>
#include <memory>
#include <semaphore>
#include <thread>

#include "rclcpp/rclcpp.hpp"
#include "rosgraph_msgs/msg/clock.hpp"

namespace ga_hardware {

class SimClock {
 public:
  /// `period`: cycle time [s]. `real_time_factor`: upper limit; 0: unlimited. `cycling` returns
  /// whether to wait for cycles; if it returns false, or no cycle comes for 0.5 s, time advances
  /// anyway. Allocates, starts a thread.
  SimClock(const rclcpp::Node::SharedPtr& node, double period, double real_time_factor,
           std::function<bool()> cycling);
  ~SimClock();

  /// Real-time safe.
  void cycle_done() noexcept { done_.release(); }

 private:
  void run(double period, double real_time_factor, const std::function<bool()>& cycling);
  void wait_for_cycle(const rosgraph_msgs::msg::Clock& now, const std::function<bool()>& cycling);

  rclcpp::Publisher<rosgraph_msgs::msg::Clock>::SharedPtr publisher_;
  std::counting_semaphore<> done_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace ga_hardware

#endif  // PLUGINS__SIM_CLOCK_HPP_
