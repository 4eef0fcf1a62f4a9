// SPDX-License-Identifier: Apache-2.0

// The laws on the real model: exact linearization, limits, changes in mid-motion, bad inputs.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "counting_allocator.hpp"
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

/// Lets the PUMA follow the wave for 0.8 s and then the reference `after` (empty: none). Returns
/// the largest torque change per cycle in the next 50 ms, relative to the limit.
struct Jump {
  Jump(LawKind kind, const std::function<std::optional<Wave>(const Wave&, const Plant&)>& after) {
    const Chain chain = puma();
    Plant plant(chain, {.friction = false});
    ControlLaw law(chain, parameters(kind, 30));
    const Wave start(0);
    plant.reset(start.q, start.qd);
    law.start(start.q, start.qd, Values(6, 0.0));
    Values tau(6), before(6);
    std::optional<Wave> now;
    for (int k = 0; k < 4000; ++k) {
      if (k < 800) now = Wave(k * kDt);
      if (k == 800) now = after(Wave(0.8), plant);
      if (k == 800) at_jump.assign(plant.q().begin(), plant.q().end());
      before = tau;
      law.update(plant.q(), plant.qd(), now ? now->reference() : Reference{}, kDt, tau);
      for (std::size_t i = 0; i < 6 && k >= 800 && k < 850; ++i) {
        step = std::max(step, std::abs(tau[i] - before[i]) / chain.joints()[i].limits.effort);
      }
      plant.step(tau, kDt);
      for (std::size_t i = 0; i < 6 && k >= 800; ++i) {
        const double back = (plant.q()[i] - at_jump[i]) * (Wave(0.8).qd[i] > 0 ? 1 : -1);
        furthest_back = std::min(furthest_back, back);
      }
    }
    end.assign(plant.q().begin(), plant.q().end());
    for (const double rate : plant.qd()) speed = std::max(speed, std::abs(rate));
  }
  double step = 0, speed = 0, furthest_back = 0;
  Values at_jump, end;
};

TEST(ControlLaw, WithoutAReferenceTheArmComesToRestWithoutReturning) {
  for (const LawKind kind :
       {LawKind::kPointToPoint, LawKind::kTracking, LawKind::kTrackingIntegral}) {
    const Jump jump(kind, [](const Wave&, const Plant&) { return std::nullopt; });
    EXPECT_LT(jump.step, 0.01);
    EXPECT_LT(jump.speed, 1e-3);
    EXPECT_GT(jump.furthest_back, kind == LawKind::kTracking ? -1e-3 : -0.02);
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_LT(std::abs(jump.end[i] - jump.at_jump[i]), 0.2) << "joint " << i + 1;
    }
  }
}

TEST(ControlLaw, AReferenceThatStopsAbruptlyIsSmoothed) {
  // joint_trajectory_controller does this when it aborts: it holds the measured position.
  for (const LawKind kind :
       {LawKind::kPointToPoint, LawKind::kTracking, LawKind::kTrackingIntegral}) {
    const Jump jump(kind, [](const Wave& wave, const Plant& plant) {
      Wave hold = wave;
      hold.q.assign(plant.q().begin(), plant.q().end());
      hold.qd.assign(6, 0.0);
      hold.qdd.assign(6, 0.0);
      return hold;
    });
    EXPECT_LT(jump.step, 0.01) << "law " << static_cast<int>(kind);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(jump.end[i], jump.at_jump[i], 1e-3);
  }
}

TEST(ControlLaw, AFarSetPointIsReachedWithoutAJerk) {
  Values goal;
  const Jump jump(LawKind::kTracking, [&](const Wave& wave, const Plant&) {
    Wave far = wave;
    for (std::size_t i = 0; i < 6; ++i) far.q[i] += 0.5;
    far.qd.assign(6, 0.0);
    far.qdd.assign(6, 0.0);
    goal = far.q;
    return far;
  });
  EXPECT_LT(jump.step, 0.01);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(jump.end[i], goal[i], 1e-3);
}

