// SPDX-License-Identifier: Apache-2.0

// The controller manager as a process: what ros2_control's own node does, with its parameters, and
// an orderly end.
//
// That node, interrupted, takes the controllers down beside the control loop, which may be within
// one of them at that moment: then it dies of a segmentation fault, and an arm in mid-motion is
// left to its guard. Here the loop itself switches the controllers off, which is a controlled stop
// of the arm; only then the rest is taken down. A second SIGTERM ends the process at once.

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <controller_manager/controller_manager.hpp>
#include <controller_manager_msgs/srv/switch_controller.hpp>
#include <cstring>
#include <exception>
#include <future>
#include <lifecycle_msgs/msg/state.hpp>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <realtime_tools/realtime_helpers.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

using controller_manager::ControllerManager;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

/// Of the control loop's SCHED_FIFO unless a parameter says otherwise; in the middle of the range.
constexpr int kPriority = 50;
/// A service that is being answered when the end comes may take so long; and the last switch.
constexpr auto kPatience = 2s;

std::vector<int> processors(const ControllerManager& manager) {
  rclcpp::Parameter given;
  if (!manager.get_parameter("cpu_affinity", given)) return {};
  if (given.get_type() == rclcpp::ParameterType::PARAMETER_INTEGER) {
    return {static_cast<int>(given.as_int())};
  }
  if (given.get_type() != rclcpp::ParameterType::PARAMETER_INTEGER_ARRAY) return {};
  const auto values = given.as_integer_array();
  return {values.begin(), values.end()};
}

/// For the thread of the control loop. What the system does not grant is a warning.
void become_real_time(const ControllerManager& manager) {
  const rclcpp::Logger logger = manager.get_logger();
  if (const auto cpus = processors(manager); !cpus.empty()) {
    const auto [done, why] = realtime_tools::set_current_thread_affinity(cpus);
    if (!done) RCLCPP_WARN(logger, "cpu_affinity: %s", why.c_str());
  }
  const int priority = manager.get_parameter_or<int>("thread_priority", kPriority);
  if (realtime_tools::configure_sched_fifo(priority)) {
    RCLCPP_INFO(logger, "the control loop has real-time priority %d", priority);
  } else {
    RCLCPP_WARN(
        logger,
        "the control loop has no real-time priority (thread_priority %d): %s; allow it with "
        "rtprio in /etc/security/limits.d or CAP_SYS_NICE",
        priority, std::strerror(errno));
  }
}

