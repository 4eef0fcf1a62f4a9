// SPDX-License-Identifier: Apache-2.0
#include "ga_hardware/sim_system.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>

#include "ga_hardware/simulated_arm.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "plugins/arm_interfaces.hpp"
#include "plugins/sim_node.hpp"
#include "plugins/sim_settings.hpp"

namespace ga_hardware {

class SimSystem::Backend : public ArmBackend {
 public:
  Backend(const SimSetup& setup, const rclcpp::Node::SharedPtr& node)
      : chain_(setup.chain), arm_(setup.chain, setup.settings) {
    if (setup.simulated_time) {
      time_ = SimulatedTime{setup.settings.period, setup.real_time_factor};
    }
    for (const auto& joint : chain_.joints()) joints_.push_back(joint.name);
    if (node) node_ = std::make_unique<SimNode>(node, chain_, mailbox_);
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
    return describe_fault(arm_.fault(), arm_.diverged(), joints_);
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
  void command(std::span<const double> torque, double age) noexcept override {
    arm_.command(torque, age);
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
  void report() noexcept override {
    const auto done = static_cast<double>(std::max<std::uint64_t>(timed_, 1));
    mailbox_->status.try_set({arm_.state(), arm_.fault(), arm_.diverged(), arm_.cycles(),
                              arm_.late_cycles(), 1e6 * total_time_ / done, 1e6 * longest_time_});
  }

  /// Execution times [s] of read() and write().
  void count_read(double time) noexcept { read_time_ = time; }
  void count_write(double time) noexcept {
    ++timed_;
    total_time_ += read_time_ + time;
    longest_time_ = std::max(longest_time_, read_time_ + time);
  }

 private:
  void take_injection() noexcept {
    if (!mailbox_->injected.exchange(false)) return;
    arm_.inject(SimMailbox::unpack(mailbox_->injection.load()));
  }

  ga_dynamics::Chain chain_;
  std::optional<SimulatedTime> time_;
  std::vector<std::string> joints_;
  SimulatedArm arm_;
  std::uint64_t timed_ = 0;
  double read_time_ = 0, total_time_ = 0, longest_time_ = 0;  ///< s
  std::shared_ptr<SimMailbox> mailbox_ = std::make_shared<SimMailbox>();
  std::unique_ptr<SimNode> node_;
};

namespace {

/// Seconds since construction.
class StopWatch {
 public:
  double operator()() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

SimSystem::SimSystem() : ArmSystem(kMostToolOutputs) {}

std::unique_ptr<ArmBackend> SimSystem::make_arm() {
  auto arm = std::make_unique<Backend>(sim_setup_of(get_hardware_info()), get_node());
  backend_ = arm.get();
  return arm;
}

SimSystem::Return SimSystem::read(const rclcpp::Time& time, const rclcpp::Duration& period) {
  const StopWatch elapsed;
  const Return result = ArmSystem::read(time, period);
  backend_->count_read(elapsed());
  return result;
}

SimSystem::Return SimSystem::write(const rclcpp::Time& time, const rclcpp::Duration& period) {
  const StopWatch elapsed;
  const Return result = ArmSystem::write(time, period);
  backend_->count_write(elapsed());
  return result;
}

}  // namespace ga_hardware

PLUGINLIB_EXPORT_CLASS(ga_hardware::SimSystem, hardware_interface::SystemInterface)
