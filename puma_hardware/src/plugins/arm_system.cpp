// SPDX-License-Identifier: Apache-2.0
#include "plugins/arm_system.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "ga_hardware/arm_interfaces.hpp"
#include "ga_hardware/sim_clock.hpp"
#include "lifecycle_msgs/msg/state.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "plugins/arm_node.hpp"
#include "plugins/arm_setup.hpp"
#include "runtime/arm_driver.hpp"

namespace puma_hardware {

using namespace ga_hardware;
namespace {

using Life = ArmMailbox::Life;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr int kTools = 2;

}  // namespace

struct PumaSystem::Impl {
  explicit Impl(ArmSetup the_setup)
      : setup(std::move(the_setup)),
        settings(ArmSettings::from(setup.chain, setup.parameters)),
        interfaces(setup.joints.size()),
        efforts(setup.joints.size()) {}

  /// Opens the cards and reads the table. Throws CardError or std::runtime_error.
  void connect() {
    if (robot) robot->enter_thread();  // the old driver's destructor writes to the cards
    driver.reset();
    // A private emulated arm keeps its state; memory or ports of others may have changed.
    if (!robot || setup.bus != Bus::kPrivate) {
      robot.reset();
      robot = std::make_shared<Robot>(setup.chain, setup.parameters, setup.bus, setup.cell,
                                      setup.emulated);
    }
    robot->enter_thread();
    if (!setup.heartbeat.empty() && !heartbeat) {
      heartbeat = std::make_unique<Heartbeat>(setup.heartbeat);
    }
    driver = std::make_unique<ArmDriver>(*robot, heartbeat.get(), setup.driver);
    entered = ++connections;
    ArmConnection connection{robot, nullptr, ""};
    try {
      connection.table = std::make_shared<CalibrationTable>(robot->calibration());
      driver->arm().use_table(*connection.table);
    } catch (const CardError& error) {
      connection.no_table = error.what();
    }
    no_table = connection.no_table;
    mailbox->connect(std::move(connection));
  }

  /// Ports are granted per thread, and any thread may run the cycles. Throws CardError.
  void enter_thread() {
    thread_local std::uint64_t granted = 0;
    if (granted == entered) return;
    robot->enter_thread();
    granted = entered;
  }

  double elapsed(const rclcpp::Duration& period) noexcept {
    if (setup.bus == Bus::kPrivate) return period.seconds();
    // `period` does not include skipped cycles.
    const std::int64_t now = monotonic_ns();
    const std::int64_t before = std::exchange(last_read_ns, now);
    return before == 0 ? setup.driver.period : static_cast<double>(now - before) * 1e-9;
  }

  /// Handles requests from outside of the loop, before the cycle's output.
  void take_requests(bool inactive) noexcept {
    const bool reset = take(interfaces.fault_reset, 0) > 0.5;
    if (reset && !reset_line) driver->arm().safety().clear_faults();
    reset_line = reset;
    const Fault injected = mailbox->injected;
    if (injected == Fault::kEmergencyStop) driver->arm().emergency_stop();
    if (mailbox->reset == ga_hardware::ResetRequest::kAsked) {
      const bool persists = injected == Fault::kDeadlineMissed;
      const bool cleared = !persists && driver->arm().safety().clear_faults();
      mailbox->reset = persists  ? ga_hardware::ResetRequest::kRefused
                       : cleared ? ga_hardware::ResetRequest::kTried
                                 : ga_hardware::ResetRequest::kStopping;
    }
    // After a deactivation a calibration waits until the arm has stopped.
    if (!inactive || driver->busy()) return;
    if (CalibrationRun* run = mailbox->offered.exchange(nullptr); run != nullptr) {
      if (driver->arm_guard()) {
        driver->calibrate(run);
      } else {
        run->abandon(CalibrationRun::End::kOtherDrives);
      }
    }
  }

