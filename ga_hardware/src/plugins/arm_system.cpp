// SPDX-License-Identifier: Apache-2.0
#include "ga_hardware/arm_system.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <utility>

#include "lifecycle_msgs/msg/state.hpp"
#include "plugins/arm_interfaces.hpp"
#include "plugins/effort_commands.hpp"
#include "plugins/shell_node.hpp"
#include "plugins/sim_clock.hpp"

namespace ga_hardware {
namespace {

using Clock = std::chrono::steady_clock;
using Life = LoopMailbox::Life;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Throws std::runtime_error naming the unsupported element and the remedy.
void check_description(const hardware_interface::HardwareInfo& info, std::size_t tool_outputs) {
  if (info.is_async) {
    throw std::runtime_error("hardware '" + info.name +
                             "': is_async is true, but it must run in the controllers' cycle; "
                             "remove is_async from the <ros2_control> tag");
  }
  ArmInterfaces::check(info, tool_outputs);
}

std::vector<std::string> names_of(const ga_dynamics::Chain& chain) {
  std::vector<std::string> names;
  for (const auto& joint : chain.joints()) names.push_back(joint.name);
  return names;
}

}  // namespace

/// The controller manager calls all of this with the component's mutex; only controller switches
/// come without it (effort_commands.hpp).
struct ArmSystem::Impl {
  explicit Impl(std::unique_ptr<ArmBackend> the_arm)
      : arm(std::move(the_arm)),
        mailbox(arm->mailbox()),
        joints(names_of(arm->chain())),
        interfaces(joints.size()),
        efforts(joints.size()) {}

  void take_resets() noexcept {
    const bool line = take(interfaces.fault_reset, 0) > 0.5;
    if (line && !reset_line) arm->reset_fault();
    reset_line = line;
    // The service may withdraw the request at any time.
    ResetRequest asked = ResetRequest::kAsked, tried = ResetRequest::kTried;
    if (!mailbox->reset.compare_exchange_strong(asked, ResetRequest::kTried)) return;
    mailbox->reset.compare_exchange_strong(tried, arm->reset_fault());
  }

  /// After the output, when it is known whether the cause of a fault persists.
  void end_cycle() {
    const SafetyMachine& safety = arm->safety();
    ResetRequest tried = ResetRequest::kTried;
    mailbox->reset.compare_exchange_strong(
        tried, safety.state() == SafetyState::kFault ? ResetRequest::kRefused
               : safety.calibration_valid()          ? ResetRequest::kDone
                                                     : ResetRequest::kUncalibrated);
    show_states();
    if (clock) clock->cycle_done();
  }

  void show_states() {
    const ArmState state = arm->state();
    for (std::size_t i = 0; i < joints.size(); ++i) {
      put(interfaces.position[i], state.position_known ? state.position[i] : kNone);
      put(interfaces.velocity[i], state.position_known ? state.velocity[i] : kNone);
      put(interfaces.effort[i], state.torque[i]);
    }
    put(interfaces.power, state.powered ? 1 : 0);
    put(interfaces.brakes, state.brakes_closed ? 1 : 0);
    put(interfaces.thermal, static_cast<double>(state.thermal));
    put(interfaces.fault_code, static_cast<double>(arm->safety().cause().fault));
    for (std::size_t i = 0; i < kMostToolOutputs; ++i) put(interfaces.output[i], output[i]);
    const double done = static_cast<double>(std::max<std::uint64_t>(timed_cycles, 1));
    arm->report({1e6 * total_time / done, 1e6 * longest_time});
  }

  /// Adds the execution time [s] of a cycle, read() and write().
  void count_time(double time) noexcept {
    ++timed_cycles;
    total_time += time;
    longest_time = std::max(longest_time, time);
  }

  /// A new connection starts with the tool's outputs off.
  void forget_outputs() {
    output = {};
    for (const auto& command : interfaces.output_command) put(command, kNone);
  }

  void write_outputs() noexcept {
    for (std::size_t i = 0; i < kMostToolOutputs; ++i) {
      const double wanted = take(interfaces.output_command[i], output[i]) > 0.5 ? 1 : 0;
      if (wanted != output[i]) arm->set_tool(i, wanted > 0.5);
      output[i] = wanted;
    }
  }

