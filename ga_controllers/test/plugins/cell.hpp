// SPDX-License-Identifier: Apache-2.0
#ifndef CELL_HPP_
#define CELL_HPP_

// A real controller manager at 1 kHz of simulated time, with an arm of its own.

#include <controller_manager/controller_manager.hpp>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "plant_system.hpp"
#include "robots.hpp"

namespace test {

using Names = std::vector<std::string>;

class Manager : public controller_manager::ControllerManager {
 public:
  using ControllerManager::ControllerManager;
  hardware_interface::ResourceManager& resources() { return *resource_manager_; }
};

/// A controller manager with an arm. Its time passes in pass() alone: how busy the computer is does
/// not show in the torques.
class Cell {
 public:
  /// `mock`: with the stock hardware plugin instead of a simulated arm.
  Cell(const std::string& urdf, bool with_friction, bool mock = false);
  ~Cell();

  /// Loads and configures it; false if either fails.
  bool load(const std::string& name, const std::string& type, const std::string& parameters = {},
            const Names& fallback = {});
  /// Against friction, all of it is fed forward where the velocity is a reference's.
  bool load_law(const std::string& name, LawKind kind, const Names& fallback = {});
  /// The stock trajectory controller before `law`.
  bool load_trajectory_controller(const std::string& name, const std::string& law,
                                  double tolerance = 0);
  bool change(const Names& activate, const Names& deactivate);
  /// What a service of the controller manager does in its own thread while the control loop goes
  /// on.
  bool succeeds(const std::function<controller_interface::return_type()>& service);
  /// Lets so many seconds of the control loop pass.
  void pass(double seconds);
  bool active(const std::string& name);
  /// Sends the arm on its way to start + offset, to be there after `seconds`.
  void move(const std::string& trajectory_controller, double offset, double seconds);
  double distance(const Values& from) const;

  ga_dynamics::Chain chain;
  bool friction;
  Values start;
  std::shared_ptr<ArmWatch> watch;
  std::shared_ptr<Manager> manager;
  rclcpp::Node::SharedPtr user;

 private:
  rclcpp::Executor::SharedPtr executor_;
  std::thread spinner_;
  rclcpp::Time time_{1, 0, RCL_ROS_TIME};
};

}  // namespace test

#endif  // CELL_HPP_
