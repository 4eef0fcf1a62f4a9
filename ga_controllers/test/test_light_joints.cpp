// SPDX-License-Identifier: Apache-2.0

// Arms without rotor inertias: a torque far below its limit accelerates the light distal joints to
// many times their velocity limit. The law must keep control in every situation.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "decoupled_saturation.hpp"
#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/plant.hpp"
#include "measured_arm.hpp"
#include "sender.hpp"
#include "wave.hpp"

namespace ga_controllers {
namespace {

using ga_dynamics::Plant;

Chain seven_joints() {
  return Chain::from_urdf_file(std::string(GA_ROBOTS) + "/seven_joints.urdf");
}

double speed_over_limit(const Chain& chain, const Plant& plant) {
  double speed = 0;
  for (std::size_t i = 0; i < chain.joints().size(); ++i) {
    const double velocity = chain.joints()[i].limits.velocity;
    // Written so that a NaN velocity counts as the largest.
    if (!(std::abs(plant.qd()[i]) <= speed * velocity)) speed = std::abs(plant.qd()[i]) / velocity;
  }
  return speed;
}

struct Upsets {
  bool laws = false;    ///< changes of law
  bool gains = false;   ///< changes of gains, 10 … 80 rad/s
  bool cycles = false;  ///< cycle times of 0.5 … 1.5 ms
};

/// The largest velocity relative to its limit, in 6 s with random references.
double fastest(bool keep_limits, const Upsets& upsets, unsigned seed) {
  const Chain chain = seven_joints();
  const std::size_t n = chain.joints().size();
  LawParameters p = parameters(LawKind::kTracking, 40);
  p.keep_limits = keep_limits;
  ControlLaw law(chain, p);
  Sender sender(chain, seed, -1);
  Random random(seed);
  const auto uniform = [&] { return std::uniform_real_distribution<double>(0, 1)(random); };
  Plant plant(chain, {.friction = false, .stops = false});
  plant.reset(sender.rest().q, Values(n, 0.0));
  law.start(plant.q(), plant.qd(), Values(n, NAN));
  Values tau(n);
  law.update(plant.q(), plant.qd(), sender.rest().reference(), kDt, tau);
  double speed = 0;
  for (int k = 0; k < 6000; ++k) {
    const double dt = upsets.cycles ? kDt * (0.5 + uniform()) : kDt;
    if (upsets.laws && uniform() < 0.005) law.change(static_cast<LawKind>(random() % 4));
    if (upsets.gains && uniform() < 0.005) {
      const JointGains gains = gains_from_bandwidth(10 + 70 * uniform(), 1);
      law.change_gains({&gains, 1});
    }
    plant.step(tau, dt);
    law.update(plant.q(), plant.qd(), sender.next().reference(), dt, tau);
    speed = std::max(speed, speed_over_limit(chain, plant));
  }
  return speed;
}

TEST(LightJoints, KeepNearTheirVelocityLimitsWhateverTheReference) {
  double worst = 0, worst_kept = 0;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    worst = std::max(worst, fastest(false, {}, seed));
    worst_kept = std::max(worst_kept, fastest(true, {}, seed));
  }
  EXPECT_LT(worst, 2.5);
  EXPECT_LT(worst_kept, 1.2);
  RecordProperty("velocity_over_limit", std::to_string(worst));
  RecordProperty("velocity_over_limit_kept", std::to_string(worst_kept));
}

TEST(LightJoints, KeepNearTheirVelocityLimitsWhileLawsGainsAndCyclesChange) {
  double worst = 0, worst_kept = 0;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const Upsets all{.laws = true, .gains = true, .cycles = true};
    worst = std::max(worst, fastest(false, all, seed));
    worst_kept = std::max(worst_kept, fastest(true, all, seed));
  }
  EXPECT_LT(worst, 3.5);
  EXPECT_LT(worst_kept, 1.6);
  RecordProperty("velocity_over_limit", std::to_string(worst));
  RecordProperty("velocity_over_limit_kept", std::to_string(worst_kept));
}

TEST(LightJoints, AnInheritedTorqueDoesNotThrowThem) {
  // Joint 7 was driven with a quarter of its limit, on an inertia of 2e-4 kg m².
  const Chain chain = seven_joints();
  for (const LawKind kind : kAllLaws) {
    Plant plant(chain, {.friction = false, .stops = false});
    plant.reset(Values(7, 0.5), Values(7, 0.0));
    ControlLaw law(chain, parameters(kind, 40));
    Values before(7), tau(7);
    ga_dynamics::Dynamics(chain).gravity(plant.q(), before);
    before[6] += 0.25 * chain.joints()[6].limits.effort;
    law.start(plant.q(), plant.qd(), before);
    double speed = 0;
    const Values goal(7, 0.5), rest(7, 0.0);
    for (int k = 0; k < 2000; ++k) {
      law.update(plant.q(), plant.qd(), {goal, rest, rest}, kDt, tau);
      plant.step(tau, kDt);
      speed = std::max(speed, speed_over_limit(chain, plant));
    }
    EXPECT_LT(speed, 0.6) << "law " << static_cast<int>(kind);
  }
}

