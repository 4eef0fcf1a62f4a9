// SPDX-License-Identifier: Apache-2.0
#include "plugins/sim_system.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "lifecycle_msgs/msg/state.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "plugins/arm_interfaces.hpp"
#include "plugins/sim_clock.hpp"
#include "plugins/sim_node.hpp"
#include "plugins/sim_settings.hpp"
#include "sim/simulated_arm.hpp"

namespace puma_hardware {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> names_of(const ga_dynamics::Chain& chain) {
  std::vector<std::string> names;
  for (const auto& joint : chain.joints()) names.push_back(joint.name);
  return names;
}

}  // namespace

struct PumaSimSystem::Impl {
  explicit Impl(const SimSetup& setup)
      : joints(names_of(setup.chain)),
        every((std::uint64_t{1} << joints.size()) - 1),
        arm(setup.chain, setup.settings),
        interfaces(joints.size()),
        torque(joints.size(), kNone) {}

  /// What was asked from outside of the loop. Only with the component's mutex, like all below.
  void take_requests() noexcept {
    if (mailbox->injected.exchange(false)) {
      arm.inject(SimMailbox::unpack(mailbox->injection.load()));
    }
    if (mailbox->reset == ResetRequest::kAsked) {
      mailbox->reset = arm.reset_fault() ? ResetRequest::kDone : ResetRequest::kRefused;
    }
    const bool reset = take(interfaces.fault_reset, 0) > 0.5;
    if (reset && !reset_line) arm.reset_fault();
    reset_line = reset;
  }

  void show_states() {
    for (std::size_t i = 0; i < joints.size(); ++i) {
      put(interfaces.position[i], arm.position()[i]);
      put(interfaces.velocity[i], arm.velocity()[i]);
      put(interfaces.effort[i], arm.torque()[i]);
    }
    const bool powered = arm.state() != sim::DriveState::kOff;
    const bool released = arm.state() == sim::DriveState::kRunning;
    put(interfaces.power, powered ? 1.0 : 0.0);
    put(interfaces.brakes, released ? 0.0 : 1.0);
    put(interfaces.thermal, static_cast<double>(arm.thermal()));
    put(interfaces.fault_code, static_cast<double>(arm.fault().fault));
    for (std::size_t i = 0; i < kMostToolOutputs; ++i) put(interfaces.output[i], output[i]);
    show_status();
  }

  void show_status() {
    const auto done = static_cast<double>(std::max<std::uint64_t>(timed, 1));
    mailbox->status.try_set({arm.state(), arm.fault(), arm.cycles(), arm.late_cycles(),
                             1e6 * total_time / done, 1e6 * longest_time});
  }

  void forget_commands() {
    std::fill(torque.begin(), torque.end(), kNone);
    for (const auto& command : interfaces.effort_command) put(command, kNone);
  }

  /// The cycle's time: read() begins it, write() ends it.
  void count_time(double seconds) noexcept {
    ++timed;
    total_time += seconds;
    longest_time = std::max(longest_time, seconds);
  }

  std::vector<std::string> joints;
  std::uint64_t every;  ///< bits of all joints
  sim::SimulatedArm arm;
  ArmInterfaces interfaces;
  std::vector<double> torque;
  std::array<double, kMostToolOutputs> output{};
  bool reset_line = false;
  std::atomic<std::uint64_t> claimed{0};  ///< effort commands, bit per joint
  std::uint64_t timed = 0;
  double read_time = 0, total_time = 0, longest_time = 0;  ///< s
  std::shared_ptr<SimMailbox> mailbox = std::make_shared<SimMailbox>();
  std::unique_ptr<SimNode> node;
  std::unique_ptr<SimClock> clock;
};

PumaSimSystem::PumaSimSystem() = default;
PumaSimSystem::~PumaSimSystem() = default;

