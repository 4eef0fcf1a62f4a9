// SPDX-License-Identifier: Apache-2.0

// Changes of law and gains, lost states, invalid cycle times and arguments: torque continuity from one
// cycle to the next, and the motion of the arm.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "driven_puma.hpp"
#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/plant.hpp"
#include "wave.hpp"

namespace ga_controllers {
namespace {

using ga_dynamics::Chain;
using ga_dynamics::Plant;

std::string name(LawKind from, LawKind to) {
  return "from law " + std::to_string(static_cast<int>(from)) + " to " +
         std::to_string(static_cast<int>(to));
}

LawParameters fed_forward(LawKind kind) {
  LawParameters p = parameters(kind, 40);
  const bool measured = kind == LawKind::kPointToPoint || kind == LawKind::kHandGuiding;
  p.friction = measured ? 0.7 : kind == LawKind::kGravityCompensation ? 0 : 1;
  if (p.friction == 1) p.friction_velocity = 3e-4;
  p.integral_dead_band = 1e-4;
  p.keep_limits = true;
  return p;
}

TEST(Transitions, ChangesOfLawAreBumpless) {
  for (const LawKind from : kAllLaws) {
    for (const LawKind to : kAllLaws) {
      if (from == to) continue;
      for (const double t : {0.3, 0.8, 1.3}) {
        Drive drive(parameters(from), false, Wave(0).q, Wave(0).qd);
        drive.follow(0, t);
        drive.law.change(to);
        EXPECT_LT(drive.follow(t, t + 0.3), 0.01) << name(from, to);
      }
    }
  }
}

TEST(Transitions, AReferenceThatMovesAlreadyIsFedForwardFromTheFirstCycleOn) {
  // The arm is held, or guided by hand, while the reference moves elsewhere. An acceleration that counts
  // only in the second cycle after the change would step the torque there.
  constexpr double kAmplitude = 0.3, kOmega = 4.5;
  const Values start{0, -1, 1, 0, 0.4, 0};
  for (const LawKind from : {LawKind::kGravityHold, LawKind::kHandGuiding}) {
    for (const LawKind to : {LawKind::kTracking, LawKind::kTrackingIntegral}) {
      for (const double phase : {0.0, 0.8, 1.6, 2.4, 3.2}) {
        Drive drive(fed_forward(from), true, start, Values(6));
        double step = 0;
        for (int k = 0; k < 250; ++k) {
          Values q = start, qd(6), qdd(6);
          for (std::size_t i = 0; i < 6; ++i) {
            const double at = kOmega * k * kDt + phase + static_cast<double>(i);
            q[i] += kAmplitude * std::sin(at);
            qd[i] = kAmplitude * kOmega * std::cos(at);
            qdd[i] = -kAmplitude * kOmega * kOmega * std::sin(at);
          }
          if (k == 200) drive.law.change(to);
          const double change = drive.cycle({q, qd, qdd});
          if (k >= 200) step = std::max(step, change);
        }
        // The friction of a reversing joint alone is fed forward by 2 % per millisecond.
        EXPECT_LT(step, 0.021) << name(from, to) << ", phase " << phase;
      }
    }
  }
}

TEST(Transitions, NewGainsAreBumpless) {
  for (const LawKind kind : kAllLaws) {
    for (const double bandwidth : {15.0, 60.0}) {
      Drive drive(parameters(kind), false, Wave(0).q, Wave(0).qd);
      drive.follow(0, 0.8);
      const JointGains gains = gains_from_bandwidth(bandwidth, 0.7);
      drive.law.change_gains(std::span(&gains, 1));
      EXPECT_LT(drive.follow(0.8, 1.1), 0.01) << "law " << static_cast<int>(kind);
    }
  }
}

/// Two controllers, each with its own law and parameters, switched as in ros2_control: the second
/// one takes over the torque in mid-motion and either continues the motion or holds the position
/// that it finds.
struct Swap {
  Swap(LawKind from, LawKind to, bool goes_on, bool friction, double t, int cycles) {
    Drive first(fed_forward(from), friction, Wave(0).q, Wave(0).qd);
    first.follow(0, t);
    Drive second(fed_forward(to), friction, first.position(), Wave(0).qd);
    second.plant = std::move(first.plant);
    second.tau = first.tau;
    second.law.start(second.plant.q(), second.plant.qd(), first.tau);
    const Values hold = second.position(), rest(6, 0.0);
    step = second.cycle({});  // no reference of the predecessor yet
    for (int k = 1; k < cycles; ++k) {
      const Wave now(t + k * kDt);
      step = std::max(step, second.cycle(goes_on ? now.reference() : Reference{hold, rest, rest}));
    }
  }
  double step = 0;
};

TEST(Transitions, ControllerSwitchesWithFrictionFeedForwardAreBumpless) {
  double worst = 0;
  for (const LawKind from : kAllLaws) {
    for (const LawKind to : kAllLaws) {
      if (from == to) continue;
      for (const bool goes_on : {false, true}) {
        for (const double t : {0.3, 0.5, 0.7, 0.9, 1.1, 1.3}) {
          const Swap swap(from, to, goes_on, true, t, 20);
          worst = std::max(worst, swap.step);
          EXPECT_LT(swap.step, 0.012)
              << name(from, to) << (goes_on ? " on" : " hold") << " at " << t;
        }
      }
    }
  }
  RecordProperty("worst_step", std::to_string(worst));
}

TEST(Transitions, TheFrictionInAnInheritedTorqueGoesOnInBothDirections) {
  const Chain chain = puma();
  ga_dynamics::Dynamics dynamics(chain, {.drives = ga_dynamics::Drives::kAll});
  const Values q = Wave(0.5).q, rest(6, 0.0);
  for (const double velocity : {-0.3, 0.3}) {
    const Values moving(6, velocity);
    Values before(6), tau(6);
    dynamics.inverse_dynamics(q, moving, rest, before);
    ControlLaw law(chain, fed_forward(LawKind::kTracking));
    law.start(q, moving, before);
    law.update(q, moving, {q, moving, rest}, kDt, tau);
    for (std::size_t i = 0; i < 6; ++i) {
      const double friction = chain.joints()[i].drive.friction(velocity, 0);
      EXPECT_NEAR(law.terms().friction[i], friction, 1e-6) << "joint " << i + 1;
      EXPECT_NEAR(tau[i], before[i], 1e-6) << "joint " << i + 1;
    }
  }
}

TEST(Transitions, AnInitialErrorOfOneCountDoesNotSlowFriction) {
  // One count of joint 1's encoder. A motion that starts at once needs the full friction at once.
  LawParameters p = fed_forward(LawKind::kTracking);
  p.gains = {gains_from_bandwidth(60, 1)};
  const Values start = Wave(0).q, rest(6, 0.0);
  Values beside = start, moving(6, 0.01), tau(6);
  beside[0] += 1e-4;
  const Chain chain = puma();
  ControlLaw law(chain, p);
  law.start(beside, rest, Values(6, NAN));
  for (int k = 0; k < 20; ++k) law.update(beside, rest, {start, rest, rest}, kDt, tau);
  const Values pulled(6, 15.0);  // the acceleration that the velocity confirms
  // 2 % of the torque limit per millisecond, not the 0.2 % of a blend.
  for (int k = 0; k < 20; ++k) law.update(beside, rest, {start, moving, pulled}, kDt, tau);
  EXPECT_GT(law.terms().friction[0], chain.joints()[0].drive.coulomb_positive);
}

TEST(Transitions, AStateThatIsLostForACycleMakesNoStep) {
  // In motion, with a payload that only the integral compensates.
  const Chain loaded = puma().with_payload({.mass = 2.5, .com = {0, 0, 0.1}, .inertia = {}});
  Drive drive(parameters(LawKind::kTrackingIntegral, 30), false, Wave(0).q, Wave(0).qd, loaded);
  drive.follow(0, 3);
  for (const int blind : {1, 5}) {
    for (int k = 0; k < 200; ++k) {
      const double step = drive.cycle(Wave(3 + k * kDt).reference(), k >= 50 && k < 50 + blind);
      ASSERT_LT(step, 0.01) << "cycle " << k << " of " << blind << " blind ones";
    }
    drive.follow(3.2, 4);
    for (int k = 0; k < 1000; ++k) drive.cycle(Wave(4 - k * kDt).reference());
  }
}

TEST(Transitions, ATorqueBeyondTheNewLimitFades) {
  // From a law with higher torque limits to one with lower limits.
  LawParameters p = parameters(LawKind::kGravityHold);
  const Chain chain = puma();
  for (const auto& joint : chain.joints()) p.torque_limit.push_back(joint.limits.effort / 4);
  for (const bool limited : {false, true}) {
    if (limited) p.torque_rate_limit = Values(6, 30.0);
    ControlLaw law(chain, p);
    const Values q = Wave(0).q, rest(6, 0.0);
    Values before, tau(6);
    for (const auto& joint : chain.joints()) before.push_back(joint.limits.effort / 2);
    law.start(q, rest, before);
    for (int k = 0; k < 10000; ++k) {
      law.update(q, rest, {}, kDt, tau);
      for (std::size_t i = 0; i < 6; ++i) {
        const double step = std::abs(tau[i] - before[i]);
        ASSERT_LT(step, 0.01 * chain.joints()[i].limits.effort) << "cycle " << k;
        if (limited) {
          ASSERT_LT(step, 30 * kDt + 1e-9);
        }
      }
      before = tau;
    }
    for (std::size_t i = 0; i < 6; ++i) EXPECT_LE(std::abs(tau[i]), p.torque_limit[i] + 1e-9);
  }
}

TEST(Transitions, LeavingGravityHoldWithoutAReferenceStaysAtTheArm) {
  const Values home = Wave(0).q;
  Values qd(6, 0.0);
  qd[0] = 1.5;
  for (const LawKind kind :
       {LawKind::kPointToPoint, LawKind::kTracking, LawKind::kTrackingIntegral}) {
    Drive drive(parameters(LawKind::kGravityHold), false, home, qd);
    drive.cycles({}, 3000);
    const Values rest = drive.position();
    ASSERT_LT(std::abs(drive.plant.qd()[0]), 1e-6);
    drive.law.change(kind);
    drive.cycles({}, 2000);
    EXPECT_NEAR(drive.position()[0], rest[0], 1e-4) << static_cast<int>(kind);
  }
}

TEST(Transitions, ALawThatWasNotStartedStartsAtTheMeasuredState) {
  const Values home = Wave(0).q, rest(6, 0.0);
  for (const LawKind kind : kAllLaws) {
    ControlLaw law(puma(), parameters(kind, 40));
    ga_dynamics::Dynamics dynamics(puma());
    Values tau(6), gravity(6);
    dynamics.gravity(home, gravity);
    law.update(home, rest, {}, kDt, tau);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(tau[i], gravity[i], 1e-9);
    ControlLaw far(puma(), parameters(kind, 40));
    Values goal = home;
    goal[0] += 1;
    far.update(home, rest, {goal, rest, rest}, kDt, tau);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(tau[i], gravity[i], 0.5);
  }
}

TEST(Transitions, ALoopWithLongCyclesIsNotLate) {
  const Values home = Wave(0).q, rest(6, 0.0);
  Values goal = home;
  goal[0] += 0.3;
  LawParameters p = parameters(LawKind::kTracking, 3);
  ControlLaw law(puma(), p);
  Plant plant(puma(), {.friction = false, .stops = false});
  plant.reset(home, rest);
  law.start(home, rest, Values(6, NAN));
  Values tau(6);
  for (int k = 0; k < 400; ++k) {
    law.update(plant.q(), plant.qd(), {goal, rest, rest}, 0.051, tau);
    ASSERT_TRUE(plant.step(tau, 0.051));
  }
  EXPECT_NEAR(plant.q()[0], goal[0], 0.02);
}

TEST(Transitions, InvalidCycleTimesDoNoHarm) {
  const Values home = Wave(0).q, rest(6, 0.0);
  Values goal = home;
  goal[0] += 0.5;
  for (const double dt :
       {-0.001, -10.0, 0.0, static_cast<double>(NAN), std::numeric_limits<double>::infinity()}) {
    Drive drive(parameters(LawKind::kTracking, 40), false, home, rest);
    drive.cycles({home, rest, rest}, 100);
    drive.cycles({goal, rest, rest}, 50);
    drive.law.update(drive.plant.q(), drive.plant.qd(), {goal, rest, rest}, dt, drive.tau);
    for (const double torque : drive.tau) EXPECT_TRUE(std::isfinite(torque)) << dt;
    drive.cycles({goal, rest, rest}, 3000);
    EXPECT_NEAR(drive.position()[0], goal[0], 1e-3) << dt;
  }
}

TEST(Transitions, AnInfiniteCycleKeepsTheFollowedReferenceWithinItsLimits) {
  const Values home = Wave(0).q, rest(6, 0.0);
  Values goal = home;
  goal[0] = 2 * puma().joints()[0].limits.upper;
  for (const double dt : {100.0, 1e300, std::numeric_limits<double>::infinity()}) {
    LawParameters p = parameters(LawKind::kTracking, 40);
    p.keep_limits = true;
    p.blend_time = 0;
    Drive drive(p, false, home, rest);
    drive.cycles({home, rest, rest}, 100);
    drive.cycles({goal, rest, rest}, 50);
    drive.law.update(drive.plant.q(), drive.plant.qd(), {goal, rest, rest}, dt, drive.tau);
    const double upper = drive.chain.joints()[0].limits.upper;
    for (int k = 0; k < 4000; ++k) {
      ASSERT_LE(drive.law.followed().q[0], upper + 1e-3) << dt << ", cycle " << k;
      drive.cycle({goal, rest, rest});
    }
    EXPECT_NEAR(drive.law.followed().q[0], upper, 1e-3) << dt;
    EXPECT_NEAR(drive.position()[0], upper, 1e-3) << dt;
  }
}

TEST(Transitions, TheSameGainsChangeNothing) {
  const LawParameters p = parameters(LawKind::kTracking, 40);
  Drive once(p, false, Wave(0).q, Wave(0).qd), again(p, false, Wave(0).q, Wave(0).qd);
  for (int k = 0; k < 1000; ++k) {
    EXPECT_TRUE(again.law.change_gains(p.gains));
    once.cycle(Wave(k * kDt).reference());
    again.cycle(Wave(k * kDt).reference());
    ASSERT_EQ(again.tau, once.tau) << "cycle " << k;
  }
}

TEST(Transitions, GravityHoldForgetsTheAccelerationMismatch) {
  // Accelerations before it contradicted the velocities; the first one after it is valid.
  const Values home = Wave(0).q, rest(6, 0.0);
  const Chain chain = puma();
  Values wild, step;
  for (const auto& joint : chain.joints()) {
    wild.push_back(20 * joint.limits.velocity);
    step.push_back(10 * joint.limits.velocity);
  }
  const auto first = [&](const Values& before) {
    Drive drive(parameters(LawKind::kTracking, 40), false, home, rest);
    drive.cycles({home, rest, before}, 300);
    drive.law.change(LawKind::kGravityHold);
    drive.cycles({}, 2000);
    drive.law.change(LawKind::kTracking);
    drive.cycle({drive.position(), rest, step});
    return drive.law.followed().qdd[0];
  };
  EXPECT_NEAR(first(wild), step[0], 1e-3 * step[0]);
  EXPECT_NEAR(first(rest), step[0], 1e-3 * step[0]);
}

TEST(BadArguments, OfTheLawAreRefused) {
  const Values home = Wave(0).q, rest(6, 0.0);
  Drive drive(parameters(LawKind::kTracking, 40), false, home, rest);
  drive.cycles({home, rest, rest}, 10);
  ControlLaw& law = drive.law;
  EXPECT_FALSE(law.saturated(-1));
  EXPECT_FALSE(law.saturated(5'000'000));
  Values tau(6, 7), few(5, 7);
  EXPECT_EQ(law.update(home, rest, {}, kDt, few), LawStatus::kError);
  EXPECT_EQ(few, Values(5, 7));
  EXPECT_EQ(law.update(std::span(home).first(5), rest, {}, kDt, tau), LawStatus::kStateHeld);
  EXPECT_EQ(law.update(home, std::span(rest).first(2), {}, kDt, tau), LawStatus::kStateHeld);
  law.start(home, rest, {});
  EXPECT_EQ(law.update(home, rest, {home, rest, rest}, kDt, tau), LawStatus::kOk);
  const std::vector<JointGains> sound(6, gains_from_bandwidth(20, 1));
  EXPECT_TRUE(law.change_gains(sound));
  EXPECT_FALSE(law.change_gains(std::span(sound).first(5)));
  EXPECT_FALSE(law.change_gains({}));
  for (const double bad : {-1.0, static_cast<double>(NAN)}) {
    std::vector<JointGains> gains = sound;
    gains[3].kd = bad;
    EXPECT_FALSE(law.change_gains(gains));
  }
  // No loop can use the gains of a bandwidth of more than 10,000 rad/s.
  const JointGains fastest = gains_from_bandwidth(1e4, 1);
  EXPECT_TRUE(law.change_gains({&fastest, 1}));
  LawParameters p = parameters(LawKind::kTracking);
  for (double JointGains::*gain : {&JointGains::kp, &JointGains::kd, &JointGains::ki}) {
    JointGains absurd = fastest;
    absurd.*gain = 1e300;
    EXPECT_FALSE(law.change_gains({&absurd, 1}));
    absurd.*gain = 20 * fastest.*gain;
    EXPECT_FALSE(law.change_gains({&absurd, 1}));
    p.gains = {absurd};
    EXPECT_THROW(ControlLaw(drive.chain, p), std::invalid_argument);
  }
}

}  // namespace
}  // namespace ga_controllers