TEST(LightJoints, AMotionWithHalfOfTheTorqueThatItNeedsEnds) {
  // Joint 2 saturates; its missing torque must not accelerate the distal joints.
  const Chain chain = seven_joints();
  const Values start{-0.76, 1.07, -0.43, 0.48, -0.04, 0.76, 0},
      goal{1.04, -0.04, -0.83, -0.91, 0.32, 0.44, 0.21};
  for (const LawKind kind : {LawKind::kTracking, LawKind::kTrackingIntegral}) {
    LawParameters p = parameters(kind, 40);
    for (const auto& joint : chain.joints()) p.torque_limit.push_back(0.5 * joint.limits.effort);
    ControlLaw law(chain, p);
    Plant plant(chain, {.friction = false, .stops = false});
    plant.reset(start, Values(7, 0.0));
    law.start(plant.q(), plant.qd(), Values(7, NAN));
    Values q(7), qd(7), qdd(7), tau(7);
    double speed = 0;
    bool saturated = false;
    constexpr double kTime = 0.5;
    for (int k = 0; k < 4000; ++k) {
      const double s = std::min(k * kDt / kTime, 1.0);
      for (std::size_t i = 0; i < 7; ++i) {
        const double way = goal[i] - start[i];
        q[i] = start[i] + way * s * s * s * (10 - 15 * s + 6 * s * s);
        qd[i] = way * 30 * s * s * (1 - s) * (1 - s) / kTime;
        qdd[i] = way * (60 * s - 180 * s * s + 120 * s * s * s) / (kTime * kTime);
      }
      law.update(plant.q(), plant.qd(), {q, qd, qdd}, kDt, tau);
      saturated = saturated || law.saturated(1);
      plant.step(tau, kDt);
      speed = std::max(speed, speed_over_limit(chain, plant));
    }
    EXPECT_TRUE(saturated);
    EXPECT_LT(speed, 3) << "law " << static_cast<int>(kind);
    RecordProperty("velocity_over_limit", std::to_string(speed));
    for (std::size_t i = 0; i < 7; ++i) EXPECT_NEAR(plant.q()[i], goal[i], 1e-6);
  }
}

TEST(LightJoints, HeldSamplesWithTheirRatesAreFollowed) {
  // A fast motion, at 0.7 of the velocity limits.
  const Chain chain = seven_joints();
  constexpr double kRate = 6;
  struct Case {
    int held;  ///< cycles
    double first, all;
  };
  for (const auto& [held, first, all] : {Case{2, 0.53e-3, 0.9e-3}, Case{4, 8.2e-3, 13e-3}}) {
    Sample now{Values(7), Values(7), Values(7)}, sent;
    const auto move = [&](double t) {
      for (std::size_t i = 0; i < 7; ++i) {
        const double a = 0.7 * chain.joints()[i].limits.velocity / kRate;
        const double phase = kRate * t + static_cast<double>(i);
        now.q[i] = 0.3 + a * std::sin(phase);
        now.qd[i] = a * kRate * std::cos(phase);
        now.qdd[i] = -a * kRate * kRate * std::sin(phase);
      }
    };
    ControlLaw law(chain, parameters(LawKind::kTracking, 30));
    Plant plant(chain, {.friction = false, .stops = false});
    move(0);
    plant.reset(now.q, now.qd);
    law.start(plant.q(), plant.qd(), Values(7, NAN));
    Values tau(7), sum(7);
    constexpr int kCycles = 4000, kSettled = 500;
    for (int k = 0; k < kCycles; ++k) {
      move(k * kDt);
      if (k % held == 0) sent = now;
      law.update(plant.q(), plant.qd(), sent.reference(), kDt, tau);
      for (std::size_t i = 0; i < 7 && k > kSettled; ++i) {
        sum[i] += std::pow(plant.q()[i] - now.q[i], 2);
      }
      plant.step(tau, kDt);
    }
    const auto rms = [&](std::size_t i) { return std::sqrt(sum[i] / (kCycles - kSettled)); };
    EXPECT_LT(rms(0), first) << held << " cycles";
    // Joint 2 needs more torque than its limit.
    for (const std::size_t i : {2, 3, 4, 5, 6}) EXPECT_LT(rms(i), all) << "joint " << i + 1;
  }
}