/// Sleeps from cycle to cycle. Cycles that were missed are left out, not made up for.
class Pace {
 public:
  explicit Pace(ControllerManager& manager)
      : manager_(manager),
        period_(1'000'000'000 / manager.get_update_rate()),
        simulated_(manager.get_parameter_or("use_sim_time", false)),
        skips_(manager.get_parameter_or("overruns.manage", true)),
        next_(steady_clock::now()) {}

  /// False if there is no time any more.
  bool sleep_after(const rclcpp::Time& begin) {
    if (simulated_) {
      try {
        return manager_.get_clock()->sleep_until(begin + period_);
      } catch (const std::runtime_error&) {
        return false;  // the context ends
      }
    }
    next_ += period_;
    const nanoseconds late = steady_clock::now() - next_;
    if (late > 0ns && skips_) {
      const auto missed = late / period_ + 1;
      RCLCPP_WARN_THROTTLE(
          manager_.get_logger(), *manager_.get_clock(), 1000,
          "the control loop took %.3f ms, more than its period; missed cycles: %ld",
          static_cast<double>((late + period_).count()) * 1e-6, static_cast<long>(missed));
      next_ += missed * period_;
    }
    std::this_thread::sleep_until(next_);
    return true;
  }

 private:
  ControllerManager& manager_;
  nanoseconds period_;
  bool simulated_, skips_;
  steady_clock::time_point next_;
};

void control(ControllerManager& manager) {
  become_real_time(manager);
  const rclcpp::Clock::SharedPtr clock = manager.get_trigger_clock();
  if (!manager.get_clock()->wait_until_started()) return;
  Pace pace(manager);
  rclcpp::Time last = clock->now();
  while (rclcpp::ok() && pace.sleep_after(last)) {
    const rclcpp::Time now = clock->now();
    const rclcpp::Duration period = now - last;
    last = now;
    manager.read(now, period);
    manager.update(now, period);
    manager.write(now, period);
  }
}

/// Lets the control loop switch off all that is active.
void switch_off(ControllerManager& manager) {
  using lifecycle_msgs::msg::State;
  using Request = controller_manager_msgs::srv::SwitchController::Request;
  std::vector<std::string> active;
  for (const auto& controller : manager.get_loaded_controllers()) {
    if (controller.c->get_lifecycle_id() == State::PRIMARY_STATE_ACTIVE) {
      active.push_back(controller.info.name);
    }
  }
  if (active.empty()) return;
  std::string why = "see above";
  try {
    const auto done = manager.switch_controller({}, active, Request::BEST_EFFORT, true,
                                                rclcpp::Duration(kPatience));
    if (done == controller_interface::return_type::OK) return;
  } catch (const std::exception& error) {
    why = error.what();
  }
  RCLCPP_WARN(manager.get_logger(), "not all controllers could be switched off before the end: %s",
              why.c_str());
}

/// Waits for a signal, or for an end that comes from within; the signal's number or 0.
int wait_for_end(const sigset_t& signals, const std::future<void>& services) {
  const timespec slice{0, 100'000'000};
  while (rclcpp::ok() && services.wait_for(0s) != std::future_status::ready) {
    const int number = sigtimedwait(&signals, nullptr, &slice);
    if (number > 0) return number;
  }
  return 0;
}

/// From now on a second SIGTERM is deadly; a second SIGINT is not: a terminal and a launch may both
/// send one.
void let_the_next_one_kill(sigset_t signals) {
  sigdelset(&signals, SIGINT);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

rclcpp::NodeOptions options(int argc, char** argv) {
  rclcpp::NodeOptions options = controller_manager::get_cm_node_options();
  std::vector<std::string> arguments = options.arguments();
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  return options.arguments(arguments);
}

int run(int argc, char** argv, const sigset_t& signals) {
  const auto executor = std::make_shared<rclcpp::executors::MultiThreadedExecutor>();
  const auto manager =
      std::make_shared<ControllerManager>(executor, "controller_manager", "", options(argc, argv));
  const rclcpp::Logger logger = manager->get_logger();
  if (manager->get_parameter_or("lock_memory", realtime_tools::has_realtime_kernel())) {
    const auto [done, why] = realtime_tools::lock_memory();
    if (!done) RCLCPP_WARN(logger, "lock_memory: %s", why.c_str());
  }
  RCLCPP_INFO(logger, "the control loop runs at %u Hz", manager->get_update_rate());
  executor->add_node(manager);
  std::thread loop([&] { control(*manager); });
  std::future<void> services = std::async(std::launch::async, [&] { executor->spin(); });

  const int number = wait_for_end(signals, services);
  let_the_next_one_kill(signals);
  if (rclcpp::ok()) {
    RCLCPP_INFO(logger, "%s: switching the controllers off",
                number > 0 ? strsignal(number) : "no service is answered any more");
    executor->cancel();
    // Whoever is in the midst of a service call might switch, too.
    if (services.wait_for(kPatience) == std::future_status::ready) {
      switch_off(*manager);
    } else {
      RCLCPP_WARN(logger, "a service is still at work: the controllers end as they can");
    }
    rclcpp::shutdown();
  }
  executor->cancel();
  loop.join();
  services.get();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // of all threads to come
  rclcpp::init(argc, argv, rclcpp::InitOptions(), rclcpp::SignalHandlerOptions::None);
  try {
    return run(argc, argv, signals);
  } catch (const std::exception& error) {
    RCLCPP_FATAL(rclcpp::get_logger("control_node"), "%s", error.what());
    rclcpp::shutdown();
    return 1;
  }
}
