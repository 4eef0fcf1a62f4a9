// SPDX-License-Identifier: Apache-2.0
#include "ga_tools/closed_loop.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "ga_hardware/velocity_observer.hpp"
#include "study/arm_check.hpp"

namespace ga_tools {

using ga_controllers::ControlLaw;
using ga_controllers::LawParameters;
using ga_controllers::Reference;
using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;
using ga_dynamics::Dynamics;
using ga_dynamics::Plant;
using ga_dynamics::Pose;
using ga_hardware::dac_torque;
using ga_hardware::encoder_reading;
using ga_hardware::JointSignals;
using ga_hardware::VelocityObserver;
using ga_motion::Trajectory;

namespace {

/// Where the tip link is.
class Tool {
 public:
  explicit Tool(const Chain& chain)
      : dynamics_(chain),
        poses_(chain.links().size()),
        tip_(static_cast<std::size_t>(chain.tip_index())) {}
  void append(std::span<const double> q, std::vector<double> (&to)[3]) {
    dynamics_.link_poses(q, poses_);
    for (std::size_t i = 0; i < 3; ++i) to[i].push_back(poses_[tip_].translation[i]);
  }

 private:
  Dynamics dynamics_;
  std::vector<Pose> poses_;
  std::size_t tip_;
};

/// Why the arm could not be moved on, with the joint where one is to blame.
Verdict failed_step(const Plant& plant, const Chain& model, const DivergenceWatch& watch, double t,
                    std::span<const double> tau) {
  if (const auto seen = watch.check(t, plant.q(), plant.qd(), tau)) return *seen;
  std::string reason = plant.error();
  if (plant.fault() == ga_dynamics::PlantFault::kSingularInertia) {
    try {
      check_inertia(model, model, plant.q());
    } catch (const std::runtime_error& error) {
      reason = error.what();
    }
  }
  return {RunState::kDiverged, 0, t, reason};
}

/// Of each joint along the trajectory, rad/s.
std::vector<double> top_speeds(const Trajectory& trajectory) {
  constexpr double kStep = 0.01;  // s
  const auto n = static_cast<std::size_t>(trajectory.size());
  std::vector<double> q(n), qd(n), qdd(n), top(n);
  for (double t = 0; t < trajectory.duration() + kStep; t += kStep) {
    trajectory.sample(t, q, qd, qdd);
    for (std::size_t i = 0; i < n; ++i) top[i] = std::max(top[i], std::abs(qd[i]));
  }
  return top;
}

}  // namespace

LawUnderTest computed_torque(const Chain& model, const LawParameters& parameters) {
  const auto law = std::make_shared<ControlLaw>(model, parameters);
  const auto expected = std::make_shared<std::vector<double>>(model.joints().size());
  const auto gravity = std::make_shared<Dynamics>(model);
  return {[law, gravity](std::span<const double> q, std::span<const double> qd) {
            // The arm stood still under a hold before: start from the torque that held it.
            std::vector<double> held(q.size());
            gravity->gravity(q, held);
            law->start(q, qd, held);
          },
          [law](std::span<const double> q, std::span<const double> qd, const Reference& reference,
                double dt, std::span<double> tau) { law->update(q, qd, reference, dt, tau); },
          [law, expected, gains = parameters.gains] {
            // The integral's part makes up for torques that the model lacks: it holds the arm, it
            // does not accelerate it. An observer that took it for acceleration would see a joint
            // that sticks beside its goal creep to it, and the integral would stop there.
            for (std::size_t i = 0; i < expected->size(); ++i) {
              const double ki = gains[gains.size() == 1 ? 0 : i].ki;
              (*expected)[i] = law->acceleration()[i] + ki * law->integral()[i];
            }
            return std::span<const double>(*expected);
          }};
}

namespace {

/// Inverse of a positive definite matrix of n·n values, by Gauss–Jordan elimination.
std::vector<double> inverse_of(std::vector<double> m, std::size_t n) {
  for (std::size_t p = 0; p < n; ++p) {
    const double pivot = m[p * n + p];
    m[p * n + p] = 1;
    for (std::size_t k = 0; k < n; ++k) m[p * n + k] /= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == p) continue;
      const double factor = m[i * n + p];
      m[i * n + p] = 0;
      for (std::size_t k = 0; k < n; ++k) m[i * n + k] -= factor * m[p * n + k];
    }
  }
  return m;
}

