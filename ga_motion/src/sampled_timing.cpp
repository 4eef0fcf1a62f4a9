// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "ga_dynamics/dynamics.hpp"
#include "ga_motion/time_parameterization.hpp"
#include "join.hpp"
#include "motion_limits.hpp"
#include "timed_path.hpp"

namespace ga_motion {

using ga_dynamics::Chain;
using ga_dynamics::Dynamics;

namespace {

constexpr double kMostSamples = 1e6;

/// Torques and velocities of a motion at any speed: what has to go, and what stays.
struct Demand {
  explicit Demand(std::size_t joints) : slow(joints), torque(joints), velocity(joints) {}
  std::vector<double> slow;      ///< largest torque against gravity and Coulomb friction
  std::vector<double> torque;    ///< over its limit, largest
  std::vector<double> velocity;  ///< over its limit, largest
  /// Largest share of the speed that keeps all limits; 0: there is none.
  double speed = 1;

  bool fits() const { return speed >= 1; }
};

/// The times at which a motion through samples is looked at, as `ga check` does.
template <class Look>
void look_at(const Trajectory& motion, double step, const Look& look) {
  const double count = std::max(1.0, std::ceil(motion.duration() / step));
  for (double k = 0; k <= count; ++k) look(motion.duration() * (k / count));
}

/// A little less than passes: the interpolation changes with the speed.
constexpr double kTarget = 1 + 0.8 * kTorqueTolerance;

/// The share of the speed, up to `speed`, at which the parts of a torque stay within the limit.
double speed_within(double slow, double viscous, double dynamic, double limit, double speed) {
  const auto torque = [&](double y) { return std::abs(slow + y * (viscous + y * dynamic)); };
  if (torque(speed) <= (1 + kTorqueTolerance) * limit) return speed;
  if (torque(0) > kTarget * limit) return 0;
  double low = 0, high = speed;
  for (int halving = 0; halving < 40; ++halving) {
    const double middle = 0.5 * (low + high);
    (torque(middle) <= kTarget * limit ? low : high) = middle;
  }
  return low;
}

void note_velocities(const std::vector<double>& qd, const TimingLimits& limits, Demand& demand) {
  constexpr double kBelow = 1 - 1e-9;
  for (std::size_t i = 0; i < qd.size(); ++i) {
    const double share = std::abs(qd[i]) / limits.velocity[i];
    demand.velocity[i] = std::max(demand.velocity[i], share);
    if (share > 1) demand.speed = std::min(demand.speed, kBelow / share);
  }
}

Demand demand_of(const Chain& chain, const TimingLimits& limits, const MotionSamples& samples,
                 double step) {
  const auto n = static_cast<std::size_t>(chain.size());
  Demand demand(n);
  Dynamics dynamics(chain, {.drives = ga_dynamics::Drives::kAll});
  std::vector<double> q(n), qd(n), qdd(n), tau(n), gravity(n);
  const auto motion = samples.interpolated();
  look_at(*motion, step, [&](double t) {
    motion->sample(t, q, qd, qdd);
    note_velocities(qd, limits, demand);
    dynamics.inverse_dynamics(q, qd, qdd, tau);
    dynamics.gravity(q, gravity);
    for (std::size_t i = 0; i < n; ++i) {
      const ga_dynamics::Drive& drive = chain.joints()[i].drive;
      const double coulomb = qd[i] > 0   ? drive.coulomb_positive
                             : qd[i] < 0 ? -drive.coulomb_negative
                                         : 0;
      const double slow = gravity[i] + coulomb, viscous = drive.viscous * qd[i];
      demand.slow[i] = std::max(demand.slow[i], std::abs(slow));
      demand.torque[i] = std::max(demand.torque[i], std::abs(tau[i]) / limits.torque[i]);
      demand.speed =
          speed_within(slow, viscous, tau[i] - slow - viscous, limits.torque[i], demand.speed);
    }
  });
  // Programs that read positions alone draw another curve through them.
  const auto spline = make_cubic_spline(samples.times, samples.q);
  look_at(*spline, step, [&](double t) {
    spline->sample(t, q, qd, qdd);
    note_velocities(qd, limits, demand);
  });
  return demand;
}

/// Lowers the limits of joints that exceed them: of a torque only the part that moves the arm.
void lower(const Demand& demand, const TimingLimits& limits, TimingLimits& lowered) {
  // A little more than asked for: interpolation errors change with the motion.
  constexpr double kMargin = 0.998, kVelocityMargin = 0.9995, kLeast = 0.3;
  for (std::size_t i = 0; i < limits.torque.size(); ++i) {
    const double slow = demand.slow[i], limit = limits.torque[i];
    if (demand.torque[i] > 1 + kTorqueTolerance && lowered.torque[i] > slow) {
      const double wanted = kMargin * limit - slow, needed = demand.torque[i] * limit - slow;
      lowered.torque[i] = slow + std::max(kLeast, wanted / needed) * (lowered.torque[i] - slow);
    }
    if (demand.velocity[i] > 1) lowered.velocity[i] *= kVelocityMargin / demand.velocity[i];
  }
}

double step_of(const MotionSamples& samples) {
  constexpr double kFiner = 10, kLongest = 1e-3;  // s
  return std::min(samples.times[1] / kFiner, kLongest);
}

void slow_down(const std::shared_ptr<const Path>& path, double factor, SampledTiming& timed) {
  Timing& timing = timed.timing;
  for (double& time : timing.time) time *= factor;
  for (double& speed : timing.speed) speed /= factor;
  timing.trajectory = std::make_unique<TimedPath>(path, timing.s, timing.speed, timing.time);
  timed.stretch *= factor;
}

/// Slows the motion down until its samples keep the limits; false if it never does.
bool slow_down_until_it_fits(const Chain& chain, const TimingLimits& limits,
                             const std::shared_ptr<const Path>& path, double rate, Demand demand,
                             SampledTiming& timed) {
  constexpr int kMostSteps = 12;
  // Other samples are interpolated in another way.
  constexpr double kMore = 0.002;
  for (int step = 0; !demand.fits(); ++step) {
    if (!(demand.speed > 0) || step == kMostSteps) return false;
    slow_down(path, (1 + kMore * step) / demand.speed, timed);
    if (timed.timing.time.back() > kLongestMotion) return false;
    timed.samples = sample_motion(*timed.timing.trajectory, rate);
    demand = demand_of(chain, limits, timed.samples, step_of(timed.samples));
  }
  return true;
}

/// The least share of the given limits.
void note_shares(const TimingLimits& limits, const TimingLimits& lowered, SampledTiming& timed) {
  for (std::size_t i = 0; i < limits.torque.size(); ++i) {
    if (std::isfinite(limits.torque[i])) {
      timed.torque_share = std::min(timed.torque_share, lowered.torque[i] / limits.torque[i]);
    }
    if (std::isfinite(limits.velocity[i])) {
      timed.velocity_share =
          std::min(timed.velocity_share, lowered.velocity[i] / limits.velocity[i]);
    }
  }
}

SampledTiming time_once(const Chain& chain, const TimingLimits& limits,
                        const TimingOptions& options, const std::shared_ptr<const Path>& path,
                        double rate) {
  SampledTiming timed;
  PathTimer timer(chain, limits, options);
  timed.timing = timer.time(path);
  timed.active = timer.active_limits();
  const double duration = timed.timing.trajectory->duration();
  if (!(duration <= kLongestMotion)) {
    throw std::runtime_error(join("the motion takes ", duration, " s; the longest may take ",
                                  kLongestMotion,
                                  " s: raise the velocity limits, or give a shorter path"));
  }
  timed.samples = sample_motion(*timed.timing.trajectory, rate);
  return timed;
}

}  // namespace

std::unique_ptr<Trajectory> MotionSamples::interpolated() const {
  if (qd.empty()) return make_cubic_spline(times, q);
  return make_hermite_spline(times, q, qd, qdd);
}

MotionSamples sample_motion(const Trajectory& motion, double rate) {
  const auto n = static_cast<std::size_t>(motion.size());
  const double duration = motion.duration();
  if (!(duration * rate <= kMostSamples)) {
    throw std::invalid_argument(join("sample_motion: ", rate, " samples per second of a motion of ",
                                     duration, " s are more than ", kMostSamples,
                                     "; give a lower rate"));
  }
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

SampledTiming time_and_sample(const Chain& chain, const TimingLimits& limits,
                              const TimingOptions& options, const std::shared_ptr<const Path>& path,
                              double rate, bool fit) {
  constexpr int kMostRounds = 12;
  TimingLimits lowered = limits;
  std::optional<SampledTiming> best;
  const auto duration = [](const SampledTiming& of) { return of.timing.time.back(); };
  // Every round gives a motion with lower limits, and slows down what is still too fast.
  for (int round = 0; round < kMostRounds; ++round) {
    SampledTiming timed;
    try {
      timed = time_once(chain, lowered, options, path, rate);
    } catch (const TimingError&) {
      if (round == 0) throw;
      break;
    }
    note_shares(limits, lowered, timed);
    const double step = step_of(timed.samples);
    if (!fit) {
      timed.use = limit_use(chain, limits, *timed.samples.interpolated(), step);
      return timed;
    }
    if (best && duration(timed) >= duration(*best)) break;
    const Demand demand = demand_of(chain, limits, timed.samples, step);
    lower(demand, limits, lowered);
    const bool keeps = slow_down_until_it_fits(chain, limits, path, rate, demand, timed);
    if (keeps && (!best || duration(timed) < duration(*best))) best = std::move(timed);
    if (demand.fits()) break;
  }
  if (!best) {
    throw std::runtime_error(
        "samples at this rate exceed the limits between them, however slow the motion; raise the "
        "rate, or bound the torque rate");
  }
  best->use = limit_use(chain, limits, *best->samples.interpolated(), step_of(best->samples),
                        best->samples.times);
  return std::move(*best);
}

}  // namespace ga_motion
