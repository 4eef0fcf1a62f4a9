// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__PLANT_HPP_
#define GA_DYNAMICS__PLANT_HPP_

// A simulated arm: forward dynamics with armature, friction, brakes, torque limits and joint stops,
// integrated in time.
//
// Coulomb friction is not smoothed. Between two looks at it, every joint either slides in a known
// direction (constant friction torque) or sticks (no acceleration, the friction is whatever holds
// it): the equations are smooth there, so Runge–Kutta keeps its order, and a joint at rest stays at
// rest to the last bit instead of chattering. A brake is Coulomb friction that is switched on. At a
// stop a joint loses its speed (no rebound) and is held until it is drawn back.

#include <functional>
#include <memory>
#include <span>
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
  bool stops = true;          ///< at the chain's position limits
  std::vector<double> brake_torque = {};  ///< N m per joint; 0 or empty: no brake
};

/// What the motors give at time t [s since reset]: writes n torques.
using TorqueFunction = std::function<void(double t, std::span<const double> q,
                                          std::span<const double> qd, std::span<double> tau)>;

/// Construction allocates and throws std::invalid_argument for impossible options. step() does not
/// allocate with Runge–Kutta. One object per thread.
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
  void set_brake(int joint, bool on) noexcept;
  bool brake(int joint) const noexcept;

  /// Lets dt [s] pass with constant motor torques.
  void step(std::span<const double> tau, double dt);
  /// The same with torques that depend on the state, e.g. of elastic drives.
  void step(const TorqueFunction& torque, double dt);

  double time() const noexcept;  ///< s since reset
  std::span<const double> q() const noexcept;
  std::span<const double> qd() const noexcept;
  /// Acceleration at the end of the last step.
  std::span<const double> qdd() const noexcept;
  /// Is the joint held by friction, brake or stop?
  bool held(int joint) const noexcept;
  MechanicalEnergy energy() noexcept;
  /// For external wrenches (Dynamics::set_external_wrench).
  Dynamics& dynamics() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__PLANT_HPP_
