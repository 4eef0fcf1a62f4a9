// SPDX-License-Identifier: Apache-2.0
#include "state_observer.hpp"

#include <algorithm>
#include <cmath>

namespace ga_controllers {

namespace {

/// rad/s, for laws that hardly react.
constexpr double kSlowest = 20;
/// Shortest cycle [s] that is taken for one.
constexpr double kShortest = 1e-9;

}  // namespace

double observer_bandwidth(const JointGains& g) noexcept {
  const double usual = std::max({2 * std::sqrt(g.kp), g.kd, kSlowest});
  if (!(g.ki > 0 && g.kp > 0)) return usual;
  const auto integral_gain = [&](double w) {
    return w * w * w * g.kp / (g.kp + 3 * w * (g.kd + w));
  };
  double low = 0, high = usual;
  while (integral_gain(high) < g.ki && high < 1e6) high *= 2;
  for (int k = 0; k < 50; ++k) {
    const double middle = (low + high) / 2;
    (integral_gain(middle) < g.ki ? low : high) = middle;
  }
  // A slower observer would hide the arm from the law.
  return std::max(high, std::sqrt(g.kp));
}

StateObserver::StateObserver(std::size_t joints)
    : joints_(joints), q_(joints), qd_(joints), d_(joints), u_(joints) {}

void StateObserver::set_joint(std::size_t joint, double bandwidth, double limit) noexcept {
  joints_[joint].bandwidth = bandwidth;
  joints_[joint].limit = limit;
  dt_ = 0;
}

void StateObserver::reset(std::span<const double> q, std::span<const double> qd) noexcept {
  for (std::size_t i = 0; i < q_.size(); ++i) {
    q_[i] = q[i];
    qd_[i] = qd[i];
    if (!std::isfinite(d_[i])) d_[i] = 0;  // it would never become finite again
    u_[i] = -d_[i];                        // until the law commands: no acceleration
    joints_[i].held = false;
  }
}

void StateObserver::clear_disturbance() noexcept {
  std::fill(d_.begin(), d_.end(), 0.0);
  std::fill(u_.begin(), u_.end(), 0.0);
}

void StateObserver::set_period(double dt) noexcept {
  if (dt == dt_) return;
  dt_ = dt;
  double bandwidth = 0, beta = 1;
  for (Joint& joint : joints_) {
    if (joint.bandwidth != bandwidth) beta = std::exp(-joint.bandwidth * dt);
    bandwidth = joint.bandwidth;
    const double rest = 1 - beta;
    joint.l1 = 1 - beta * beta * beta;
    joint.l2 = 1.5 * rest * rest * (1 + beta) / dt;
    joint.l3 = rest * rest * rest / (dt * dt);
  }
}

void StateObserver::predict(double dt) noexcept {
  for (std::size_t i = 0; i < q_.size(); ++i) {
    const double a = joints_[i].held ? 0 : u_[i] + d_[i];
    q_[i] += dt * (qd_[i] + 0.5 * dt * a);
    qd_[i] += dt * a;
  }
}

void StateObserver::update(std::span<const double> measured, double dt) noexcept {
  if (!(dt > kShortest)) return;
  set_period(dt);
  predict(dt);
  for (std::size_t i = 0; i < q_.size(); ++i) {
    const Joint& joint = joints_[i];
    const double e = measured[i] - q_[i];
    q_[i] += joint.l1 * e;
    qd_[i] += joint.l2 * e;
    if (!joint.held) add_disturbance(i, joint.l3 * e);
  }
}

void StateObserver::expect(std::span<const double> acceleration) noexcept {
  std::copy_n(acceleration.begin(), u_.size(), u_.begin());
}

void StateObserver::add_disturbance(std::size_t joint, double by) noexcept {
  const double limit = joints_[joint].limit;
  d_[joint] = std::clamp(d_[joint] + by, -limit, limit);
}

}  // namespace ga_controllers
