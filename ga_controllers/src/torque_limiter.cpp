// SPDX-License-Identifier: Apache-2.0
#include "torque_limiter.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ga_dynamics/algorithm/cholesky.hpp"

namespace ga_controllers {

namespace {

/// The torque that fades after a change may move a joint at this share of its velocity limit, or of
/// kFreeSpeed [rad/s] if that is lower. The law's own previous torque held the arm, perhaps with an
/// unknown payload; the torque before a start may be anything.
constexpr double kOwnSpeed = 1, kForeignSpeed = 0.5, kFreeSpeed = 10;
/// Share of the blend below which its effect is negligible, and below which it is dropped.
constexpr double kFaded = 0.01, kGone = 1e-12;
/// N m; a larger previous torque, of a joint without a limit, is not a torque.
constexpr double kLargestTorque = 1e6;
/// kg m², added to the diagonal of the inertia matrix, which a massless joint makes singular.
constexpr double kRegular = 1e-12;

}  // namespace

TorqueLimiter::TorqueLimiter(std::vector<double> limit, std::vector<double> handover_limit,
                             std::vector<double> rate_limit, double blend_time)
    : limit_(std::move(limit)),
      handover_limit_(std::move(handover_limit)),
      rate_limit_(std::move(rate_limit)),
      blend_time_(blend_time),
      last_(limit_.size()),
      blend_(limit_.size()),
      excess_(limit_.size()),
      saturation_(limit_.size()),
      disturbance_(limit_.size()),
      bound_(limit_.size()),
      factor_(limit_.size() * limit_.size()),
      inverse_(limit_.size() * limit_.size()),
      projection_(limit_.size()) {}

void TorqueLimiter::start(std::span<const double> last_torque) noexcept {
  for (std::size_t i = 0; i < last_.size(); ++i) {
    last_[i] = std::abs(last_torque[i]) <= kLargestTorque
                   ? std::clamp(last_torque[i], -handover_limit_[i], handover_limit_[i])
                   : std::numeric_limits<double>::quiet_NaN();
    blend_[i] = excess_[i] = 0;
    saturation_[i] = 0;
  }
  started_ = true;
}

double TorqueLimiter::clamped(std::size_t i, double torque) const noexcept {
  return std::clamp(torque, -limit_[i], limit_[i]);
}

/// True if the previous torque is closer to the target torque without the part than with it.
bool TorqueLimiter::lacks(std::span<const double> part,
                          std::span<const double> tau) const noexcept {
  double with = 0, without = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (std::isnan(last_[i])) continue;
    const double unit = std::isfinite(limit_[i]) ? limit_[i] : 1;
    with += std::pow((last_[i] - clamped(i, tau[i])) / unit, 2);
    without += std::pow((last_[i] - clamped(i, tau[i] - part[i])) / unit, 2);
  }
  return without < with;
}

/// Solves D x = `vector` in place.
void TorqueLimiter::solve(const MeasuredArm& arm, std::span<double> vector) noexcept {
  const std::size_t n = vector.size();
  std::copy(arm.inertia.begin(), arm.inertia.end(), factor_.begin());
  for (std::size_t i = 0; i < n; ++i) factor_[i * n + i] += kRegular;
  ga_dynamics::cholesky_solve(static_cast<int>(n), factor_.data(), vector.data());
}

/// The torque that fades after a change disturbs the new law, which balances it at a velocity of up
/// to the disturbing acceleration over Kd. A light joint would reach many times its velocity
/// limit. So the disturbing accelerations are projected onto their bounds. Only the torques of
/// joints at their bounds change (with a step): a heavy joint does not drop its load to protect a
/// light one. This runs in every cycle, because the coupling between the joints depends on the
/// configuration.
void TorqueLimiter::bound_blend(const LawSetting& law, MeasuredArm& arm) noexcept {
  const std::size_t n = blend_.size();
  arm.update_inertia();
  std::copy(blend_.begin(), blend_.end(), disturbance_.begin());
  solve(arm, disturbance_);
  bool bounded = true;
  for (std::size_t i = 0; i < n; ++i) {
    const double speed = blend_speed_ * std::min(arm.limits[i].velocity, kFreeSpeed);
    bound_[i] = speed * std::max(law.damping(i), 1 / std::max(blend_time_, 1e-3));
    bounded = bounded && std::abs(disturbance_[i]) <= bound_[i];
  }
  if (bounded) return;
  for (std::size_t j = 0; j < n; ++j) {
    // D⁻¹ is symmetric: its columns equal its rows.
    const std::span<double> row = std::span(inverse_).subspan(j * n, n);
    std::fill(row.begin(), row.end(), 0.0);
    row[j] = 1;
    solve(arm, row);
  }
  const bool projected = projection_.project(inverse_, disturbance_, bound_);
  for (std::size_t i = 0; i < n; ++i) {
    blend_[i] = projected ? blend_[i] + projection_.multipliers()[i] : 0;
  }
}

void TorqueLimiter::apply(const Cycle& cycle, std::span<double> tau,
                          std::span<const double> start_torque, const LawSetting& law,
                          MeasuredArm& arm) noexcept {
  const bool starts = cycle.changed && lacks(start_torque, tau);
  const bool begins = cycle.changed || cycle.state_transition;
  const bool fades = blend_time_ > 0 && (begins || blend_left_ > 0);
  const double fade = fades ? std::exp(-cycle.dt / blend_time_) : 0;
  for (std::size_t i = 0; i < last_.size(); ++i) {
    if (!std::isfinite(tau[i])) tau[i] = std::isnan(last_[i]) ? 0 : last_[i];
    const double own = clamped(i, tau[i]);
    const double before = starts ? clamped(i, tau[i] - start_torque[i]) : own;
    const bool undriven = std::isnan(last_[i]);
    if (undriven) last_[i] = own;
    if (cycle.changed) excess_[i] = std::max(std::abs(last_[i]) - limit_[i], 0.0);
    blend_[i] = !begins ? fade * blend_[i] : undriven ? 0 : last_[i] - before;
  }
  if (begins) {
    const bool any = std::any_of(blend_.begin(), blend_.end(), [](double b) { return b != 0; });
    blend_left_ = any ? 1 : 0;
    blend_speed_ = started_ ? kForeignSpeed : kOwnSpeed;
  } else {
    blend_left_ = fade * blend_left_ > kGone ? fade * blend_left_ : 0;
    started_ = false;
  }
  if (blend_left_ > kFaded) bound_blend(law, arm);
  for (std::size_t i = 0; i < last_.size(); ++i) {
    const double own = clamped(i, tau[i]);
    const double reach = rate_limit_[i] * cycle.dt;
    const double most = std::min(limit_[i] + excess_[i], handover_limit_[i]);
    double commanded = std::clamp(own + blend_[i], -most, most);
    if (reach < std::numeric_limits<double>::infinity()) {
      commanded = std::clamp(commanded, last_[i] - reach, last_[i] + reach);
    }
    const double wanted = tau[i] + blend_[i];
    saturation_[i] = wanted > commanded ? 1 : wanted < commanded ? -1 : 0;
    tau[i] = last_[i] = commanded;
    excess_[i] *= fade;
  }
}

}  // namespace ga_controllers
