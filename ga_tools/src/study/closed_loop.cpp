// SPDX-License-Identifier: Apache-2.0
#include "ga_tools/closed_loop.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>

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
using ga_hardware::Fault;
using ga_hardware::SimulatedArm;
using ga_hardware::SimulatedArmSettings;
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
Verdict failed_step(const Plant& plant, const Chain& model, double t, std::span<const double> q) {
  std::string reason = plant.error();
  if (plant.fault() == ga_dynamics::PlantFault::kSingularInertia) {
    try {
      check_inertia(model, model, q);
    } catch (const std::runtime_error& error) {
      reason = error.what();
    }
  }
  return {RunState::kDiverged, 0, t, reason};
}

/// What stopped the arm.
Verdict stopped(const ga_hardware::FaultRecord& fault, const Chain& model, double t) {
  const auto joint = static_cast<std::size_t>(std::max(fault.joint, 0));
  return {RunState::kFault, joint, t, describe(fault, model.joints()[joint].name)};
}

}  // namespace

LawUnderTest computed_torque(const Chain& model, const LawParameters& parameters,
                             std::vector<double> held) {
  const auto law = std::make_shared<ControlLaw>(model, parameters);
  const auto gravity = std::make_shared<Dynamics>(model);
  gravity->set_payload(parameters.payload);
  return {[law, gravity, held](std::span<const double> q, std::span<const double> qd) {
            // The brakes held the arm before: start from the torque that holds it without them.
            std::vector<double> before = held;
            if (before.empty()) gravity->gravity(q, before = std::vector<double>(q.size()));
            law->start(q, qd, before);
          },
          [law](std::span<const double> q, std::span<const double> qd, const Reference& reference,
                double dt, std::span<double> tau) { law->update(q, qd, reference, dt, tau); },
          [law] { return law->disturbance_torque(); }, [law] { return law->time_scale(); }};
}

SimulatedArmSettings settings_for(const Trajectory& trajectory, const LoopOptions& options) {
  SimulatedArmSettings settings;
  settings.period = 1 / options.rate;
  settings.brake_release_time = 0;
  // A command of the cycle before is never too old, however slow the loop is.
  settings.safety.command_timeout = std::max(settings.safety.command_timeout, 2 * settings.period);
  const auto n = static_cast<std::size_t>(trajectory.size());
  std::vector<double> rates(n);
  settings.start.resize(n);
  trajectory.sample(0, settings.start, rates, rates);
  return settings;
}

RunRecording run_loop(SimulatedArm& arm, const Chain& model, const Trajectory& trajectory,
                      LawUnderTest& law, const LoopOptions& options,
                      const std::function<void(double)>& progress) {
  using Clock = std::chrono::steady_clock;
  const std::size_t n = model.joints().size();
  const double dt = 1 / options.rate;
  const double duration = trajectory.duration(), end = duration + options.settle_time;
  auto cycles = static_cast<std::size_t>(std::llround(end * options.rate));
  const auto settle = static_cast<std::size_t>(std::llround(options.settle_time * options.rate));
  const double longest = options.longest_stretch * duration;
  std::vector<double> q_ref(n), qd_ref(n), qdd_ref(n), q(n), tau(n);
  const Plant& plant = arm.plant();
  Tool tool(model);

  RunRecording r;
  for (auto* values : {&r.q, &r.q_ref, &r.qd, &r.tau}) {
    values->resize(n);
    for (auto& joint : *values) joint.reserve(cycles);
  }
  if (law.disturbance_torque) r.disturbance.resize(n);
  arm.power_on();
  law.start(arm.position(), std::vector<double>(n, 0.0));
  double total = 0, slowest = 0;
  for (std::size_t k = 0; k < cycles && !r.ended; ++k) {
    const double t = static_cast<double>(k) * dt;
    trajectory.sample(t, q_ref, qd_ref, qdd_ref);
    const auto before = Clock::now();
    law.update(arm.position(), arm.velocity(), {q_ref, qd_ref, qdd_ref}, dt, tau);
    const double took = std::chrono::duration<double>(Clock::now() - before).count();
    total += took;
    slowest = std::max(slowest, took);
    if (law.disturbance_torque) {
      const std::span<const double> disturbance = law.disturbance_torque();
      for (std::size_t i = 0; i < n; ++i) r.disturbance[i].push_back(disturbance[i]);
    }
    if (law.time_scale) {
      const ga_controllers::TimeScale scale = law.time_scale();
      r.slowest = std::min(r.slowest, scale.rate);
      if (scale.lag > 0) {
        trajectory.sample(std::min(t, duration) - scale.lag, q_ref, qd_ref, qdd_ref);
        r.motion_end = t + dt;
        if (t < longest) cycles = std::max(cycles, k + 1 + settle);
      }
    }
    arm.command(tau);
    if (arm.fault().fault != Fault::kNone) r.ended = stopped(arm.fault(), model, t);
    r.time.push_back(t);
    std::copy(plant.q().begin(), plant.q().end(), q.begin());
    for (std::size_t i = 0; i < n; ++i) {
      r.q[i].push_back(q[i]);
      r.qd[i].push_back(plant.qd()[i]);
      r.q_ref[i].push_back(q_ref[i]);
      r.tau[i].push_back(arm.torque()[i]);
    }
    tool.append(q, r.tool);
    tool.append(q_ref, r.tool_ref);
    arm.advance(dt);
    if (arm.diverged()) r.ended = failed_step(plant, model, t + dt, q);
    if (progress && k % 200 == 0) progress(static_cast<double>(k) / static_cast<double>(cycles));
  }
  r.update_time_mean = total / static_cast<double>(r.time.size());
  r.update_time_max = slowest;
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
  return {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone};
}

namespace {

/// All but the monitors.
Metrics measure_errors(const Recording& r, const Chain& chain, double duration) {
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

}  // namespace

Metrics measure(const RunRecording& r, const Chain& chain, double duration) {
  if (r.ended) return unmeasured();
  Metrics m = measure_errors(r, chain, duration);
  add_monitors(m, monitor(r, chain, duration, {}, r.disturbance), chain, !r.disturbance.empty());
  return m;
}

Metrics measure(const Recording& r, const Chain& chain, double duration) {
  Metrics m = measure_errors(r, chain, duration);
  add_monitors(m, monitor(r, chain, duration), chain, false);
  return m;
}

}  // namespace ga_tools
