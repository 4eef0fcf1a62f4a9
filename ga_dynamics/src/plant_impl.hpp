// SPDX-License-Identifier: Apache-2.0
#ifndef PLANT_IMPL_HPP_
#define PLANT_IMPL_HPP_

// The state of a simulated arm. plant.cpp: its interface and faults; plant_contact.cpp: what holds a
// joint, friction, brakes and stops; plant_motion.cpp: accelerations and integration.

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "ga_dynamics/algorithm/dormand_prince.hpp"
#include "ga_dynamics/plant.hpp"
#include "least_constraint.hpp"

namespace ga_dynamics {

namespace plant {

/// A stop counts as reached this near to it, relative to its position where that is above 1.
constexpr double kStopTolerance = 1e-12;

/// std::isfinite as one comparison: it is asked in every stage of the integration.
inline bool is_finite(double x) { return std::abs(x) <= std::numeric_limits<double>::max(); }

inline bool all_finite(std::span<const double> values) {
  bool all = true;
  for (const double x : values) all &= is_finite(x);
  return all;
}

[[noreturn]] void refuse(const std::string& what);  ///< throws std::invalid_argument
std::string shown(double value);

}  // namespace plant

struct Plant::Impl {
  struct Joint {
    JointLimits limits;
    Drive drive;
    double brake_torque = 0;
    bool brake = false;
    bool locked = false;  ///< held by friction, brake or a stop
    int direction = 0;    ///< of sliding, while not locked
  };
  using State = std::vector<double>;  // q, then qd

  Impl(const Chain& chain, const PlantOptions& given)
      : options(given),
        n(chain.joints().size()),
        dynamics(chain, {.drives = Drives::kArmature}),
        joints(n),
        adaptive(2 * n, given.tolerance),
        state(2 * n),
        acceleration(n),
        command(n),
        net(n),
        inertia(n * n),
        bias(n),
        zero(n),
        reduced(n * n),
        right(n),
        load(n),
        solution(n),
        free(n),
        restraints(n),
        slips(n),
        least_constraint(n),
        start(2 * n),
        trial(2 * n) {
    for (auto& stage : stages) stage.resize(2 * n);
    for (std::size_t i = 0; i < n; ++i) {
      joints[i].limits = chain.joints()[i].limits;
      joints[i].limits.lower -= options.stop_margin;
      joints[i].limits.upper += options.stop_margin;
      joints[i].drive = chain.joints()[i].drive;
      if (!options.friction) {
        joints[i].drive = {};
        joints[i].drive.armature = chain.joints()[i].drive.armature;
      }
      if (!options.brake_torque.empty()) joints[i].brake_torque = options.brake_torque[i];
    }
  }

  std::span<const double> positions(const State& x) const { return {x.data(), n}; }
  std::span<const double> rates(const State& x) const { return {x.data() + n, n}; }

  std::size_t index(int joint) const;
  void check_size(std::span<const double> values, const char* what) const;

  /// Friction torque while sliding in the positive or the negative direction; magnitudes.
  double sliding_friction(const Joint& j, int direction) const {
    return j.drive.coulomb(direction) + (j.brake ? j.brake_torque : 0);
  }
  bool braked(const Joint& j) const { return j.brake && j.brake_torque > 0; }
  bool has_dry_friction(const Joint& j) const {
    return j.drive.coulomb_positive > 0 || j.drive.coulomb_negative > 0 || braked(j);
  }
  bool at_upper_stop(std::size_t i) const {
    return options.stops && state[i] >= joints[i].limits.upper;
  }
  bool at_lower_stop(std::size_t i) const {
    return options.stops && state[i] <= joints[i].limits.lower;
  }

  void fail(PlantFault what, std::size_t joint = 0, double value = 0);

  bool lost() const {
    return fault == PlantFault::kSingularInertia || fault == PlantFault::kDiverged;
  }

  /// Nothing can be computed from state x: because of its inertia, or because x is absurd.
  void fail_to_accelerate(const State& x);

  void refuse_torque(std::span<const double> given);

  /// Motor torque, limited, less the friction of the sliding joints, into `net`.
  void set_net_torque(const State& x, double t);

  /// Accelerations for the modes as they are; locked joints have none.
  void accelerate(const State& x, double t, std::span<double> qdd);

  /// D_ff q̈_f = (net − bias)_f for the joints that are not locked.
  void solve_free(std::span<double> qdd);

  void update_any_locked();

  /// At rest a joint with dry friction sticks and a joint at a stop is held; release() lets go of
  /// those that are overloaded.
  void find_modes();

  /// What joint i is restrained by at a stop, beside `friction`.
  Restraint with_stops(std::size_t i, Restraint friction) const;

  /// Lets go of locked joints whose friction or stop cannot hold them. Leaves the accelerations at
  /// this instant in `acceleration`.
  void release(double t);

  /// Momentum D qd into `load`.
  void set_momentum();

  /// Sliding joints that came to rest stick. They overshot within the sub-step: the impulse of
  /// their friction takes that back, without a change of the other joints' momenta.
  void stick();

  std::span<double> rates_of_state() { return {state.data() + n, n}; }

  double kinetic_energy(std::span<const double> qd) const;

  /// Velocities after the impact, if a joint moves into its stop.
  ///
  /// Two joints at their stops can knock each other off in turn, ever more gently, infinitely often
  /// in finite time. Below kRestSpeed that ends: the joints at stops come to rest together.
  void impact();

  /// How far a joint is beyond its stop, the farthest; negative: all are within.
  double beyond_stops() const;

  void put_on_stops();

  void derivative(const State& x, State& dx, double t);

  /// The first stage does not depend on h: integrating again from the same state keeps it.
  void runge_kutta(double t, double h);

  void dormand_prince(double t, double h);

  void integrate(double t, double h);

  /// A joint passes its stop within h: goes back to `start` and on to the first impact. Returns the
  /// time to it. Bracketed regula falsi (Illinois), as the depth is nearly linear in time.
  double go_to_first_impact(double t, double h, double depth_at_end);

  /// False on a fault. Impacts divide the sub-step. More than these are taken at its end, not where
  /// they occur.
  bool sub_step(double h);

  bool advance(double dt);

  PlantOptions options;
  std::size_t n;
  Dynamics dynamics;
  std::vector<Joint> joints;
  DormandPrince adaptive;
  State state;
  std::vector<double> acceleration, command, net, inertia, bias, zero, reduced, right, load,
      solution;
  std::vector<std::size_t> free;
  std::vector<Restraint> restraints;
  std::vector<char> slips;
  LeastConstraint least_constraint;
  State start;  ///< of the piece of a sub-step that is being integrated
  State stages[4], trial;
  bool have_first_stage = false;  ///< stages[0] is the derivative at `start`
  bool any_locked = false;
  double time = 0;
  long impacts = 0;
  double impact_loss = 0;
  PlantFault fault = PlantFault::kNone;
  std::size_t fault_joint = 0;
  double fault_value = 0;
  // of the step that is being taken: either
  const TorqueFunction* torque = nullptr;
  std::span<const double> constant;
};

}  // namespace ga_dynamics

#endif  // PLANT_IMPL_HPP_
