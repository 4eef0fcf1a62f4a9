// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__SIM_CLOCK_HPP_
#define GA_HARDWARE__SIM_CLOCK_HPP_

// Simulated time for a controller manager that runs with use_sim_time: /clock moves on by one
// period whenever a control cycle is done. However slow or busy the machine is, every cycle is then
// exactly one period long. Starts at the present time.

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
  /// `period`: s of a cycle. `real_time_factor`: how fast at most; 0: as fast as it goes. `cycling`
  /// tells whether cycles are to be waited for; if not, or if one does not come for 0.5 s, time
  /// goes on without. Allocates, starts a thread.
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

#endif  // GA_HARDWARE__SIM_CLOCK_HPP_
