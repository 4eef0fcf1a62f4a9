// SPDX-License-Identifier: Apache-2.0

// The laws on the real model: exact linearization, starts, terms, limits, bad inputs.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "counting_allocator.hpp"
#include "driven_puma.hpp"
#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/plant.hpp"
#include "wave.hpp"

namespace ga_controllers {
namespace {

using ga_dynamics::Chain;
using ga_dynamics::Dynamics;
using ga_dynamics::Plant;

TEST(Gains, FromBandwidthAndDamping) {
  const JointGains g = gains_from_bandwidth(20, 0.7);
  EXPECT_DOUBLE_EQ(g.kp, 400);
  EXPECT_DOUBLE_EQ(g.kd, 28);
  EXPECT_DOUBLE_EQ(g.ki, 2560);
  EXPECT_THROW(gains_from_bandwidth(0, 1), std::invalid_argument);
  EXPECT_THROW(gains_from_bandwidth(10, NAN), std::invalid_argument);
  EXPECT_THROW(gains_from_bandwidth(INFINITY, 1), std::invalid_argument);
}

TEST(ControlLaw, GivesTheArmTheCommandedAcceleration) {
  // tau = D v + C + G: forward dynamics must return v, for each law's formula.
  const Chain chain = puma();
  Dynamics dynamics(chain, {.drives = ga_dynamics::Drives::kArmature});
  const Wave at(0.7);
  Values q = at.q, qd = at.qd;
  for (std::size_t i = 0; i < 6; ++i)
    q[i] += 0.01, qd[i] -= 0.05;  // error 0.01, velocity error −0.05
  for (const LawKind kind : kAllLaws) {
    if (kind == LawKind::kHandGuiding) continue;  // commands no acceleration
    LawParameters p = parameters(kind);
    p.torque_limit = Values(6, 1e6);
    p.blend_time = 0;
    ControlLaw law(chain, p);
    law.start(q, qd, Values(6, NAN));
    Values tau(6), qdd(6);
    ASSERT_EQ(law.update(q, qd, at.reference(), kDt, tau), LawStatus::kOk);
    dynamics.forward_dynamics(q, qd, tau, qdd);
    for (std::size_t i = 0; i < 6; ++i) {
      double v = 0;
      if (kind == LawKind::kGravityHold || kind == LawKind::kGravityCompensation) v = -60 * qd[i];
      if (kind == LawKind::kPointToPoint) v = -60 * qd[i] - 900 * 0.01;
      if (kind == LawKind::kTracking || kind == LawKind::kTrackingIntegral) {
        v = at.qdd[i] + 60 * 0.05 - 900 * 0.01;
      }
      EXPECT_NEAR(qdd[i], v, 1e-9) << "law " << static_cast<int>(kind) << ", joint " << i + 1;
    }
  }
}

TEST(ControlLaw, TracksWithoutErrorWithAnExactModel) {
  const Chain chain = puma();
  Plant plant(chain, {.friction = false});
  ControlLaw law(chain, parameters(LawKind::kTracking, 60));
  const Wave start(0);
  plant.reset(start.q, start.qd);
  law.start(start.q, start.qd, Values(6, 0.0));
  Values tau(6);
  double worst = 0;
  for (int k = 0; k < 4000; ++k) {
    const Wave now(k * kDt);
    if (k > 1000) {
      for (std::size_t i = 0; i < 6; ++i)
        worst = std::max(worst, std::abs(plant.q()[i] - now.q[i]));
    }
    law.update(plant.q(), plant.qd(), now.reference(), kDt, tau);
    plant.step(tau, kDt);
  }
  // The remainder is due to the torque being constant within a cycle.
  EXPECT_LT(worst, 2e-5);
}

TEST(ControlLaw, KnownFrictionFedForwardKeepsTheErrorSmall) {
  const auto worst_error = [](double share) {
    const Chain chain = puma();
    Plant plant(chain);
    LawParameters p = parameters(LawKind::kTracking, 40);
    p.friction = share;
    ControlLaw law(chain, p);
    const Wave start(0);
    plant.reset(start.q, start.qd);
    law.start(start.q, start.qd, Values(6, 0.0));
    Values tau(6);
    double worst = 0;
    for (int k = 0; k < 6000; ++k) {
      const Wave now(k * kDt);
      if (k > 1000) {
        for (std::size_t i = 0; i < 6; ++i) {
          worst = std::max(worst, std::abs(plant.q()[i] - now.q[i]));
        }
      }
      law.update(plant.q(), plant.qd(), now.reference(), kDt, tau);
      plant.step(tau, kDt);
    }
    return worst;
  };
  EXPECT_LT(worst_error(1), 1e-3);
  EXPECT_GT(worst_error(0), 5 * worst_error(1));
}

TEST(ControlLaw, FrictionThatIsFedForwardLateIsNoDisturbance) {
  // Joint 1 starts with an acceleration step. Its friction is a quarter of the torque limit, which takes
  // 13 ms at 2 % per millisecond. The model is exact: what is still missing is known.
  LawParameters p = parameters(LawKind::kTrackingIntegral, 40);
  p.friction = 1;
  p.friction_velocity = 3e-4;
  const Values start{0, -1, 1, 0, 0.4, 0};
  for (const double way : {1.0, -1.0}) {
    Drive drive(p, true, start, Values(6));
    drive.plant = Plant(drive.chain, {.stops = false});
    drive.plant.reset(start, Values(6));
    Values q = start, qd(6), qdd(6);
    drive.cycles({q, qd, qdd}, 300);
    double furthest_ahead = 0, disturbance = 0;
    for (int k = 0; k < 300; ++k) {
      const double t = k * kDt, a = 4 * way;
      q[0] = a * t * t / 2, qd[0] = a * t, qdd[0] = a;
      drive.cycle({q, qd, qdd});
      const double ahead = way * (drive.plant.q()[0] - a * (t + kDt) * (t + kDt) / 2);
      furthest_ahead = std::max(furthest_ahead, ahead);
      const double torque = drive.law.disturbance_torque()[0];
      disturbance = std::max(disturbance, std::abs(torque) / drive.chain.joints()[0].limits.effort);
    }
    EXPECT_LT(furthest_ahead, 2e-5) << "it falls behind and catches up, without overshoot";
    EXPECT_LT(disturbance, 0.002);
  }
}

TEST(ControlLaw, StartContinuesThePreviousTorque) {
  const Chain chain = puma();
  ControlLaw law(chain, parameters(LawKind::kTracking));
  const Wave at(0);
  const Values before{1, 30, 10, 0.3, 0.2, 0.1};
  law.start(at.q, at.qd, before);
  Values tau(6);
  law.update(at.q, at.qd, at.reference(), kDt, tau);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(tau[i], before[i], 1e-12);
}

TEST(ControlLaw, ThePreviousTorqueDoesNotAddToTheLimit) {
  // Blending from 38 N m with an error that demands the full 40 N m: still 40, although 97.6 are
  // possible.
  const Chain chain = puma();
  LawParameters p = parameters(LawKind::kTracking);
  p.torque_limit = {40, 80, 40, 10, 10, 10};
  ControlLaw law(chain, p);
  const Values rest(6, 0.0), at = Wave(0).q;
  Values q = at, tau(6);
  law.start(q, rest, Values{38, 0, 0, 0, 0, 0});
  law.update(q, rest, {at, rest, rest}, kDt, tau);
  ASSERT_NEAR(tau[0], 38, 1e-12);
  q[0] -= 1;
  for (int k = 0; k < 6; ++k) law.update(q, rest, {at, rest, rest}, kDt, tau);
  EXPECT_DOUBLE_EQ(tau[0], 40) << "the first cycles count as an encoder glitch";
}

TEST(ControlLaw, StartsWithItsOwnTorqueIfTheArmWasNotDriven) {
  // The brakes were closed: from zero torque the arm would sag before the blend ends.
  const Chain chain = puma();
  ControlLaw law(chain, parameters(LawKind::kGravityHold));
  const Wave at(0);
  const Values rest(6, 0.0);
  Values tau(6), gravity(6);
  law.start(at.q, rest, Values(6, NAN));
  law.update(at.q, rest, {}, kDt, tau);
  Dynamics(chain).gravity(at.q, gravity);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(tau[i], gravity[i], 1e-12);
}

TEST(ControlLaw, TermsAddUpToTheTorque) {
  const Chain chain = puma();
  LawParameters p = parameters(LawKind::kTrackingIntegral, 30);
  p.friction = 1;
  ControlLaw law(chain, p);
  Dynamics dynamics(chain, {.drives = ga_dynamics::Drives::kArmature});
  Values tau(6), expected(6), bad(6, NAN), q(6), before(6, 1.0);
  for (int k = 0; k < 105; ++k) {
    const Wave now(k * kDt);
    for (std::size_t i = 0; i < 6; ++i) q[i] = now.q[i] + 0.02;
    if (k >= 99) q[2] += 1;  // saturates, after some cycles in which it counts as a glitch
    // Every update starts the law anew: then the observed state is the measured one.
    if (k < 99) law.start(q, now.qd, before);
    law.update(k == 50 ? bad : q, now.qd, now.reference(), kDt, tau);
    std::copy(tau.begin(), tau.end(), before.begin());
    const TorqueTerms t = law.terms();
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_NEAR(t.inertia[i] + t.coriolis[i] + t.gravity[i] + t.friction[i] + t.feedback[i] +
                      t.blend[i] + t.limit[i],
                  tau[i], 1e-9);
      EXPECT_DOUBLE_EQ(t.total[i], tau[i]);
      if (k < 99) {
        EXPECT_NEAR(t.limit[i], 0, 1e-9);
      }
    }
    if (k == 50 || k >= 99) continue;
    dynamics.gravity(q, expected);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(t.gravity[i], expected[i], 1e-9);
    dynamics.inverse_dynamics(q, Values(6, 0.0), law.followed().qdd, expected);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(t.inertia[i] + t.gravity[i], expected[i], 1e-9);
  }
  EXPECT_GT(std::abs(law.terms().limit[2]), 1);
}

TEST(ControlLaw, ReadingTheTermsChangesNothing) {
  const Chain chain = puma();
  for (const LawKind kind : kAllLaws) {
    ControlLaw asked(chain, parameters(kind)), other(chain, parameters(kind));
    const Wave start(0);
    Values tau(6), expected(6);
    for (ControlLaw* law : {&asked, &other}) law->start(start.q, start.qd, Values(6, 0.0));
    for (int k = 0; k < 2000; ++k) {
      Wave at(k * kDt);
      const Wave arm = at;
      // Jumps near the smoothing threshold, at varying inertias.
      if (k % 10 == 0) at.q[1] += 2e-6 * k, at.q[2] -= 1e-6 * k;
      asked.update(arm.q, arm.qd, at.reference(), kDt, tau);
      other.update(arm.q, arm.qd, at.reference(), kDt, expected);
      asked.terms();
      ASSERT_EQ(tau, expected) << k;
    }
  }
}

TEST(ControlLaw, AReferenceWithoutRatesRests) {
  const Chain chain = puma();
  const Wave start(0);
  const Values rest(6, 0.0);
  for (const LawKind kind : {LawKind::kTracking, LawKind::kTrackingIntegral}) {
    ControlLaw bare(chain, parameters(kind)), full(chain, parameters(kind));
    Values tau(6), expected(6);
    for (ControlLaw* law : {&bare, &full}) law->start(start.q, rest, Values(6, 0.0));
    for (int k = 0; k < 100; ++k) {
      EXPECT_EQ(bare.update(start.q, rest, {start.q, {}, {}}, kDt, tau), LawStatus::kOk);
      full.update(start.q, rest, {start.q, rest, rest}, kDt, expected);
      ASSERT_EQ(tau, expected) << k;
    }
  }
}

TEST(ControlLaw, TorqueAndItsRateStayWithinTheirLimits) {
  const Chain chain = puma();
  LawParameters p = parameters(LawKind::kTrackingIntegral, 100);
  p.torque_rate_limit = Values(6, 500);
  ControlLaw law(chain, p);
  const Wave at(0);
  law.start(at.q, Values(6, 0.0), Values(6, 0.0));
  Values far = at.q, tau(6), before(6, 0.0);
  for (double& v : far) v += 2;
  for (int k = 0; k < 1000; ++k) {
    law.update(at.q, Values(6, 0.0), {far, Values(6, 0.0), Values(6, 0.0)}, kDt, tau);
    for (std::size_t i = 0; i < 6; ++i) {
      ASSERT_LE(std::abs(tau[i]), chain.joints()[i].limits.effort);
      ASSERT_LE(std::abs(tau[i] - before[i]), 500 * kDt + 1e-12);
    }
    before = tau;
  }
  EXPECT_TRUE(law.saturated(0));
}

TEST(ControlLaw, IntegralDoesNotWindUpAtALimit) {
  // A step that saturates the motors for a while: without anti-windup the integral overshoots for
  // seconds.
  const Chain chain = puma();
  Plant plant(chain);
  LawParameters p = parameters(LawKind::kTrackingIntegral, 20);
  p.friction = 1;
  p.blend_time = 0;  // no bumpless start
  ControlLaw law(chain, p);
  const Values start{0, -0.8, 1.6, 0, 0.1, 0}, rest(6, 0.0);
  Values goal = start, tau(6);
  goal[0] = 1.2;
  plant.reset(start, rest);
  law.start(start, rest, rest);
  double overshoot = 0;
  bool saturated = false;
  for (int k = 0; k < 5000; ++k) {
    law.update(plant.q(), plant.qd(), {goal, rest, rest}, kDt, tau);
    saturated = saturated || law.saturated(0);
    plant.step(tau, kDt);
    overshoot = std::max(overshoot, plant.q()[0] - goal[0]);
  }
  EXPECT_TRUE(saturated);
  EXPECT_LT(overshoot, 0.1 * 1.2);
  EXPECT_NEAR(plant.q()[0], goal[0], 1e-3);
}

TEST(ControlLaw, NonFiniteReferenceHoldsTheLastValidOne) {
  const Chain chain = puma();
  LawParameters p = parameters(LawKind::kTracking);
  p.error_cycles = 3;
  ControlLaw law(chain, p);
  const Wave at(0.3);
  const Values rest(6, 0.0);
  law.start(at.q, rest, rest);
  Values tau(6), bad = at.q;
  ASSERT_EQ(law.update(at.q, rest, at.reference(), kDt, tau), LawStatus::kOk);
  bad[3] = NAN;
  EXPECT_EQ(law.update(at.q, rest, {bad, rest, rest}, kDt, tau), LawStatus::kReferenceHeld);
  for (const double v : tau) EXPECT_TRUE(std::isfinite(v));
  EXPECT_EQ(law.update(at.q, rest, {at.q, rest, bad}, kDt, tau), LawStatus::kReferenceHeld);
  EXPECT_EQ(law.update(at.q, rest, {at.q, bad, rest}, kDt, tau), LawStatus::kError);
  EXPECT_EQ(law.update(at.q, rest, at.reference(), kDt, tau), LawStatus::kOk) << "good again";
  EXPECT_NE(to_string(LawStatus::kReferenceHeld).find("reference"), std::string::npos);
}

TEST(ControlLaw, NonFiniteStateCompensatesGravity) {
  const Chain chain = puma();
  LawParameters p = parameters(LawKind::kTracking);
  p.error_cycles = 2;
  p.blend_time = 0;
  ControlLaw law(chain, p);
  const Wave at(0.3);
  const Values rest(6, 0.0);
  law.start(at.q, rest, rest);
  Values tau(6), gravity(6), bad(6, NAN);
  law.update(at.q, rest, at.reference(), kDt, tau);
  EXPECT_EQ(law.update(bad, rest, at.reference(), kDt, tau), LawStatus::kStateHeld);
  Dynamics(chain).gravity(at.q, gravity);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(tau[i], gravity[i], 1e-12);
  EXPECT_EQ(law.update(at.q, bad, at.reference(), kDt, tau), LawStatus::kError);
  for (const double v : tau) EXPECT_TRUE(std::isfinite(v));
}

TEST(ControlLaw, AStateThatNoArmCanHaveLeavesNothingBehind) {
  // A corrupted message is a finite number. One cycle of it must not make the law blind for ever.
  const Chain chain = puma();
  for (const bool velocity : {false, true}) {
    for (const double huge : {1e300, -1e300, 2e6}) {
      Drive drive(parameters(LawKind::kTrackingIntegral), false, Wave(0).q, Wave(0).qd);
      drive.follow(0, 0.2);
      Values q(drive.plant.q().begin(), drive.plant.q().end()),
          qd(drive.plant.qd().begin(), drive.plant.qd().end()), tau(6);
      (velocity ? qd : q)[2] = huge;
      EXPECT_EQ(drive.law.update(q, qd, Wave(0.2).reference(), kDt, tau), LawStatus::kStateHeld)
          << huge;
      drive.plant.step(tau, kDt);
      drive.follow(0.2 + kDt, 1.2);
      EXPECT_EQ(drive.status, LawStatus::kOk);
      for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_NEAR(drive.plant.q()[i], Wave(1.2).q[i], 1e-3) << huge << ", joint " << i + 1;
      }
    }
  }
}

