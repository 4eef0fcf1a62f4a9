// SPDX-License-Identifier: Apache-2.0

// The controller manager as a process: ros2_control_node, with the same parameters and a controlled
// stop at shutdown.
//
// When interrupted, ros2_control_node destroys the controllers while the control loop may be
// running one of them: it can crash with a segmentation fault, which leaves a moving arm to its
// guard. Here the control loop itself deactivates the controllers, which makes the hardware stop
// the arm, and runs for another `stop_time` [s] (0.5); only then is the rest shut down. SIGTERM, SIGHUP,
// SIGQUIT (Ctrl-\) and SIGTSTP (Ctrl-Z) do the same as SIGINT. Further signals are ignored, except
// SIGKILL and SIGSTOP. The exit code is 1 if the process ends in any other way.

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
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

/// Default SCHED_FIFO priority of the control loop, in the middle of the range.
constexpr int kPriority = 50;
/// Time-out at shutdown of a pending service call, and of the last switch. Together with the stop
/// they take less than the 5 s after which a launch escalates to SIGTERM.
constexpr auto kShutdownTimeout = 1s;
/// Default time that the control loop runs without controllers, s: longer than the hardware's
/// torque ramp.
constexpr double kStopTime = 0.5;

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

/// Call from the thread of the control loop. Warns if the system refuses.
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

/// Sleeps until the next cycle. Missed cycles are skipped.
class Pace {
 public:
  explicit Pace(ControllerManager& manager)
      : manager_(manager),
        period_(1'000'000'000 / manager.get_update_rate()),
        simulated_(manager.get_parameter_or("use_sim_time", false)),
        skips_(manager.get_parameter_or("overruns.manage", true)),
        next_(steady_clock::now()) {}

  void sleep_after(const rclcpp::Time& begin) {
    if (simulated_) {
      manager_.get_clock()->sleep_until(begin + period_);
      return;
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
  }

 private:
  ControllerManager& manager_;
  nanoseconds period_;
  bool simulated_, skips_;
  steady_clock::time_point next_;
};

/// The control loop; returns at shutdown.
void control(ControllerManager& manager) {
  become_real_time(manager);
  const rclcpp::Clock::SharedPtr clock = manager.get_trigger_clock();
  try {
    if (!manager.get_clock()->wait_until_started()) return;
    Pace pace(manager);
    rclcpp::Time last = clock->now();
    pace.sleep_after(last);
    while (rclcpp::ok()) {
      const rclcpp::Time now = clock->now();
      const rclcpp::Duration period = now - last;
      last = now;
      manager.read(now, period);
      manager.update(now, period);
      manager.write(now, period);
      pace.sleep_after(now);
    }
  } catch (const std::exception& error) {
    if (rclcpp::ok())
      RCLCPP_FATAL(manager.get_logger(), "the control loop has failed: %s", error.what());
  }
}

struct Active {
  std::vector<std::string> names;
  bool command = false;  ///< at least one claims a command interface
};

Active active_controllers(const ControllerManager& manager) {
  using controller_interface::interface_configuration_type;
  Active active;
  for (const auto& controller : manager.get_loaded_controllers()) {
    if (controller.c->get_lifecycle_id() != lifecycle_msgs::msg::State::PRIMARY_STATE_ACTIVE) {
      continue;
    }
    active.names.push_back(controller.info.name);
    const auto commands = controller.c->command_interface_configuration();
    active.command = active.command || commands.type == interface_configuration_type::ALL ||
                     !commands.names.empty();
  }
  return active;
}

/// Lets the control loop deactivate all controllers; false if one stays active.
bool deactivate_all(ControllerManager& manager) {
  using Request = controller_manager_msgs::srv::SwitchController::Request;
  std::vector<std::string> active = active_controllers(manager).names;
  for (int attempt = 0; attempt < 2 && !active.empty(); ++attempt) {
    manager.switch_controller({}, active, Request::BEST_EFFORT, true,
                              rclcpp::Duration(kShutdownTimeout));
    active = active_controllers(manager).names;
  }
  for (const std::string& name : active) {
    RCLCPP_WARN(manager.get_logger(), "%s could not be deactivated before shutdown", name.c_str());
  }
  return active.empty();
}

/// Lets the control loop stop the arm; false if that was not possible.
bool stop(ControllerManager& manager, rclcpp::Executor& executor,
          const std::future<void>& services) {
  const rclcpp::Logger logger = manager.get_logger();
  try {
    // A pending service call might switch controllers, too. A cancel() before the executor spins is
    // lost, hence the repetition.
    const auto end = steady_clock::now() + kShutdownTimeout;
    do {
      executor.cancel();
    } while (services.wait_for(20ms) != std::future_status::ready && steady_clock::now() < end);
    if (services.wait_for(0s) != std::future_status::ready) {
      RCLCPP_WARN(logger,
                  "a service call is still pending: shutting down without a controlled stop");
      return false;
    }
    const bool commanded = active_controllers(manager).command;
    const bool done = deactivate_all(manager);
    if (commanded) {
      const double time = manager.get_parameter_or("stop_time", kStopTime);
      std::this_thread::sleep_for(std::chrono::duration<double>(std::clamp(time, 0.0, 60.0)));
    }
    return done;
  } catch (const std::exception& error) {
    RCLCPP_ERROR(logger, "shutting down without a controlled stop: %s", error.what());
    return false;
  }
}

/// Waits for a signal; its number, or 0 if the control loop ends first.
int wait_for_signal(const sigset_t& signals, const std::future<void>& loop) {
  const timespec slice{0, 100'000'000};
  while (rclcpp::ok() && loop.wait_for(0s) != std::future_status::ready) {
    const int number = sigtimedwait(&signals, nullptr, &slice);
    if (number > 0) return number;
  }
  return 0;
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
  std::future<void> loop = std::async(std::launch::async, [&] { control(*manager); });
  std::future<void> services = std::async(std::launch::async, [&] { executor->spin(); });

  const int number = wait_for_signal(signals, loop);
  bool stopped = false;
  if (number > 0) {
    stopped = stop(*manager, *executor, services);
    if (stopped) RCLCPP_INFO(logger, "%s: all controllers are deactivated", strsignal(number));
  }
  rclcpp::shutdown();
  executor->cancel();
  services.wait();
  loop.wait();
  return stopped ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP}) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // inherited by all threads
  // A closed output or a terminal in another's hands must not end the control of an arm, or suspend it.
  for (const int number : {SIGPIPE, SIGTTIN, SIGTTOU}) signal(number, SIG_IGN);
  rclcpp::init(argc, argv, rclcpp::InitOptions(), rclcpp::SignalHandlerOptions::None);
  try {
    return run(argc, argv, signals);
  } catch (const std::exception& error) {
    RCLCPP_FATAL(rclcpp::get_logger("control_node"), "%s", error.what());
    rclcpp::shutdown();
    return 1;
  }
}
