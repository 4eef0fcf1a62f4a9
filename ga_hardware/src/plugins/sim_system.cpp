// SPDX-License-Identifier: Apache-2.0
#include "ga_hardware/sim_system.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "ga_hardware/arm_interfaces.hpp"
#include "ga_hardware/sim_clock.hpp"
#include "ga_hardware/simulated_arm.hpp"
#include "lifecycle_msgs/msg/state.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "plugins/sim_node.hpp"
#include "plugins/sim_settings.hpp"

namespace ga_hardware {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> names_of(const ga_dynamics::Chain& chain) {
  std::vector<std::string> names;
  for (const auto& joint : chain.joints()) names.push_back(joint.name);
  return names;
}

}  // namespace

struct SimSystem::Impl {
  explicit Impl(const SimSetup& setup)
      : joints(names_of(setup.chain)),
        arm(setup.chain, setup.settings),
        interfaces(joints.size()),
        efforts(joints.size()) {}

  /// Handles requests from outside the loop. The controller manager calls this and all below with
  /// the component's mutex; only controller switches come without it (effort_commands.hpp).
  void take_requests() noexcept {
    if (mailbox->injected.exchange(false)) {
      arm.inject(SimMailbox::unpack(mailbox->injection.load()));
    }
    const bool stopping = arm.safety().reaction() != Reaction::kNone;
    if (mailbox->reset == ResetRequest::kAsked) {
      mailbox->reset = stopping            ? ResetRequest::kStopping
                       : arm.reset_fault() ? ResetRequest::kDone
                                           : ResetRequest::kRefused;
    }
    const bool reset = take(interfaces.fault_reset, 0) > 0.5;
    if (reset && !reset_line && !stopping) arm.reset_fault();
    reset_line = reset;
  }

  void show_states() {
    for (std::size_t i = 0; i < joints.size(); ++i) {
      put(interfaces.position[i], arm.position()[i]);
      put(interfaces.velocity[i], arm.velocity()[i]);
      put(interfaces.effort[i], arm.torque()[i]);
    }
    put(interfaces.power, arm.powered() ? 1 : 0);
    put(interfaces.brakes, arm.brakes_closed() ? 1 : 0);
    put(interfaces.thermal, static_cast<double>(arm.thermal()));
    put(interfaces.fault_code, static_cast<double>(arm.fault().fault));
    for (std::size_t i = 0; i < kMostToolOutputs; ++i) put(interfaces.output[i], output[i]);
    show_status();
  }

  void show_status() {
    const auto done = static_cast<double>(std::max<std::uint64_t>(timed, 1));
    mailbox->status.try_set({arm.state(), arm.fault(), arm.diverged(), arm.cycles(),
                             arm.late_cycles(), 1e6 * total_time / done, 1e6 * longest_time});
  }

  /// Switches the tool's outputs off and discards old commands.
  void forget_outputs() {
    output = {};
    for (const auto& command : interfaces.output_command) put(command, kNone);
  }

  /// Adds the execution time of a cycle, read() and write().
  void count_time(double seconds) noexcept {
    ++timed;
    total_time += seconds;
    longest_time = std::max(longest_time, seconds);
  }

  std::vector<std::string> joints;
  SimulatedArm arm;
  ArmInterfaces interfaces;
  EffortCommands efforts;
  std::array<double, kMostToolOutputs> output{};
  bool reset_line = false;
  std::uint64_t timed = 0;
  double read_time = 0, total_time = 0, longest_time = 0;  ///< s
  std::shared_ptr<SimMailbox> mailbox = std::make_shared<SimMailbox>();
  std::unique_ptr<SimNode> node;
  std::unique_ptr<SimClock> clock;
};

SimSystem::SimSystem() = default;
SimSystem::~SimSystem() = default;

EffortCommands& SimSystem::efforts() { return impl_->efforts; }

SimSystem::CallbackReturn SimSystem::on_init(
    const hardware_interface::HardwareComponentInterfaceParams& params) {
  if (SystemInterface::on_init(params) != CallbackReturn::SUCCESS) return CallbackReturn::ERROR;
  try {
    check_description(kMostToolOutputs);
    const SimSetup setup = sim_setup_of(get_hardware_info());
    for (const std::string& warning : setup.chain.warnings()) {
      RCLCPP_WARN(get_logger(), "%s", warning.c_str());
    }
    impl_ = std::make_unique<Impl>(setup);
    if (get_node())
      impl_->node = std::make_unique<SimNode>(get_node(), setup.chain, impl_->mailbox);
    if (get_node() && setup.simulated_time) {
      impl_->clock = std::make_unique<SimClock>(
          get_node(), setup.settings.period, setup.real_time_factor,
          [mailbox = impl_->mailbox] { return mailbox->cycling.load(); });
    }
  } catch (const std::exception& error) {
    RCLCPP_FATAL(get_logger(), "%s", error.what());
    return CallbackReturn::ERROR;
  }
  return CallbackReturn::SUCCESS;
}

