// SPDX-License-Identifier: Apache-2.0

// References that start, step, jump or are lost: torque continuity from one cycle to the next, and the
// motion of the arm.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "driven_puma.hpp"
#include "followed_reference.hpp"
#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/plant.hpp"
#include "wave.hpp"

namespace ga_controllers {
namespace {

using ga_dynamics::Chain;
using ga_dynamics::Dynamics;
using ga_dynamics::Plant;

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

TEST(ReferenceJumps, WithoutAReferenceTheArmComesToRestWithoutReturning) {
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

TEST(ReferenceJumps, AReferenceThatStopsAbruptlyIsSmoothed) {
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

TEST(ReferenceJumps, AFarSetPointIsReachedWithoutAJerk) {
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

TEST(ReferenceJumps, AJumpIsJudgedByTheInertiaWhereTheArmIs) {
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

TEST(ReferenceJumps, ASmallStepIsFollowedAtOnce) {
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

TEST(ReferenceJumps, AStepOfAccelerationIsFollowedAtOnce) {
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

TEST(ReferenceJumps, AReferenceThatStartsFromRestIsFollowedAtOnce) {
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

TEST(ReferenceJumps, AStartAtAReversalContinuesThePreviousTorque) {
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

TEST(ReferenceJumps, AnInitialErrorDoesNotFilterAccelerations) {
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

TEST(ReferenceJumps, BlendingEndsWithoutAStep) {
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

TEST(ReferenceJumps, AFarSetPointIsApproachedWithinTheVelocityLimit) {
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

TEST(ReferenceJumps, ALostReferenceDoesNotTakeTheArmBeyondItsLimits) {
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

TEST(ReferenceJumps, AVelocitySpikeBeforeTheReferenceIsLostMovesNothing) {
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

TEST(ReferenceJumps, AMovingJointThatLosesItsReferenceRestsAheadOfIt) {
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

TEST(ReferenceJumps, AStepOfALightJointKeepsToItsVelocityLimit) {
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

TEST(FollowedReference, ThatIsNotFiniteIsReportedAndReplaced) {
  // The followed reference restarts at the arm after a change: here at a state that has diverged.
  const Chain chain = puma();
  LawParameters p = parameters(LawKind::kTracking, 40);
  p.keep_limits = p.keep_path = true;
  MeasuredArm arm(chain, torque_limits(chain, p));
  const LawSetting law(chain, p);
  const FrictionFeedforward friction(p, arm);
  FollowedReference reference(chain, p, arm);
  const Values rest(6, 0.0), goal = Wave(0).q;
  arm.q = goal;
  arm.update_inertia();
  reference.start(goal, rest, true);
  const auto cycle = [&](bool changed) {
    reference.take({goal, rest, rest}, kDt, law, arm);
    reference.advance({kDt, changed, false, rest}, law, friction, arm);
    return reference.failed();
  };
  EXPECT_FALSE(cycle(false));
  arm.q[2] = NAN;
  EXPECT_TRUE(cycle(true));
  EXPECT_EQ(reference.followed().q, goal);
  EXPECT_EQ(reference.followed().qd, rest);
  arm.q = goal;
  for (int k = 0; k < 100; ++k) EXPECT_FALSE(cycle(k == 0));
  EXPECT_EQ(reference.followed().q, goal);
}

}  // namespace
}  // namespace ga_controllers