TEST(ControlLaw, APreviousTorqueThatNoJointCanHaveIsNotTakenOver) {
  std::vector<ga_dynamics::DhJoint> rows(1);  // without an effort limit
  rows[0].body = {2, {0.3, 0, 0}, {0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1}};
  rows[0].drive.armature = 0.1;
  const Chain chain = Chain::from_dh(rows, {0, -9.81, 0});
  for (const double huge : {1e300, -2e6}) {
    ControlLaw law(chain, parameters(LawKind::kTrackingIntegral));
    const Values q{0.2}, rest{0}, before{huge};
    Values tau(1), gravity(1);
    law.start(q, rest, before);
    Dynamics(chain).gravity(q, gravity);
    for (int k = 0; k < 10; ++k) {
      law.update(q, rest, {q, rest, rest}, kDt, tau);
      EXPECT_NEAR(tau[0], gravity[0], 1e-9) << huge;
      EXPECT_EQ(law.disturbance()[0], 0);
    }
  }
}

TEST(ControlLaw, StartedWithoutAStateItKeepsTheTorque) {
  const Chain chain = puma();
  ControlLaw law(chain, parameters(LawKind::kGravityHold));
  const Wave at(0.3);
  const Values rest(6, 0.0), bad(6, NAN), before{1, 30, 10, 0.3, 0.2, 0.1};
  Values tau(6);
  law.start(bad, rest, before);
  EXPECT_EQ(law.update(bad, rest, {}, kDt, tau), LawStatus::kStateHeld);
  EXPECT_EQ(tau, before);
  EXPECT_EQ(law.update(at.q, rest, {}, kDt, tau), LawStatus::kOk);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(tau[i], before[i], 1e-12);
}

