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

/// A controller manager with an arm. Its time advances in pass() only: the load of the computer
/// does not affect the torques.
class Cell {
 public:
  /// `mock`: with the stock hardware plugin instead of a simulated arm.
  Cell(const std::string& urdf, bool with_friction, bool mock = false);
  ~Cell();

  /// Loads and configures it; false if either fails.
  bool load(const std::string& name, const std::string& type, const std::string& parameters = {},
            const Names& fallback = {});
  /// Full friction feed-forward where the law uses the reference's velocity.
  bool load_law(const std::string& name, LawKind kind, const Names& fallback = {});
  /// The stock trajectory controller before `law`. `scales`: it slows its time as the law says.
  bool load_trajectory_controller(const std::string& name, const std::string& law,
                                  double tolerance = 0, bool scales = false);
  bool change(const Names& activate, const Names& deactivate);
  /// Calls a service of the controller manager in another thread while the control loop continues.
  bool succeeds(const std::function<controller_interface::return_type()>& service);
  /// Runs the control loop for this many seconds.
  void pass(double seconds);
  bool active(const std::string& name);
  /// Sends a goal at start + offset, to be reached after `seconds`.
  void move(const std::string& trajectory_controller, double offset, double seconds);
  double distance(const Values& from) const;

  ga_dynamics::Chain chain;
  bool friction;
  bool keep_path = false;  ///< parameter of the laws that are loaded next
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
