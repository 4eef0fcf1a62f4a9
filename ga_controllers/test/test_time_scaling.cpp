// SPDX-License-Identifier: Apache-2.0

// Time scaling: references that need more torque or velocity than there is are followed on their path.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "counting_allocator.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "path.hpp"
#include "time_scaling.hpp"

namespace ga_controllers {
namespace {

using ga_dynamics::Chain;

constexpr double kFrictionVelocity = 0.005;

/// Largest torque over its limit along the path, at its own speed.
double needed_torque(const Path& path, const Chain& chain, const Values& limit) {
  ga_dynamics::Dynamics dynamics(chain, {.drives = ga_dynamics::Drives::kArmature});
  double worst = 0;
  Values tau(limit.size());
  for (double t = 0; t <= path.duration; t += kDt) {
    const Values qd = path.qd(t);
    dynamics.inverse_dynamics(path.q(t), qd, path.qdd(t), tau);
    for (std::size_t i = 0; i < tau.size(); ++i) {
      const double friction = chain.joints()[i].drive.friction(qd[i], kFrictionVelocity);
      worst = std::max(worst, std::abs(tau[i] + friction) / limit[i]);
    }
  }
  return worst;
}

struct Result {
  double torque = 0, velocity = 0;  ///< largest, over their limits
  double contradiction = 0;         ///< rad, of positions and velocities
  double off_path = 0;              ///< rad, largest distance of a joint from the path
  double stretch = 0;               ///< duration over that of the reference
  double slowest = 1, lag = 0, cycle = 0, torque_step = 0;
  bool ended = false;
  double end_error = 0;
};

Result scale(const Path& path, const Chain& chain, const Values& limit, double look_ahead = 0,
             double longest = 30) {
  const std::size_t n = limit.size();
  TimeScaling scaling(chain, limit, kFrictionVelocity, look_ahead);
  ga_dynamics::Dynamics dynamics(chain, {.drives = ga_dynamics::Drives::kArmature});
  Result r;
  Values before, before_rate, before_tau, tau(n);
  double s = 0, total = 0;
  long cycles = 0;
  for (long k = -20; static_cast<double>(k) * kDt < longest; ++k) {
    const double t = static_cast<double>(k) * kDt;
    Values q = path.q(t), qd = path.qd(t), qdd = path.qdd(t);
    const long allocations = test::allocations();
    const auto from = std::chrono::steady_clock::now();
    scaling.advance(kDt, kDt, {q, qd, qdd});
    if (scaling.behind()) {
      total += std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
      ++cycles;
    }
    EXPECT_EQ(test::allocations(), allocations);
    dynamics.inverse_dynamics(q, qd, qdd, tau);
    for (std::size_t i = 0; i < n; ++i) {
      const double friction = chain.joints()[i].drive.friction(qd[i], kFrictionVelocity);
      tau[i] += friction;
      r.torque = std::max(r.torque, std::abs(tau[i]) / limit[i]);
      r.velocity = std::max(r.velocity, std::abs(qd[i]) / chain.joints()[i].limits.velocity);
      if (before.empty()) continue;
      const double expected = (before_rate[i] + qd[i]) / 2 * kDt;
      r.contradiction = std::max(r.contradiction, std::abs(q[i] - before[i] - expected));
      r.torque_step = std::max(r.torque_step, std::abs(tau[i] - before_tau[i]) / limit[i]);
    }
    // The nearest point of the path is not before the last one.
    const auto distance = [&](double at) {
      const Values there = path.q(at);
      double most = 0;
      for (std::size_t i = 0; i < n; ++i) most = std::max(most, std::abs(there[i] - q[i]));
      return most;
    };
    const auto squares = [&](double at) { return path.squares(at, q); };
    const double own = std::clamp(t, 0.0, path.duration) - scaling.lag();
    double nearest = std::clamp(own, 0.0, path.duration);
    for (double by = 1e-4; by > 1e-9; by /= 2) {
      while (squares(nearest + by) < squares(nearest)) nearest += by;
      while (squares(nearest - by) < squares(nearest)) nearest -= by;
    }
    s = nearest;
    r.off_path = std::max(r.off_path, distance(s));
    r.slowest = std::min(r.slowest, scaling.rate());
    r.lag = std::max(r.lag, scaling.lag());
    before = q, before_rate = qd, before_tau = tau;
    if (t > path.duration && !scaling.behind()) {
      r.ended = true;
      r.stretch = t / path.duration;
      r.end_error = distance(path.duration);
      break;
    }
  }
  r.cycle = cycles > 0 ? total / static_cast<double>(cycles) : 0;
  return r;
}

TEST(TimeScaling, KeepsPathTorqueAndVelocityLimits) {
  const Chain chain = puma();
  for (const Case& c : cases()) {
    const Values limit = limits(chain, c.share);
    for (const double look_ahead : {0.0, 0.2}) {
      SCOPED_TRACE(std::string(c.name) + (look_ahead > 0 ? ", look-ahead" : ""));
      const Result r = scale(c.path, chain, limit, look_ahead);
      EXPECT_TRUE(r.ended);
      EXPECT_LT(r.off_path, 1e-9);
      EXPECT_LT(r.end_error, 1e-7);
      EXPECT_LT(r.torque, 1.01);
      EXPECT_LT(r.velocity, 1.005);
      EXPECT_LT(r.contradiction, 3e-6);
      EXPECT_LT(r.stretch, c.stretch + 1.5 * look_ahead / c.path.duration);
      EXPECT_LT(r.slowest, 1);
    }
  }
}

TEST(TimeScaling, PassesAFeasibleReferenceBitForBit) {
  const Chain chain = puma();
  const Path paths[] = {quintic(kStart, kFar, 1), curve(kStart, 0.4, 4)};
  for (const Path& path : paths) {
    const Values limit = limits(chain, 1);
    ASSERT_LT(needed_torque(path, chain, limit), 0.95);
    TimeScaling scaling(chain, limit, kFrictionVelocity);
    for (double t = -0.1; t < path.duration + 0.1; t += kDt) {
      const Values q = path.q(t), qd = path.qd(t), qdd = path.qdd(t);
      Values out_q = q, out_qd = qd, out_qdd = qdd;
      scaling.advance(kDt, kDt, {out_q, out_qd, out_qdd});
      ASSERT_EQ(out_q, q);
      ASSERT_EQ(out_qd, qd);
      ASSERT_EQ(out_qdd, qdd);
      ASSERT_FALSE(scaling.behind());
    }
  }
}

TEST(TimeScaling, KeepsTheVelocityLimitOfAReferenceAt176Percent) {
  const Chain chain = puma();
  Values goal = kStart;
  goal[0] += 1;
  // The peak velocity of a quintic is 1.875 times its mean.
  const double duration = 1.875 / (1.76 * chain.joints()[0].limits.velocity);
  const Result r = scale(quintic(kStart, goal, duration), chain, Values(6, 1e9));
  EXPECT_TRUE(r.ended);
  EXPECT_LT(r.velocity, 1.005);
  EXPECT_GT(r.velocity, 0.98);
  EXPECT_LT(r.off_path, 1e-8);
}

TEST(TimeScaling, StopsOnThePathBeforeAPositionThatCannotBeHeld) {
  const Chain chain = puma();
  // Outstretched, gravity needs more than the limit. The arm comes from below.
  const Values from{0, 1.5, 1.57, 0, 0, 0}, to{0, 0, 1.57, 0, 0, 0};
  Values g(6);
  ga_dynamics::Dynamics(chain).gravity(to, g);
  Values limit = limits(chain, 1);
  limit[1] = 0.8 * std::abs(g[1]);
  const Path path = quintic(from, to, 3);
  TimeScaling scaling(chain, limit, kFrictionVelocity);
  Values q;
  for (int k = 0; k < 20000; ++k) {
    const double t = k * kDt;
    q = path.q(t);
    Values qd = path.qd(t), qdd = path.qdd(t);
    scaling.advance(kDt, kDt, {q, qd, qdd});
  }
  EXPECT_EQ(scaling.blocked(), 1);
  EXPECT_LT(scaling.rate(), 1e-3);
  EXPECT_GT(scaling.lag(), 0.1);
  ga_dynamics::Dynamics(chain).gravity(q, g);
  EXPECT_LT(std::abs(g[1]), limit[1]);
  EXPECT_GT(std::abs(g[1]), 0.7 * limit[1]);
}

/// Constant acceleration for most of the time, then a short constant deceleration.
Path late_brake(double duration) {
  const double brake = 0.04, v = 2;
  return between(
      kStart, kNear, duration,
      [=](double x) {
        const double left = 1 - x;
        return left > brake ? v * x * x / (2 * (1 - brake)) : 1 - v * left * left / (2 * brake);
      },
      [=](double x) { return 1 - x > brake ? v * x / (1 - brake) : v * (1 - x) / brake; },
      [=](double x) { return 1 - x > brake ? v / (1 - brake) : -v / brake; });
}

TEST(TimeScaling, WithLookAheadABrakingThatComesTooLateStaysOnThePath) {
  const Chain chain = puma();
  const Path path = late_brake(1);
  const Values limit = limits(chain, 0.6);
  const Result without = scale(path, chain, limit), with = scale(path, chain, limit, 0.2);
  EXPECT_GT(without.torque, 1.1);
  EXPECT_LT(with.torque, 1.01);
  EXPECT_LT(with.off_path, 1e-9);
  EXPECT_TRUE(with.ended);
}

TEST(TimeScaling, EndsAfterAMinuteOfAReferenceThatIsTooFast) {
  // More than the samples that are kept: they are thinned out.
  const Chain chain = puma();
  const Values limit = limits(chain, 0.3);
  TimeScaling scaling(chain, limit, kFrictionVelocity);
  ga_dynamics::Dynamics dynamics(chain, {.drives = ga_dynamics::Drives::kArmature});
  Values tau(6), last;
  double worst = 0, lag = 0, step = 0;
  long k = 0, ended = 0;
  for (; k < 600000 && ended == 0; ++k) {
    const double t = static_cast<double>(k) * kDt, end = 60;
    // 1.4 rad peak to peak, 3 rad/s: two of them are possible.
    const double w = 4.3, phase = w * std::min(t, end);
    Values q = kStart, qd(6), qdd(6);
    q[0] += 0.7 * (1 - std::cos(phase));
    qd[0] = t < end ? 0.7 * w * std::sin(phase) : 0;
    qdd[0] = t < end ? 0.7 * w * w * std::cos(phase) : 0;
    scaling.advance(kDt, kDt, {q, qd, qdd});
    dynamics.inverse_dynamics(q, qd, qdd, tau);
    tau[0] += chain.joints()[0].drive.friction(qd[0], kFrictionVelocity);
    if (lag < 10) worst = std::max(worst, std::abs(tau[0]) / limit[0]);
    if (!last.empty()) step = std::max(step, std::abs(q[0] - last[0]));
    last = q;
    lag = std::max(lag, scaling.lag());
    if (t > end && !scaling.behind()) ended = k;
  }
  EXPECT_GT(ended, 60000);
  EXPECT_GT(lag, 15);
  EXPECT_LT(worst, 1.02);
  EXPECT_LT(step, 0.004);
}

}  // namespace
}  // namespace ga_controllers