TEST(ControlLaw, AMasslessJointDoesNotDisturbTheOthers) {
  ga_dynamics::DhJoint arm, flange;
  arm.body = {1, {0.3, 0, 0}, {0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.01}};
  arm.limits = flange.limits = {-2, 2, 2, 50};
  flange.dh.a = 0.5;
  const Chain chain = Chain::from_dh({arm, flange}, {0, -9.81, 0});
  for (const bool keep_limits : {false, true}) {
    LawParameters p = parameters(LawKind::kTrackingIntegral);
    p.keep_limits = keep_limits;
    ControlLaw law(chain, p);
    const Values rest(2, 0.0);
    Values q{0.2, 0.1}, tau(2), qd{0.1, 0.1};
    law.start(q, qd, rest);
    for (int k = 0; k < 1000; ++k) {
      q[0] = 0.2 + 0.1 * std::sin(0.01 * k);
      if (k == 300) law.change(LawKind::kTracking);
      ASSERT_EQ(law.update(q, qd, {q, rest, rest}, kDt, tau), LawStatus::kOk);
      for (std::size_t i = 0; i < 2; ++i) {
        ASSERT_TRUE(std::isfinite(tau[i]));
        ASSERT_TRUE(std::isfinite(law.followed().q[i]));
        ASSERT_TRUE(std::isfinite(law.followed().qd[i]));
        ASSERT_TRUE(std::isfinite(law.followed().qdd[i]));
      }
    }
  }
}