PumaSimSystem::CallbackReturn PumaSimSystem::on_init(
    const hardware_interface::HardwareComponentInterfaceParams& params) {
  if (SystemInterface::on_init(params) != CallbackReturn::SUCCESS) return CallbackReturn::ERROR;
  try {
    ArmInterfaces::check(get_hardware_info());
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

PumaSimSystem::CallbackReturn PumaSimSystem::on_configure(const rclcpp_lifecycle::State&) {
  Impl& m = *impl_;
  m.interfaces = ArmInterfaces::find(*this, m.joints);
  m.take_requests();
  if (m.arm.card_lost()) {
    RCLCPP_ERROR(get_logger(), "the (simulated) cards do not answer; set inject_fault to nothing");
    return CallbackReturn::FAILURE;
  }
  m.claimed = 0;
  m.forget_commands();
  m.show_states();
  m.mailbox->cycling = true;
  return CallbackReturn::SUCCESS;
}

PumaSimSystem::CallbackReturn PumaSimSystem::on_activate(const rclcpp_lifecycle::State&) {
  Impl& m = *impl_;
  m.take_requests();
  if (!m.arm.power_on()) {
    RCLCPP_ERROR(get_logger(), "%s", describe_fault(m.arm.fault(), m.joints).c_str());
    return CallbackReturn::FAILURE;
  }
  m.forget_commands();
  put(m.interfaces.power_command, 1);
  put(m.interfaces.fault_reset, 0);
  m.reset_line = false;
  m.show_states();
  return CallbackReturn::SUCCESS;
}

PumaSimSystem::CallbackReturn PumaSimSystem::on_deactivate(const rclcpp_lifecycle::State&) {
  impl_->arm.power_off();
  impl_->forget_commands();
  return CallbackReturn::SUCCESS;
}

PumaSimSystem::CallbackReturn PumaSimSystem::on_cleanup(const rclcpp_lifecycle::State&) {
  impl_->mailbox->cycling = false;
  impl_->arm.cut();
  return CallbackReturn::SUCCESS;
}

PumaSimSystem::CallbackReturn PumaSimSystem::on_shutdown(const rclcpp_lifecycle::State& previous) {
  return on_cleanup(previous);
}

PumaSimSystem::CallbackReturn PumaSimSystem::on_error(const rclcpp_lifecycle::State&) {
  Impl& m = *impl_;
  m.mailbox->cycling = false;
  m.arm.cut();
  m.claimed = 0;
  m.forget_commands();
  m.show_states();
  return CallbackReturn::SUCCESS;
}

PumaSimSystem::Return PumaSimSystem::prepare_command_mode_switch(
    const std::vector<std::string>& start, const std::vector<std::string>& stop) {
  const Impl& m = *impl_;
  const std::string refused = refuse_partial_claim(m.claimed, start, stop, m.interfaces);
  if (refused.empty()) return Return::OK;
  RCLCPP_ERROR(get_logger(), "%s", refused.c_str());
  return Return::ERROR;
}

PumaSimSystem::Return PumaSimSystem::perform_command_mode_switch(
    const std::vector<std::string>& start, const std::vector<std::string>& stop) {
  Impl& m = *impl_;
  const std::uint64_t started = effort_bits(start, m.interfaces);
  const std::uint64_t stopped = effort_bits(stop, m.interfaces);
  const std::uint64_t before = m.claimed, after = (before & ~stopped) | started;
  m.claimed = after;
  if (started != 0 && after == m.every) {
    const sim::DriveState state = m.arm.state();
    if (state == sim::DriveState::kStarting || state == sim::DriveState::kRunning) {
      return Return::OK;
    }
    m.forget_commands();
    return m.arm.engage() ? Return::OK : Return::ERROR;
  }
  if (stopped != 0) m.arm.release();
  return Return::OK;
}

PumaSimSystem::Return PumaSimSystem::read(const rclcpp::Time&, const rclcpp::Duration& period) {
  Impl& m = *impl_;
  const auto begin = Clock::now();
  m.take_requests();
  if (!m.arm.card_lost()) m.arm.advance(period.seconds());
  m.show_states();
  m.read_time = std::chrono::duration<double>(Clock::now() - begin).count();
  // An inactive component is not written to: its cycle ends here.
  if (m.clock && get_lifecycle_id() != lifecycle_msgs::msg::State::PRIMARY_STATE_ACTIVE) {
    m.clock->cycle_done();
  }
  return m.arm.card_lost() || m.arm.diverged() ? Return::ERROR : Return::OK;
}

PumaSimSystem::Return PumaSimSystem::write(const rclcpp::Time&, const rclcpp::Duration&) {
  Impl& m = *impl_;
  const auto begin = Clock::now();
  for (std::size_t i = 0; i < m.joints.size(); ++i) {
    double wanted = m.torque[i];  // kept while another thread holds the handle
    static_cast<void>(m.interfaces.effort_command[i]->get_value(wanted, false));
    m.torque[i] = wanted;
  }
  m.arm.command(m.torque);
  for (std::size_t i = 0; i < kMostToolOutputs; ++i) {
    m.output[i] = take(m.interfaces.output_command[i], m.output[i]) > 0.5 ? 1 : 0;
  }
  const bool off = take(m.interfaces.power_command, 1) < 0.5;
  if (off) m.arm.power_off();
  m.count_time(m.read_time + std::chrono::duration<double>(Clock::now() - begin).count());
  if (m.clock) m.clock->cycle_done();
  return off || m.arm.fault().fault != Fault::kNone ? Return::DEACTIVATE : Return::OK;
}

}  // namespace puma_hardware

PLUGINLIB_EXPORT_CLASS(puma_hardware::PumaSimSystem, hardware_interface::SystemInterface)
