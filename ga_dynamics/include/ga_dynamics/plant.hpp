// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__PLANT_HPP_
#define GA_DYNAMICS__PLANT_HPP_

// A simulated arm: forward dynamics with armature, friction, brakes, torque limits and joint stops,
// integrated in time.
//
// Coulomb friction is not smoothed. During a sub-step every joint either slides in a known
// direction (constant friction torque) or sticks (no acceleration, the friction is whatever holds
// it): the equations are smooth there, so Runge–Kutta keeps its order, and a joint at rest stays at
// rest to the last bit instead of chattering. A brake is Coulomb friction that is switched on.
// Which joints stick and which leave their stop is a linear complementarity problem, solved
// exactly.
//
// Impacts. When a joint reaches a stop (the instant is located within the sub-step, and the joint
// put on its stop), the velocities jump. The impact is perfectly inelastic and acts on all joints
// at once:
//   - joints at a stop do not move beyond it; the impulse of a stop only pushes (unilateral);
//   - a joint held by its brake does not move (bilateral): an impact does not make a brake slip, a
//     steady torque above what brake and friction hold does;
//   - a joint held by friction alone breaks loose if it needs a larger impulse than its static
//     friction gives in `impact_duration`;
//   - all other joints are free: what sliding friction, motors and gravity give in that time is
//     neglected.
// Of all velocities that this allows, the arm takes those nearest to the ones before in the metric
// of the kinetic energy, less the friction's impulse: the kinetic energy never increases.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "ga_dynamics/dynamics.hpp"

namespace ga_dynamics {

enum class Integrator {
  kRungeKutta4,   ///< fixed steps of sub_step
  kDormandPrince  ///< adaptive steps of order 5(4) within each sub_step
};

struct PlantOptions {
  Integrator integrator = Integrator::kRungeKutta4;
  double sub_step = 2.5e-4;  ///< s, also how often sticking and stops are looked at
  double tolerance = 1e-9;   ///< of Dormand–Prince, absolute (rad, rad/s) and relative
  bool friction = true;
  double static_ratio = 1.0;  ///< break-away friction over Coulomb friction, at least 1
  bool torque_limits = true;  ///< the motors give no more than the chain's effort limits
  bool stops = true;          ///< mechanical stops at the chain's position limits
  double stop_margin = 0;     ///< rad or m, of the stops beyond those limits
  std::vector<double> brake_torque = {};  ///< N m per joint; 0 or empty: no brake
  /// s, how long an impact lasts for the friction that has to hold a joint at rest; the motion
  /// itself takes an impact as instantaneous. 0: friction alone holds no joint that an impact acts
  /// on.
  double impact_duration = 1e-3;
};

/// What the motors give at time t [s since reset]: writes n torques.
using TorqueFunction = std::function<void(double t, std::span<const double> q,
                                          std::span<const double> qd, std::span<double> tau)>;

/// Why a step was not taken, or not to its end.
enum class PlantFault {
  kNone,
  kTorqueNotFinite,  ///< the arm stands where the last finite torque left it; the next step may go
                     ///< on
  kSingularInertia,  ///< a joint moves no inertia; the state is NaN until reset()
  kDiverged          ///< the integration failed; the state is NaN until reset()
};

/// Construction allocates. step() with Runge–Kutta does not. The constructor, reset() and step()
/// throw std::invalid_argument for impossible options, spans of another size than the arm's, states
/// that are not finite, and a dt that is negative or not finite; functions of a joint throw
/// std::out_of_range for a joint that the arm does not have. One object per thread.
class Plant {
 public:
  Plant(const Chain& chain, const PlantOptions& options = {});
  ~Plant();
  Plant(Plant&&) noexcept;
  Plant& operator=(Plant&&) noexcept;

  int size() const noexcept;
  /// Positions [rad, m] and velocities; joints beyond a stop are put on it.
  void reset(std::span<const double> q, std::span<const double> qd);
  /// Holds the joint by its brake torque, or lets it go.
  void set_brake(int joint, bool on);
  bool brake(int joint) const;

  /// Lets dt [s] pass with constant motor torques. False if it could not: fault() and error() say
  /// why. A torque that is not finite is refused and never integrated.
  bool step(std::span<const double> tau, double dt);
  /// The same with torques that depend on the state, e.g. of elastic drives.
  bool step(const TorqueFunction& torque, double dt);
  /// Of the last step.
  PlantFault fault() const noexcept;
  /// The last step's fault for people: joint, value, time and remedy; empty without one. Allocates.
  std::string error() const;

  double time() const noexcept;  ///< s since reset
  std::span<const double> q() const noexcept;
  std::span<const double> qd() const noexcept;
  /// Acceleration at the end of the last step.
  std::span<const double> qdd() const noexcept;
  /// Is the joint held by friction, brake or stop? Its velocity is then exactly 0.
  bool held(int joint) const;
  MechanicalEnergy energy() noexcept;
  long impacts() const noexcept;        ///< since reset; those of several joints at once count once
  double impact_loss() const noexcept;  ///< J, kinetic energy lost in them
  /// For external wrenches (Dynamics::set_external_wrench).
  Dynamics& dynamics() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__PLANT_HPP_
