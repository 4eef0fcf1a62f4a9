// SPDX-License-Identifier: Apache-2.0
#include "torque_output.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ga_controllers {

TorqueOutput::TorqueOutput(std::vector<double> limit, std::vector<double> bearable,
                           std::vector<double> rate_limit, double blend_time)
    : limit_(std::move(limit)),
      bearable_(std::move(bearable)),
      rate_limit_(std::move(rate_limit)),
      blend_time_(blend_time),
      last_(limit_.size()),
      blend_(limit_.size()),
      excess_(limit_.size()),
      cut_(limit_.size()) {}

void TorqueOutput::start(std::span<const double> last_torque) noexcept {
  for (std::size_t i = 0; i < last_.size(); ++i) {
    last_[i] = std::isfinite(last_torque[i])
                   ? std::clamp(last_torque[i], -bearable_[i], bearable_[i])
                   : std::numeric_limits<double>::quiet_NaN();
    blend_[i] = excess_[i] = 0;
    cut_[i] = 0;
  }
}

double TorqueOutput::possible(std::size_t i, double torque) const noexcept {
  return std::clamp(torque, -limit_[i], limit_[i]);
}

/// True if the torque before is nearer to the wanted one without the part than to all of it.
bool TorqueOutput::lacks(std::span<const double> part, std::span<const double> tau) const noexcept {
  double with = 0, without = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (std::isnan(last_[i])) continue;
    const double unit = std::isfinite(limit_[i]) ? limit_[i] : 1;
    with += std::pow((last_[i] - possible(i, tau[i])) / unit, 2);
    without += std::pow((last_[i] - possible(i, tau[i] - part[i])) / unit, 2);
  }
  return without < with;
}

void TorqueOutput::give(const Cycle& cycle, std::span<double> tau,
                        std::span<const double> setting_out) noexcept {
  const bool sets_out = cycle.changed && lacks(setting_out, tau);
  const double fade = blend_time_ > 0 ? std::exp(-cycle.dt / blend_time_) : 0;
  for (std::size_t i = 0; i < last_.size(); ++i) {
    if (!std::isfinite(tau[i])) tau[i] = std::isnan(last_[i]) ? 0 : last_[i];
    const double own = possible(i, tau[i]);
    const double before = sets_out ? possible(i, tau[i] - setting_out[i]) : own;
    const bool undriven = std::isnan(last_[i]);
    if (undriven) last_[i] = own;
    if (cycle.changed) excess_[i] = std::max(std::abs(last_[i]) - limit_[i], 0.0);
    if (cycle.changed || cycle.takes_over) {
      blend_[i] = undriven ? 0 : last_[i] - before;
    } else {
      blend_[i] *= fade;
    }
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