Chain with_coulomb_friction(const Chain& chain, double share) {
  std::vector<ga_dynamics::DhJoint> rows;
  for (const auto& joint : chain.joints()) {
    ga_dynamics::Drive drive = joint.drive;
    drive.coulomb_positive = drive.coulomb_negative = share * joint.limits.effort;
    rows.push_back({joint.type, joint.dh, joint.body, drive, joint.limits, ""});
  }
  return Chain::from_dh(rows, chain.gravity_in_frame0());
}

TEST(LightJoints, DoNotMakeHeavyJointsDropAnUnknownPayload) {
  enum class Event { kTracking, kGravityHold, kPointToPoint, kGains, kStateLost };
  for (const double friction : {0.0, 0.02}) {
    const Chain chain = with_coulomb_friction(seven_joints(), friction);
    for (const Event event : {Event::kTracking, Event::kGravityHold, Event::kPointToPoint,
                              Event::kGains, Event::kStateLost}) {
      ControlLaw law(chain, parameters(LawKind::kTrackingIntegral, 20));
      Plant plant(chain.with_payload({5, {0, 0, 0.05}, {}}), {.stops = false});
      const Values goal(7, 0.5), rest(7, 0.0), bad(7, NAN);
      plant.reset(goal, rest);
      law.start(plant.q(), plant.qd(), Values(7, NAN));
      Values tau(7);
      for (int k = 0; k < 6000; ++k) {
        law.update(plant.q(), plant.qd(), {goal, rest, rest}, kDt, tau);
        plant.step(tau, kDt);
      }
      if (event == Event::kTracking) law.change(LawKind::kTracking);
      if (event == Event::kGravityHold) law.change(LawKind::kGravityHold);
      if (event == Event::kPointToPoint) law.change(LawKind::kPointToPoint);
      const JointGains slower = gains_from_bandwidth(10, 1);
      if (event == Event::kGains) law.change_gains({&slower, 1});
      bool lost = event == Event::kStateLost;
      for (int k = 0; k < 3; ++k) {
        const Values before = tau;
        law.update(lost ? std::span<const double>(bad) : plant.q(), plant.qd(), {goal, rest, rest},
                   kDt, tau);
        lost = false;
        plant.step(tau, kDt);
        for (const std::size_t i : {1, 3}) {
          const double most = 0.002 * chain.joints()[i].limits.effort;
          EXPECT_NEAR(tau[i], before[i], most)
              << "joint " << i + 1 << ", event " << static_cast<int>(event) << ", cycle " << k;
        }
      }
    }
  }
}

TEST(DecoupledSaturation, LeavesTheOtherJointsTheirAccelerations) {
  const Chain chain = seven_joints();
  const std::size_t n = 7;
  MeasuredArm arm(chain, {30, 30, 20, 20, 10, 5, 2});
  DecoupledSaturation saturation(n);
  Random random(1);
  std::normal_distribution<double> normal;
  ga_dynamics::Dynamics dynamics(chain, {.drives = ga_dynamics::Drives::kArmature});
  int with_both = 0;
  for (int round = 0; round < 1000; ++round) {
    Values v(n), wanted(n), given(n), is(n);
    for (std::size_t i = 0; i < n; ++i) {
      arm.q[i] = normal(random);
      arm.qd[i] = 0.1 * normal(random);
      v[i] = 10 * normal(random);
    }
    dynamics.inverse_dynamics(arm.q, arm.qd, v, wanted);
    given = wanted;
    saturation.apply(arm, given);
    int free = 0, at_limit = 0;
    Values clamped = given;
    for (std::size_t i = 0; i < n; ++i) {
      clamped[i] = std::clamp(given[i], -arm.torque_limit[i], arm.torque_limit[i]);
    }
    ASSERT_TRUE(dynamics.forward_dynamics(arm.q, arm.qd, clamped, is));
    for (std::size_t i = 0; i < n; ++i) {
      if (clamped[i] != given[i]) {
        ++at_limit;
        continue;
      }
      ++free;
      EXPECT_NEAR(is[i], v[i], 1e-7 * (1 + std::abs(v[i]))) << "joint " << i + 1;
    }
    with_both += free > 0 && at_limit > 0;
    if (at_limit == 0) {
      EXPECT_EQ(given, wanted);
    }
  }
  EXPECT_GT(with_both, 500);
}

}  // namespace
}  // namespace ga_controllers
