// SPDX-License-Identifier: Apache-2.0
#include "torque_limiter.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ga_dynamics/algorithm/cholesky.hpp"

namespace ga_controllers {

namespace {

/// The torque that fades after a change may push a joint to this share of its velocity limit, or of
/// kFreeSpeed [rad/s] where that is lower. The law's own torque held the arm, perhaps with a load
/// that the model does not know; what drove the arm before a start may be anything.
constexpr double kOwnSpeed = 1, kForeignSpeed = 0.5, kFreeSpeed = 10;
/// The share of it whose push is negligible, and the share that is nothing.
constexpr double kFaded = 0.01, kGone = 1e-12;
/// kg m², added to the diagonal of the inertia matrix: a massless joint bears no push.
constexpr double kRegular = 1e-12;

}  // namespace

TorqueLimiter::TorqueLimiter(std::vector<double> limit, std::vector<double> bearable,
                             std::vector<double> rate_limit, double blend_time)
    : limit_(std::move(limit)),
      bearable_(std::move(bearable)),
      rate_limit_(std::move(rate_limit)),
      blend_time_(blend_time),
      last_(limit_.size()),
      blend_(limit_.size()),
      excess_(limit_.size()),
      cut_(limit_.size()),
      push_(limit_.size()),
      most_(limit_.size()),
      factor_(limit_.size() * limit_.size()),
      inverse_(limit_.size() * limit_.size()),
      projection_(limit_.size()) {}

void TorqueLimiter::start(std::span<const double> last_torque) noexcept {
  for (std::size_t i = 0; i < last_.size(); ++i) {
    last_[i] = std::isfinite(last_torque[i])
                   ? std::clamp(last_torque[i], -bearable_[i], bearable_[i])
                   : std::numeric_limits<double>::quiet_NaN();
    blend_[i] = excess_[i] = 0;
    cut_[i] = 0;
  }
  started_ = true;
}

double TorqueLimiter::possible(std::size_t i, double torque) const noexcept {
  return std::clamp(torque, -limit_[i], limit_[i]);
}

/// True if the torque before is nearer to the wanted one without the part than to all of it.
bool TorqueLimiter::lacks(std::span<const double> part,
                          std::span<const double> tau) const noexcept {
  double with = 0, without = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (std::isnan(last_[i])) continue;
    const double unit = std::isfinite(limit_[i]) ? limit_[i] : 1;
    with += std::pow((last_[i] - possible(i, tau[i])) / unit, 2);
    without += std::pow((last_[i] - possible(i, tau[i] - part[i])) / unit, 2);
  }
  return without < with;
}

/// D⁻¹ `vector`, in place.
void TorqueLimiter::solve(const MeasuredArm& arm, std::span<double> vector) noexcept {
  const std::size_t n = vector.size();
  std::copy(arm.inertia.begin(), arm.inertia.end(), factor_.begin());
  for (std::size_t i = 0; i < n; ++i) factor_[i * n + i] += kRegular;
  ga_dynamics::cholesky_solve(static_cast<int>(n), factor_.data(), vector.data());
}

/// What fades after a change is a disturbance for the new law, which holds the arm against it with
/// a velocity of up to the disturbing acceleration over Kd. A larger difference would throw a light
/// joint at many times its velocity limit. So the disturbing accelerations are projected onto their
/// bounds: only the torques of joints at their bounds change, and a heavy joint does not drop its
/// load for the sake of a light one. The torque steps by the change. It is done in every cycle,
/// because a light joint's torque may balance what a heavy one's does to it, which depends on the
/// configuration.
void TorqueLimiter::bound_blend(const LawSetting& law, MeasuredArm& arm) noexcept {
  const std::size_t n = blend_.size();
  arm.update_inertia();
  std::copy(blend_.begin(), blend_.end(), push_.begin());
  solve(arm, push_);
  bool bounded = true;
  for (std::size_t i = 0; i < n; ++i) {
    const double speed = blend_speed_ * std::min(arm.limits[i].velocity, kFreeSpeed);
    most_[i] = speed * std::max(law.gains[i].kd, 1 / std::max(blend_time_, 1e-3));
    bounded = bounded && std::abs(push_[i]) <= most_[i];
  }
  if (bounded) return;
  for (std::size_t j = 0; j < n; ++j) {
    // D⁻¹ is symmetric: its columns are its rows.
    const std::span<double> row = std::span(inverse_).subspan(j * n, n);
    std::fill(row.begin(), row.end(), 0.0);
    row[j] = 1;
    solve(arm, row);
  }
  const bool projected = projection_.project(inverse_, push_, most_);
  for (std::size_t i = 0; i < n; ++i) {
    blend_[i] = projected ? blend_[i] + projection_.multipliers()[i] : 0;
  }
}

void TorqueLimiter::give(const Cycle& cycle, std::span<double> tau,
                         std::span<const double> setting_out, const LawSetting& law,
                         MeasuredArm& arm) noexcept {
  const bool sets_out = cycle.changed && lacks(setting_out, tau);
  const bool begins = cycle.changed || cycle.takes_over;
  const bool fades = blend_time_ > 0 && (begins || fading_ > 0);
  const double fade = fades ? std::exp(-cycle.dt / blend_time_) : 0;
  for (std::size_t i = 0; i < last_.size(); ++i) {
    if (!std::isfinite(tau[i])) tau[i] = std::isnan(last_[i]) ? 0 : last_[i];
    const double own = possible(i, tau[i]);
    const double before = sets_out ? possible(i, tau[i] - setting_out[i]) : own;
    const bool undriven = std::isnan(last_[i]);
    if (undriven) last_[i] = own;
    if (cycle.changed) excess_[i] = std::max(std::abs(last_[i]) - limit_[i], 0.0);
    blend_[i] = !begins ? fade * blend_[i] : undriven ? 0 : last_[i] - before;
  }
  if (begins) {
    const bool any = std::any_of(blend_.begin(), blend_.end(), [](double b) { return b != 0; });
    fading_ = any ? 1 : 0;
    blend_speed_ = started_ ? kForeignSpeed : kOwnSpeed;
  } else {
    fading_ = fade * fading_ > kGone ? fade * fading_ : 0;
    started_ = false;
  }
  if (fading_ > kFaded) bound_blend(law, arm);
  for (std::size_t i = 0; i < last_.size(); ++i) {
    const double own = possible(i, tau[i]);
    const double reach = rate_limit_[i] * cycle.dt;
    const double most = std::min(limit_[i] + excess_[i], bearable_[i]);
    double given = std::clamp(own + blend_[i], -most, most);
    if (reach < std::numeric_limits<double>::infinity()) {
      given = std::clamp(given, last_[i] - reach, last_[i] + reach);
    }
    const double wanted = tau[i] + blend_[i];
    cut_[i] = wanted > given ? 1 : wanted < given ? -1 : 0;
    tau[i] = last_[i] = given;
    excess_[i] *= fade;
  }
}

}  // namespace ga_controllers