  /// After the output, when it is known whether the cause of a fault persists.
  void end_cycle() {
    const SafetyMachine& safety = driver->arm().safety();
    if (mailbox->reset == ga_hardware::ResetRequest::kTried) {
      mailbox->reset = safety.state() == SafetyState::kFault ? ga_hardware::ResetRequest::kRefused
                       : safety.calibration_valid()          ? ga_hardware::ResetRequest::kDone
                                                    : ga_hardware::ResetRequest::kUncalibrated;
    }
    show_states();
    if (clock) clock->cycle_done();
  }

  void show_states() {
    const PumaArm& arm = driver->arm();
    // During calibration from the potentiometers.
    const bool known =
        arm.safety().calibration_valid() || arm.safety().state() == SafetyState::kCalibrating;
    for (std::size_t i = 0; i < 6; ++i) {
      put(interfaces.position[i], known ? arm.reading().q[i] : kNone);
      put(interfaces.velocity[i], known ? arm.reading().qd[i] : kNone);
      put(interfaces.effort[i], arm.reading().torque[i]);
    }
    put(interfaces.power, arm.powered() ? 1 : 0);
    put(interfaces.brakes, arm.brakes_released() ? 0 : 1);
    put(interfaces.thermal, static_cast<double>(arm.reading().thermal));
    put(interfaces.fault_code, static_cast<double>(arm.safety().cause().fault));
    for (std::size_t i = 0; i < kTools; ++i) put(interfaces.output[i], output[i]);
    mailbox->status.try_set(status());
  }

  ArmStatus status() const noexcept {
    const PumaArm& arm = driver->arm();
    ArmStatus now;
    now.state = arm.safety().state();
    now.reaction = arm.safety().reaction();
    now.cause = arm.safety().cause();
    now.limits_reached = arm.safety().fault_count() - (now.cause.fault == Fault::kNone ? 0 : 1);
    now.powered = arm.powered();
    now.brakes_released = arm.brakes_released();
    now.thermal = arm.reading().thermal;
    now.guarded = driver->guarded();
    now.guard_alive = driver->guard_alive();
    now.tripped = driver->tripped();
    now.cycles = driver->cycles();
    now.late_cycles = late_cycles;
    now.bus_mean_us = driver->bus_times().mean_us();
    now.bus_max_us = driver->bus_times().max_us();
    now.period_mean_us = driver->periods().mean_us();
    now.period_max_us = driver->periods().max_us();
    return now;
  }

  /// A new connection starts with the tool outputs off.
  void forget_outputs() {
    output = {};
    for (const auto& command : interfaces.output_command) put(command, kNone);
  }

