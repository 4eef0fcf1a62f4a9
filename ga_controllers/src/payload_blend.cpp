// SPDX-License-Identifier: Apache-2.0
#include "payload_blend.hpp"

#include <algorithm>
#include <cmath>

#include "small_matrix.hpp"

namespace ga_controllers {

namespace {

/// Share of the torque limit per second that a blend changes a torque by: 0.5 % per millisecond.
constexpr double kTorqueRate = 5;
/// Share below which a step ends the blend.
constexpr double kLeft = 1e-9;
/// Time constants of the law in the duration of a blend.
constexpr double kDuration = 2;
/// Ratio of the inertias above which a payload has to be confirmed. Every kInertiaCycles cycles the
/// inertia matrix is updated, or compared, instead of a step: a cycle must not do both.
constexpr double kInertiaRatio = 3;
constexpr int kInertiaCycles = 8, kOldest = 1 << 20;
/// s, time constant with which the share follows the confirmed one.
constexpr double kConfirmation = 0.05;
/// Of the torque limits: a payload that changes the torques by less is not confirmed.
constexpr double kVisible = 0.002;

}  // namespace

PayloadBlend::PayloadBlend(const ga_dynamics::Chain& chain, double blend_time)
    : target_dynamics_(chain, {.drives = ga_dynamics::Drives::kArmature}),
      trusted_dynamics_(chain, {.drives = ga_dynamics::Drives::kArmature}),
      duration_(kDuration * blend_time),
      change_(chain.joints().size()),
      disturbance_(chain.joints().size()),
      factor_(chain.joints().size() * chain.joints().size()),
      inertia_(factor_.size()),
      trusted_inertia_(factor_.size()) {}

bool PayloadBlend::set(const ga_dynamics::Payload& payload) noexcept {
  if (!ga_dynamics::is_physical(payload)) return false;
  from_ = present_;
  to_ = payload;
  share_ = 0;
  active_ = true;
  from_present_ = from_trusted_ = confirmed_ = false;
  age_ = 0;
  target_dynamics_.set_payload(to_);
  return true;
}

void PayloadBlend::start(bool confirm, MeasuredArm& arm) noexcept {
  if (!active_) return;
  arm.update_inertia();
  if (confirm && (changes_inertia(arm, false) || changes_inertia(arm, true))) return;
  use(1, arm);
  trusted_dynamics_.set_payload(to_);
  arm.update_inertia();
}

void PayloadBlend::use(double share, MeasuredArm& arm) noexcept {
  share_ = 1 - share > kLeft ? share : 1;
  active_ = share_ < 1;
  present_ = blended(from_, to_, share_);
  arm.dynamics.set_payload(present_);
}

/// True if the inertia about any direction of motion differs by more than kInertiaRatio between the
/// target and the present model, or that with the trusted payload.
bool PayloadBlend::changes_inertia(const MeasuredArm& arm, bool from_trusted) noexcept {
  const std::size_t n = arm.size();
  if (from_trusted) trusted_dynamics_.inertia_matrix(arm.q, trusted_inertia_);
  const std::span<const double> from = from_trusted ? trusted_inertia_ : arm.inertia;
  target_dynamics_.inertia_matrix(arm.q, inertia_);
  return !dominates(kInertiaRatio, from, inertia_, n, factor_) ||
         !dominates(kInertiaRatio, inertia_, from, n, factor_);
}

/// The step towards the share at which the disturbance torque is least. `change_`: the change of
/// the torques by all that is left of the blend.
double PayloadBlend::confirmed_step(double dt, const StateObserver& observer,
                                    const MeasuredArm& arm) noexcept {
  const std::size_t n = arm.size();
  const std::span<const double> d = observer.disturbance();
  double along = 0, square = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double missing = 0;
    for (std::size_t j = 0; j < n; ++j) missing -= arm.inertia[i * n + j] * d[j];
    const double unit = std::isfinite(arm.torque_limit[i]) ? arm.torque_limit[i] : 1;
    along += missing * change_[i] / (unit * unit);
    square += change_[i] * change_[i] / (unit * unit);
  }
  if (!(square > kVisible * kVisible)) return 0;
  return along / square * (1 - share_) * std::min(dt / kConfirmation, 1.0);
}

void PayloadBlend::advance(const Cycle& cycle, const Estimate& estimate, std::span<double> v,
                           std::span<double> tau, StateObserver& observer,
                           MeasuredArm& arm) noexcept {
  const std::size_t n = arm.size();
  const double before = share_, left = 1 - share_;
  const int age = age_;
  age_ = age_ < kOldest ? age_ + 1 : kInertiaCycles;
  if (age % kInertiaCycles == 0 || age == 1) {
    const bool trusted = age == 1 || age / kInertiaCycles % 4 == 3;
    if (!trusted) arm.update_inertia();
    (trusted ? from_trusted_ : from_present_) = changes_inertia(arm, trusted);
    return;
  }
  // The estimate that has confirmed half of the payload is not asked for the rest.
  const bool unknown = from_present_ || (from_trusted_ && share_ < 0.5);
  const bool confirm = estimate.valid && unknown;
  target_dynamics_.inverse_dynamics(arm.q, arm.qd, v, change_);
  double longest = duration_ > 0 ? std::min(cycle.dt / duration_, left) : left;
  for (std::size_t i = 0; i < n; ++i) {
    change_[i] -= tau[i];  // of all that is left of the blend
    const double most = kTorqueRate * arm.torque_limit[i] * cycle.dt;
    if (std::abs(change_[i]) * longest > most * left) longest = most * left / std::abs(change_[i]);
  }
  double step = longest;
  if (confirm) {
    step =
        std::clamp(confirmed_step(cycle.dt, observer, arm), std::max(-longest, -before), longest);
  }
  if (!(std::abs(step) > 0)) return;
  confirmed_ = confirmed_ || confirm;
  for (double& change : change_) change *= step / left;
  use(before + step, arm);
  std::copy(change_.begin(), change_.end(), disturbance_.begin());
  arm.solve_inertia(disturbance_, factor_);
  const std::span<const double> d = observer.disturbance();
  bool balanced = all_finite(disturbance_, n);
  for (std::size_t i = 0; i < n && balanced; ++i) {
    const double next = std::abs(d[i] + disturbance_[i]);
    balanced = next <= estimate.balanced[i] || next <= std::abs(d[i]);
  }
  if (!balanced) {
    use(before, arm);
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double most = estimate.subtracted[i], old = d[i];
    observer.add_disturbance(i, disturbance_[i]);
    disturbance_[i] = std::clamp(d[i], -most, most) - std::clamp(old, -most, most);
    v[i] -= disturbance_[i];
  }
  for (std::size_t i = 0; i < n; ++i) {
    tau[i] += change_[i];
    for (std::size_t j = 0; j < n; ++j) tau[i] -= arm.inertia[i * n + j] * disturbance_[j];
  }
  if (!active_ && confirmed_) trusted_dynamics_.set_payload(to_);
}

}  // namespace ga_controllers
