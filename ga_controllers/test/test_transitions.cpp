// SPDX-License-Identifier: Apache-2.0

// Changes of law and gains, jumping or lost references, lost states: torque continuity from one
// cycle to the next, and the motion of the arm.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/plant.hpp"
#include "wave.hpp"

namespace ga_controllers {
namespace {

using ga_dynamics::Chain;
using ga_dynamics::Plant;

/// The PUMA under a law, cycle by cycle.
struct Drive {
  Drive(const LawParameters& p, bool friction, const Values& q, const Values& qd,
        const Chain& real = puma())
      : chain(puma()), law(chain, p), plant(real, {.friction = friction, .stops = false}), tau(6) {
    plant.reset(q, qd);
    law.start(q, qd, Values(6, NAN));
  }
  /// One cycle; returns the largest torque change, relative to the limit.
  double cycle(const Reference& reference, bool blind = false) {
    const Values before = tau, bad(6, NAN);
    status = law.update(blind ? std::span<const double>(bad) : plant.q(), plant.qd(), reference,
                        kDt, tau);
    double step = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      step = std::max(step, std::abs(tau[i] - before[i]) / chain.joints()[i].limits.effort);
      fastest = std::max(fastest, std::abs(plant.qd()[i]) / chain.joints()[i].limits.velocity);
    }
    plant.step(tau, kDt);
    return step;
  }
  double cycles(const Reference& reference, int count) {
    double step = 0;
    for (int k = 0; k < count; ++k) step = std::max(step, cycle(reference));
    return step;
  }
  double follow(double from, double to) {
    double step = 0;
    for (int k = 0; k < static_cast<int>(std::round((to - from) / kDt)); ++k) {
      step = std::max(step, cycle(Wave(from + k * kDt).reference()));
    }
    return step;
  }
  Values position() const { return {plant.q().begin(), plant.q().end()}; }