  ArmSetup setup;
  ArmSettings settings;
  std::shared_ptr<ArmMailbox> mailbox = std::make_shared<ArmMailbox>();
  std::shared_ptr<Robot> robot;
  std::unique_ptr<Heartbeat> heartbeat;
  std::unique_ptr<ArmDriver> driver;
  std::string no_table;
  ga_hardware::ArmInterfaces interfaces;
  ga_hardware::EffortCommands efforts;
  double cycle_time = 0;  ///< s
  std::array<double, kTools> output{};
  bool reset_line = false;
  std::int64_t last_read_ns = 0;
  std::uint64_t late_cycles = 0;
  std::uint64_t entered = 0;  ///< number of the connection
  static inline std::atomic<std::uint64_t> connections{0};
  std::unique_ptr<ArmNode> node;
  std::unique_ptr<ga_hardware::SimClock> clock;
};

PumaSystem::PumaSystem() = default;
PumaSystem::~PumaSystem() {
  if (!impl_ || !impl_->driver) return;
  try {
    impl_->robot->enter_thread();
    impl_->driver.reset();
  } catch (const CardError& error) {
    RCLCPP_FATAL(get_logger(), "%s: the outputs cannot be cut. Press the emergency stop",
                 error.what());
    // Its destructor would access the ports without permission, which ends the process.
    static_cast<void>(impl_->driver.release());
  }
}

ga_hardware::EffortCommands& PumaSystem::efforts() { return impl_->efforts; }

emulator::EmulatedCards* PumaSystem::emulated_cards() const noexcept {
  return impl_ && impl_->robot ? impl_->robot->cards() : nullptr;
}

PumaSystem::CallbackReturn PumaSystem::on_init(
    const hardware_interface::HardwareComponentInterfaceParams& params) {
  if (SystemInterface::on_init(params) != CallbackReturn::SUCCESS) return CallbackReturn::ERROR;
  try {
    check_description(kTools);
    impl_ = std::make_unique<Impl>(arm_setup_of(get_hardware_info()));
    Impl& m = *impl_;
    for (const std::string& warning : m.setup.chain.warnings()) {
      RCLCPP_WARN(get_logger(), "%s", warning.c_str());
    }
    if (get_node()) m.node = std::make_unique<ArmNode>(get_node(), m.settings, m.mailbox);
    if (get_node() && m.setup.simulated_time) {
      m.clock = std::make_unique<ga_hardware::SimClock>(
          get_node(), m.setup.driver.period, m.setup.real_time_factor,
          [mailbox = m.mailbox] { return mailbox->life != Life::kUnconfigured; });
    }
  } catch (const std::exception& error) {
    RCLCPP_FATAL(get_logger(), "%s", error.what());
    return CallbackReturn::ERROR;
  }
  return CallbackReturn::SUCCESS;
}

PumaSystem::CallbackReturn PumaSystem::on_configure(const rclcpp_lifecycle::State&) {
  Impl& m = *impl_;
  m.interfaces = ga_hardware::ArmInterfaces::find(*this, m.setup.joints);
  m.efforts.bind(m.interfaces);
  try {
    m.connect();
  } catch (const std::exception& error) {
    RCLCPP_ERROR(get_logger(), "%s", error.what());
    return CallbackReturn::FAILURE;
  }
  if (!m.no_table.empty()) RCLCPP_WARN(get_logger(), "%s", m.no_table.c_str());
  m.last_read_ns = 0;
  m.mailbox->reset = ga_hardware::ResetRequest::kNone;
  m.efforts.reset();
  m.forget_outputs();
  m.show_states();
  m.mailbox->life = Life::kInactive;
  RCLCPP_INFO(get_logger(), "connected; calibrate the arm before activating it");
  return CallbackReturn::SUCCESS;
}

PumaSystem::CallbackReturn PumaSystem::on_activate(const rclcpp_lifecycle::State&) {
  Impl& m = *impl_;
  const SafetyState state = m.driver->arm().safety().state();
  std::string refused;
  if (state == SafetyState::kFault) {
    refused = explain_fault(m.status(), m.settings);
  } else if (m.driver->guarded() && !m.driver->guard_alive()) {
    refused =
        "no guard is running: if this process died, the last voltages would stay on the "
        "amplifiers. Start `puma guard` first";
  } else if (m.driver->calibration() != nullptr || state == SafetyState::kCalibrating) {
    refused = "a calibration is in progress; wait for its end, or call cancel_calibration";
  } else if (state == SafetyState::kReady || state == SafetyState::kOff) {
    refused = "the arm is not calibrated: call the service " + get_name() +
              "/calibrate (std_srvs/srv/Trigger) first; every joint moves a few motor turns";
  } else if (m.efforts.claimed()) {
    refused = refuse_running_controllers();
  } else if (!m.driver->arm_guard()) {
    refused = m.driver->other_controller();
  }
  if (!refused.empty()) {
    RCLCPP_ERROR(get_logger(), "%s", refused.c_str());
    return CallbackReturn::FAILURE;
  }
  m.efforts.forget();
  put(m.interfaces.power_command, 1);
  put(m.interfaces.fault_reset, 0);
  m.reset_line = false;
  m.driver->allow_power(true);
  m.mailbox->life = Life::kActive;
  return CallbackReturn::SUCCESS;
}

PumaSystem::CallbackReturn PumaSystem::on_deactivate(const rclcpp_lifecycle::State&) {
  Impl& m = *impl_;
  m.driver->allow_power(false);
  m.driver->stop();
  m.efforts.forget();
  m.mailbox->life = Life::kInactive;
  return CallbackReturn::SUCCESS;
}

PumaSystem::CallbackReturn PumaSystem::on_cleanup(const rclcpp_lifecycle::State&) {
  Impl& m = *impl_;
  m.mailbox->life = Life::kUnconfigured;
  if (!m.driver) return CallbackReturn::SUCCESS;
  try {
    m.robot->enter_thread();
  } catch (const CardError& error) {
    RCLCPP_ERROR(get_logger(), "%s", error.what());
    return CallbackReturn::ERROR;
  }
  m.driver->stop_and_wait();
  m.show_states();
  m.driver.reset();
  return CallbackReturn::SUCCESS;
}

PumaSystem::CallbackReturn PumaSystem::on_error(const rclcpp_lifecycle::State&) {
  Impl& m = *impl_;
  m.mailbox->life = Life::kUnconfigured;
  m.efforts.reset();
  if (!m.driver) return CallbackReturn::SUCCESS;
  try {
    m.enter_thread();
  } catch (const CardError& error) {
    RCLCPP_FATAL(get_logger(), "%s: the outputs cannot be cut. Press the emergency stop",
                 error.what());
    return CallbackReturn::ERROR;
  }
  m.driver->cut();
  m.show_states();
  return CallbackReturn::SUCCESS;
}

PumaSystem::Return PumaSystem::read(const rclcpp::Time&, const rclcpp::Duration& period) {
  Impl& m = *impl_;
  m.enter_thread();
  const bool active = get_lifecycle_id() == lifecycle_msgs::msg::State::PRIMARY_STATE_ACTIVE;
  m.cycle_time = m.elapsed(period);
  if (m.mailbox->injected == Fault::kDeadlineMissed) {
    m.cycle_time += (m.settings.safety.max_missed_deadlines + 2) * m.setup.driver.period;
  }
  const double late = m.settings.safety.deadline_ratio * m.setup.driver.period;
  m.late_cycles += m.cycle_time > late ? 1 : 0;
  m.driver->read(m.cycle_time);
  m.take_requests(!active);
  if (active) {
    m.show_states();
    return Return::OK;
  }
  // write() is not called for an inactive component: the cycle ends here.
  if (m.efforts.stopped_while_inactive()) m.driver->stop();
  m.driver->idle();
  m.end_cycle();
  return m.driver->card_lost() ? Return::ERROR : Return::OK;
}

PumaSystem::Return PumaSystem::write(const rclcpp::Time&, const rclcpp::Duration&) {
  Impl& m = *impl_;
  for (std::size_t i = 0; i < kTools; ++i) {
    const double wanted = take(m.interfaces.output_command[i], m.output[i]) > 0.5 ? 1 : 0;
    if (wanted != m.output[i]) m.driver->arm().set_tool(static_cast<int>(i), wanted > 0.5);
    m.output[i] = wanted;
  }
  switch (m.efforts.next(m.cycle_time)) {
    case ga_hardware::EffortCommands::Request::kTorque:
      m.driver->command(m.efforts.torque(), m.efforts.age());
      break;
    case ga_hardware::EffortCommands::Request::kStop:
      m.driver->stop();
      m.driver->idle();
      break;
    case ga_hardware::EffortCommands::Request::kNothing:
      m.driver->idle();
      break;
  }
  const bool off = take(m.interfaces.power_command, 1) < 0.5;
  m.end_cycle();
  if (m.driver->card_lost()) return Return::ERROR;
  return off || m.driver->arm().safety().state() == SafetyState::kFault ? Return::DEACTIVATE
                                                                        : Return::OK;
}

}  // namespace puma_hardware

PLUGINLIB_EXPORT_CLASS(puma_hardware::PumaSystem, hardware_interface::SystemInterface)