SimSystem::CallbackReturn SimSystem::on_configure(const rclcpp_lifecycle::State&) {
  Impl& m = *impl_;
  m.interfaces = ArmInterfaces::find(*this, m.joints);
  m.efforts.bind(m.interfaces);
  m.take_requests();
  if (m.arm.card_lost()) {
    RCLCPP_ERROR(get_logger(), "the (simulated) cards do not respond; set inject_fault to nothing");
    return CallbackReturn::FAILURE;
  }
  m.efforts.reset();
  m.forget_outputs();
  m.show_states();
  m.mailbox->cycling = true;
  return CallbackReturn::SUCCESS;
}

SimSystem::CallbackReturn SimSystem::on_activate(const rclcpp_lifecycle::State&) {
  Impl& m = *impl_;
  m.take_requests();
  std::string refused = refuse_running_controllers();
  if (m.arm.fault().fault != Fault::kNone) {
    refused = describe_fault(m.arm.fault(), m.arm.diverged(), m.joints);
  }
  if (!refused.empty()) {
    RCLCPP_ERROR(get_logger(), "%s", refused.c_str());
    return CallbackReturn::FAILURE;
  }
  m.arm.power_on();
  m.efforts.forget();
  put(m.interfaces.power_command, 1);
  put(m.interfaces.fault_reset, 0);
  m.reset_line = false;
  m.show_states();
  return CallbackReturn::SUCCESS;
}

SimSystem::CallbackReturn SimSystem::on_deactivate(const rclcpp_lifecycle::State&) {
  impl_->arm.power_off();
  impl_->efforts.forget();
  return CallbackReturn::SUCCESS;
}

SimSystem::CallbackReturn SimSystem::on_cleanup(const rclcpp_lifecycle::State&) {
  impl_->mailbox->cycling = false;
  impl_->arm.cut();
  impl_->efforts.forget();
  impl_->show_states();
  return CallbackReturn::SUCCESS;
}

SimSystem::CallbackReturn SimSystem::on_error(const rclcpp_lifecycle::State&) {
  Impl& m = *impl_;
  m.mailbox->cycling = false;
  m.arm.cut();
  m.efforts.reset();
  m.show_states();
  return CallbackReturn::SUCCESS;
}

SimSystem::Return SimSystem::read(const rclcpp::Time&, const rclcpp::Duration& period) {
  Impl& m = *impl_;
  const auto begin = Clock::now();
  m.take_requests();
  const bool active = get_lifecycle_id() == lifecycle_msgs::msg::State::PRIMARY_STATE_ACTIVE;
  if (!m.arm.card_lost()) m.arm.advance(period.seconds());
  // The controller manager does not write to an inactive component: its cycle ends here.
  if (!active) {
    if (m.efforts.stopped_while_inactive()) m.arm.stop();
    m.arm.idle();
    if (m.clock) m.clock->cycle_done();
  }
  m.show_states();
  m.read_time = std::chrono::duration<double>(Clock::now() - begin).count();
  return m.arm.card_lost() || m.arm.diverged() ? Return::ERROR : Return::OK;
}

SimSystem::Return SimSystem::write(const rclcpp::Time&, const rclcpp::Duration& period) {
  Impl& m = *impl_;
  const auto begin = Clock::now();
  switch (m.efforts.next(period.seconds())) {
    case EffortCommands::Request::kTorque:
      m.arm.command(m.efforts.torque(), m.efforts.age());
      break;
    case EffortCommands::Request::kStop:
      m.arm.stop();
      m.arm.idle();
      break;
    case EffortCommands::Request::kNothing:
      m.arm.idle();
      break;
  }
  for (std::size_t i = 0; i < kMostToolOutputs; ++i) {
    m.output[i] = take(m.interfaces.output_command[i], m.output[i]) > 0.5 ? 1 : 0;
  }
  const bool off = take(m.interfaces.power_command, 1) < 0.5;
  m.show_states();
  m.count_time(m.read_time + std::chrono::duration<double>(Clock::now() - begin).count());
  if (m.clock) m.clock->cycle_done();
  return off || m.arm.safety().state() == SafetyState::kFault ? Return::DEACTIVATE : Return::OK;
}

}  // namespace ga_hardware

PLUGINLIB_EXPORT_CLASS(ga_hardware::SimSystem, hardware_interface::SystemInterface)
