// SPDX-License-Identifier: Apache-2.0
#ifndef SIMULATED_LOOP_HPP_
#define SIMULATED_LOOP_HPP_

// Arms with wrong models, and a simulation that decides whether their loop is stable: the plant of
// ga_dynamics with ideal sensors, without friction and limits, under the law of stability.hpp,
// written down here once more.

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "ga_controllers/stability.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/plant.hpp"

namespace ga_controllers::test {

using ga_dynamics::Chain;
using ga_dynamics::DhJoint;
using Values = std::vector<double>;

inline Chain load(const std::string& name) {
  return Chain::from_urdf_file(std::string(GA_ROBOTS) + "/" + name + ".urdf");
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  double log_uniform(double low, double high) { return low * std::pow(high / low, uniform(0, 1)); }
  bool chance(double probability) { return uniform(0, 1) < probability; }
  Values posture(const Chain& chain) {
    Values q;
    for (const auto& joint : chain.joints())
      q.push_back(uniform(std::max(joint.limits.lower, -3.0), std::min(joint.limits.upper, 3.0)));
    return q;
  }

 private:
  std::mt19937 engine_;
};

inline std::vector<DhJoint> rows(const Chain& chain) {
  std::vector<DhJoint> result;
  for (const auto& joint : chain.joints())
    result.push_back({joint.type, joint.dh, joint.body, joint.drive, joint.limits, joint.name});
  return result;
}

inline Chain chain_of(const std::vector<DhJoint>& rows, const Chain& origin) {
  return Chain::from_dh(rows, origin.gravity_in_frame0());
}

inline void scale(DhJoint& row, double mass, double armature) {
  row.body.mass *= mass;
  for (double& value : row.body.inertia) value *= mass;
  row.drive.armature *= armature;
}

/// Every mass, inertia and rotor inertia of the chain times a factor.
inline Chain scaled(const Chain& chain, double factor) {
  std::vector<DhJoint> all = rows(chain);
  for (DhJoint& row : all) scale(row, factor, factor);
  return chain_of(all, chain);
}

enum class Outcome { kStable, kUnstable, kUndecided };

/// Holds the arm at q from a deviation of about 1e-6 rad, for up to `cycles` cycles.
inline Outcome simulate(const ArmLoop& loop, const Chain& model, const Chain& real, const Values& q,
                        int cycles) {
  const std::size_t n = q.size();
  const double dt = loop.period;
  const auto gains = [&](std::size_t i) { return loop.gains[loop.gains.size() == 1 ? 0 : i]; };
  const auto observer = [&](std::size_t i) {
    return loop.observer_bandwidth[loop.observer_bandwidth.size() == 1 ? 0 : i];
  };
  ga_dynamics::Dynamics law(model, {.drives = ga_dynamics::Drives::kArmature});
  ga_dynamics::Plant plant(real, {.sub_step = std::min(2.5e-4, dt),
                                  .friction = false,
                                  .torque_limits = false,
                                  .stops = false});
  // Equilibrium: the law's torque ID(q, 0, u) carries the real arm's weight.
  Values weight(n), own(n), u(n), rest(n), tau(n);
  plant.dynamics().gravity(q, weight);
  law.forward_dynamics(q, rest, weight, u);
  Values reference = q, d(n), qe = q, ve(n);
  for (std::size_t i = 0; i < n; ++i) {
    d[i] = -u[i];
    if (!loop.subtracts_disturbance) reference[i] += u[i] / gains(i).kp;
  }
  std::vector<Values> queue(static_cast<std::size_t>(loop.delay), weight);
  Values start = q;
  for (std::size_t i = 0; i < n; ++i) start[i] += (i % 2 == 0 ? 1e-6 : -0.7e-6);
  plant.reset(start, rest);

  const int window = std::max(50, cycles / 40);
  double largest = 0;
  Values windows;
  for (int k = 1; k <= cycles; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      const double b = std::exp(-observer(i) * dt), e = plant.q()[i] - qe[i];
      qe[i] += (1 - b * b * b) * e;
      ve[i] += 1.5 * (1 - b) * (1 - b) * (1 + b) / dt * e;
      d[i] += (1 - b) * (1 - b) * (1 - b) / (dt * dt) * e;
      u[i] = -gains(i).kd * ve[i] - gains(i).kp * (qe[i] - reference[i]);
      if (loop.subtracts_disturbance) u[i] -= d[i];
    }
    law.inverse_dynamics(qe, ve, u, tau);
    for (std::size_t i = 0; i < n; ++i) {
      qe[i] += dt * ve[i] + dt * dt * (u[i] + d[i]) / 2;
      ve[i] += dt * (u[i] + d[i]);
    }
    queue.push_back(tau);
    if (!plant.step(queue.front(), dt)) return Outcome::kUnstable;
    queue.erase(queue.begin());
    for (std::size_t i = 0; i < n; ++i) {
      const double deviation = std::abs(plant.q()[i] - q[i]);
      if (deviation > 1e-2) return Outcome::kUnstable;
      largest = std::max(largest, deviation);
    }
    if (k % window != 0) continue;
    if (largest < 1e-9) return Outcome::kStable;
    windows.push_back(largest);
    largest = 0;
  }
  // Neither settled nor gone: growth over the last half decides.
  const double change = std::log(windows.back() / windows[windows.size() / 2]);
  if (std::abs(change) < 0.1) return Outcome::kUndecided;
  return change < 0 ? Outcome::kStable : Outcome::kUnstable;
}

}  // namespace ga_controllers::test

#endif  // SIMULATED_LOOP_HPP_
