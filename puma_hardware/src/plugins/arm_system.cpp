// SPDX-License-Identifier: Apache-2.0
#include "plugins/arm_system.hpp"

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "pluginlib/class_list_macros.hpp"
#include "plugins/arm_node.hpp"
#include "plugins/arm_setup.hpp"
#include "process/realtime.hpp"
#include "runtime/arm_driver.hpp"

namespace puma_hardware {

using namespace ga_hardware;

namespace {

constexpr std::size_t kToolOutputs = 2;

}  // namespace

class PumaSystem::Backend : public ArmBackend {
 public:
  Backend(ArmSetup setup, std::string name, const rclcpp::Logger& logger,
          const rclcpp::Node::SharedPtr& node)
      : setup_(std::move(setup)),
        settings_(ArmSettings::from(setup_.chain, setup_.parameters)),
        name_(std::move(name)),
        logger_(logger) {
    if (node) node_ = ArmNode::make(node, settings_, mailbox_);
  }

  ~Backend() override {
    if (!driver_) return;
    try {
      robot_->enter_thread();
      driver_.reset();
    } catch (const CardError& error) {
      RCLCPP_FATAL(logger_, "%s: the outputs cannot be cut. Press the emergency stop",
                   error.what());
      // Its destructor would access the ports without permission, which ends the process.
      static_cast<void>(driver_.release());
    }
  }

  const ga_dynamics::Chain& chain() const noexcept override { return setup_.chain; }
  std::shared_ptr<LoopMailbox> mailbox() const noexcept override { return mailbox_; }
  std::optional<SimulatedTime> simulated_time() const noexcept override {
    if (!setup_.simulated_time) return std::nullopt;
    return SimulatedTime{setup_.driver.period, setup_.real_time_factor};
  }

  /// Opens the cards and reads the table. Throws CardError or std::runtime_error.
  void connect() override {
    if (robot_) robot_->enter_thread();  // the old driver's destructor writes to the cards
    driver_.reset();
    // A private emulated arm keeps its state; memory or ports of others may have changed.
    if (!robot_ || setup_.bus != Bus::kPrivate) {
      robot_.reset();
      robot_ = std::make_shared<Robot>(setup_.chain, setup_.parameters, setup_.bus, setup_.cell,
                                       setup_.emulated);
    }
    robot_->enter_thread();
    if (!setup_.heartbeat.empty() && !heartbeat_) {
      heartbeat_ = std::make_unique<Heartbeat>(setup_.heartbeat);
    }
    driver_ = std::make_unique<ArmDriver>(*robot_, heartbeat_.get(), setup_.driver);
    connection_ = ++connections_;
    last_read_ns_ = 0;
    ArmConnection connection{robot_, nullptr, "", robot_->settings().power_refusal()};
    if (!connection.no_power.empty()) RCLCPP_WARN(logger_, "%s", connection.no_power.c_str());
    if (setup_.bus == Bus::kPorts) {
      const std::string warning = robot_->settings().power_warning();
      if (!warning.empty()) RCLCPP_WARN(logger_, "%s", warning.c_str());
    }
    if (setup_.bus == Bus::kPorts && !awake_) {
      awake_ = std::make_unique<AwakeProcessors>();
      if (!awake_->refused().empty()) RCLCPP_WARN(logger_, "%s", awake_->refused().c_str());
    }
    try {
      connection.table = std::make_shared<CalibrationTable>(robot_->calibration());
      driver_->arm().use_table(*connection.table);
    } catch (const CardError& error) {
      connection.no_table = error.what();
      RCLCPP_WARN(logger_, "%s", error.what());
    }
    mailbox_->connect(std::move(connection));
    RCLCPP_INFO(logger_, "connected; calibrate the arm before activating it");
  }
  bool connected() const noexcept override { return driver_ != nullptr; }
  emulator::EmulatedCards* emulated_cards() const noexcept {
    return robot_ ? robot_->cards() : nullptr;
  }

  std::string refuse_activation() override {
    const SafetyState now = safety().state();
    if (now == SafetyState::kFault) return explain_fault(status(), settings_);
    if (driver_->guarded() && !driver_->guard_alive()) {
      return "no guard is running: if this process died, the last voltages would stay on the "
             "amplifiers. Start `puma guard` first";
    }
    if (std::string why = driver_->power_refusal(); !why.empty()) return why;
    if (driver_->calibration() != nullptr || now == SafetyState::kCalibrating) {
      return "a calibration is in progress; wait for its end, or call cancel_calibration";
    }
    if (now == SafetyState::kReady || now == SafetyState::kOff) {
      return "the arm is not calibrated: call the service " + name_ +
             "/calibrate (std_srvs/srv/Trigger) first; every joint moves a few motor turns";
    }
    return "";
  }
  std::string power_on() override {
    if (!driver_->arm_guard()) return driver_->arm_refusal();
    driver_->allow_power(true);
    return "";
  }
  void power_off() override {
    driver_->allow_power(false);
    driver_->stop();
  }
  void halt() override {
    robot_->enter_thread();
    driver_->stop_and_wait();
  }
  void disconnect() override {
    driver_.reset();
    awake_.reset();
  }
  void cut() override {
    enter_thread();
    driver_->cut();
  }

