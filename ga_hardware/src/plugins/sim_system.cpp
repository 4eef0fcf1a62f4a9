// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <stdexcept>

#include "ga_hardware/arm_system.hpp"
#include "ga_hardware/simulated_arm.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "plugins/arm_interfaces.hpp"
#include "plugins/sim_settings.hpp"
#include "realtime_tools/realtime_thread_safe_box.hpp"

namespace ga_hardware {

namespace {

/// Passed from the control loop to the node.
struct SimStatus {
  DriveState state = DriveState::kOff;
  FaultRecord fault;
  bool diverged = false;
  std::uint64_t cycles = 0, late_cycles = 0;
  ExecutionTime time;
};

struct SimMailbox : LoopMailbox {
  std::atomic<Injection> injection{};
  std::atomic<bool> injected{false};  ///< the loop has not read `injection` yet
  realtime_tools::RealtimeThreadSafeBox<SimStatus> status;
};
static_assert(std::atomic<Injection>::is_always_lock_free);

class SimBackend : public ArmBackend {
 public:
  explicit SimBackend(const SimSetup& setup)
      : chain_(setup.chain), arm_(setup.chain, setup.settings) {
    if (setup.simulated_time) {
      time_ = SimulatedTime{setup.settings.period, setup.real_time_factor};
    }
  }

  const ga_dynamics::Chain& chain() const noexcept override { return chain_; }
  std::shared_ptr<LoopMailbox> mailbox() const noexcept override { return mailbox_; }
  std::optional<SimulatedTime> simulated_time() const noexcept override { return time_; }

  void connect() override {
    take_injection();
    if (arm_.card_lost()) {
      throw std::runtime_error("the (simulated) cards do not respond; set inject_fault to nothing");
    }
  }
  bool connected() const noexcept override { return true; }
  std::string refuse_activation() override {
    take_injection();
    if (arm_.fault().fault == Fault::kNone) return "";
    return explain(arm_.fault(), arm_.diverged());
  }
  std::string power_on() override {
    arm_.power_on();
    return "";
  }
  void power_off() override { arm_.power_off(); }
  void halt() override { arm_.cut(); }
  void cut() override { arm_.cut(); }

  double measure(double period, bool) override {
    take_injection();
    if (!arm_.card_lost()) arm_.advance(period);
    return period;
  }
  void command(std::span<const double> torque, double age, bool handover) noexcept override {
    arm_.command(torque, age, handover);
  }
  void idle() noexcept override { arm_.idle(); }
  void stop() noexcept override { arm_.stop(); }
  ResetRequest reset_fault() noexcept override {
    if (safety().reaction() != Reaction::kNone) return ResetRequest::kStopping;
    return arm_.reset_fault() ? ResetRequest::kTried : ResetRequest::kRefused;
  }
  void set_tool(std::size_t, bool) noexcept override {}
  ArmState state() const noexcept override {
    return {arm_.position(), arm_.velocity(),      arm_.torque(), true,
            arm_.powered(),  arm_.brakes_closed(), arm_.thermal()};
  }
  const SafetyMachine& safety() const noexcept override { return arm_.safety(); }
  bool lost() const noexcept override { return arm_.card_lost() || arm_.diverged(); }
  void report(const ExecutionTime& time) noexcept override {
    mailbox_->status.try_set(
        {arm_.state(), arm_.fault(), arm_.diverged(), arm_.cycles(), arm_.late_cycles(), time});
  }

  const char* title() const noexcept override { return "simulated arm"; }
  void diagnose(diagnostic_updater::DiagnosticStatusWrapper& to) const override {
    using diagnostic_msgs::msg::DiagnosticStatus;
    const SimStatus status = mailbox_->status.get();
    if (status.fault.fault == Fault::kNone) {
      to.summary(DiagnosticStatus::OK, to_string(status.state));
    } else {
      to.summary(DiagnosticStatus::ERROR, explain(status.fault, status.diverged));
    }
    to.add("drives", to_string(status.state));
    to.add("fault", to_string(status.fault.fault));
    to.add("cycles", status.cycles);
    to.add("late cycles", status.late_cycles);
    to.addf("read and write, mean", "%.1f us", status.time.mean_us);
    to.addf("read and write, longest", "%.1f us", status.time.max_us);
  }
  ReportedFault reported_fault() const override {
    const SimStatus status = mailbox_->status.get();
    if (status.fault.fault == Fault::kNone) return {};
    return {status.fault, explain(status.fault, status.diverged)};
  }
  std::string injection_help() const override {
    return "Fault to simulate: " + injection_names() + ", or nothing";
  }
  void inject(const std::string& fault) override {
    mailbox_->injection = parse_injection(fault, chain_);
    mailbox_->injected = true;
  }

 private:
  /// "joint2: thermal: …" with value, threshold and remedy.
  std::string explain(const FaultRecord& fault, bool diverged) const {
    if (diverged) {
      return "the integration has diverged: give the hardware a shorter sub_step, or look for "
             "implausible inertias and gains; then call reset_fault, which returns the arm to its "
             "initial position, and set the component inactive and active";
    }
    if (fault.fault == Fault::kCardLost) {
      return "card-lost: the cards do not respond; set inject_fault to nothing, call reset_fault, then set "
             "the component inactive and active";
    }
    const std::string joint =
        fault.joint >= 0 ? chain_.joints().at(static_cast<std::size_t>(fault.joint)).name : "";
    return describe(fault, joint) +
           "; remove the cause, call reset_fault and set the component active again";
  }
  void take_injection() noexcept {
    if (!mailbox_->injected.exchange(false)) return;
    arm_.inject(mailbox_->injection.load());
  }

  ga_dynamics::Chain chain_;
  std::optional<SimulatedTime> time_;
  SimulatedArm arm_;
  std::shared_ptr<SimMailbox> mailbox_ = std::make_shared<SimMailbox>();
};

}  // namespace

SimSystem::SimSystem() : ArmSystem(kMostToolOutputs) {}

std::unique_ptr<ArmBackend> SimSystem::make_arm() {
  return std::make_unique<SimBackend>(sim_setup_of(get_hardware_info()));
}

}  // namespace ga_hardware

PLUGINLIB_EXPORT_CLASS(ga_hardware::SimSystem, hardware_interface::SystemInterface)
