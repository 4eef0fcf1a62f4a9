// SPDX-License-Identifier: Apache-2.0
#ifndef SIMULATED_LOOP_HPP_
#define SIMULATED_LOOP_HPP_

// Arms with wrong models, and a simulation that decides whether their loop is stable: the plant of
// ga_dynamics with ideal sensors, without friction and limits, under the law of stability.hpp,
// written down here once more.

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
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

inline const std::array<std::string, 3> kArms = {"puma560_akb", "seven_joints", "scara"};

/// All joints with the same gains, the observer faster by `ratio`.
inline ArmLoop integral_loop(double w, double ratio, int delay) {
  ArmLoop loop;
  loop.gains = {gains_from_bandwidth(w, 1)};
  loop.observer_bandwidth = {ratio * w};
  loop.delay = delay;
  return loop;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

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

/// Rotor inertias for the joints of a description without.
inline void add_rotors(std::vector<DhJoint>& rows, Random& random, double low, double high) {
  for (DhJoint& row : rows) {
    if (row.drive.armature == 0) row.drive.armature = random.log_uniform(low, high);
  }
}

/// Adds a payload at the tip of the chain whose rows these are.
inline void add_payload(std::vector<DhJoint>& rows, const Chain& chain, double mass,
                        double radius) {
  const double moment = mass * radius * radius;
  const ga_dynamics::LinkInertia payload{
      mass, {0, 0, 0}, {moment, 0, 0, 0, moment, 0, 0, 0, moment}};
  rows.back().body = lump(rows.back().body, transformed(chain.tip().pose, payload));
}

/// The arm with the largest masses, payload and rotor inertias within the uncertainty.
inline Chain heaviest(const Chain& chain, const ModelUncertainty& u) {
  std::vector<DhJoint> all = rows(chain);
  for (DhJoint& row : all) scale(row, 1 + u.mass, u.armature_high);
  add_payload(all, chain, u.payload, u.payload_radius);
  return chain_of(all, chain);
}
/// With the smallest ones.
inline Chain lightest(const Chain& chain, const ModelUncertainty& u) {
  std::vector<DhJoint> all = rows(chain);
  for (DhJoint& row : all) scale(row, 1 - u.mass, u.armature_low);
  return chain_of(all, chain);
}

enum class Outcome { kStable, kUnstable, kUndecided };

/// Decides from the size of a deviation in every cycle.
class Decision {
 public:
  struct Limits {
    double settled, diverged;  ///< size
    double change;  ///< logarithm of the growth in the last half of the cycles; less is undecided
  };
  Decision(int cycles, const Limits& limits)
      : limits_(limits), window_(std::max(50, cycles / 40)) {}

  /// After each cycle, for every joint.
  void note(double size) {
    if (!(size < limits_.diverged)) diverged_ = true;
    largest_ = std::max(largest_, size);
  }
  /// Ends a cycle; nothing: not decided yet.
  std::optional<Outcome> next() {
    if (diverged_) return Outcome::kUnstable;
    if (++cycle_ % window_ != 0) return {};
    if (largest_ < limits_.settled) return Outcome::kStable;
    windows_.push_back(largest_);
    largest_ = 0;
    return {};
  }
  /// Neither settled nor gone: growth over the last half decides.
  Outcome at_the_end() const {
    const double change = std::log(windows_.back() / windows_[windows_.size() / 2]);
    if (std::abs(change) < limits_.change) return Outcome::kUndecided;
    return change < 0 ? Outcome::kStable : Outcome::kUnstable;
  }

 private:
  Limits limits_;
  int window_, cycle_ = 0;
  double largest_ = 0;
  bool diverged_ = false;
  Values windows_;
};

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

  Decision decision(cycles, {.settled = 1e-9, .diverged = 1e-2, .change = 0.1});
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
    for (std::size_t i = 0; i < n; ++i) decision.note(std::abs(plant.q()[i] - q[i]));
    if (const auto decided = decision.next()) return *decided;
  }
  return decision.at_the_end();
}

}  // namespace ga_controllers::test

#endif  // SIMULATED_LOOP_HPP_