TEST(ControlLaw, NothingAllocatesAfterConstruction) {
  const Chain chain = puma();
  LawParameters p = parameters(LawKind::kTracking);
  p.friction = 1;
  ControlLaw law(chain, p);
  const Wave at(0.3);
  const JointGains other = gains_from_bandwidth(50, 1);
  Values tau(6), bad(6, NAN);
  const long before = test::allocations();
  law.start(at.q, at.qd, tau);
  for (int k = 0; k < 100000; ++k) {
    law.change(kAllLaws[k % 4]);
    if (k % 100 == 0) law.change_gains(std::span(&other, 1));
    law.update(k % 1000 == 7 ? bad : at.q, at.qd, at.reference(), kDt, tau);
    law.terms();
  }
  EXPECT_EQ(test::allocations() - before, 0);
}

TEST(ControlLaw, RefusesImpossibleParameters) {
  const Chain chain = puma();
  const auto refused = [&](const std::function<void(LawParameters&)>& spoil, const char* name) {
    LawParameters p = parameters(LawKind::kTracking);
    spoil(p);
    try {
      ControlLaw law(chain, p);
      ADD_FAILURE() << name << " was accepted";
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
  };
  refused([](LawParameters& p) { p.gains.clear(); }, "gains");
  refused([](LawParameters& p) { p.gains[0].kp = -1; }, "gains");
  refused([](LawParameters& p) { p.gains[0].kd = NAN; }, "gains");
  refused([](LawParameters& p) { p.torque_limit = {1, 2}; }, "torque_limit");
  refused([](LawParameters& p) { p.torque_limit = Values(6, 0.0); }, "torque_limit");
  refused([](LawParameters& p) { p.torque_rate_limit = Values(6, -1.0); }, "torque_rate_limit");
  refused([](LawParameters& p) { p.friction = 1.5; }, "friction");
  refused([](LawParameters& p) { p.friction_velocity = 0; }, "friction_velocity");
  refused([](LawParameters& p) { p.integral_dead_band = -1; }, "integral_dead_band");
  refused([](LawParameters& p) { p.integral_limit = NAN; }, "integral_limit");
  refused([](LawParameters& p) { p.blend_time = -1; }, "blend_time");
  refused([](LawParameters& p) { p.error_cycles = 0; }, "error_cycles");
}

}  // namespace
}  // namespace ga_controllers
