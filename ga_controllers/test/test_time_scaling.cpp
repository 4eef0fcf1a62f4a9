// SPDX-License-Identifier: Apache-2.0

// Time scaling: references that need more torque or velocity than there is are followed on their path.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "counting_allocator.hpp"
#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/plant.hpp"
#include "plugins/sender_clock.hpp"
#include "sender.hpp"
#include "time_scaling.hpp"
#include "wave.hpp"

namespace ga_controllers {
namespace {

using ga_dynamics::Chain;

constexpr double kFrictionVelocity = 0.005;
const Values kStart{0, -1, 1, 0, 0.4, 0};
const Values kNear{0.9, -0.6, 1, 0, 0.4, 0};
const Values kFar{0.9, -0.6, 1.3, 0.3, 0.4, 0};

/// A reference: positions and rates at a time, all joints at rest before 0 and after `duration`.
struct Path {
  double duration = 1;
  std::function<Values(double s)> q, qd, qdd;
};

/// Interpolates between two points by a polynomial with these values of position and derivatives.
Path between(const Values& from, const Values& to, double duration,
             const std::function<double(double)>& p, const std::function<double(double)>& p1,
             const std::function<double(double)>& p2) {
  const auto blend = [=](const std::function<double(double)>& shape, double scale, bool position) {
    return [=](double t) {
      Values out(from.size());
      const double x = std::clamp(t / duration, 0.0, 1.0);
      const bool rests = t < 0 || t > duration;
      for (std::size_t i = 0; i < out.size(); ++i) {
        const double value = !position && rests ? 0 : shape(x);
        out[i] = (position ? from[i] : 0) + (to[i] - from[i]) * value * scale;
      }
      return out;
    };
  };
  return {duration, blend(p, 1, true), blend(p1, 1 / duration, false),
          blend(p2, 1 / (duration * duration), false)};
}

Path quintic(const Values& from, const Values& to, double duration) {
  return between(
      from, to, duration, [](double x) { return x * x * x * (10 + x * (-15 + 6 * x)); },
      [](double x) { return 30 * x * x * (1 + x * (-2 + x)); },
      [](double x) { return 60 * x * (1 + x * (-3 + 2 * x)); });
}

/// Its acceleration steps at both ends, as that of a spline through two points.
Path cubic(const Values& from, const Values& to, double duration) {
  return between(
      from, to, duration, [](double x) { return x * x * (3 - 2 * x); },
      [](double x) { return 6 * x * (1 - x); }, [](double x) { return 6 - 12 * x; });
}

/// Constant acceleration, constant velocity, constant deceleration: a quarter, a half, a quarter.
Path ramp(const Values& from, const Values& to, double duration) {
  const double v = 4.0 / 3, a = 16.0 / 3;
  return between(
      from, to, duration,
      [=](double x) {
        if (x < 0.25) return a * x * x / 2;
        if (x < 0.75) return v * (x - 0.125);
        return 1 - a * (1 - x) * (1 - x) / 2;
      },
      [=](double x) { return x < 0.25   ? a * x
                             : x < 0.75 ? v
                                        : a * (1 - x); },
      [=](double x) { return x < 0.25   ? a
                             : x < 0.75 ? 0
                                        : -a; });
}

/// All joints on curves of different frequencies, from rest to rest.
Path curve(const Values& middle, double amplitude, double duration) {
  const auto at = [=](double t, int derivative) {
    // Quintic progress u of the curve parameter.
    const double x = std::clamp(t / duration, 0.0, 1.0);
    const double length = 6;
    const double u = length * x * x * x * (10 + x * (-15 + 6 * x));
    const double u1 = length * 30 * x * x * (1 + x * (-2 + x)) / duration;
    const double u2 = length * 60 * x * (1 + x * (-3 + 2 * x)) / (duration * duration);
    Values out(middle.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double w = 1 + 0.3 * static_cast<double>(i), phase = static_cast<double>(i);
      const double s = std::sin(w * u + phase), c = std::cos(w * u + phase);
      if (derivative == 0) out[i] = middle[i] + amplitude * s;
      if (derivative == 1) out[i] = amplitude * w * c * u1;
      if (derivative == 2) out[i] = amplitude * (w * c * u2 - w * w * s * u1 * u1);
    }
    return out;
  };
  return {duration, [at](double t) { return at(t, 0); }, [at](double t) { return at(t, 1); },
          [at](double t) { return at(t, 2); }};
}

Values limits(const Chain& chain, double share) {
  Values out;
  for (const auto& joint : chain.joints()) out.push_back(share * joint.limits.effort);
  return out;
}

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
    const auto squares = [&](double at) {
      const Values there = path.q(at);
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += std::pow(there[i] - q[i], 2);
      return sum;
    };
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

struct Case {
  const char* name;
  Path path;
  double share;    ///< of the torque limits
  double stretch;  ///< largest
};

/// References that need 117 to 469 % of the torque, or up to 170 % of the velocity.
std::vector<Case> cases() {
  return {{"quintic 0.8 s, 50 %", quintic(kStart, kFar, 0.8), 0.5, 1.1},
          {"quintic 0.8 s, 40 %", quintic(kStart, kFar, 0.8), 0.4, 1.35},
          {"quintic 0.4 s, 50 %", quintic(kStart, kFar, 0.4), 0.5, 1.8},
          {"quintic 0.4 s, 30 %", quintic(kStart, kFar, 0.4), 0.3, 6},
          {"quintic back 0.4 s, 50 %", quintic(kFar, kStart, 0.4), 0.5, 1.95},
          {"cubic 0.4 s", cubic(kStart, kNear, 0.4), 1, 1.4},
          {"cubic 0.4 s, 50 %", cubic(kStart, kNear, 0.4), 0.5, 1.8},
          {"ramp 0.4 s, 50 %", ramp(kStart, kNear, 0.4), 0.5, 1.8},
          {"curve 3 s, 40 %", curve(kStart, 0.4, 3), 0.4, 1.15},
          {"curve 2 s", curve(kStart, 0.4, 2), 1, 1.2}};
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

struct LoopResult {
  double off_path = 0;  ///< rad
  double stretch = 0, end_error = 0, saturated = 0, slowest = 1, cycle = 0;
};

/// A law with an exact model on the arm.
LoopResult follow(const Path& path, const Chain& chain, const LawParameters& p, double settle = 1) {
  const std::size_t n = chain.joints().size();
  ControlLaw law(chain, p);
  ga_dynamics::Plant plant(chain, {.torque_limits = false});
  plant.reset(path.q(0), Values(n, 0.0));
  Values tau(n), before(n);
  ga_dynamics::Dynamics(chain).gravity(path.q(0), before);
  law.start(plant.q(), plant.qd(), before);
  LoopResult r;
  double ended = 0, own = 0, total = 0;
  long cycles = 0;
  for (long k = 0; static_cast<double>(k) * kDt < 20 &&
                   (ended == 0 || static_cast<double>(k) * kDt < ended + settle);
       ++k) {
    const double t = static_cast<double>(k) * kDt;
    const Values q = path.q(t), qd = path.qd(t), qdd = path.qdd(t);
    const auto from = std::chrono::steady_clock::now();
    law.update(plant.q(), plant.qd(), {q, qd, qdd}, kDt, tau);
    const double took =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
    if ((law.time_scale().lag > 0 || !p.keep_path) && took < 2e-5) total += took, ++cycles;
    for (int i = 0; i < static_cast<int>(n); ++i) r.saturated += law.saturated(i);
    const auto squares = [&](double at) {
      const Values there = path.q(at);
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += std::pow(there[i] - plant.q()[i], 2);
      return sum;
    };
    own = std::clamp(std::min(t, path.duration) - law.time_scale().lag, 0.0, path.duration);
    for (double by = 1e-3; by > 1e-7; by /= 4) {
      while (squares(own + by) < squares(own)) own += by;
      while (squares(own - by) < squares(own)) own -= by;
    }
    r.off_path = std::max(r.off_path, std::sqrt(squares(own)));
    r.slowest = std::min(r.slowest, law.time_scale().rate);
    if (ended == 0 && t > path.duration && law.time_scale().lag == 0) ended = t;
    plant.step(tau, kDt);
  }
  r.stretch = ended / path.duration;
  r.cycle = cycles > 0 ? total / static_cast<double>(cycles) : 0;
  for (std::size_t i = 0; i < n; ++i)
    r.end_error = std::max(r.end_error, std::abs(plant.q()[i] - path.q(path.duration)[i]));
  return r;
}

LawParameters weak(const Chain& chain, double share, bool keep_path) {
  LawParameters p = parameters(LawKind::kTrackingIntegral, 40);
  p.friction = 1;
  p.keep_limits = true;
  p.keep_path = keep_path;
  p.torque_limit = limits(chain, share);
  return p;
}

TEST(ControlLaw, KeepsThePathIfTheTorqueIsTooSmall) {
  const Chain chain = puma();
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const LoopResult without = follow(c.path, chain, weak(chain, c.share, false));
    const LoopResult with = follow(c.path, chain, weak(chain, c.share, true));
    EXPECT_GT(without.off_path, 0.05);
    EXPECT_LT(with.off_path, 0.01);
    EXPECT_LT(with.end_error, 1e-3);
    EXPECT_LT(with.stretch, c.stretch);
    EXPECT_GT(with.stretch, 1.01);
    RecordProperty(c.name, std::to_string(with.off_path));
  }
}

TEST(ControlLaw, KeepPathDoesNotChangeAFeasibleMotion) {
  const Chain chain = puma();
  const Path path = quintic(kStart, kFar, 1);
  LawParameters p = weak(chain, 1, false);
  ControlLaw plain(chain, p);
  p.keep_path = true;
  ControlLaw scaled(chain, p);
  Values one(6), two(6);
  for (int k = 0; k < 1500; ++k) {
    const double t = k * kDt;
    const Values q = path.q(t), qd = path.qd(t), qdd = path.qdd(t);
    // An arm that follows with an error.
    Values at = q;
    for (double& value : at) value += 1e-4 * std::sin(20 * t);
    plain.update(at, qd, {q, qd, qdd}, kDt, one);
    const long allocations = test::allocations();
    scaled.update(at, qd, {q, qd, qdd}, kDt, two);
    EXPECT_EQ(test::allocations(), allocations);
    ASSERT_EQ(one, two) << t;
    EXPECT_EQ(scaled.time_scale().rate, 1);
    EXPECT_EQ(scaled.time_scale().lag, 0);
  }
}

TEST(ControlLaw, ComesToRestNearbyIfTheReferenceIsLost) {
  const Chain chain = puma();
  const Path path = quintic(kStart, kFar, 0.4);
  for (const double lost : {0.3, 0.41}) {  // in the motion, and after its end
    SCOPED_TRACE(lost);
    ControlLaw law(chain, weak(chain, 0.5, true));
    ga_dynamics::Plant plant(chain);
    plant.reset(kStart, Values(6, 0.0));
    Values tau(6), there;
    ga_dynamics::Dynamics(chain).gravity(kStart, tau);
    law.start(plant.q(), plant.qd(), tau);
    for (int k = 0; k < 3000; ++k) {
      const double t = k * kDt;
      const Values q = path.q(t), qd = path.qd(t), qdd = path.qdd(t);
      if (t > lost && there.empty()) {
        EXPECT_GT(law.time_scale().lag, 0.05);
        there.assign(plant.q().begin(), plant.q().end());
      }
      law.update(plant.q(), plant.qd(), t > lost ? Reference{} : Reference{q, qd, qdd}, kDt, tau);
      plant.step(tau, kDt);
    }
    for (std::size_t i = 0; i < 6; ++i) {
      // Ahead by what the joint travels at its velocity limit while the velocity decays.
      const double farthest = 0.3 * chain.joints()[i].limits.velocity;
      EXPECT_LT(std::abs(plant.q()[i] - there[i]), farthest) << i;
      EXPECT_LT(std::abs(plant.qd()[i]), 1e-3) << i;
    }
  }
}

TEST(ControlLaw, DropsTheRestOfThePathIfTheReferenceJumps) {
  // A goal is aborted: the sender holds the measured position.
  const Chain chain = puma();
  const Path path = quintic(kStart, kFar, 0.4);
  ControlLaw law(chain, weak(chain, 0.5, true));
  ga_dynamics::Plant plant(chain);
  plant.reset(kStart, Values(6, 0.0));
  Values tau(6), hold, before(6);
  ga_dynamics::Dynamics(chain).gravity(kStart, tau);
  law.start(plant.q(), plant.qd(), tau);
  double farthest = 0, step = 0;
  for (int k = 0; k < 3000; ++k) {
    const double t = k * kDt;
    Values q = path.q(t), qd = path.qd(t), qdd = path.qdd(t);
    if (t > 0.35) {
      if (hold.empty()) {
        EXPECT_GT(law.time_scale().lag, 0.1);
        hold.assign(plant.q().begin(), plant.q().end());
      }
      q = hold;
      qd = qdd = Values(6, 0.0);
    }
    law.update(plant.q(), plant.qd(), {q, qd, qdd}, kDt, tau);
    if (!hold.empty()) {
      EXPECT_EQ(law.time_scale().lag, 0);
      farthest = std::max(farthest, std::abs(plant.q()[0] - hold[0]));
      for (std::size_t i = 0; i < 6; ++i) {
        step = std::max(step, std::abs(tau[i] - before[i]) / chain.joints()[i].limits.effort);
      }
    }
    before = tau;
    plant.step(tau, kDt);
  }
  // The stopping distance from 1.9 rad/s with a quarter of the torque.
  EXPECT_LT(farthest, 0.55);
  EXPECT_LT(step, 0.05);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(plant.q()[i], hold[i], 1e-3);
}

/// A sender like the stock joint_trajectory_controller: its time runs at the rate that it read from the
/// law, its velocities and accelerations do not change.
TEST(SenderClock, OfASenderThatSlowsItsTimeKeepsThePath) {
  const Chain chain = puma();
  for (const bool slows : {false, true}) {
    const Path path = curve(kStart, 0.4, 2);
    ControlLaw law(chain, weak(chain, 0.6, true));
    SenderClock clock(6);
    ga_dynamics::Plant plant(chain);
    plant.reset(path.q(0), Values(6, 0.0));
    Values tau(6);
    ga_dynamics::Dynamics(chain).gravity(path.q(0), tau);
    law.start(plant.q(), plant.qd(), tau);
    double own = 0, reported = 1, off = 0, lag = 0, nearest = 0;
    constexpr double kLag = 0.1;  // s, as the controllers
    long k = 0;
    for (; k < 10000 && (own < path.duration || law.time_scale().lag > 0); ++k) {
      const Values q = path.q(own), qd = path.qd(own), qdd = path.qdd(own);
      const double scale = clock.time_scale(q, qd, kDt, reported);
      if (k > 0 && reported < 0.98) {
        EXPECT_EQ(scale, slows ? reported : 1) << own;
      }
      law.update(plant.q(), plant.qd(), {q, qd, qdd, scale}, kDt, tau);
      const TimeScale now = law.time_scale();
      reported = std::min(now.rate * std::max(2 - now.lag / kLag, 0.25), 1.0);
      plant.step(tau, kDt);
      own += kDt * (slows ? reported : 1);
      lag = std::max(lag, law.time_scale().lag);
      const auto squares = [&](double at) {
        const Values there = path.q(at);
        double sum = 0;
        for (std::size_t i = 0; i < 6; ++i) sum += std::pow(there[i] - plant.q()[i], 2);
        return sum;
      };
      for (double by = 1e-3; by > 1e-7; by /= 4) {
        while (squares(nearest + by) < squares(nearest)) nearest += by;
      }
      off = std::max(off, std::sqrt(squares(nearest)));
    }
    EXPECT_LT(k, 9000);
    EXPECT_LT(off, 0.01);
    EXPECT_LT(lag, slows ? 0.15 : 2);
    EXPECT_GT(lag, slows ? 0.02 : 0.2);
  }
}

/// Senders that corrupt their references in every way do not stop or wind up the time scaling.
TEST(ControlLaw, KeepPathConvergesAfterAnySender) {
  const Chain chain = puma();
  for (int fault = 0; fault < kFaults; ++fault) {
    SCOPED_TRACE(fault);
    LawParameters p = weak(chain, 0.6, true);
    ControlLaw law(chain, p);
    Sender sender(chain, static_cast<unsigned>(fault), fault);
    Sample sample = sender.next();
    Values q = sample.q.empty() ? kStart : sample.q, qd(6), tau(6);
    law.start(q, qd, Values(6, NAN));
    const auto cycle = [&] {
      const long allocations = test::allocations();
      law.update(q, qd, sample.reference(), kDt, tau);
      EXPECT_EQ(test::allocations(), allocations);
      // The arm follows exactly.
      for (std::size_t i = 0; i < 6; ++i) {
        q[i] = law.followed().q[i];
        qd[i] = law.followed().qd[i];
        ASSERT_TRUE(std::isfinite(tau[i]));
      }
    };
    for (int k = 0; k < 4000; ++k) {
      sample = sender.next();
      cycle();
    }
    sample = sender.rest();
    for (int k = 0; k < 8000; ++k) cycle();
    EXPECT_EQ(law.time_scale().lag, 0);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(q[i], sample.q[i], 1e-3);
  }
}

}  // namespace
}  // namespace ga_controllers
