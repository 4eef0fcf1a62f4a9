// SPDX-License-Identifier: Apache-2.0
#include "posture_search.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ga_controllers {

using ga_dynamics::Chain;

namespace {

struct Range {
  double lower, upper;
};

std::vector<Range> ranges(const Chain& chain) {
  std::vector<Range> result;
  for (const auto& joint : chain.joints()) {
    const double free = joint.revolute() ? std::numbers::pi : 1;
    const bool limited = std::isfinite(joint.limits.lower) && std::isfinite(joint.limits.upper);
    result.push_back(limited ? Range{joint.limits.lower, joint.limits.upper} : Range{-free, free});
  }
  return result;
}

}  // namespace

std::vector<Posture> spread_postures(const Chain& chain, int count) {
  const std::vector<Range> range = ranges(chain);
  const std::size_t n = range.size();
  double root = 1.5;  // of x^(n+1) = x + 1
  for (int i = 0; i < 60; ++i) root = std::pow(1 + root, 1 / static_cast<double>(n + 1));
  std::vector<Posture> result;
  for (int k = 0; k < count; ++k) {
    Posture q(n);
    for (std::size_t j = 0; j < n; ++j) {
      const double share = 0.5 + k * std::pow(root, -static_cast<double>(j + 1));
      q[j] = range[j].lower + (range[j].upper - range[j].lower) * (share - std::floor(share));
    }
    result.push_back(std::move(q));
  }
  return result;
}

LargestAt largest(const Chain& chain, const std::vector<Posture>& postures,
                  const std::function<double(std::span<const double>)>& quantity) {
  LargestAt best{quantity(postures.front()), postures.front()};
  for (std::size_t k = 1; k < postures.size(); ++k) {
    const double value = quantity(postures[k]);
    if (value > best.value) best = {value, postures[k]};
  }
  const std::vector<Range> range = ranges(chain);
  for (double step = 0.2; step > 0.004;) {
    bool improved = false;
    for (std::size_t j = 0; j < range.size(); ++j) {
      for (const double sign : {1.0, -1.0}) {
        Posture tried = best.posture;
        // A posture that was given beyond the limits is not drawn back.
        const double low = std::min(range[j].lower, tried[j]),
                     high = std::max(range[j].upper, tried[j]);
        tried[j] = std::clamp(tried[j] + sign * step * (high - low), low, high);
        const double value = quantity(tried);
        // Only relevant improvements: flat directions would go on for ever.
        if (!(value > best.value + 1e-4 * std::abs(best.value))) continue;
        best = {value, std::move(tried)};
        improved = true;
        break;
      }
    }
    if (!improved) step *= 0.5;
  }
  return best;
}

}  // namespace ga_controllers
