// SPDX-License-Identifier: Apache-2.0

// The monitors of a recorded run, replayed.

#include <algorithm>
#include <cmath>
#include <limits>

#include "ga_tools/closed_loop.hpp"

namespace ga_tools {

using ga_controllers::JointMonitor;
using ga_controllers::LawMonitor;
using ga_dynamics::Chain;

namespace {

std::vector<double> swings_that_count(std::span<const JointSignals> signals, std::size_t n) {
  const VerdictThresholds t;
  std::vector<double> least(n, t.swing);
  for (std::size_t i = 0; i < std::min(n, signals.size()); ++i) {
    least[i] = std::max(least[i], t.swing_noise * signals[i].noise);
    if (signals[i].counts_per_rad > 0)
      least[i] = std::max(least[i], t.swing_counts / signals[i].counts_per_rad);
  }
  return least;
}

}  // namespace

std::vector<JointMonitor> monitor(const Recording& r, const Chain& chain, double duration,
                                  std::span<const JointSignals> signals,
                                  const std::vector<std::vector<double>>& disturbance) {
  const std::size_t n = r.q.size(), samples = r.time.size();
  LawMonitor online(chain, {}, swings_that_count(signals, n));
  std::vector<JointMonitor> result(n);
  std::vector<double> q(n), q_ref(n), qd_ref(n), tau(n), d(disturbance.empty() ? 0 : n);
  std::vector<double> changes(n), saturated(n), errors(n);
  double moving = 0;
  for (std::size_t k = 0; k < samples; ++k) {
    const double dt = k > 0         ? r.time[k] - r.time[k - 1]
                      : samples > 1 ? r.time[1] - r.time[0]
                                    : 1e-3;
    const bool counts = k > 0 && r.time[k] <= duration;
    moving += counts ? 1 : 0;
    for (std::size_t i = 0; i < n; ++i) {
      q[i] = r.q[i][k];
      q_ref[i] = r.q_ref[i][k];
      qd_ref[i] = k > 0 ? (r.q_ref[i][k] - r.q_ref[i][k - 1]) / dt : 0;
      tau[i] = r.tau[i][k];
      if (!d.empty()) d[i] = disturbance[i][k];
      const double limit = chain.joints()[i].limits.effort;
      if (!std::isfinite(limit)) continue;
      const double change = k > 0 ? (tau[i] - r.tau[i][k - 1]) / limit : 0;
      changes[i] += counts ? change * change : 0;
      saturated[i] += std::abs(tau[i]) >= VerdictThresholds{}.at_limit * limit ? 1 : 0;
      if (!d.empty()) errors[i] += d[i] * d[i] / (limit * limit);
    }
    online.update({q, q_ref, qd_ref, tau, d}, dt);
    for (std::size_t i = 0; i < n; ++i) {
      const JointMonitor& now = online.joint(i);
      JointMonitor& worst = result[i];
      if (now.oscillation > worst.oscillation ||
          (worst.oscillation == 0 && now.torque_oscillation > worst.torque_oscillation)) {
        worst.frequency = now.frequency;
      }
      worst.oscillation = std::max(worst.oscillation, now.oscillation);
      worst.torque_oscillation = std::max(worst.torque_oscillation, now.torque_oscillation);
      worst.model_error_ratio = std::max(worst.model_error_ratio, now.model_error_ratio);
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    result[i].chatter = moving > 0 ? std::sqrt(changes[i] / moving) : 0;
    result[i].saturation = saturated[i] / static_cast<double>(samples);
    result[i].model_error = std::sqrt(errors[i] / static_cast<double>(samples));
  }
  return result;
}

void add_monitors(Metrics& m, std::span<const JointMonitor> joints, const Chain& chain,
                  bool with_model_error) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  bool limited = false;
  m.chatter = m.saturation = m.oscillation = m.model_error = 0;
  for (std::size_t i = 0; i < joints.size(); ++i) {
    limited = limited || std::isfinite(chain.joints()[i].limits.effort);
    m.chatter = std::max(m.chatter, joints[i].chatter);
    m.saturation = std::max(m.saturation, joints[i].saturation);
    m.oscillation = std::max(m.oscillation, joints[i].oscillation);
    m.model_error = std::max(m.model_error, joints[i].model_error);
  }
  if (!limited) m.chatter = m.saturation = kNone;
  if (!limited || !with_model_error) m.model_error = kNone;
}

}  // namespace ga_tools
