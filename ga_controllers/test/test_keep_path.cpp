// SPDX-License-Identifier: Apache-2.0

// A law that keeps the path: alone, with a sender that slows its time, and with any other sender.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "counting_allocator.hpp"
#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/plant.hpp"
#include "path.hpp"
#include "plugins/sender_clock.hpp"
#include "sender.hpp"

namespace ga_controllers {
namespace {

using ga_dynamics::Chain;

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
    const auto squares = [&](double at) { return path.squares(at, plant.q()); };
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
      const auto squares = [&](double at) { return path.squares(at, plant.q()); };
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

/// A user slows the motion down, pauses it and lets it go on.
TEST(ControlLaw, KeepsThePathAtTheSpeedOfTheUser) {
  const Chain chain = puma();
  for (const bool slows : {false, true}) {  // the sender
    SCOPED_TRACE(slows);
    const Path path = quintic(kStart, kFar, 1);
    ControlLaw law(chain, weak(chain, 1, true));
    SenderClock clock(6);
    ga_dynamics::Plant plant(chain);
    plant.reset(kStart, Values(6, 0.0));
    Values tau(6), paused_at;
    ga_dynamics::Dynamics(chain).gravity(kStart, tau);
    law.start(plant.q(), plant.qd(), tau);
    double own = 0, reported = 1, off = 0, lag = 0, nearest = 0, moved = 0, share = 1;
    long k = 0;
    for (; k < 10000 && (own < path.duration || law.time_scale().lag > 0); ++k) {
      const double t = static_cast<double>(k) * kDt;
      share = t < 0.3 ? 1 : t < 1.0 ? 0.3 : t < 3.0 ? 0 : 1;
      law.set_speed(share);
      const double at = std::min(own, path.duration);
      const Values q = path.q(at), qd = path.qd(at), qdd = path.qdd(at);
      const double scale = clock.time_scale(q, qd, kDt, reported);
      const long allocations = test::allocations();
      law.update(plant.q(), plant.qd(), {q, qd, qdd, scale}, kDt, tau);
      EXPECT_EQ(test::allocations(), allocations);
      const TimeScale now = law.time_scale();
      EXPECT_EQ(law.limit_violation().reason, LimitViolation::Reason::kNone) << t;
      for (int i = 0; i < 6; ++i) EXPECT_FALSE(law.saturated(i)) << t;
      reported =
          std::clamp(now.rate * std::max(2 - now.lag / 0.01, 0.25), std::min(share, 0.02), 1.0);
      plant.step(tau, kDt);
      own += kDt * (slows ? reported : 1);
      lag = std::max(lag, now.lag);
      if (t > 2.0 && t < 3.0) {
        if (paused_at.empty()) paused_at.assign(plant.q().begin(), plant.q().end());
        for (std::size_t i = 0; i < 6; ++i) {
          moved = std::max(moved, std::abs(plant.q()[i] - paused_at[i]));
        }
      }
      const auto squares = [&](double s) { return path.squares(s, plant.q()); };
      for (double by = 1e-3; by > 1e-7; by /= 4) {
        while (squares(nearest + by) < squares(nearest)) nearest += by;
      }
      off = std::max(off, std::sqrt(squares(nearest)));
    }
    EXPECT_LT(k, 6000);
    EXPECT_GT(k, 3200);
    EXPECT_LT(off, 4e-3);
    EXPECT_LT(moved, 1e-3);
    EXPECT_LT(lag, slows ? 0.03 : 3);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(plant.q()[i], kFar[i], 2e-3);
  }
}

TEST(ControlLaw, AtFullSpeedTheUserChangesNothing) {
  const Chain chain = puma();
  const Path path = quintic(kStart, kFar, 1);
  ControlLaw one(chain, weak(chain, 1, true)), two(chain, weak(chain, 1, true));
  Values first(6), second(6);
  for (int k = 0; k < 1500; ++k) {
    const double t = k * kDt;
    const Values q = path.q(t), qd = path.qd(t), qdd = path.qdd(t);
    two.set_speed(1);
    one.update(q, qd, {q, qd, qdd}, kDt, first);
    two.update(q, qd, {q, qd, qdd}, kDt, second);
    ASSERT_EQ(first, second) << t;
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
