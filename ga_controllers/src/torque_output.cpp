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

void TorqueOutput::give(const Cycle& cycle, std::span<double> tau) noexcept {
  const double fade = blend_time_ > 0 ? std::exp(-cycle.dt / blend_time_) : 0;
  for (std::size_t i = 0; i < last_.size(); ++i) {
    if (!std::isfinite(tau[i])) tau[i] = std::isnan(last_[i]) ? 0 : last_[i];
    const double possible = std::clamp(tau[i], -limit_[i], limit_[i]);
    if (std::isnan(last_[i])) last_[i] = possible;  // nothing drove the joint before
    if (cycle.changed) excess_[i] = std::max(std::abs(last_[i]) - limit_[i], 0.0);
    blend_[i] = cycle.changed || cycle.takes_over ? last_[i] - possible : blend_[i] * fade;
    const double reach = rate_limit_[i] * cycle.dt;
    const double most = std::min(limit_[i] + excess_[i], bearable_[i]);
    double given = std::clamp(possible + blend_[i], -most, most);
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
