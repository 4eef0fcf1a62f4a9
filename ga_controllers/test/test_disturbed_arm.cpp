// SPDX-License-Identifier: Apache-2.0

// What the model does not know: stiction, wrong positions, an unknown payload, obstacles. And gravity
// hold, which holds the arm in spite of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/plant.hpp"
#include "wave.hpp"

namespace ga_controllers {
namespace {

using ga_dynamics::Chain;
using ga_dynamics::Dynamics;
using ga_dynamics::Plant;

TEST(DisturbedArm, AtTheGoalItRemovesTheTorqueAgainstStiction) {
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

TEST(DisturbedArm, AnEncoderGlitchHardlyMovesTheArm) {
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

TEST(DisturbedArm, AWrongPositionThatStaysIsBelieved) {
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

TEST(DisturbedArm, ASmallIntegralGainDoesNotHideTheArm) {
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

TEST(DisturbedArm, GravityHoldTakesOverWhereTheArmIs) {
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

TEST(DisturbedArm, GravityHoldHoldsAPayloadThatItDoesNotKnow) {
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

TEST(DisturbedArm, GravityHoldBringsAMovingArmToRestAndStaysThere) {
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

/// The law's largest tracking error [rad], torque step (over the limit) and disturbance (over the
/// acceleration at the torque limit) if one sample of a velocity is wrong.
struct Glitch {
  double error = 0, step = 0, disturbance = 0;
};

/// `after` [cycles] a start or, in motion, a sample that is not finite.
Glitch wrong_velocity(double velocity, int after, bool in_motion) {
  const Chain chain = puma();
  LawParameters p = parameters(LawKind::kTrackingIntegral, 40);
  p.friction = 1;
  p.integral_dead_band = 3e-4;
  p.keep_limits = true;
  ControlLaw law(chain, p);
  Plant plant(chain);
  const Wave at(0);
  plant.reset(at.q, at.qd);
  Values tau(6), before, inertia(36);
  Dynamics(chain, {.drives = ga_dynamics::Drives::kArmature}).inertia_matrix(at.q, inertia);
  Dynamics(chain).gravity(at.q, tau);
  law.start(plant.q(), plant.qd(), tau);
  Glitch seen;
  const int from = in_motion ? 2000 : 0;
  for (int k = 0; k < from + 2000; ++k) {
    Values q(plant.q().begin(), plant.q().end()), qd(plant.qd().begin(), plant.qd().end());
    for (double& value : q) value = 1e-4 * std::round(value / 1e-4);
    if (in_motion && k == from) q[0] = NAN;
    if (k == from + after) qd[3] = velocity;
    before = tau;
    law.update(q, qd, Wave(k * kDt).reference(), kDt, tau);
    for (std::size_t i = 0; i < 6 && k > from; ++i) {
      const double limit = chain.joints()[i].limits.effort, most = limit / inertia[i * 7];
      seen.error = std::max(seen.error, std::abs(plant.q()[i] - law.followed().q[i]));
      seen.step = std::max(seen.step, std::abs(tau[i] - before[i]) / limit);
      seen.disturbance = std::max(seen.disturbance, std::abs(law.disturbance()[i]) / most);
    }
    plant.step(tau, kDt);
  }
  return seen;
}

TEST(DisturbedArm, OneWrongVelocityWhileTheObserverSettlesHasNoEffect) {
  for (const bool in_motion : {false, true}) {
    const Glitch usual = wrong_velocity(Wave(0).qd[3], 100'000, in_motion);
    for (const int after : {2, 5, 10, 20, 40, 60}) {
      for (const double velocity : {20.0, -100.0, 1e3, 1e6}) {
        SCOPED_TRACE(std::to_string(velocity) + " rad/s after " + std::to_string(after) + " ms" +
                     (in_motion ? ", in motion" : ""));
        const Glitch seen = wrong_velocity(velocity, after, in_motion);
        EXPECT_LT(seen.error, 1.2 * usual.error + 1e-4);
        EXPECT_LT(seen.step, usual.step + 0.02);
        EXPECT_LT(seen.disturbance, 1.2 * usual.disturbance + 0.05);
      }
    }
  }
}

TEST(DisturbedArm, TheDisturbanceIsAtMostAFewTimesTheAccelerationAtTheTorqueLimit) {
  // An encoder that runs away faster than the arm can, but not so fast that it is not believed.
  const Chain chain = puma();
  ControlLaw law(chain, parameters(LawKind::kTrackingIntegral, 80));
  const Wave at(0);
  Values q = at.q, qd(6), tau(6), inertia(36);
  const Values rest(6, 0.0);
  Dynamics(chain, {.drives = ga_dynamics::Drives::kArmature}).inertia_matrix(q, inertia);
  const double most = chain.joints()[3].limits.effort / inertia[21];
  law.start(q, qd, Values(6, NAN));
  double largest = 0;
  for (int k = 0; k < 3000; ++k) {
    if (k >= 100) q[3] = at.q[3] + 0.09 * (k % 40 < 20 ? 1 : -1), qd[3] = k % 2 == 0 ? 1 : 2;
    law.update(q, qd, {at.q, rest, rest}, kDt, tau);
    largest = std::max(largest, std::abs(law.disturbance()[3]));
  }
  EXPECT_GT(largest, 2 * most);
  EXPECT_LT(largest, 6 * most);
}

}  // namespace
}  // namespace ga_controllers
