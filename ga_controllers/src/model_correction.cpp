// SPDX-License-Identifier: Apache-2.0
#include "model_correction.hpp"

#include <algorithm>
#include <cmath>

namespace ga_controllers {

namespace {

/// Share of the acceleration beside that of the reference that may be wrong.
constexpr double kDoubt = 0.3;
/// Cycles between corrections.
constexpr int kCycles = 10;
/// Of the torque limit: most that a correction changes a torque by, as far as the disturbance
/// estimate balances it, and otherwise.
constexpr double kBalanced = 0.1, kStep = 0.005;
/// N m, unit of joints without a torque limit.
constexpr double kUnlimited = 1e3;

}  // namespace

ModelCorrection::ModelCorrection(const ga_dynamics::Chain& chain, const LawParameters& parameters,
                                 std::span<const double> torque_limit)
    : estimator_(chain, parameters, torque_limit),
      acceleration_(torque_limit.size()),
      doubt_(torque_limit.size()),
      before_(torque_limit.size()),
      after_(torque_limit.size()),
      shift_(torque_limit.size()),
      factor_(torque_limit.size() * torque_limit.size()) {}

void ModelCorrection::advance(const Cycle& cycle, const Command& command, const Law& law) noexcept {
  const bool adapts = law.setting.takes_rates();
  if (cycle.changed || cycle.state_transition || !adapts) estimator_.interrupt();
  if (adapts) {
    const Motion& r = law.reference.followed();
    bool valid = command.observed && !law.payload.active();
    for (std::size_t i = 0; i < acceleration_.size(); ++i) {
      acceleration_[i] = law.observer.acceleration(i);
      doubt_[i] = kDoubt * std::abs(acceleration_[i] - r.qdd[i]) * law.arm.own_inertia(i);
      valid = valid && law.output.saturation()[i] == 0 && !law.latch.latched(i);
    }
    estimator_.take({law.arm.q, law.arm.qd, acceleration_, command.tau, doubt_, valid}, cycle.dt);
  }
  if (++age_ < kCycles) return;
  age_ = 0;
  estimator_.choose(law.arm.q, !adapts);
  if (estimator_.differs()) use(command, law);
}

/// Moves the used model towards the chosen one, and computes the torque of v with it.
void ModelCorrection::move(double share, std::span<const double> v, const Law& law) noexcept {
  estimator_.use(share);
  law.arm.dynamics.set_bodies(estimator_.bodies(), estimator_.armature());
  law.reference.set_bodies(estimator_.bodies(), estimator_.armature());
  law.payload.set_bodies(estimator_.bodies(), estimator_.armature());
  law.arm.dynamics.inverse_dynamics(law.arm.q, law.arm.qd, v, after_);
}

/// Share of the change of the torques that is at most this share of their limits.
double ModelCorrection::share_within(double most, const Law& law) const noexcept {
  const std::span<const double> rates = law.reference.followed().qd;
  double share = 1;
  for (std::size_t i = 0; i < after_.size(); ++i) {
    const double change =
        std::abs(after_[i] - before_[i] + law.friction.change(i, estimator_.drive(i), rates[i]));
    const double limit = most * std::min(law.arm.torque_limit[i], kUnlimited);
    if (change * share > limit) share = limit / change;
  }
  return share;
}

/// The change of the torque as a disturbance, into `shift_`. False if the law does not subtract all of
/// it.
bool ModelCorrection::find_shift(const Command& command, const Law& law) noexcept {
  const std::span<const double> rates = law.reference.followed().qd;
  for (std::size_t i = 0; i < shift_.size(); ++i) {
    shift_[i] = after_[i] - before_[i] + law.friction.next_change(i, estimator_.drive(i), rates[i]);
  }
  law.arm.update_inertia();
  law.arm.solve_inertia(shift_, factor_);
  if (!all_finite(shift_, shift_.size())) std::fill(shift_.begin(), shift_.end(), 0.0);
  bool all = true;
  for (std::size_t i = 0; i < shift_.size(); ++i) {
    all = all && std::abs(law.observer.disturbance()[i] + shift_[i]) <= command.subtracted[i];
  }
  return all;
}

void ModelCorrection::use(const Command& command, const Law& law) noexcept {
  law.arm.dynamics.inverse_dynamics(law.arm.q, law.arm.qd, command.v, before_);
  move(1, command.v, law);
  const double balanced = share_within(law.setting.integrates() ? kBalanced : kStep, law);
  const double small = share_within(kStep, law);
  if (balanced < 1) {
    estimator_.undo();
    move(balanced, command.v, law);
  }
  if (!find_shift(command, law) && small < balanced) {
    estimator_.undo();
    move(small, command.v, law);
    find_shift(command, law);
  }
  for (std::size_t i = 0; i < shift_.size(); ++i) {
    law.friction.set_drive(i, estimator_.drive(i), law.reference.followed().qd[i]);
    law.observer.shift(i, shift_[i]);
  }
}

}  // namespace ga_controllers