  void write_efforts() noexcept {
    switch (efforts.next(cycle_time)) {
      case EffortCommands::Request::kTorque:
        arm->command(efforts.torque(), efforts.age(), efforts.handing_over());
        break;
      case EffortCommands::Request::kStop:
        arm->stop();
        arm->idle();
        break;
      case EffortCommands::Request::kNothing:
        arm->idle();
        break;
    }
  }

  /// Why the arm must not become active, or "". Allows power if it may.
  std::string activate() {
    std::string refused = arm->refuse_activation();
    // Controllers that kept running while it was inactive would open the brakes with any command.
    if (refused.empty() && efforts.claimed()) {
      refused =
          "controllers still claim the effort interfaces; deactivate them first: ros2 control "
          "list_controllers, ros2 control switch_controllers --deactivate NAME";
    }
    return refused.empty() ? arm->power_on() : refused;
  }

  std::shared_ptr<ArmBackend> arm;
  std::shared_ptr<LoopMailbox> mailbox;
  std::vector<std::string> joints;
  ArmInterfaces interfaces;
  EffortCommands efforts;
  double cycle_time = 0;  ///< s
  std::array<double, kMostToolOutputs> output{};
  bool reset_line = false;
  std::uint64_t timed_cycles = 0;
  double read_time = 0, total_time = 0, longest_time = 0;  ///< s
  std::unique_ptr<ShellNode> node;
  std::unique_ptr<SimClock> clock;
};

ArmSystem::ArmSystem(std::size_t tool_outputs) : tool_outputs_(tool_outputs) {}
ArmSystem::~ArmSystem() {
  if (!impl_ || !impl_->arm->connected()) return;
  try {
    impl_->arm->cut();  // a callback of the node may keep the arm alive for a moment
  } catch (const std::exception& error) {
    RCLCPP_FATAL(get_logger(), "%s: the outputs cannot be cut. Press the emergency stop",
                 error.what());
  }
}

ArmSystem::CallbackReturn ArmSystem::on_init(
    const hardware_interface::HardwareComponentInterfaceParams& params) {
  if (SystemInterface::on_init(params) != CallbackReturn::SUCCESS) return CallbackReturn::ERROR;
  try {
    check_description(get_hardware_info(), tool_outputs_);
    impl_ = std::make_unique<Impl>(make_arm());
    for (const std::string& warning : impl_->arm->chain().warnings()) {
      RCLCPP_WARN(get_logger(), "%s", warning.c_str());
    }
    if (!get_node()) return CallbackReturn::SUCCESS;
    impl_->node = std::make_unique<ShellNode>(get_node(), impl_->arm);
    if (const auto time = impl_->arm->simulated_time()) {
      impl_->clock = std::make_unique<SimClock>(
          get_node(), time->period, time->real_time_factor,
          [mailbox = impl_->mailbox] { return mailbox->life != Life::kUnconfigured; });
    }
  } catch (const std::exception& error) {
    RCLCPP_FATAL(get_logger(), "%s", error.what());
    return CallbackReturn::ERROR;
  }
  return CallbackReturn::SUCCESS;
}

ArmSystem::CallbackReturn ArmSystem::on_configure(const rclcpp_lifecycle::State&) {
  Impl& m = *impl_;
  m.interfaces = ArmInterfaces::find(*this, m.joints);
  m.efforts.bind(m.interfaces);
  try {
    m.arm->connect();
  } catch (const std::exception& error) {
    RCLCPP_ERROR(get_logger(), "%s", error.what());
    return CallbackReturn::FAILURE;
  }
  m.take_resets();
  m.efforts.reset();
  m.forget_outputs();
  m.show_states();
  m.mailbox->life = Life::kInactive;
  return CallbackReturn::SUCCESS;
}

ArmSystem::CallbackReturn ArmSystem::on_activate(const rclcpp_lifecycle::State&) {
  Impl& m = *impl_;
  std::string refused;
  try {
    refused = m.activate();
  } catch (const std::exception& error) {
    refused = error.what();
  }
  if (!refused.empty()) {
    RCLCPP_ERROR(get_logger(), "%s", refused.c_str());
    return CallbackReturn::FAILURE;
  }
  m.efforts.forget();
  put(m.interfaces.power_command, 1);
  put(m.interfaces.fault_reset, 0);
  m.reset_line = false;
  m.show_states();
  m.mailbox->life = Life::kActive;
  return CallbackReturn::SUCCESS;
}

ArmSystem::CallbackReturn ArmSystem::on_deactivate(const rclcpp_lifecycle::State&) {
  impl_->efforts.forget();
  impl_->mailbox->life = Life::kInactive;
  try {
    impl_->arm->power_off();
  } catch (const std::exception& error) {
    RCLCPP_ERROR(get_logger(), "%s", error.what());
    return CallbackReturn::ERROR;
  }
  return CallbackReturn::SUCCESS;
}

ArmSystem::CallbackReturn ArmSystem::on_cleanup(const rclcpp_lifecycle::State&) {
  Impl& m = *impl_;
  m.mailbox->life = Life::kUnconfigured;
  m.efforts.forget();
  if (!m.arm->connected()) return CallbackReturn::SUCCESS;
  try {
    m.arm->halt();
    m.show_states();
    m.arm->disconnect();
  } catch (const std::exception& error) {
    RCLCPP_ERROR(get_logger(), "%s", error.what());
    return CallbackReturn::ERROR;
  }
  return CallbackReturn::SUCCESS;
}

ArmSystem::CallbackReturn ArmSystem::on_shutdown(const rclcpp_lifecycle::State& previous) {
  return on_cleanup(previous);
}

ArmSystem::CallbackReturn ArmSystem::on_error(const rclcpp_lifecycle::State&) {
  Impl& m = *impl_;
  m.mailbox->life = Life::kUnconfigured;
  m.efforts.reset();
  if (!m.arm->connected()) return CallbackReturn::SUCCESS;
  try {
    m.arm->cut();
  } catch (const std::exception& error) {
    RCLCPP_FATAL(get_logger(), "%s: the outputs cannot be cut. Press the emergency stop",
                 error.what());
    return CallbackReturn::ERROR;
  }
  m.show_states();
  return CallbackReturn::SUCCESS;
}

ArmSystem::Return ArmSystem::prepare_command_mode_switch(const std::vector<std::string>& start,
                                                         const std::vector<std::string>& stop) {
  const std::string refused = impl_->efforts.refuse(start, stop);
  if (refused.empty()) return Return::OK;
  RCLCPP_ERROR(get_logger(), "%s", refused.c_str());
  return Return::ERROR;
}

ArmSystem::Return ArmSystem::perform_command_mode_switch(const std::vector<std::string>& start,
                                                         const std::vector<std::string>& stop) {
  impl_->efforts.switched(start, stop);
  return Return::OK;
}

ArmSystem::Return ArmSystem::read(const rclcpp::Time&, const rclcpp::Duration& period) {
  Impl& m = *impl_;
  const auto begin = Clock::now();
  const bool active = get_lifecycle_id() == lifecycle_msgs::msg::State::PRIMARY_STATE_ACTIVE;
  m.cycle_time = m.arm->measure(period.seconds(), active);
  m.take_resets();
  if (active) {
    m.show_states();
  } else {
    // The controller manager does not write to an inactive component: its cycle ends here.
    if (m.efforts.stopped_while_inactive()) m.arm->stop();
    m.arm->idle();
    m.end_cycle();
  }
  m.read_time = seconds_since(begin);
  return m.arm->lost() ? Return::ERROR : Return::OK;
}

ArmSystem::Return ArmSystem::write(const rclcpp::Time&, const rclcpp::Duration&) {
  Impl& m = *impl_;
  const auto begin = Clock::now();
  m.write_outputs();
  m.write_efforts();
  const bool off = take(m.interfaces.power_command, 1) < 0.5;
  m.end_cycle();
  m.count_time(m.read_time + seconds_since(begin));
  if (m.arm->lost()) return Return::ERROR;
  return off || m.arm->safety().state() == SafetyState::kFault ? Return::DEACTIVATE : Return::OK;
}

}  // namespace ga_hardware
