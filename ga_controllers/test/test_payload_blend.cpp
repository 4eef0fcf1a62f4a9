// SPDX-License-Identifier: Apache-2.0

// A payload that the law gets to know while the arm moves or rests: torque continuity, hand-over
// to the disturbance estimate, and payloads that are wrong.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>

#include "counting_allocator.hpp"
#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/plant.hpp"
#include "wave.hpp"

namespace ga_controllers {
namespace {

using ga_dynamics::Chain;
using ga_dynamics::make_payload;
using ga_dynamics::Payload;
using ga_dynamics::Plant;

constexpr LawKind kHoldingLaws[] = {LawKind::kPointToPoint, LawKind::kTracking,
                                    LawKind::kTrackingIntegral, LawKind::kGravityHold};

Chain ur10e() { return Chain::from_urdf_file(std::string(GA_ROBOTS) + "/ur10e.urdf"); }

Payload box(double mass, double z = 0.1) {
  const double moment = mass * 0.1 * 0.1 / 6;
  return make_payload(mass, Values{0.02, -0.03, z}, Values{moment, 0, 0, moment, 0, moment});
}

/// An arm under a law that knows less, or more, than there is.
struct Drive {
  Drive(const Chain& chain, LawKind kind, const Payload& real, const Values& start,
        const Payload& known = {})
      : chain_(chain),
        law(chain, knowing(kind, known)),
        plant(real.mass > 0 ? chain.with_payload(real) : chain,
              {.friction = false, .stops = false}),
        tau(chain.joints().size()),
        goal(start) {
    const Values rest(start.size());
    plant.reset(start, rest);
    law.start(start, rest, Values(start.size(), NAN));
  }
  static LawParameters knowing(LawKind kind, const Payload& payload) {
    LawParameters p = parameters(kind, 40);
    p.payload = payload;
    return p;
  }
  /// Cycles with the reference at rest; returns the largest change of a torque per cycle, relative
  /// to its limit.
  double hold(int cycles) {
    const Values rest(goal.size());
    double step = 0;
    for (int k = 0; k < cycles; ++k) {
      const Values before = tau;
      law.update(plant.q(), plant.qd(), {goal, rest, rest}, kDt, tau);
      for (std::size_t i = 0; i < tau.size() && started; ++i) {
        step = std::max(step, std::abs(tau[i] - before[i]) / chain_.joints()[i].limits.effort);
      }
      started = true;
      plant.step(tau, kDt);
      for (std::size_t i = 0; i < tau.size(); ++i)
        farthest = std::max(farthest, std::abs(plant.q()[i] - goal[i]));
    }
    return step;
  }
  double error() const {
    double e = 0;
    for (std::size_t i = 0; i < goal.size(); ++i) e = std::max(e, std::abs(plant.q()[i] - goal[i]));
    return e;
  }

