// SPDX-License-Identifier: Apache-2.0

// What holds a joint of the plant or lets it go: dry friction, brakes, stops and impacts.

#include <algorithm>
#include <cmath>

#include "ga_dynamics/algorithm/cholesky.hpp"
#include "plant_impl.hpp"

namespace ga_dynamics {

using namespace plant;
namespace {

/// rad/s or m/s: joints at stops that move more slowly are taken for resting there when one of them
/// is hit.
constexpr double kRestSpeed = 1e-5;
constexpr Restraint kHeldFast{Restraint::kRigid, Restraint::kRigid};

}  // namespace

void Plant::Impl::update_any_locked() {
  any_locked = std::any_of(joints.begin(), joints.end(), [](const Joint& j) { return j.locked; });
}

void Plant::Impl::find_modes() {
  for (std::size_t i = 0; i < n; ++i) {
    Joint& j = joints[i];
    const double qd = state[n + i];
    const bool dry = has_dry_friction(j);
    j.locked = qd == 0 && (dry || at_upper_stop(i) || at_lower_stop(i));
    j.direction = !dry || qd == 0 ? 0 : qd > 0 ? 1 : -1;
  }
  update_any_locked();
}

Restraint Plant::Impl::with_stops(std::size_t i, Restraint friction) const {
  if (at_upper_stop(i)) friction.against_positive = Restraint::kRigid;
  if (at_lower_stop(i)) friction.against_negative = Restraint::kRigid;
  return friction;
}

void Plant::Impl::release(double t) {
  set_net_torque(state, t);
  dynamics.inertia_matrix(positions(state), inertia);
  dynamics.inverse_dynamics(positions(state), rates(state), zero, bias);
  for (std::size_t i = 0; i < n; ++i) {
    const Joint& j = joints[i];
    load[i] = net[i] - bias[i];
    slips[i] = false;
    restraints[i] = {};
    if (j.locked) {
      restraints[i] = with_stops(i, {options.static_ratio * sliding_friction(j, 1),
                                     options.static_ratio * sliding_friction(j, -1)});
    }
  }
  // A joint that breaks away slides under less friction than held it, and may take others along.
  for (bool again = true; again;) {
    if (!least_constraint.solve(inertia, load, restraints, acceleration)) {
      fail_to_accelerate(state);
      return;
    }
    again = false;
    for (std::size_t i = 0; options.static_ratio > 1 && i < n; ++i) {
      const Joint& j = joints[i];
      if (!j.locked || slips[i] || acceleration[i] == 0) continue;
      slips[i] = again = true;
      restraints[i] = with_stops(i, {sliding_friction(j, 1), sliding_friction(j, -1)});
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    Joint& j = joints[i];
    if (!j.locked || acceleration[i] == 0) continue;
    j.locked = false;
    j.direction = !has_dry_friction(j) ? 0 : acceleration[i] > 0 ? 1 : -1;
  }
  update_any_locked();
}

void Plant::Impl::set_momentum() {
  dynamics.inertia_matrix(positions(state), inertia);
  for (std::size_t i = 0; i < n; ++i) {
    load[i] = 0;
    for (std::size_t k = 0; k < n; ++k) load[i] += inertia[i * n + k] * state[n + k];
  }
}

void Plant::Impl::stick() {
  for (std::size_t attempt = 0; attempt < n; ++attempt) {
    bool any = false;
    for (std::size_t i = 0; i < n; ++i) {
      Joint& j = joints[i];
      if (j.locked || j.direction == 0 || state[n + i] * j.direction > 0) continue;
      j.locked = any = true;
    }
    if (!any) return;
    set_momentum();
    for (std::size_t i = 0; i < n; ++i) {
      restraints[i] = joints[i].locked ? kHeldFast : with_stops(i, {});
    }
    if (!least_constraint.solve(inertia, load, restraints, rates_of_state())) {
      fail_to_accelerate(state);
      return;
    }
  }
}

double Plant::Impl::kinetic_energy(std::span<const double> qd) const {
  double twice = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) twice += qd[i] * inertia[i * n + k] * qd[k];
  }
  return twice / 2;
}

void Plant::Impl::impact() {
  double speed = 0;  // of the fastest joint that moves into its stop
  for (std::size_t i = 0; i < n; ++i) {
    if (at_upper_stop(i)) speed = std::max(speed, state[n + i]);
    if (at_lower_stop(i)) speed = std::max(speed, -state[n + i]);
  }
  if (speed == 0) return;
  set_momentum();
  for (std::size_t i = 0; i < n; ++i) {
    const Joint& j = joints[i];
    const double qd = state[n + i];
    Restraint friction;
    if (qd == 0 && has_dry_friction(j)) {
      const double seconds = options.impact_duration * options.static_ratio;
      friction = {seconds * sliding_friction(j, 1), seconds * sliding_friction(j, -1)};
    }
    const bool rests =
        (at_upper_stop(i) || at_lower_stop(i)) && speed < kRestSpeed && std::abs(qd) < kRestSpeed;
    restraints[i] = rests || (qd == 0 && braked(j)) ? kHeldFast : with_stops(i, friction);
  }
  if (!least_constraint.solve(inertia, load, restraints, solution)) {
    fail_to_accelerate(state);
    return;
  }
  ++impacts;
  impact_loss += kinetic_energy(rates(state)) - kinetic_energy(solution);
  std::copy(solution.begin(), solution.end(), rates_of_state().begin());
}

double Plant::Impl::beyond_stops() const {
  double farthest = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < n; ++i) {
    if (joints[i].locked) continue;
    const JointLimits& limits = joints[i].limits;
    farthest = std::max({farthest, state[i] - limits.upper, limits.lower - state[i]});
  }
  return farthest;
}

void Plant::Impl::put_on_stops() {
  for (std::size_t i = 0; i < n; ++i) {
    const JointLimits& limits = joints[i].limits;
    const double near_upper = kStopTolerance * std::max(1.0, std::abs(limits.upper));
    const double near_lower = kStopTolerance * std::max(1.0, std::abs(limits.lower));
    if (state[i] > limits.upper - near_upper && state[n + i] > 0) state[i] = limits.upper;
    if (state[i] < limits.lower + near_lower && state[n + i] < 0) state[i] = limits.lower;
    state[i] = std::clamp(state[i], limits.lower, limits.upper);
  }
}

}  // namespace ga_dynamics
