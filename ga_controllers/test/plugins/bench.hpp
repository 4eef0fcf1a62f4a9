// SPDX-License-Identifier: Apache-2.0
#ifndef BENCH_HPP_
#define BENCH_HPP_

// Shared by the tests of the controllers: a simulated arm behind ros2_control's handles, and a
// controller on it without a controller manager.

#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <string>
#include <vector>

#include "controllers.hpp"
#include "ga_dynamics/plant.hpp"
#include "robots.hpp"

namespace test {

using ga_controllers::LawController;

constexpr double kDt = 1e-3;

std::unique_ptr<LawController> make_controller(LawKind kind);

/// Friction feed-forward as on the PUMA: all of it where the law uses the reference's velocity.
std::vector<rclcpp::Parameter> friction_parameters(LawKind kind);

/// A simulated arm and its handles. Friction is off by default: it would hide small errors.
class Arm {
 public:
  explicit Arm(const std::string& urdf, bool friction = false);

  std::size_t size() const { return effort.size(); }
  double limit(std::size_t joint) const { return chain.joints()[joint].limits.effort; }
  void put(const Values& q, const Values& qd);
  void put(const Values& q) { put(q, Values(size(), 0.0)); }  ///< at rest
  /// Commands the torques that give the arm the acceleration.
  void drive(const Values& qdd);
  void write_states();  ///< from the plant to the handles
  /// Adds effort states, like hardware that reports its torques.
  void add_effort_state(const Values& torque);
  void step();  ///< simulates kDt with the commanded torques
  Values q() const { return {plant.q().begin(), plant.q().end()}; }
  Values torque() const;
  double speed() const;  ///< of the fastest joint
  double distance(const Values& q) const;

  ga_dynamics::Chain chain;
  ga_dynamics::Plant plant;
  std::vector<hardware_interface::CommandInterface::SharedPtr> effort;
  std::vector<hardware_interface::StateInterface::SharedPtr> position, velocity;
  std::vector<hardware_interface::StateInterface::SharedPtr> effort_state;  ///< may be empty
};

/// A controller on the arm, with the lifecycle transitions of the controller manager.
class Bench {
 public:
  Bench(LawKind kind, const std::string& urdf, std::vector<rclcpp::Parameter> parameters = {},
        const std::string& name = "controller");
  ~Bench();

  bool configure();  ///< and exports the reference interfaces
  /// `readable`: the torques can be read afterwards, to compare them with the next ones.
  bool activate(Arm& arm, bool chained = false, bool readable = true);
  void deactivate();
  /// One update, without the arm. True if it returned OK.
  bool update(double period = kDt);
  /// One cycle: states, update with this period, kDt of the arm. Returns the largest torque change,
  /// relative to the limit.
  double cycle(Arm& arm, double period = kDt);
  /// Several cycles; returns the largest change.
  double cycles(Arm& arm, int count);
  void refer(const ga_controllers::Reference& reference);
  /// What the controller manager does when a predecessor is attached or detached.
  bool restart(Arm& arm, bool chained);
  /// Configures and activates behind a predecessor, on an arm in motion at time 0 of the
  /// predecessor's motion, and runs to `until`.
  bool set_in_motion(Arm& arm, double until = 0);
  /// Lets the predecessor move the arm from time `from` to `to`; returns the largest change.
  /// `worst`: updated with the largest distance from the motion.
  double follow(Arm& arm, double from, double to, double* worst = nullptr);
  void spin_some();

  std::unique_ptr<LawController> controller;
  std::vector<hardware_interface::CommandInterface::SharedPtr> references;
  rclcpp::Time now{0, 0, RCL_ROS_TIME};

 private:
  rclcpp::executors::SingleThreadedExecutor executor_;
  Values before_;
};

}  // namespace test

#endif  // BENCH_HPP_