TEST(ControlLaw, AJumpIsJudgedByTheInertiaWhereTheArmIs) {
  const Chain chain = puma();
  const auto inertia_of_joint_1 = [&](const Values& q) {
    Values inertia(36);
    Dynamics(chain, {.drives = ga_dynamics::Drives::kArmature}).inertia_matrix(q, inertia);
    return inertia[0];
  };
  const Values folded{0, -1.57, 1.57, 0, 0, 0}, stretched{0, 0, 1.57, 0, 0, 0}, rest(6, 0.0);
  ASSERT_GT(inertia_of_joint_1(stretched), 1.8 * inertia_of_joint_1(folded));
  const LawParameters p = parameters(LawKind::kTracking);
  ControlLaw law(chain, p);
  law.start(folded, rest, Values(6, NAN));
  Values q = folded, qd = rest, qdd = rest, tau(6);
  for (int k = 0; k < 3000; ++k) {  // smoothly, without jumps
    const double w = M_PI / 2, t = std::min(k * kDt, 2.0);
    for (std::size_t i = 0; i < 6; ++i) {
      const double half = (stretched[i] - folded[i]) / 2;
      q[i] = folded[i] + half * (1 - std::cos(w * t));
      qd[i] = half * w * std::sin(w * t);
      qdd[i] = k < 2000 ? half * w * w * std::cos(w * t) : 0;
    }
    law.update(q, qd, {q, qd, qdd}, kDt, tau);
  }
  // Folded, it would step the torque by 0.9 % of its limit: below the smoothing threshold.
  const double limit = chain.joints()[0].limits.effort, before = tau[0];
  Values jumped = q;
  jumped[0] += 0.009 * limit / (p.gains[0].kp * inertia_of_joint_1(folded));
  law.update(q, rest, {jumped, rest, rest}, kDt, tau);
  EXPECT_LT(std::abs(tau[0] - before), 0.005 * limit);
}

TEST(ControlLaw, ASmallStepIsFollowedAtOnce) {
  // A torque step of less than 1 % of the limit is below the smoothing threshold.
  const Chain chain = puma();
  const LawParameters p = parameters(LawKind::kTracking);
  ControlLaw law(chain, p);
  const Values rest(6, 0.0);
  Values q = Wave(0).q, to = q, tau(6), inertia(36);
  law.start(q, rest, Values(6, NAN));
  for (int k = 0; k < 100; ++k) law.update(q, rest, {to, rest, rest}, kDt, tau);
  Dynamics(chain, {.drives = ga_dynamics::Drives::kArmature}).inertia_matrix(q, inertia);
  const double step = 0.005 * chain.joints()[0].limits.effort, before = tau[0];
  to[0] += step / (p.gains[0].kp * inertia[0]);
  law.update(q, rest, {to, rest, rest}, kDt, tau);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(law.followed().q[i], to[i]) << "joint " << i + 1;
  EXPECT_NEAR(tau[0] - before, step, 1e-9);
}

TEST(ControlLaw, AStepOfAccelerationIsFollowedAtOnce) {
  // Trajectories with piecewise constant accelerations do this; smoothing would leave the path.
  const Chain chain = puma();
  Plant plant(chain, {.friction = false});
  LawParameters p = parameters(LawKind::kTracking, 60);
  p.torque_limit = Values(6, 1e4);
  ControlLaw law(chain, p);
  Values q{0, -0.8, 1.6, 0, 0.1, 0}, qd(6, 0.0), qdd(6, 0.0), tau(6);
  plant.reset(q, qd);
  law.start(q, qd, Values(6, NAN));
  double worst = 0;
  for (int k = 0; k < 1000; ++k) {
    qdd.assign(6, k < 400 ? 0.0 : k < 700 ? 3.0 : -3.0);
    law.update(plant.q(), plant.qd(), {q, qd, qdd}, kDt, tau);
    plant.step(tau, kDt);
    for (std::size_t i = 0; i < 6; ++i) {
      q[i] += qd[i] * kDt + qdd[i] * kDt * kDt / 2;
      qd[i] += qdd[i] * kDt;
      worst = std::max(worst, std::abs(plant.q()[i] - q[i]));
    }
  }
  EXPECT_LT(worst, 1e-4);
}