  double measure(double period, bool active) override {
    enter_thread();
    if (mailbox_->brakes_confirmed.exchange(false)) driver_->arm().confirm_brakes();
    double time = elapsed(period);
    const Fault injected = mailbox_->injected;
    if (injected == Fault::kDeadlineMissed) {
      time += (settings_.safety.max_missed_deadlines + 2) * setup_.driver.period;
    }
    const double late = settings_.safety.deadline_ratio * setup_.driver.period;
    late_cycles_ += time > late ? 1 : 0;
    driver_->read(time);
    if (injected == Fault::kEmergencyStop) driver_->arm().emergency_stop();
    // After a deactivation a calibration waits until the arm has stopped.
    if (!active && !driver_->busy()) take_calibration();
    return time;
  }
  void command(std::span<const double> torque, double age, bool handover) noexcept override {
    driver_->command(torque, age, {}, handover);
  }
  void idle() noexcept override { driver_->idle(); }
  void stop() noexcept override { driver_->stop(); }
  ResetRequest reset_fault() noexcept override {
    if (mailbox_->injected == Fault::kDeadlineMissed) return ResetRequest::kRefused;
    return driver_->arm().safety().clear_faults() ? ResetRequest::kTried : ResetRequest::kStopping;
  }
  void set_tool(std::size_t output, bool on) noexcept override {
    driver_->arm().set_tool(static_cast<int>(output), on);
  }
  ArmState state() const noexcept override {
    const PumaArm& arm = driver_->arm();
    // During calibration from the potentiometers.
    const bool known =
        safety().calibration_valid() || safety().state() == SafetyState::kCalibrating;
    const ArmReading& reading = arm.reading();
    return {reading.q,      reading.qd,    reading.torque,
            known,          arm.powered(), !arm.brakes_released(),
            reading.thermal};
  }
  const SafetyMachine& safety() const noexcept override { return driver_->arm().safety(); }
  bool lost() const noexcept override { return driver_->card_lost(); }
  void report(const ExecutionTime&) noexcept override { mailbox_->status.try_set(status()); }

  const char* title() const noexcept override { return "arm"; }
  void diagnose(diagnostic_updater::DiagnosticStatusWrapper& to) const override {
    node_->diagnose(to);
  }
  ReportedFault reported_fault() const override {
    const ArmStatus status = mailbox_->status.get();
    if (status.cause.fault == Fault::kNone) return {};
    return {status.cause, explain_fault(status, settings_)};
  }
  std::string injection_help() const override { return ArmNode::injection_help(); }
  void inject(const std::string& fault) override { node_->inject(fault); }

 private:
  /// Ports are granted per thread, and any thread may run the cycles. Throws CardError.
  void enter_thread() {
    thread_local std::uint64_t granted = 0;
    if (granted == connection_) return;
    robot_->enter_thread();
    granted = connection_;
  }

  double elapsed(double period) noexcept {
    if (setup_.bus == Bus::kPrivate) return period;
    // `period` does not include skipped cycles.
    const std::int64_t now = monotonic_ns();
    const std::int64_t before = std::exchange(last_read_ns_, now);
    return before == 0 ? setup_.driver.period : static_cast<double>(now - before) * 1e-9;
  }

  void take_calibration() noexcept {
    CalibrationRun* run = mailbox_->offered.exchange(nullptr);
    if (run == nullptr) return;
    if (driver_->arm_guard()) {
      driver_->calibrate(run);
    } else {
      run->abandon(driver_->other_drives() ? CalibrationRun::End::kOtherDrives
                                           : CalibrationRun::End::kNoGuard);
    }
  }

  ArmStatus status() const noexcept {
    const PumaArm& arm = driver_->arm();
    ArmStatus now;
    now.state = arm.safety().state();
    now.reaction = arm.safety().reaction();
    now.cause = arm.safety().cause();
    now.limits_reached = arm.safety().fault_count() - (now.cause.fault == Fault::kNone ? 0 : 1);
    now.powered = arm.powered();
    now.brakes_released = arm.brakes_released();
    now.brake_request = arm.brake_request();
    now.thermal = arm.reading().thermal;
    now.guarded = driver_->guarded();
    now.guard_alive = driver_->guard_alive();
    now.tripped = driver_->tripped();
    now.cycles = driver_->cycles();
    now.late_cycles = late_cycles_;
    now.bus_mean_us = driver_->bus_times().mean_us();
    now.bus_max_us = driver_->bus_times().max_us();
    now.period_mean_us = driver_->periods().mean_us();
    now.period_max_us = driver_->periods().max_us();
    return now;
  }

  ArmSetup setup_;
  ArmSettings settings_;
  std::string name_;  ///< of the component
  rclcpp::Logger logger_;
  std::shared_ptr<ArmMailbox> mailbox_ = std::make_shared<ArmMailbox>();
  std::shared_ptr<Robot> robot_;
  std::unique_ptr<Heartbeat> heartbeat_;
  std::unique_ptr<AwakeProcessors> awake_;
  std::unique_ptr<ArmDriver> driver_;
  std::int64_t last_read_ns_ = 0;
  std::uint64_t late_cycles_ = 0;
  std::uint64_t connection_ = 0;  ///< its number
  static inline std::atomic<std::uint64_t> connections_{0};
  std::shared_ptr<ArmNode> node_;
};

PumaSystem::PumaSystem() : ArmSystem(kToolOutputs) {}

std::unique_ptr<ArmBackend> PumaSystem::make_arm() {
  auto arm = std::make_unique<Backend>(arm_setup_of(get_hardware_info()), get_name(), get_logger(),
                                       get_node());
  backend_ = arm.get();
  return arm;
}

emulator::EmulatedCards* PumaSystem::emulated_cards() const noexcept {
  return backend_ != nullptr ? backend_->emulated_cards() : nullptr;
}

}  // namespace puma_hardware

PLUGINLIB_EXPORT_CLASS(puma_hardware::PumaSystem, hardware_interface::SystemInterface)
