// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "ga_dynamics/dynamics.hpp"
#include "ga_motion/time_parameterization.hpp"
#include "join.hpp"

namespace ga_motion {

using ga_dynamics::Chain;
using ga_dynamics::Dynamics;

namespace {

constexpr double kSaturated = 0.98;
constexpr double kLargestExcess = 1e-6;  // rad, m
constexpr double kMostSteps = 1e7;

void check(const Chain& chain, const TimingLimits& limits, const Trajectory& motion, double step) {
  const auto n = static_cast<std::size_t>(chain.size());
  for (const std::vector<double>* values :
       {&limits.lower, &limits.upper, &limits.velocity, &limits.torque}) {
    if (values->size() == n) continue;
    throw std::invalid_argument(join("limit_use: limits have ", values->size(), " values for ", n,
                                     " joints; give one per joint"));
  }
  if (motion.size() != chain.size()) {
    throw std::invalid_argument(join("limit_use: motion has ", motion.size(), " joints, the arm ",
                                     n, "; give one for this arm"));
  }
  if (!(step > 0)) throw std::invalid_argument(join("limit_use: step ", step, " s; give a time"));
  if (motion.duration() <= kMostSteps * step) return;
  throw std::invalid_argument(join("limit_use: the motion takes ", motion.duration(),
                                   " s, more than ", kMostSteps, " steps of ", step,
                                   " s; give a shorter motion (times are in s) or a longer step"));
}

/// A value that is no finite number exceeds any limit. True if it is.
bool note_not_finite(PeakUse& peak, double value, double t, double weight) {
  if (std::isfinite(value)) return false;
  if (std::isfinite(peak.value)) peak.time = t;
  peak.value = std::numeric_limits<double>::quiet_NaN();
  peak.share = std::numeric_limits<double>::infinity();
  peak.time_over += weight;
  return true;
}

void note(PeakUse& peak, double value, double limit, double t, double weight) {
  if (note_not_finite(peak, value, t, weight)) return;
  const double share = std::abs(value) / limit;
  if (share > 1) peak.time_over += weight;
  const bool larger =
      std::isfinite(limit) ? share > peak.share : std::abs(value) > std::abs(peak.value);
  if (larger) peak.value = value, peak.share = share, peak.time = t;
}

void note_position(PeakUse& peak, double q, double lower, double upper, double t, double weight) {
  if (note_not_finite(peak, q, t, weight)) return;
  const double beyond = std::max(lower - q, q - upper);
  if (beyond > 0) peak.time_over += weight;
  if (1 + beyond > peak.share || t == 0) peak.value = q, peak.share = 1 + beyond, peak.time = t;
}

}  // namespace

bool LimitUse::within(double tolerance) const {
  return std::all_of(joints.begin(), joints.end(), [tolerance](const JointUse& use) {
    return use.torque.share <= 1 + tolerance && use.velocity.share <= 1 + tolerance &&
           use.position.share <= 1 + kLargestExcess;
  });
}

LimitUse limit_use(const Chain& chain, const TimingLimits& limits, const Trajectory& motion,
                   double step, std::span<const double> times) {
  check(chain, limits, motion, step);
  const auto n = static_cast<std::size_t>(chain.size());
  LimitUse result;
  result.duration = motion.duration();
  result.joints.resize(n);
  std::vector<double> at(times.begin(), times.end());
  const double count = std::max(1.0, std::ceil(result.duration / step));
  for (double k = 0; k <= count; ++k) at.push_back(result.duration * (k / count));
  std::sort(at.begin(), at.end());
  Dynamics dynamics(chain, {.drives = ga_dynamics::Drives::kAll});
  std::vector<double> q(n), qd(n), qdd(n), tau(n);
  for (std::size_t k = 0; k < at.size(); ++k) {
    const double t = at[k];
    const double weight = 0.5 * (at[std::min(k + 1, at.size() - 1)] - at[k > 0 ? k - 1 : 0]);
    motion.sample(t, q, qd, qdd);
    dynamics.inverse_dynamics(q, qd, qdd, tau);
    for (std::size_t i = 0; i < n; ++i) {
      JointUse& use = result.joints[i];
      note(use.torque, tau[i], limits.torque[i], t, weight);
      note(use.velocity, qd[i], limits.velocity[i], t, weight);
      note_position(use.position, q[i], limits.lower[i], limits.upper[i], t, weight);
      const bool saturated = std::abs(tau[i]) >= kSaturated * limits.torque[i];
      if (saturated && result.duration > 0) use.saturated += weight / result.duration;
    }
  }
  return result;
}

}  // namespace ga_motion
