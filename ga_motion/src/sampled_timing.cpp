// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "ga_motion/time_parameterization.hpp"

namespace ga_motion {
namespace {

/// Lowers the limits of joints that exceed them; false if none does.
bool lower(const LimitUse& use, const LimitUse& spline, TimingLimits& limits) {
  // A little more than asked for: interpolation errors change with the motion.
  constexpr double kMargin = 0.998, kVelocityMargin = 0.9995;
  bool changed = false;
  for (std::size_t i = 0; i < use.joints.size(); ++i) {
    const double torque = use.joints[i].torque.share;
    const double velocity = std::max(use.joints[i].velocity.share, spline.joints[i].velocity.share);
    if (torque > 1 + kTorqueTolerance) limits.torque[i] *= kMargin / torque, changed = true;
    if (velocity > 1) limits.velocity[i] *= kVelocityMargin / velocity, changed = true;
  }
  return changed;
}

}  // namespace

std::unique_ptr<Trajectory> MotionSamples::interpolated() const {
  if (qd.empty()) return make_cubic_spline(times, q);
  return make_hermite_spline(times, q, qd, qdd);
}

MotionSamples sample_motion(const Trajectory& motion, double rate) {
  const auto n = static_cast<std::size_t>(motion.size());
  const double duration = motion.duration();
  const auto last = static_cast<std::size_t>(std::max(1.0, std::ceil(duration * rate - 1e-9)));
  MotionSamples samples;
  std::vector<double> q(n), qd(n), qdd(n);
  for (std::size_t k = 0; k <= last; ++k) {
    const double t =
        k == last ? duration : duration * static_cast<double>(k) / static_cast<double>(last);
    motion.sample(t, q, qd, qdd);
    samples.times.push_back(t);
    samples.q.push_back(q), samples.qd.push_back(qd), samples.qdd.push_back(qdd);
  }
  return samples;
}

SampledTiming time_and_sample(const ga_dynamics::Chain& chain, const TimingLimits& limits,
                              const TimingOptions& options, const std::shared_ptr<const Path>& path,
                              double rate, bool fit) {
  constexpr int kMostRounds = 12;
  constexpr int kFiner = 10;  // than the samples
  TimingLimits lowered = limits;
  SampledTiming result;
  for (int round = 0;; ++round) {
    PathTimer timer(chain, lowered, options);
    result.timing = timer.time(path);
    result.active = timer.active_limits();
    result.samples = sample_motion(*result.timing.trajectory, rate);
    const MotionSamples& samples = result.samples;
    const double step = samples.times[1] / kFiner;
    result.use = limit_use(chain, limits, *samples.interpolated(), step);
    if (!fit) break;
    // Programs that read positions alone draw another curve through them.
    const auto spline = make_cubic_spline(samples.times, samples.q);
    if (!lower(result.use, limit_use(chain, limits, *spline, step), lowered)) break;
    if (round == kMostRounds) {
      throw std::runtime_error(
          "samples at this rate exceed the limits between them, however slow the motion; raise the "
          "rate, or bound the torque rate");
    }
  }
  for (std::size_t i = 0; i < limits.torque.size(); ++i) {
    result.torque_share = std::min(result.torque_share, lowered.torque[i] / limits.torque[i]);
    if (std::isfinite(limits.velocity[i])) {
      result.velocity_share =
          std::min(result.velocity_share, lowered.velocity[i] / limits.velocity[i]);
    }
  }
  return result;
}

}  // namespace ga_motion
