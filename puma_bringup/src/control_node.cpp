// SPDX-License-Identifier: Apache-2.0

// The controller manager as a process: what ros2_control's own node does, with its parameters, and
// an orderly end.
//
// That node, interrupted, takes the controllers down beside the control loop, which may be within
// one of them at that moment: then it dies of a segmentation fault, and an arm in mid-motion is
// left to its guard. Here the loop itself switches the controllers off, which the hardware takes
// for the wish to stop, and goes on for `stop_time` [s] (0.5) until the arm stands; only then the
// rest is taken down. No further signal hastens that, but SIGKILL. The exit code is 1 where the end
// was not this one.

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

/// Of the control loop's SCHED_FIFO unless a parameter says otherwise; in the middle of the range.
constexpr int kPriority = 50;
/// So long may a service take that is being answered when the end comes, and the last switch. With
/// them the end comes before a launch loses its patience, which is 5 s.
constexpr auto kPatience = 1s;
/// s that the control loop goes on without controllers, unless a parameter says otherwise: longer
/// than the hardware lets the torque fade.
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

/// Runs as long as there is time.
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
    if (rclcpp::ok()) RCLCPP_FATAL(manager.get_logger(), "the control loop ends: %s", error.what());
  }
}

struct Active {
  std::vector<std::string> names;
  bool command = false;  ///< one of them commands the hardware
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

/// Lets the control loop switch off all that is active; false if something stays so.
bool switch_off(ControllerManager& manager) {
  using Request = controller_manager_msgs::srv::SwitchController::Request;
  std::vector<std::string> active = active_controllers(manager).names;
  for (int attempt = 0; attempt < 2 && !active.empty(); ++attempt) {
    manager.switch_controller({}, active, Request::BEST_EFFORT, true, rclcpp::Duration(kPatience));
    active = active_controllers(manager).names;
  }
  for (const std::string& name : active) {
    RCLCPP_WARN(manager.get_logger(), "%s could not be switched off before the end", name.c_str());
  }
  return active.empty();
}

/// Lets the control loop stop the arm; false if it could not be asked to.
bool stop(ControllerManager& manager, rclcpp::Executor& executor,
          const std::future<void>& services) {
  const rclcpp::Logger logger = manager.get_logger();
  try {
    // Whoever is in the midst of a service call might switch, too. A cancel that comes before the
    // executor's first turn is lost.
    const auto end = steady_clock::now() + kPatience;
    do {
      executor.cancel();
    } while (services.wait_for(20ms) != std::future_status::ready && steady_clock::now() < end);
    if (services.wait_for(0s) != std::future_status::ready) {
      RCLCPP_WARN(logger, "a service is still at work: the controllers end as they can");
      return false;
    }
    const bool commanded = active_controllers(manager).command;
    const bool done = switch_off(manager);
    if (commanded) {
      const double time = manager.get_parameter_or("stop_time", kStopTime);
      std::this_thread::sleep_for(std::chrono::duration<double>(std::clamp(time, 0.0, 60.0)));
    }
    return done;
  } catch (const std::exception& error) {
    RCLCPP_ERROR(logger, "the controllers end as they can: %s", error.what());
    return false;
  }
}

/// Waits for a signal; its number, or 0 if the control loop has ended before.
int wait_for_end(const sigset_t& signals, const std::future<void>& loop) {
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

  const int number = wait_for_end(signals, loop);
  bool stopped = false;
  if (number > 0) {
    stopped = stop(*manager, *executor, services);
    if (stopped) RCLCPP_INFO(logger, "%s: the controllers are switched off", strsignal(number));
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
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // of all threads to come
  signal(SIGPIPE, SIG_IGN);  // nobody may read what is said here any more: no reason to drop an arm
  rclcpp::init(argc, argv, rclcpp::InitOptions(), rclcpp::SignalHandlerOptions::None);
  try {
    return run(argc, argv, signals);
  } catch (const std::exception& error) {
    RCLCPP_FATAL(rclcpp::get_logger("control_node"), "%s", error.what());
    rclcpp::shutdown();
    return 1;
  }
}