TEST(ControlLaw, AtTheGoalItRemovesTheTorqueAgainstStiction) {
  // Otherwise a joint that breaks away would overshoot its goal. Only the friction that holds it
  // there, 24.7 N m forwards, is removed, and no more.
  const Chain chain = puma();
  LawParameters p = parameters(LawKind::kTrackingIntegral);
  p.friction = 1;
  p.integral_dead_band = 1e-4;
  const Values rest(6, 0.0), goal = Wave(0).q;
  Values inertia(36);
  Dynamics(chain, {.drives = ga_dynamics::Drives::kArmature}).inertia_matrix(goal, inertia);
  for (const double seconds : {1.0, 2.0}) {
    ControlLaw law(chain, p);
    Values q = goal, tau(6);
    const auto wait = [&](double time) {
      for (int k = 0; k < time / kDt; ++k) law.update(q, rest, {goal, rest, rest}, kDt, tau);
    };
    law.start(q, rest, Values(6, NAN));
    wait(0.2);
    const double at_rest = tau[0];
    q[0] = goal[0] - 5e-4;
    wait(0.3);
    const double begin = tau[0];
    wait(seconds);
    const double pushed = tau[0] - at_rest;
    EXPECT_NEAR(tau[0] - begin, inertia[0] * p.gains[0].ki * 5e-4 * seconds, 0.03 * pushed)
        << "the disturbance estimate integrates with Ki";
    q[0] = goal[0];
    wait(0.2);
    EXPECT_NEAR(tau[0] - at_rest, std::max(pushed - 24.7, 0.0), 5) << seconds << " s";
    const double latched = tau[0];
    q[0] = goal[0] - 2e-4;  // within the hysteresis
    wait(1);
    EXPECT_NEAR(tau[0], latched, 0.01);
    q[0] = goal[0] - 3e-4;
    wait(1);
    EXPECT_GT(tau[0], latched + 1) << "released";
  }
}

TEST(ControlLaw, AnEncoderGlitchHardlyMovesTheArm) {
  for (const char* robot : {"puma560_akb", "scara", "seven_joints"}) {
    const Chain chain = Chain::from_urdf_file(std::string(GA_ROBOTS) + "/" + robot + ".urdf");
    const std::size_t n = chain.joints().size();
    for (const LawKind kind : {LawKind::kTracking, LawKind::kTrackingIntegral}) {
      Plant plant(chain, {.friction = false});
      const Values start(n, 0.1), rest(n, 0.0);
      plant.reset(start, rest);
      ControlLaw law(chain, parameters(kind, 40));
      law.start(plant.q(), plant.qd(), Values(n, NAN));
      Values tau(n), q(n);
      double farthest = 0;
      for (int k = 0; k < 1500; ++k) {
        std::copy(plant.q().begin(), plant.q().end(), q.begin());
        if (k == 500) q[1] += 6.28;
        law.update(q, plant.qd(), {start, rest, rest}, kDt, tau);
        plant.step(tau, kDt);
        for (std::size_t i = 0; i < n; ++i) {
          farthest = std::max(farthest, std::abs(plant.q()[i] - start[i]));
        }
      }
      EXPECT_LT(farthest, 2e-3) << robot << ", law " << static_cast<int>(kind);
    }
  }
}

TEST(ControlLaw, AWrongPositionThatStaysIsBelieved) {
  const Chain chain = puma();
  const Values rest(6, 0.0), goal = Wave(0).q;
  Values q = goal, tau(6);
  ControlLaw law(chain, parameters(LawKind::kTracking, 40));
  law.start(q, rest, Values(6, NAN));
  for (int k = 0; k < 300; ++k) law.update(q, rest, {goal, rest, rest}, kDt, tau);
  const double before = tau[0];
  q[0] -= 0.5;
  for (int k = 0; k < 3; ++k) law.update(q, rest, {goal, rest, rest}, kDt, tau);
  EXPECT_NEAR(tau[0], before, 1e-6);
  for (int k = 0; k < 5; ++k) law.update(q, rest, {goal, rest, rest}, kDt, tau);
  EXPECT_GT(tau[0], before + 10);
}