/// Square of the fastest mode of D ẍ + diag(scale) x = 0: the largest eigenvalue of
/// diag(scale)^½ D⁻¹ diag(scale)^½, by power iteration.
double fastest_mode(const std::vector<double>& inverse, std::span<const double> scale) {
  const std::size_t n = scale.size();
  std::vector<double> x(n, 1.0), y(n);
  double value = 0;
  for (int round = 0; round < 200; ++round) {
    double size = 0;
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = 0;
      for (std::size_t k = 0; k < n; ++k) {
        y[i] += std::sqrt(scale[i]) * inverse[i * n + k] * std::sqrt(scale[k]) * x[k];
      }
      size = std::hypot(size, y[i]);
    }
    value = size;
    // Not of one sign, so that it is not at right angles to the mode by symmetry.
    for (std::size_t i = 0; i < n; ++i)
      x[i] = y[i] / size + (round == 0 ? 1e-3 * static_cast<double>(i) : 0);
  }
  return value;
}

}  // namespace

PdGains pd_gains(const Chain& model, std::span<const ga_controllers::JointGains> gains,
                 std::span<const std::vector<double>> postures) {
  // Square of mode over bandwidth. The observers (both poles at −b, no acceleration of the arm
  // told) bear less than (2 b Kd − 4 Kp) / Kd², by Routh: 2.75 with the default gains.
  constexpr double kFastest = 1.6;
  const std::size_t n = model.joints().size();
  Dynamics dynamics(model, {.drives = ga_dynamics::Drives::kArmature});
  std::vector<double> inertia(n * n), held(n), free(n);
  std::vector<std::vector<double>> inverses;
  for (const std::vector<double>& q : postures) {
    dynamics.inertia_matrix(q, inertia);
    inverses.push_back(inverse_of(inertia, n));
    if (inverses.size() > 1) continue;
    for (std::size_t i = 0; i < n; ++i) {
      held[i] = inertia[i * n + i];
      free[i] = 1 / inverses[0][i * n + i];
    }
  }
  const auto fastest = [&](std::span<const double> scale) {
    double square = 0;
    for (const auto& inverse : inverses) square = std::max(square, fastest_mode(inverse, scale));
    return square;
  };
  const bool shakes = fastest(held) > kFastest;
  const double reduction = shakes ? std::min(1.0, kFastest / fastest(free)) : 1;
  std::vector<double> gravity(n);
  dynamics.gravity(postures[0], gravity);
  PdGains result;
  for (std::size_t i = 0; i < n; ++i) {
    const double seen = reduction * (shakes ? free[i] : held[i]);
    result.kp.push_back(gains[i].kp * seen);
    result.kd.push_back(gains[i].kd * seen);
    const double sag = std::abs(gravity[i]) / result.kp[i];
    if (sag > result.sag) result.sag = sag, result.sagging = i;
  }
  return result;
}

LawUnderTest independent_pd(const Chain& model, const PdGains& gains) {
  std::vector<double> limit;
  for (const ChainJoint& joint : model.joints()) limit.push_back(joint.limits.effort);
  return {[](std::span<const double>, std::span<const double>) {},
          [kp = gains.kp, kd = gains.kd, limit](
              std::span<const double> q, std::span<const double> qd, const Reference& reference,
              double, std::span<double> tau) {
            for (std::size_t i = 0; i < kp.size(); ++i) {
              const double wanted =
                  -kp[i] * (q[i] - reference.q[i]) - kd[i] * (qd[i] - reference.qd[i]);
              tau[i] = std::clamp(wanted, -limit[i], limit[i]);
            }
          },
          {}};
}