  Chain chain_;
  ControlLaw law;
  Plant plant;
  Values tau, goal;
  bool started = false;
  double farthest = 0;  ///< rad, from the goal
};

struct Arm {
  const char* name;
  Chain chain;
  Values q;
};
std::vector<Arm> arms() {
  return {{"PUMA", puma(), {0, 0, 0, 0, 0.5, 0}},
          {"UR10e, no rotor inertia", ur10e(), {0.3, -0.6, 0.8, -0.5, 1.2, 0.4}}};
}

std::string name(const Arm& arm, LawKind kind) {
  return std::string(arm.name) + ", law " + std::to_string(static_cast<int>(kind));
}

constexpr double kStep = 0.02;  ///< of the limit, per millisecond

TEST(PayloadBlend, APayloadThatTheEstimateCouldNotBalanceWaits) {
  const Values stretched{0, 0, 1.57, 0, 0.5, 0};
  const Chain chain = puma();
  for (const LawKind kind : {LawKind::kTrackingIntegral, LawKind::kTracking}) {
    Drive drive(chain, kind, {}, stretched);
    LawParameters p = Drive::knowing(kind, {});
    for (const auto& joint : chain.joints()) p.torque_limit.push_back(0.3 * joint.limits.effort);
    drive.law = ControlLaw(chain, p);
    drive.law.start(stretched, Values(6), Values(6, NAN));
    drive.hold(500);
    ASSERT_TRUE(drive.law.set_payload(box(4)));
    drive.hold(4000);
    // 4 kg, stretched out, weigh more than half of the torque that the law has at joint 2.
    EXPECT_GT(drive.law.payload().mass, 1) << static_cast<int>(kind);
    EXPECT_LT(drive.law.payload().mass, 3.9) << static_cast<int>(kind);
  }
}

TEST(PayloadBlend, AWrongPayloadNeitherDropsNorJerksTheArm) {
  struct Case {
    Payload real, known, told;
  };
  const Case cases[] = {
      {{}, {}, box(5)},                // not there
      {box(5), box(5), {}},            // still there
      {box(0.5), box(0.5), box(5)},    // ten times too heavy
      {box(2.5), box(2.5), box(25)},   // the same, beyond the arms' payloads
      {{}, {}, box(500)},              // hopeless
      {box(5), box(5), box(5, -0.3)},  // the center of mass on the other side
      {box(5), box(5), box(10)},       // wrong by 5 kg
  };
  for (const Arm& arm : arms()) {
    for (const LawKind kind : kHoldingLaws) {
      for (const Case& c : cases) {
        Drive drive(arm.chain, kind, c.real, arm.q, c.known);
        drive.hold(1000);
        ASSERT_TRUE(drive.law.set_payload(c.told));
        const std::string trace = name(arm, kind) + ": " + std::to_string(c.told.mass) +
                                  " kg for " + std::to_string(c.real.mass) + " kg";
        EXPECT_LT(drive.hold(3000), kStep) << trace;
        EXPECT_LT(drive.hold(1000), 1e-3) << trace << ": hunts";
        const bool integrates = kind == LawKind::kTrackingIntegral || kind == LawKind::kGravityHold;
        // Laws without integral action give way to the torque over Kp times the inertia.
        EXPECT_LT(drive.farthest, integrates ? 1e-3 : 0.03) << trace;
        if (integrates) {
          EXPECT_LT(drive.error(), 1e-4) << trace << ": not held by the estimate";
        }
      }
    }
  }
}

TEST(PayloadBlend, AnUnknownPayloadThatBecomesKnownIsNotCountedTwice) {
  const Arm arm = arms()[0];
  for (const LawKind kind : kHoldingLaws) {
    Drive drive(arm.chain, kind, box(5), arm.q);
    drive.hold(3000);
    const double carried = std::abs(drive.law.disturbance()[1]);
    EXPECT_GT(carried, 1) << "rad/s², before";
    const double before = drive.error();
    drive.farthest = 0;
    ASSERT_TRUE(drive.law.set_payload(box(5)));
    EXPECT_LT(drive.hold(1000), kStep) << name(arm, kind);
    EXPECT_LT(drive.farthest, before + 5e-5) << name(arm, kind) << ": moves away from the goal";
    EXPECT_LT(std::abs(drive.law.disturbance()[1]), 1e-3 * carried) << name(arm, kind);
    EXPECT_LT(drive.error(), 1e-6) << name(arm, kind);
    EXPECT_NEAR(drive.law.payload().mass, 5, 1e-9);
  }
}

TEST(PayloadBlend, StopsAnArmWithoutRotorInertiasFromHunting) {
  // Unknown, the payload is many times the wrist's inertia.
  const Arm arm = arms()[1];
  Drive drive(arm.chain, LawKind::kTrackingIntegral, box(2.5), arm.q);
  EXPECT_GT(drive.hold(3000), 0.05) << "it hunts; if not, another payload is needed here";
  ASSERT_TRUE(drive.law.set_payload(box(2.5)));
  drive.hold(3000);
  EXPECT_LT(drive.hold(500), 1e-4);
  EXPECT_LT(drive.error(), 1e-6);
  EXPECT_NEAR(drive.law.payload().mass, 2.5, 0.01);
}

TEST(PayloadBlend, IsBumplessInMotion) {
  const Chain chain = puma();
  for (const LawKind kind : kAllLaws) {
    for (const double mass : {2.5, 10.0}) {
      Plant plant(puma().with_payload(box(2.5)), {.friction = false, .stops = false});
      ControlLaw law(puma(), parameters(kind, 40));
      plant.reset(Wave(0).q, Wave(0).qd);
      law.start(plant.q(), plant.qd(), Values(6, NAN));
      Values tau(6), before(6);
      double step = 0, usual = 0;
      for (int k = 0; k < 2000; ++k) {
        if (k == 700) {
          ASSERT_TRUE(law.set_payload(box(mass)));
        }
        before = tau;
        law.update(plant.q(), plant.qd(), Wave(k * kDt).reference(), kDt, tau);
        for (std::size_t i = 0; i < 6 && k > 200; ++i) {
          double& largest = k < 700 ? usual : step;
          largest =
              std::max(largest, std::abs(tau[i] - before[i]) / chain.joints()[i].limits.effort);
        }
        plant.step(tau, kDt);
      }
      // A wrong payload moves an arm that is guided by hand, and its speed limit brakes it.
      const double most = kind == LawKind::kHandGuiding ? 0.02 : usual + 0.006;
      EXPECT_LT(step, most) << "law " << static_cast<int>(kind) << ", " << mass << " kg";
    }
  }
}

TEST(PayloadBlend, AKnownPayloadIsExactFromTheStart) {
  for (const LawKind kind : {LawKind::kTracking, LawKind::kTrackingIntegral}) {
    LawParameters p = parameters(kind, 40);
    p.payload = box(2.5);
    ControlLaw law(puma(), p);
    Plant plant(puma().with_payload(box(2.5)), {.friction = false, .stops = false});
    plant.reset(Wave(0).q, Wave(0).qd);
    law.start(plant.q(), plant.qd(), Values(6, NAN));
    Values tau(6);
    double worst = 0;
    for (int k = 0; k < 2000; ++k) {
      const Wave wave(k * kDt);
      law.update(plant.q(), plant.qd(), wave.reference(), kDt, tau);
      for (std::size_t i = 0; i < 6; ++i)
        worst = std::max(worst, std::abs(plant.q()[i] - wave.q[i]));
      plant.step(tau, kDt);
    }
    EXPECT_LT(worst, 5e-6) << "rad";
  }
}

/// Tool error [mm RMS] of a quintic of all joints by 0.6 rad in 3 s.
double tool_error(const Arm& arm, LawKind kind, const Payload& real, const Payload& known) {
  Drive drive(arm.chain, kind, real, arm.q, known);
  ga_dynamics::Dynamics kinematics(arm.chain);
  const std::size_t n = arm.q.size();
  Values q(n), qd(n), qdd(n);
  ga_dynamics::Pose is, wanted;
  double sum = 0;
  for (int k = 0; k < 3000; ++k) {
    const double s = k * kDt / 3;
    for (std::size_t i = 0; i < n; ++i) {
      q[i] = arm.q[i] + 0.6 * s * s * s * (10 + s * (6 * s - 15));
      qd[i] = 0.6 * 30 * s * s * (1 - s) * (1 - s) / 3;
      qdd[i] = 0.6 * 60 * s * (1 - s) * (1 - 2 * s) / 9;
    }
    drive.law.update(drive.plant.q(), drive.plant.qd(), {q, qd, qdd}, kDt, drive.tau);
    kinematics.link_pose(drive.plant.q(), arm.chain.tip_index(), is);
    kinematics.link_pose(q, arm.chain.tip_index(), wanted);
    for (std::size_t c = 0; c < 3; ++c)
      sum += std::pow(is.translation[c] - wanted.translation[c], 2);
    drive.plant.step(drive.tau, kDt);
  }
  return 1e3 * std::sqrt(sum / 3000);
}

TEST(PayloadBlend, AKnownPayloadOf5KgCostsNoAccuracyWithoutRotorInertias) {
  const Arm arm = arms()[1];
  for (const LawKind kind : {LawKind::kTracking, LawKind::kTrackingIntegral}) {
    const double known = tool_error(arm, kind, box(5), box(5));
    std::printf("%s, 5 kg known: tool error %.5f mm RMS\n", name(arm, kind).c_str(), known);
    EXPECT_LE(known, 0.005) << "mm";
    EXPECT_GT(tool_error(arm, kind, box(5), {}), 1) << "mm, unknown";
  }
}

TEST(PayloadBlend, StartEndsABlend) {
  ControlLaw law(puma(), parameters(LawKind::kTracking));
  const Values q = Wave(0).q, rest(6);
  Values tau(6), gravity(6);
  law.start(q, rest, Values(6, NAN));
  law.update(q, rest, {q, rest, rest}, kDt, tau);
  ASSERT_TRUE(law.set_payload(box(2)));
  EXPECT_EQ(law.payload().mass, 0) << "applies from the next update on";
  law.start(q, rest, Values(6, NAN));
  EXPECT_EQ(law.payload().mass, 2);
  law.update(q, rest, {q, rest, rest}, kDt, tau);
  ga_dynamics::Dynamics(puma().with_payload(box(2))).gravity(q, gravity);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(tau[i], gravity[i], 1e-9);
}

TEST(PayloadBlend, ARestartDoesNotUseAPayloadThatIsNotThere) {
  const Arm arm = arms()[1];
  for (const LawKind kind : kHoldingLaws) {
    Drive drive(arm.chain, kind, {}, arm.q);
    drive.hold(500);
    ASSERT_TRUE(drive.law.set_payload(box(5)));
    drive.hold(500);
    drive.law.start(drive.plant.q(), drive.plant.qd(), Values(drive.tau));
    EXPECT_LT(drive.hold(2000), kStep) << name(arm, kind);
    EXPECT_LT(drive.error(), 1e-3) << name(arm, kind);
    EXPECT_LT(drive.law.payload().mass, 0.5) << name(arm, kind);
  }
}

TEST(PayloadBlend, ManySmallWrongChangesAreAsHarmlessAsOne) {
  const Arm arm = arms()[1];
  for (const LawKind kind : kHoldingLaws) {
    Drive drive(arm.chain, kind, {}, arm.q);
    drive.hold(500);
    double step = 0;
    for (double mass = 0.01; mass < 10; mass *= 1.5) {
      ASSERT_TRUE(drive.law.set_payload(box(mass)));
      step = std::max(step, drive.hold(1000));
    }
    EXPECT_LT(step, kStep) << name(arm, kind);
    EXPECT_LT(drive.hold(500), 1e-3) << name(arm, kind) << ": hunts";
  }
}

TEST(PayloadBlend, ImpossiblePayloadsAreRefused) {
  ControlLaw law(puma(), parameters(LawKind::kTracking));
  ASSERT_TRUE(law.set_payload(box(1)));
  law.start(Wave(0).q, Values(6), Values(6, NAN));
  EXPECT_FALSE(law.set_payload({-1, {}, {}}));
  EXPECT_FALSE(law.set_payload({NAN, {}, {}}));
  EXPECT_FALSE(law.set_payload({1, {}, {1, 0, 0, 0, 1, 0, 0, 0, 3}}));
  EXPECT_EQ(law.payload().mass, 1);
  LawParameters p = parameters(LawKind::kTracking);
  p.payload.mass = -2;
  EXPECT_THROW(ControlLaw(puma(), p), std::invalid_argument);
}

TEST(PayloadBlend, NeitherAllocatesNorTakesLong) {
  ControlLaw law(puma(), parameters(LawKind::kTrackingIntegral, 40));
  const Values q = Wave(0).q, rest(6);
  Values tau(6);
  law.start(q, rest, Values(6, NAN));
  for (int k = 0; k < 100; ++k) law.update(q, rest, {q, rest, rest}, kDt, tau);
  const Payload light = box(1), heavy = box(1.5);
  using Clock = std::chrono::steady_clock;
  double plain = INFINITY, blending = INFINITY;
  const long before = ::test::allocations();
  for (int round = 0; round < 50; ++round) {
    const auto time = [&] {
      const auto start = Clock::now();
      for (int k = 0; k < 100; ++k) law.update(q, rest, {q, rest, rest}, kDt, tau);
      return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / 100;
    };
    plain = std::min(plain, time());
    law.set_payload(round % 2 == 0 ? heavy : light);
    blending = std::min(blending, time());
    for (int k = 0; k < 400; ++k) law.update(q, rest, {q, rest, rest}, kDt, tau);
  }
  EXPECT_EQ(::test::allocations() - before, 0);
  RecordProperty("blending_us", std::to_string(blending));
  std::printf("law %.3f us per cycle, %.3f us while it blends to a payload\n", plain, blending);
  EXPECT_LT(blending, 2.5 * plain) << "µs";
}

}  // namespace
}  // namespace ga_controllers