TEST(ControlLaw, ASmallIntegralGainDoesNotHideTheArm) {
  for (const double ki : {0.0, 1e-6, 1.0, 100.0}) {
    LawParameters p = parameters(LawKind::kTrackingIntegral, 40);
    p.gains[0].ki = ki;
    const Chain chain = puma();
    const Values start = Wave(0).q, rest(6, 0.0);
    Plant plant(chain.with_payload({2.5, {}, {}}));
    plant.reset(start, rest);
    ControlLaw law(chain, p);
    law.start(plant.q(), plant.qd(), Values(6, NAN));
    Values tau(6);
    double farthest = 0;
    for (int k = 0; k < 2000; ++k) {
      law.update(plant.q(), plant.qd(), {start, rest, rest}, kDt, tau);
      plant.step(tau, kDt);
      for (std::size_t i = 0; i < 6; ++i) {
        farthest = std::max(farthest, std::abs(plant.q()[i] - start[i]));
      }
    }
    EXPECT_LT(farthest, 0.03) << ki;
  }
}

TEST(ControlLaw, GravityHoldTakesOverWhereTheArmIs) {
  // An obstacle kept the arm from its reference: the hold must not go there when it is removed.
  const Chain chain = puma();
  const Values start = Wave(0).q, rest(6, 0.0);
  Values far = start, tau(6);
  far[0] += 0.3;
  Plant plant(chain);
  plant.reset(start, rest);
  ControlLaw law(chain, parameters(LawKind::kTracking, 40));
  law.start(start, rest, Values(6, NAN));
  for (int k = 0; k < 1000; ++k) law.update(start, rest, {far, rest, rest}, kDt, tau);
  law.change(LawKind::kGravityHold);
  for (int k = 0; k < 500; ++k) law.update(start, rest, {}, kDt, tau);
  EXPECT_LT(tau[0], 0.6 * chain.joints()[0].limits.effort) << "the disturbance's half and Kp e";
  double farthest = 0;
  for (int k = 0; k < 2000; ++k) {
    law.update(plant.q(), plant.qd(), {}, kDt, tau);
    plant.step(tau, kDt);
    farthest = std::max(farthest, std::abs(plant.q()[0] - start[0]));
  }
  EXPECT_LT(farthest, 0.05);
}

TEST(ControlLaw, GravityHoldHoldsAPayloadThatItDoesNotKnow) {
  const Chain chain = puma();
  const Values stretched{0, -0.1, 1.6, 0, 0.1, 0}, rest(6, 0.0);
  Plant plant(chain.with_payload({2.5, {}, {}}));
  plant.reset(stretched, rest);
  ControlLaw law(chain, parameters(LawKind::kGravityHold, 40));
  law.start(plant.q(), plant.qd(), Values(6, NAN));
  Values tau(6);
  double farthest = 0, last = 0;
  for (int k = 0; k < 11000; ++k) {
    law.update(plant.q(), plant.qd(), {}, kDt, tau);
    plant.step(tau, kDt);
    last = 0;
    for (std::size_t i = 0; i < 6; ++i)
      last = std::max(last, std::abs(plant.q()[i] - stretched[i]));
    farthest = std::max(farthest, last);
  }
  EXPECT_LT(farthest, 5e-3) << "it sags until the disturbance is estimated";
  EXPECT_LT(last, 2e-4);
}

TEST(ControlLaw, GravityHoldBringsAMovingArmToRestAndStaysThere) {
  const Chain chain = puma();
  Plant plant(chain.with_payload({2.5, {}, {}}));
  const Wave at(0.8);
  plant.reset(at.q, at.qd);
  ControlLaw law(chain, parameters(LawKind::kGravityHold, 40));
  law.start(plant.q(), plant.qd(), Values(6, NAN));
  Values tau(6), stopped(6);
  for (int k = 0; k < 6000; ++k) {
    law.update(plant.q(), plant.qd(), at.reference(), kDt, tau);
    plant.step(tau, kDt);
    if (k == 3000) std::copy(plant.q().begin(), plant.q().end(), stopped.begin());
  }
  for (std::size_t i = 0; i < 6; ++i) {
    const double way = plant.q()[i] - at.q[i];
    EXPECT_NEAR(plant.q()[i], stopped[i], 2e-4) << "joint " << i + 1 << " drifts";
    EXPECT_NEAR(way, 0.2 * at.qd[i], 0.02) << "joint " << i + 1 << ": the blend time's way";
  }
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