  Chain chain;
  ControlLaw law;
  Plant plant;
  Values tau;
  LawStatus status = LawStatus::kOk;
  double fastest = 0;  ///< relative to the velocity limit
};

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
        // A guided arm leaves the motion, so the way back to it takes more torque.
        const double most = from == LawKind::kHandGuiding ? 0.02 : 0.01;
        EXPECT_LT(drive.follow(t, t + 0.3), most) << name(from, to);
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

/// Cubic polynomials from rest to rest in one second: the acceleration steps at the start.
struct PointToPoint {
  explicit PointToPoint(double t) : q(Wave(0).q), qd(6), qdd(6) {
    if (t < 0) return;
    for (std::size_t i = 0; i < 6; ++i) {
      const double way = i % 2 == 0 ? 0.5 : -0.4;
      q[i] += way * (t < 1 ? (3 - 2 * t) * t * t : 1);
      qd[i] = way * (t < 1 ? 6 * (1 - t) * t : 0);
      qdd[i] = way * (t < 1 ? 6 - 12 * t : 0);
    }
  }
  Reference reference() const { return {q, qd, qdd}; }
  Values q, qd, qdd;
};

TEST(Transitions, AReferenceThatStartsFromRestIsFollowedAtOnce) {
  for (const LawKind kind : {LawKind::kTracking, LawKind::kTrackingIntegral}) {
    // From an arm that was held before, and from one without blending.
    const auto farthest = [&](double blend_time) {
      LawParameters p = parameters(kind, 40);
      p.blend_time = blend_time;
      const PointToPoint start(0);
      Drive drive(p, false, start.q, start.qd);
      ga_dynamics::Dynamics(drive.chain).gravity(start.q, drive.tau);
      drive.law.start(start.q, start.qd, drive.tau);
      double distance = 0;
      for (int k = 0; k < 1500; ++k) {
        const PointToPoint now(k * kDt);
        for (std::size_t i = 0; i < 6; ++i) {
          distance = std::max(distance, std::abs(drive.plant.q()[i] - now.q[i]));
        }
        drive.cycle(now.reference());
      }
      return distance;
    };
    const double smoothed = farthest(0.2), plain = farthest(0);
    RecordProperty("law" + std::to_string(static_cast<int>(kind)),
                   std::to_string(smoothed) + " rad, " + std::to_string(plain) + " without");
    EXPECT_LT(plain, 1e-4);
    EXPECT_LT(smoothed, 1.05 * plain) << "law " << static_cast<int>(kind);
  }
}

TEST(Transitions, AStartAtAReversalContinuesThePreviousTorque) {
  // At rest for a moment, like a held arm, but the torque already contains the acceleration.
  const PointToPoint turn(0);
  Drive drive(parameters(LawKind::kTracking, 40), false, turn.q, turn.qd);
  Values before(6);
  ga_dynamics::Dynamics(drive.chain, {.drives = ga_dynamics::Drives::kArmature})
      .inverse_dynamics(turn.q, turn.qd, turn.qdd, before);
  // And a torque that is not in the model.
  for (std::size_t i = 0; i < 6; ++i) before[i] += 0.01 * drive.chain.joints()[i].limits.effort;
  drive.law.start(turn.q, turn.qd, before);
  drive.tau = before;
  EXPECT_LT(drive.cycle(turn.reference()), 1e-9);
}

TEST(Transitions, AnInitialErrorDoesNotFilterAccelerations) {
  // One count off; the reference starts while the offset fades.
  Values q = PointToPoint(0).q, qd(6, 0.0), tau(6);
  ControlLaw law(puma(), parameters(LawKind::kTracking, 40));
  for (double& value : q) value += 5e-5;
  law.start(q, qd, Values(6, NAN));
  const auto cycle = [&](const PointToPoint& given) {
    law.update(q, qd, given.reference(), kDt, tau);
    q.assign(law.followed().q.begin(), law.followed().q.end());
    qd.assign(law.followed().qd.begin(), law.followed().qd.end());
  };
  for (int k = 0; k < 100; ++k) cycle(PointToPoint(-1));
  for (int k = 0; k < 1000; ++k) {
    const PointToPoint given(k * kDt);
    cycle(given);
    for (std::size_t i = 0; i < 6; ++i) {
      ASSERT_NEAR(law.followed().qdd[i], given.qdd[i], 0.01) << "joint " << i + 1 << " at " << k;
    }
  }
}

TEST(Transitions, BlendingEndsWithoutAStep) {
  const Values goal = PointToPoint(0).q, rest(6, 0.0);
  Values q = goal, qd = rest, tau(6);
  ControlLaw law(puma(), parameters(LawKind::kTracking, 40));
  for (double& value : q) value += 1e-3;
  law.start(q, qd, Values(6, NAN));
  Values last(6);
  int cycles = 0;
  for (bool arrived = false; !arrived && cycles < 5000; ++cycles) {
    law.update(q, qd, {goal, rest, rest}, kDt, tau);
    q.assign(law.followed().q.begin(), law.followed().q.end());
    qd.assign(law.followed().qd.begin(), law.followed().qd.end());
    arrived = true;
    for (std::size_t i = 0; i < 6; ++i) {
      if (q[i] == goal[i]) continue;
      last[i] = q[i] - goal[i];
      arrived = false;
    }
  }
  EXPECT_LT(cycles, 5000);
  for (const double offset : last) EXPECT_LT(std::abs(offset), 1e-9);
}

TEST(Transitions, AFarSetPointIsApproachedWithinTheVelocityLimit) {
  const Values start{0, -1.9, 1.6, 0, 0.1, 0}, rest(6, 0.0);
  for (const LawKind kind :
       {LawKind::kPointToPoint, LawKind::kTracking, LawKind::kTrackingIntegral}) {
    for (const bool keep_limits : {false, true}) {
      LawParameters p = parameters(kind, 40);
      p.keep_limits = keep_limits;
      Drive drive(p, false, start, rest);
      drive.cycles({start, rest, rest}, 10);
      Values far = start;
      for (std::size_t i = 0; i < 6; ++i) far[i] += i == 4 ? 1.4 : 2;
      EXPECT_LT(drive.cycles({far, rest, rest}, 1500), 0.01);
      // More jumps on the way, as from a joystick.
      for (std::size_t i = 0; i < 6; ++i) far[i] -= 0.5;
      EXPECT_LT(drive.cycles({far, rest, rest}, 300), 0.01);
      for (std::size_t i = 0; i < 6; ++i) far[i] += 0.5;
      EXPECT_LT(drive.cycles({far, rest, rest}, 6000), 0.01);
      EXPECT_LT(drive.fastest, 1.03) << "law " << static_cast<int>(kind);
      for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(drive.plant.q()[i], far[i], 2e-3);
    }
  }
}

struct Instant {
  double q, qd, qdd;
};

/// Quintic polynomial from rest to rest.
Instant quintic(double from, double to, double duration, double t) {
  const double s = std::min(t / duration, 1.0), way = to - from;
  return {from + way * s * s * s * (10 - 15 * s + 6 * s * s),
          way * 30 * s * s * (1 - s) * (1 - s) / duration,
          way * 60 * s * (1 - 3 * s + 2 * s * s) / (duration * duration)};
}

enum class Loss { kDetached, kNotFinite, kAborted, kSwitched };

/// Moves a joint to its position limit and loses the reference at a distance from it. Returns by
/// how much the arm exceeded the limit.
double overrun(Loss loss, std::size_t joint, double way, double seconds, double distance,
               double blend_time) {
  LawParameters p = parameters(LawKind::kTracking, 40);
  p.keep_limits = true;
  p.blend_time = blend_time;
  Values q{0, -0.8, 1.6, 0, 0.1, 0}, qd(6, 0.0), qdd(6, 0.0), bad(6, NAN);
  const Chain chain = puma();
  const double limit = chain.joints()[joint].limits.upper;
  q[joint] = limit - way;
  Drive drive(p, false, q, qd);
  double furthest = -INFINITY, step = 0;
  bool lost = false;
  for (int k = 0; k < static_cast<int>((seconds + 2) / kDt); ++k) {
    if (!lost) {
      const auto now = quintic(limit - way, limit, seconds, k * kDt);
      q[joint] = now.q, qd[joint] = now.qd, qdd[joint] = now.qdd;
      if (k * kDt > seconds / 2 && limit - now.q < distance) {
        lost = true;
        if (loss == Loss::kSwitched) {
          drive.law.start(drive.plant.q(), drive.plant.qd(), drive.tau);
        }
        q = drive.position();  // an abort holds the measured position
        qd.assign(6, 0.0), qdd.assign(6, 0.0);
      }
    }
    Reference reference{q, qd, qdd};
    if (lost && loss != Loss::kAborted) reference = {};
    if (lost && loss == Loss::kNotFinite) reference = {bad, qd, qdd};
    const double now = drive.cycle(reference);
    if (lost) step = std::max(step, now);
    furthest = std::max({furthest, drive.plant.q()[joint], drive.law.followed().q[joint]});
  }
  EXPECT_LT(step, 0.01);
  EXPECT_LT(std::abs(drive.plant.qd()[joint]), 1e-2);
  return furthest - limit;
}

TEST(Transitions, ALostReferenceDoesNotTakeTheArmBeyondItsLimits) {
  for (const Loss loss : {Loss::kDetached, Loss::kNotFinite, Loss::kAborted, Loss::kSwitched}) {
    for (const std::size_t joint : {0u, 1u, 2u, 4u}) {
      for (const double distance : {0.1, 0.15}) {
        for (const double blend_time : {0.2, 1.0}) {
          EXPECT_LT(overrun(loss, joint, 0.8, 1.2, distance, blend_time), 2e-3)
              << "loss " << static_cast<int>(loss) << ", joint " << joint + 1 << ", " << distance
              << " rad before, blend time " << blend_time;
        }
      }
    }
  }
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

TEST(Transitions, AVelocitySpikeBeforeTheReferenceIsLostMovesNothing) {
  const Values home = Wave(0).q, rest(6, 0.0);
  for (const LawKind kind :
       {LawKind::kPointToPoint, LawKind::kTracking, LawKind::kTrackingIntegral}) {
    for (const bool keep_limits : {false, true}) {
      for (const double spike : {10.0, -100.0, 9e5}) {
        LawParameters p = parameters(kind, 40);
        p.keep_limits = keep_limits;
        Drive drive(p, false, home, rest);
        drive.cycles({home, rest, rest}, 200);
        Values qd = rest;
        qd[0] = spike;
        drive.cycle({home, qd, rest});
        drive.cycles({}, 3000);
        EXPECT_NEAR(drive.position()[0], home[0], 0.01) << static_cast<int>(kind) << " " << spike;
      }
    }
  }
}

TEST(Transitions, AMovingJointThatLosesItsReferenceRestsAheadOfIt) {
  Values q = Wave(0).q, qd(6, 0.0);
  const Values rest(6, 0.0);
  Drive drive(parameters(LawKind::kTracking, 40), false, q, rest);
  const auto glide = [&](double acceleration, int cycles) {
    Values qdd = rest;
    qdd[0] = acceleration;
    for (int k = 0; k < cycles; ++k) {
      drive.cycle({q, qd, qdd});
      q[0] += qd[0] * kDt + acceleration * kDt * kDt / 2;
      qd[0] += acceleration * kDt;
    }
  };
  glide(2, 500);
  glide(0, 200);
  const double lost_at = drive.position()[0];
  double farthest = lost_at;
  for (int k = 0; k < 3000; ++k) {
    drive.cycle({});
    farthest = std::max(farthest, drive.position()[0]);
  }
  const double way = drive.position()[0] - lost_at;
  EXPECT_NEAR(way, 0.2, 0.02) << "1 rad/s for the blend time";
  EXPECT_LT(farthest - drive.position()[0], 0.02) << "it does not come back";
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

TEST(Transitions, AStepOfALightJointKeepsToItsVelocityLimit) {
  // Its last joint could follow a step of 1 rad at once within its torque limit.
  const Chain chain = Chain::from_urdf_file(std::string(GA_ROBOTS) + "/seven_joints.urdf");
  const std::size_t n = chain.joints().size();
  for (const LawKind kind :
       {LawKind::kPointToPoint, LawKind::kTracking, LawKind::kTrackingIntegral}) {
    ControlLaw law(chain, parameters(kind, 40));
    Plant plant(chain, {.friction = false, .stops = false});
    Values home(n, 0.1), goal = home, rest(n, 0.0), tau(n);
    goal[n - 1] += 0.5;
    plant.reset(home, rest);
    law.start(home, rest, Values(n, NAN));
    double fastest = 0;
    for (int k = 0; k < 3000; ++k) {
      law.update(plant.q(), plant.qd(), {k < 100 ? home : goal, rest, rest}, kDt, tau);
      ASSERT_TRUE(plant.step(tau, kDt));
      fastest = std::max(fastest, std::abs(plant.qd()[n - 1]));
    }
    EXPECT_LT(fastest, 1.1 * chain.joints()[n - 1].limits.velocity) << static_cast<int>(kind);
    EXPECT_NEAR(plant.q()[n - 1], goal[n - 1], 1e-3);
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
}

}  // namespace
}  // namespace ga_controllers
