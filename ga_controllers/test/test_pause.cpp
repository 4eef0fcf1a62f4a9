// SPDX-License-Identifier: Apache-2.0

// Pauses: they last through whatever the sender and the user do, for as long as they like.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "counting_allocator.hpp"
#include "driven_puma.hpp"
#include "ga_controllers/control_law.hpp"
#include "wave.hpp"

namespace ga_controllers {
namespace {

using Reason = LimitViolation::Reason;

LawParameters pausable(LawKind kind = LawKind::kTrackingIntegral) {
  LawParameters p = parameters(kind, 40);
  p.friction = 1;
  p.integral_dead_band = 3e-4;
  p.keep_limits = p.keep_path = true;
  return p;
}

double distance(std::span<const double> a, std::span<const double> b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

/// A law whose arm follows exactly.
struct ExactArm {
  explicit ExactArm(const LawParameters& p) : law(chain, p), q(Wave(0).q), qd(Wave(0).qd) {
    law.start(q, qd, Values(6, NAN));
  }
  void cycle(const Reference& reference) {
    const long allocations = test::allocations();
    status = law.update(q, qd, reference, kDt, tau);
    EXPECT_EQ(test::allocations(), allocations);
    const Values before = q;
    for (std::size_t i = 0; i < 6; ++i) {
      q[i] = law.followed().q[i];
      qd[i] = law.followed().qd[i];
      const double limit = chain.joints()[i].limits.velocity;
      fastest =
          std::max({fastest, std::abs(qd[i]) / limit, std::abs(q[i] - before[i]) / limit / kDt});
      ASSERT_TRUE(std::isfinite(tau[i]));
    }
  }
  /// Follows the wave between these times [s].
  void follow(double from, double to) {
    const long last = std::lround(to / kDt);
    for (long k = std::lround(from / kDt); k < last; ++k) {
      cycle(Wave(static_cast<double>(k) * kDt).reference());
    }
  }
  /// rad, from the place of the wave where the law says that it is.
  double off_path(double time) const {
    return distance(law.followed().q, Wave(time - kDt - law.time_scale().lag).q);
  }

  ga_dynamics::Chain chain = puma();
  ControlLaw law;
  Values q, qd, tau = Values(6);
  LawStatus status = LawStatus::kOk;
  double fastest = 0;  ///< relative to the velocity limit
};

TEST(Pause, OfTwoMinutesEndsOnThePath) {
  ExactArm arm(pausable());
  arm.follow(0, 3);
  arm.law.set_speed(0);
  arm.follow(3, 4);
  const Values at = arm.q;
  arm.follow(4, 123);
  EXPECT_EQ(arm.q, at);
  EXPECT_FALSE(arm.law.time_scale().lost);
  arm.law.set_speed(1);
  double off = 0;
  for (double t = 123; t < 253; t += 0.05) {
    arm.follow(t, t + 0.05);
    off = std::max(off, arm.off_path(t + 0.05));
  }
  EXPECT_EQ(arm.law.limit_violation().reason, Reason::kNone);
  EXPECT_LT(off, 1e-4);
  EXPECT_LT(arm.fastest, 1);
}

TEST(Pause, OfTenMinutesHoldsTheArmReportsTheLostPathAndThenGoesToTheReference) {
  ExactArm arm(pausable());
  arm.follow(0, 3);
  arm.law.set_speed(0);
  arm.follow(3, 4);
  const Values at = arm.q;
  arm.follow(4, 150);
  EXPECT_EQ(arm.law.limit_violation().reason, Reason::kNone);
  arm.follow(150, 603);
  EXPECT_EQ(arm.q, at);
  EXPECT_TRUE(arm.law.time_scale().lost);
  EXPECT_EQ(arm.law.time_scale().rate, 0);
  EXPECT_EQ(arm.law.limit_violation().reason, Reason::kPathLost);
  arm.law.set_speed(1);
  arm.follow(603, 610);
  EXPECT_FALSE(arm.law.time_scale().lost);
  EXPECT_EQ(arm.law.limit_violation().reason, Reason::kNone);
  EXPECT_LT(arm.law.time_scale().lag, 0.5);
  EXPECT_LT(arm.off_path(610), 1e-6);
  EXPECT_LT(arm.fastest, 1);
}

TEST(Pause, OfASenderThatStopsAndResumesEndsOnThePath) {
  // The wave rests for ten minutes: that takes no time.
  ExactArm arm(pausable());
  const Values zero(6, 0.0);
  arm.follow(0, 3);
  arm.law.set_speed(0);
  arm.follow(3, 8);
  const Values at = arm.q;
  const auto rest = [&](double seconds, const Values& q) {
    std::mt19937 random(1);
    std::normal_distribution<double> noise(0, 1e-5);
    for (int k = 0; k < seconds / kDt; ++k) {
      Values noisy = q;
      for (double& value : noisy) value += noise(random);
      arm.cycle({noisy, zero, zero});
    }
  };
  // It brakes within half a second, s from 8 to 8.25.
  const auto slowed = [&](double from, double sign) {
    for (int k = 0; k < 500; ++k) {
      const double x = k * kDt, rate = sign > 0 ? 2 * x : 1 - 2 * x;
      Wave wave(from + (sign > 0 ? x * x : x - x * x));
      for (std::size_t i = 0; i < 6; ++i) {
        wave.qdd[i] = wave.qdd[i] * rate * rate + sign * 2 * wave.qd[i];
        wave.qd[i] *= rate;
      }
      arm.cycle(wave.reference());
    }
  };
  slowed(8, -1);
  rest(600, Wave(8.25).q);
  slowed(8.25, 1);
  arm.follow(8.5, 12);
  EXPECT_EQ(arm.q, at);
  EXPECT_FALSE(arm.law.time_scale().lost);
  arm.law.set_speed(1);
  double off = 0, own = 3.25;
  for (double t = 12; t < 30; t += 0.01) {
    arm.follow(t, t + 0.01);
    // The arm is at one place of the wave after another.
    const auto squares = [&](double s) {
      const Values there = Wave(s).q;
      double sum = 0;
      for (std::size_t i = 0; i < 6; ++i) sum += std::pow(there[i] - arm.q[i], 2);
      return sum;
    };
    for (double by = 0.01; by > 1e-7; by /= 2) {
      while (squares(own + by) < squares(own)) own += by;
      while (squares(own - by) < squares(own)) own -= by;
    }
    off = std::max(off, std::sqrt(squares(own)));
  }
  EXPECT_GT(own, 15);
  EXPECT_LT(off, 2e-4);
}

TEST(Pause, AReferenceThatRestsReleasesAnArmThatHasLostItsPath) {
  // Hardly a speed, for good. The arm stops where the path ends, until the sender does.
  ExactArm arm(pausable());
  arm.law.set_speed(0.005);
  double t = 0;
  while (!arm.law.time_scale().lost && t < 600) arm.follow(t, t + 1), t += 1;
  EXPECT_GT(t, 150);
  EXPECT_TRUE(arm.law.time_scale().lost);
  arm.follow(t, t + 2);
  const Values at = arm.q;
  arm.follow(t + 2, t + 10);
  EXPECT_EQ(arm.q, at);
  EXPECT_EQ(arm.law.time_scale().rate, 0);
  EXPECT_EQ(arm.law.limit_violation().reason, Reason::kPathLost);
  const Values goal = Wave(t + 10).q, zero(6, 0.0);
  for (int k = 0; k < 10; ++k) arm.cycle({goal, zero, zero});
  EXPECT_FALSE(arm.law.time_scale().lost);
  arm.law.set_speed(1);
  for (int k = 0; k < 8000; ++k) arm.cycle({goal, zero, zero});
  EXPECT_LT(distance(arm.q, goal), 1e-3);
  EXPECT_LT(arm.fastest, 1);
}

/// What happens in a pause, to the law once and to every sample.
struct Event {
  const char* name;
  std::function<void(Drive&)> once;
  std::function<void(Wave&)> sample;
};

TEST(Pause, LastsThroughJumpsChangesOfTheLawAndNoise) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  const auto nothing = [](Drive&) {};
  const auto noise = [&](double size) {
    return [&random, &normal, size](Wave& wave) {
      for (double& q : wave.q) q += size * normal(random);
    };
  };
  const auto to = [](LawKind kind) { return [kind](Drive& drive) { drive.law.change(kind); }; };
  bool up = false;
  const Event events[] = {
      {"point to point", to(LawKind::kPointToPoint), {}},
      {"tracking", to(LawKind::kTracking), {}},
      {"gravity hold", to(LawKind::kGravityHold), {}},
      {"gains",
       [](Drive& drive) {
         const JointGains gains = gains_from_bandwidth(30, 1);
         EXPECT_TRUE(drive.law.change_gains({&gains, 1}));
       },
       {}},
      {"start",
       [](Drive& drive) { drive.law.start(drive.plant.q(), drive.plant.qd(), drive.tau); },
       {}},
      {"noise of 0.1 mrad", nothing, noise(1e-4)},
      {"noise of 1 mrad", nothing, noise(1e-3)},
      {"noise of 10 mrad", nothing, noise(1e-2)},
      {"jump", nothing,
       [](Wave& wave) {
         for (double& q : wave.q) q += 0.3;
       }},
      {"jumps", nothing,
       [&up](Wave& wave) {
         up = !up;
         for (double& q : wave.q) q += up ? 0.2 : -0.2;
       }},
      {"point to point, jumps", to(LawKind::kPointToPoint),
       [&up](Wave& wave) {
         up = !up;
         for (double& q : wave.q) q += up ? 0.2 : -0.2;
       }},
      {"lost", nothing, [](Wave& wave) { wave.q.clear(); }},
      {"not finite", nothing, [](Wave& wave) { wave.q[2] = NAN; }},
  };
  for (const Event& event : events) {
    SCOPED_TRACE(event.name);
    Drive drive(pausable(), true, Wave(0).q, Values(6, 0.0));
    drive.follow(0, 2);
    drive.law.set_speed(0);
    drive.follow(2, 3);
    const Values at = drive.position();
    event.once(drive);
    double moved = 0;
    for (int k = 3000; k < 8000; ++k) {
      Wave wave(k * kDt);
      if (event.sample) event.sample(wave);
      drive.cycle(wave.reference());
      moved = std::max(moved, distance(drive.plant.q(), at));
    }
    EXPECT_LT(moved, 1e-3);
    EXPECT_EQ(drive.law.time_scale().rate, 0);
    drive.law.set_speed(1);
    drive.follow(8, 20);
    EXPECT_NEAR(drive.law.time_scale().rate, 1, 1e-6);
    EXPECT_LT(drive.fastest, 1);
    if (drive.law.kind() == LawKind::kGravityHold) continue;
    const double lag = drive.law.time_scale().lag, error = 5e-2;  // of point to point
    const bool exact = drive.law.kind() != LawKind::kPointToPoint;
    EXPECT_LT(distance(drive.plant.q(), Wave(20 - kDt - lag).q), exact ? 5e-3 : error);
  }
}

TEST(Pause, NoiseOfTheReferenceDoesNotEndThePath) {
  std::mt19937 random(3);
  std::normal_distribution<double> noise(0, 3e-4);
  ExactArm arm(pausable());
  double off = 0;
  for (int k = 0; k < 25000; ++k) {
    if (k == 3000) arm.law.set_speed(0);
    if (k == 13000) arm.law.set_speed(1);
    Wave wave(k * kDt);
    for (double& q : wave.q) q += noise(random);
    arm.cycle(wave.reference());
    if (k > 1000) off = std::max(off, arm.off_path((k + 1) * kDt));
  }
  EXPECT_GT(arm.law.time_scale().lag, 9);
  EXPECT_LT(off, 1e-3);
}

TEST(Pause, AtRestTheRateIsThatOfTheUserAtOnce) {
  ExactArm arm(pausable());
  const Values at = Wave(0).q, zero(6, 0.0);
  for (int k = 0; k < 2000; ++k) arm.cycle({at, zero, zero});
  EXPECT_EQ(arm.law.time_scale().rate, 1);
  arm.law.set_speed(0.25);
  arm.cycle({at, zero, zero});
  EXPECT_EQ(arm.law.time_scale().rate, 0.25);
  EXPECT_EQ(arm.law.time_scale().lag, 0);
}

TEST(Pause, ASpeedThatIsNotFiniteIsIgnored) {
  ExactArm one(pausable()), two(pausable());
  for (int k = 0; k < 3000; ++k) {
    const Wave wave(k * kDt);
    if (k == 1000) one.law.set_speed(0.5), two.law.set_speed(0.5);
    for (const double speed : {double{NAN}, double{INFINITY}, -double{INFINITY}}) {
      if (k % 500 == 1) two.law.set_speed(speed);
    }
    one.cycle(wave.reference());
    two.cycle(wave.reference());
    ASSERT_EQ(one.tau, two.tau) << k;
  }
  EXPECT_EQ(two.law.time_scale().rate, 0.5);
}

}  // namespace
}  // namespace ga_controllers
