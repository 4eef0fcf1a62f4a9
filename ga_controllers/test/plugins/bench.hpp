// SPDX-License-Identifier: Apache-2.0
#ifndef BENCH_HPP_
#define BENCH_HPP_

// What the tests of the controllers share: a simulated arm behind ros2_control's handles and a
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

/// A simulated arm and its handles. Friction is off unless asked for: it would hide small errors.
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
  /// Gives the arm effort states, as hardware has that tells its torques.
  void tell(const Values& torque);
  void step();  ///< lets kDt pass with the commanded torques
  Values q() const { return {plant.q().begin(), plant.q().end()}; }
  Values torque() const;
  double speed() const;  ///< of the fastest joint
  double distance(const Values& q) const;

  ga_dynamics::Chain chain;
  ga_dynamics::Plant plant;
  std::vector<hardware_interface::CommandInterface::SharedPtr> effort;
  std::vector<hardware_interface::StateInterface::SharedPtr> position, velocity;
  std::vector<hardware_interface::StateInterface::SharedPtr> told;  ///< of effort; may be none
};

/// A controller on the arm, taken through its life as the controller manager does it.
class Bench {
 public:
  Bench(LawKind kind, const std::string& urdf, std::vector<rclcpp::Parameter> parameters = {},
        const std::string& name = "controller");
  ~Bench();

  bool configure();  ///< and exports the references
  /// `readable`: the torques can be read afterwards, to compare the next ones with.
  bool activate(Arm& arm, bool chained = false, bool readable = true);
  void deactivate();
  /// One update, without the arm. Returns whether it was OK.
  bool update(double period = kDt);
  /// One cycle: states, update with this period, kDt of the arm. Returns the largest change of a
  /// torque over its limit.
  double cycle(Arm& arm, double period = kDt);
  /// Several of them; the largest of the changes.
  double cycles(Arm& arm, int count);
  void refer(const ga_controllers::Reference& reference);
  /// What the controller manager does when a predecessor comes or goes.
  bool restart(Arm& arm, bool chained);
  /// Configured and activated behind a predecessor, on an arm in motion at time 0 of the
  /// predecessor's motion; from there to `until`.
  bool set_in_motion(Arm& arm, double until = 0);
  /// Lets the predecessor move the arm from time `from` to `to`; the largest of the changes.
  /// `worst`: made the largest distance from the motion if that is larger.
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
