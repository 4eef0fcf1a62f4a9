// SPDX-License-Identifier: Apache-2.0
#ifndef PLANT_SYSTEM_HPP_
#define PLANT_SYSTEM_HPP_

// A simulated arm as ros2_control hardware: effort commands, position and velocity states, brakes
// that close when no controller claims the efforts.

#include <atomic>
#include <cmath>
#include <hardware_interface/system_interface.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ga_dynamics/plant.hpp"

namespace test {

/// Largest torque changes from one cycle to the next, relative to the limit.
struct Steps {
  double any = 0;
  double at_switch = 0;  ///< in the 20 cycles after a switch of controllers

  void add(const Steps& other) {
    any = std::max(any, other.any);
    at_switch = std::max(at_switch, other.at_switch);
  }
};

/// What the test sees of the arm while the controller manager runs.
struct ArmWatch {
  std::mutex mutex;
  std::vector<double> q, qd, torque;
  Steps steps;
  std::atomic<bool> blind{false};  ///< the positions read as NaN
  std::atomic<bool> braked{true};

  std::vector<double> position() {
    const std::lock_guard lock(mutex);
    return q;
  }
  double speed() {
    const std::lock_guard lock(mutex);
    double speed = 0;
    for (const double v : qd) speed = std::max(speed, std::abs(v));
    return speed;
  }
  Steps take_steps() {
    const std::lock_guard lock(mutex);
    return std::exchange(steps, Steps{});
  }
};

class PlantSystem : public hardware_interface::SystemInterface {
 public:
  PlantSystem(const ga_dynamics::Chain& chain, bool friction, const std::vector<double>& start,
              std::shared_ptr<ArmWatch> watch)
      : chain_(chain),
        plant_(chain, {.friction = friction,
                       .brake_torque = std::vector<double>(chain.joints().size(), 1e3)}),
        watch_(std::move(watch)),
        torque_(chain.joints().size(), 0.0) {
    plant_.reset(start, std::vector<double>(start.size(), 0.0));
    set_brakes(true);
  }

  hardware_interface::CallbackReturn on_configure(const rclcpp_lifecycle::State&) override {
    for (const auto& joint : chain_.joints()) {
      effort_.push_back(get_command_interface_handle(joint.name + "/effort"));
      position_.push_back(get_state_interface_handle(joint.name + "/position"));
      velocity_.push_back(get_state_interface_handle(joint.name + "/velocity"));
    }
    return hardware_interface::CallbackReturn::SUCCESS;
  }

  hardware_interface::return_type perform_command_mode_switch(
      const std::vector<std::string>& start, const std::vector<std::string>& stop) override {
    since_switch_ = -1;  // this cycle's torques are still the old ones
    if (!start.empty()) {
      set_brakes(false);
    } else if (!stop.empty()) {
      set_brakes(true);
      // Leave no torque for the next controller to start from.
      for (const auto& effort : effort_) std::ignore = effort->set_value(std::nan(""));
    }
    return hardware_interface::return_type::OK;
  }

  hardware_interface::return_type read(const rclcpp::Time&, const rclcpp::Duration&) override {
    for (std::size_t i = 0; i < torque_.size(); ++i) {
      std::ignore = position_[i]->set_value(watch_->blind ? std::nan("") : plant_.q()[i]);
      std::ignore = velocity_[i]->set_value(plant_.qd()[i]);
    }
    return hardware_interface::return_type::OK;
  }

  hardware_interface::return_type write(const rclcpp::Time&,
                                        const rclcpp::Duration& period) override {
    const std::lock_guard lock(watch_->mutex);
    for (std::size_t i = 0; i < torque_.size(); ++i) {
      const double commanded = effort_[i]->get_optional().value_or(torque_[i]);
      const bool driven = std::isfinite(commanded) && driven_;
      const double step = std::abs(commanded - torque_[i]) / chain_.joints()[i].limits.effort;
      if (driven) {
        watch_->steps.add({step, since_switch_ < 20 ? step : 0});
      }
      torque_[i] = std::isfinite(commanded) ? commanded : 0;
    }
    ++since_switch_;
    // The first torques after the brakes have no predecessor.
    driven_ = !watch_->braked && std::isfinite(effort_[0]->get_optional().value_or(NAN));
    plant_.step(torque_, period.seconds());
    watch_->q.assign(plant_.q().begin(), plant_.q().end());
    watch_->qd.assign(plant_.qd().begin(), plant_.qd().end());
    watch_->torque = torque_;
    return hardware_interface::return_type::OK;
  }

 private:
  void set_brakes(bool on) {
    for (int i = 0; i < plant_.size(); ++i) plant_.set_brake(i, on);
    watch_->braked = on;
  }

  ga_dynamics::Chain chain_;
  ga_dynamics::Plant plant_;
  std::shared_ptr<ArmWatch> watch_;
  std::vector<double> torque_;
  bool driven_ = false;
  int since_switch_ = 0;
  std::vector<hardware_interface::CommandInterface::SharedPtr> effort_;
  std::vector<hardware_interface::StateInterface::SharedPtr> position_, velocity_;
};

}  // namespace test

#endif  // PLANT_SYSTEM_HPP_