RunRecording run_loop(Plant& plant, const Chain& model, const Trajectory& trajectory,
                      LawUnderTest& law, const LoopOptions& options,
                      const std::function<void(double)>& progress) {
  using Clock = std::chrono::steady_clock;
  const std::size_t n = model.joints().size();
  const double dt = 1 / options.rate;
  const double end = trajectory.duration() + options.settle_time;
  const auto cycles = static_cast<std::size_t>(std::llround(end * options.rate));
  std::vector<double> q_ref(n), qd_ref(n), qdd_ref(n), q(n), qd(n), acceleration(n), tau(n),
      given(n);
  std::vector<VelocityObserver> observers(n, VelocityObserver(options.observer_bandwidth, dt));
  std::mt19937 random(options.seed);
  std::normal_distribution<double> normal;
  Tool tool(model);
  const DivergenceWatch watch(model, top_speeds(trajectory));

  RunRecording r;
  for (auto* values : {&r.q, &r.q_ref, &r.qd, &r.tau}) {
    values->resize(n);
    for (auto& joint : *values) joint.reserve(cycles);
  }
  trajectory.sample(0, q_ref, qd_ref, qdd_ref);
  plant.reset(q_ref, std::vector<double>(n, 0.0));
  for (std::size_t i = 0; i < n; ++i) {
    q[i] = encoder_reading(options.signals[i], plant.q()[i]);
    observers[i].reset(q[i]);
  }
  law.start(q, std::vector<double>(n, 0.0));
  double total = 0, longest = 0;
  for (std::size_t k = 0; k < cycles; ++k) {
    const double t = static_cast<double>(k) * dt;
    trajectory.sample(t, q_ref, qd_ref, qdd_ref);
    for (std::size_t i = 0; i < n; ++i) {
      const JointSignals& s = options.signals[i];
      const double noise = s.noise > 0 ? s.noise * normal(random) : 0;
      if (k > 0) observers[i].update(encoder_reading(s, plant.q()[i] + noise), acceleration[i]);
      q[i] = observers[i].position();
      qd[i] = observers[i].velocity();
    }
    const auto before = Clock::now();
    law.update(q, qd, {q_ref, qd_ref, qdd_ref}, dt, tau);
    const double took = std::chrono::duration<double>(Clock::now() - before).count();
    total += took;
    longest = std::max(longest, took);
    if (law.acceleration) {
      const auto commanded = law.acceleration();
      std::copy(commanded.begin(), commanded.end(), acceleration.begin());
    } else {
      std::copy(qdd_ref.begin(), qdd_ref.end(), acceleration.begin());
    }
    r.ended = watch.check(t, plant.q(), plant.qd(), tau);
    // What cannot be drawn is not recorded; the first sample always can.
    if (r.ended && k > 0) break;
    r.time.push_back(t);
    for (std::size_t i = 0; i < n; ++i) {
      given[i] = dac_torque(options.signals[i], tau[i]);
      r.q[i].push_back(plant.q()[i]);
      r.qd[i].push_back(plant.qd()[i]);
      r.q_ref[i].push_back(q_ref[i]);
      r.tau[i].push_back(given[i]);
    }
    tool.append(plant.q(), r.tool);
    tool.append(q_ref, r.tool_ref);
    if (r.ended) break;
    if (!plant.step(given, dt)) {
      r.ended = failed_step(plant, model, watch, t + dt, tau);
      break;
    }
    if (progress && k % 200 == 0) progress(static_cast<double>(k) / static_cast<double>(cycles));
  }
  r.update_time_mean = total / static_cast<double>(r.time.size());
  r.update_time_max = longest;
  return r;
}

void trace_tool(Recording& r, const Chain& chain) {
  Tool tool(chain);
  std::vector<double> q(r.q.size());
  for (std::size_t k = 0; k < r.time.size(); ++k) {
    for (std::size_t i = 0; i < q.size(); ++i) q[i] = r.q[i][k];
    tool.append(q, r.tool);
    for (std::size_t i = 0; i < q.size(); ++i) q[i] = r.q_ref[i][k];
    tool.append(q, r.tool_ref);
  }
}

Metrics unmeasured() {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return {kNone, kNone, kNone, kNone, kNone, kNone, kNone};
}

Metrics measure(const RunRecording& r, const Chain& chain, double duration) {
  return r.ended ? unmeasured() : measure(static_cast<const Recording&>(r), chain, duration);
}

Metrics measure(const Recording& r, const Chain& chain, double duration) {
  Metrics m;
  double joint_sum = 0, tool_sum = 0;
  std::size_t count = 0;
  const std::size_t n = r.q.size();
  const double last_quarter = r.time.back() - 0.25 * (r.time.back() - duration);
  std::vector<double> low(n, INFINITY), high(n, -INFINITY);
  for (std::size_t k = 0; k < r.time.size(); ++k) {
    const bool moving = r.time[k] <= duration;
    double distance = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      distance = std::hypot(distance, r.tool[axis][k] - r.tool_ref[axis][k]);
    }
    if (moving) {
      ++count;
      tool_sum += distance * distance;
      m.tool_max = std::max(m.tool_max, distance);
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double error = std::abs(r.q[i][k] - r.q_ref[i][k]);
      if (moving) {
        joint_sum += error * error;
        m.joint_max = std::max(m.joint_max, error);
      }
      if (r.time[k] >= last_quarter) {
        m.final_error = std::max(m.final_error, error);
        low[i] = std::min(low[i], r.q[i][k]);
        high[i] = std::max(high[i], r.q[i][k]);
        m.final_motion = std::max(m.final_motion, high[i] - low[i]);
      }
      m.torque_use =
          std::max(m.torque_use, std::abs(r.tau[i][k]) / chain.joints()[i].limits.effort);
    }
  }
  if (std::none_of(chain.joints().begin(), chain.joints().end(),
                   [](const ChainJoint& j) { return std::isfinite(j.limits.effort); })) {
    m.torque_use = std::numeric_limits<double>::quiet_NaN();
  }
  m.joint_rms = std::sqrt(joint_sum / static_cast<double>(count * n));
  m.tool_rms = std::sqrt(tool_sum / static_cast<double>(count));
  return m;
}

}  // namespace ga_tools
