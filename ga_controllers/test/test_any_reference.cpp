// SPDX-License-Identifier: Apache-2.0

// For any reference (noise, steps, held samples, positions alone, velocities without accelerations,
// gaps, garbage, and all of them in turn), the followed reference stays near the input and
// converges to it when it rests.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/plant.hpp"
#include "sender.hpp"
#include "wave.hpp"

namespace ga_controllers {
namespace {

using ga_dynamics::Chain;
using ga_dynamics::Plant;

constexpr LawKind kWithReference[] = {LawKind::kPointToPoint, LawKind::kTracking,
                                      LawKind::kTrackingIntegral};

// ---- The PUMA in closed loop, with references as real senders produce them.

struct Stray {
  double joint = 0;  ///< rad, largest distance of a joint from the intended motion
  double late = 0;   ///< rad, the same after the first two seconds
  double tool = 0;   ///< m, of the tool
  double speed = 0;  ///< largest velocity over its limit
};

/// Drives the PUMA at 40 rad/s for 6 s. `meant`: the intended motion; `given`: the reference.
Stray drive(LawKind kind, bool keep_limits, const std::function<Wave(double)>& meant,
            const std::function<Sample(int)>& given) {
  const Chain chain = puma();
  Plant plant(chain, {.friction = false, .stops = false});
  LawParameters p = parameters(kind, 40);
  p.keep_limits = keep_limits;
  ControlLaw law(chain, p);
  ga_dynamics::Dynamics dynamics(chain);
  std::vector<ga_dynamics::Pose> is(chain.links().size()), should(chain.links().size());
  plant.reset(meant(0).q, meant(0).qd);
  law.start(plant.q(), plant.qd(), Values(6, NAN));
  Values tau(6);
  Stray stray;
  for (int k = 0; k < 6000; ++k) {
    const Wave now = meant(k * kDt);
    for (std::size_t i = 0; i < 6; ++i) {
      stray.joint = std::max(stray.joint, std::abs(plant.q()[i] - now.q[i]));
      if (k > 2000) stray.late = std::max(stray.late, std::abs(plant.q()[i] - now.q[i]));
      stray.speed =
          std::max(stray.speed, std::abs(plant.qd()[i]) / chain.joints()[i].limits.velocity);
    }
    dynamics.link_poses(plant.q(), is);
    dynamics.link_poses(now.q, should);
    const auto &a = is.back().translation, &b = should.back().translation;
    stray.tool = std::max(stray.tool, std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]));
    const Sample sample = given(k);
    law.update(plant.q(), plant.qd(), sample.reference(), kDt, tau);
    plant.step(tau, kDt);
  }
  return stray;
}

Wave at_rest(double) {
  Wave wave(0);
  wave.qd.assign(6, 0.0);
  wave.qdd.assign(6, 0.0);
  return wave;
}

Wave moving(double t) { return Wave(t); }

void record(const char* name, LawKind kind, bool keep_limits, const Stray& stray) {
  const std::string key = std::string(name) + "_law" + std::to_string(static_cast<int>(kind)) +
                          (keep_limits ? "_kept" : "");
  ::testing::Test::RecordProperty(key, std::to_string(stray.joint) + " rad, later " +
                                           std::to_string(stray.late) + " rad, " +
                                           std::to_string(stray.tool * 1000) + " mm, " +
                                           std::to_string(stray.speed) + " of the velocity limit");
}

TEST(AnyReference, NoiseOfARestingReferenceDoesNotMoveTheArm) {
  for (const LawKind kind : kWithReference) {
    for (const bool keep_limits : {false, true}) {
      for (const bool of_velocity : {false, true}) {
        Random random(1);
        std::normal_distribution<double> noise(0, of_velocity ? 5e-3 : 3e-4);
        const Stray stray = drive(kind, keep_limits, at_rest, [&](int) {
          Sample sample{at_rest(0).q, Values(6, 0.0), Values(6, 0.0)};
          for (double& value : of_velocity ? sample.qd : sample.q) value += noise(random);
          return sample;
        });
        record(of_velocity ? "velocity_noise" : "position_noise", kind, keep_limits, stray);
        EXPECT_LT(stray.joint, 1e-3) << "law " << static_cast<int>(kind);
        EXPECT_LT(stray.tool, 1e-3);
        EXPECT_LT(stray.speed, 0.02);
      }
    }
  }
}

TEST(AnyReference, PositionsAloneAreFollowedWithALag) {
  for (const LawKind kind : kWithReference) {
    for (const bool keep_limits : {false, true}) {
      const Stray stray = drive(kind, keep_limits, moving, [](int k) {
        return Sample{Wave(k * kDt).q, {}, {}};
      });
      record("positions_alone", kind, keep_limits, stray);
      EXPECT_LT(stray.joint, 0.15) << "law " << static_cast<int>(kind);
      EXPECT_LT(stray.tool, 0.12);
    }
  }
}

TEST(AnyReference, PositionsAloneAreFollowedOnThePathWithADelay) {
  for (const LawKind kind : {LawKind::kTracking, LawKind::kTrackingIntegral}) {
    for (const bool keep_limits : {false, true}) {
      for (const int held : {1, 2, 5, 10, 20}) {
        // Three moving averages, a cycle, and half of the hold.
        const double delay = 1.5 * (std::max(held, 10) - 1) + 1 + (held - 1) / 2.0;
        const auto delayed = [&](double t) { return Wave(t - delay * kDt); };
        const Stray stray = drive(kind, keep_limits, delayed, [&](int k) {
          return Sample{Wave(k / held * held * kDt).q, {}, {}};
        });
        record("spline", kind, keep_limits, stray);
        EXPECT_LT(stray.late, 2e-4) << "law " << static_cast<int>(kind) << ", held " << held;
      }
    }
  }
}

TEST(AnyReference, TheVelocityOfPositionsWithZeroVelocityIsEstimated) {
  for (const LawKind kind : {LawKind::kTracking, LawKind::kTrackingIntegral}) {
    for (const int held : {1, 10}) {
      const Stray stray = drive(kind, true, moving, [&](int k) {
        return Sample{Wave(k / held * held * kDt).q, Values(6, 0.0), Values(6, 0.0)};
      });
      EXPECT_LT(stray.late, held == 1 ? 0.004 : 0.01) << "law " << static_cast<int>(kind);
      EXPECT_LT(stray.tool, held == 1 ? 0.002 : 0.02);
    }
  }
}

TEST(AnyReference, VelocitiesWithoutAccelerationsAreFollowed) {
  for (const LawKind kind : {LawKind::kTracking, LawKind::kTrackingIntegral}) {
    for (const bool keep_limits : {false, true}) {
      const Stray stray = drive(kind, keep_limits, moving, [](int k) {
        return Sample{Wave(k * kDt).q, Wave(k * kDt).qd, {}};
      });
      record("no_accelerations", kind, keep_limits, stray);
      EXPECT_LT(stray.joint, 5e-3) << "law " << static_cast<int>(kind);
      EXPECT_LT(stray.late, 2e-5);
    }
  }
}

TEST(AnyReference, HeldSamplesAreFollowed) {
  for (const LawKind kind : kWithReference) {
    for (const bool keep_limits : {false, true}) {
      for (const bool rates : {false, true}) {
        const Stray stray = drive(kind, keep_limits, moving, [&](int k) {
          const Wave held(k / 10 * 10 * kDt);
          return rates ? Sample{held.q, held.qd, held.qdd} : Sample{held.q, {}, {}};
        });
        record(rates ? "held_at_100_hz" : "held_positions", kind, keep_limits, stray);
        const bool lags = !rates || kind == LawKind::kPointToPoint;
        EXPECT_LT(stray.joint, lags ? 0.15 : 0.005) << "law " << static_cast<int>(kind);
        EXPECT_LT(stray.late, lags ? 0.15 : 5e-5);
        EXPECT_LT(stray.tool, lags ? 0.12 : 0.003);
      }
    }
  }
}

// ---- Single faults, one at a time.

/// The joint's acceleration at its torque limit, at this position.
double strength(const Chain& chain, const Values& q, std::size_t joint) {
  const std::size_t n = chain.joints().size();
  Values inertia(n * n);
  ga_dynamics::Dynamics(chain, {.drives = ga_dynamics::Drives::kArmature})
      .inertia_matrix(q, inertia);
  return chain.joints()[joint].limits.effort / inertia[joint * n + joint];
}

/// A law on an ideal arm, which follows exactly.
struct Obedient {
  Obedient(const Chain& chain, const Values& at)
      : law(chain, parameters(LawKind::kTracking, 40)), q(at), qd(at.size()), tau(at.size()) {
    law.start(q, qd, Values(at.size(), NAN));
  }
  void cycle(const Reference& reference) {
    law.update(q, qd, reference, kDt, tau);
    q.assign(law.followed().q.begin(), law.followed().q.end());
    qd.assign(law.followed().qd.begin(), law.followed().qd.end());
  }
  ControlLaw law;
  Values q, qd, tau;
};

TEST(AnyReference, ARepeatedSampleWithAVelocityOfARoundingErrorIsAtRest) {
  // The last point of a trajectory: extrapolated with its acceleration, it would move the arm.
  const Chain chain = puma();
  const Values at = at_rest(0).q;
  Obedient arm(chain, at);
  const Values velocity(6, 1e-7), acceleration{8, -10, 40, -90, 90, 90}, none(6, 0.0);
  for (int k = 0; k < 1000; ++k) {
    arm.cycle({at, velocity, k < 20 ? acceleration : none});
    for (std::size_t i = 0; i < 6; ++i) ASSERT_NEAR(arm.q[i], at[i], 1e-3) << "cycle " << k;
  }
}

TEST(AnyReference, AFarStepOfPositionsIsNotOvershot) {
  const Chain chain = puma();
  const Values start = Wave(0).q;
  Values goal = start;
  for (double& value : goal) value += 0.3;
  Obedient arm(chain, start);
  for (int k = 0; k < 100; ++k) arm.cycle({start, {}, {}});
  for (int k = 0; k < 4000; ++k) {
    arm.cycle({goal, {}, {}});
    for (std::size_t i = 0; i < 6; ++i) ASSERT_LT(arm.q[i], goal[i] + 1e-6) << "cycle " << k;
  }
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(arm.q[i], goal[i], 1e-6);
}

TEST(AnyReference, VelocitiesThatContradictThePositionsAreLimited) {
  const Chain chain = puma();
  const Values start = Wave(0).q, rest(6, 0.0);
  Values rates;
  for (const auto& joint : chain.joints()) rates.push_back(20 * joint.limits.velocity);
  Obedient arm(chain, start);
  for (int k = 0; k < 6000; ++k) {
    arm.cycle({start, rates, rest});
    for (std::size_t i = 0; i < 6; ++i) {
      const double velocity = chain.joints()[i].limits.velocity;
      ASSERT_LT(std::abs(arm.qd[i]), 1.2 * velocity) << "joint " << i + 1 << ", cycle " << k;
      ASSERT_LT(std::abs(arm.q[i] - start[i]), 1.0 * velocity) << "joint " << i + 1;
    }
  }
  for (const double rate : arm.qd) EXPECT_LT(std::abs(rate), 1e-3) << "it drifts away";
}

TEST(AnyReference, OneBeyondTheVelocityLimitIsFedForward) {
  // The velocity limit of a description may be lower than the actual motion.
  ga_dynamics::DhJoint joint;
  joint.body = {1, {0.1, 0, 0}, {0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.01}};
  joint.limits = {-5, 5, 1, 50};
  const Chain chain = Chain::from_dh({joint}, {0, -9.81, 0});
  ControlLaw law(chain, parameters(LawKind::kTracking, 20));
  Plant plant(chain, {.stops = false});
  constexpr double kRate = 10, kSpeed = 3;
  Values q(1), qd(1), qdd(1), tau(1);
  const auto move = [&](double t) {
    q[0] = -kSpeed / kRate * std::cos(kRate * t);
    qd[0] = kSpeed * std::sin(kRate * t);
    qdd[0] = kSpeed * kRate * std::cos(kRate * t);
  };
  move(0);
  plant.reset(q, qd);
  law.start(plant.q(), plant.qd(), Values(1, NAN));
  double stray = 0;
  for (int k = 0; k < 3000; ++k) {
    move(k * kDt);
    stray = std::max(stray, std::abs(plant.q()[0] - q[0]));
    law.update(plant.q(), plant.qd(), {q, qd, qdd}, kDt, tau);
    plant.step(tau, kDt);
  }
  EXPECT_LT(stray, 0.001);
}

TEST(AnyReference, AnUnconfirmedAccelerationCausesNoKickAtAJump) {
  const Chain chain = puma();
  const Values start = Wave(0).q, rest(6, 0.0);
  Obedient arm(chain, start);
  Values wild(6), goal = start;
  for (std::size_t i = 0; i < 6; ++i) wild[i] = 0.9 * strength(chain, start, i), goal[i] -= 0.05;
  for (int k = 0; k < 100; ++k) arm.cycle({start, rest, wild});
  double beyond = 0;
  for (int k = 0; k < 2000; ++k) {
    arm.cycle({goal, rest, rest});
    for (std::size_t i = 0; i < 6; ++i) beyond = std::max(beyond, arm.q[i] - start[i]);
  }
  EXPECT_LT(beyond, 0.01);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(arm.q[i], goal[i], 1e-6);
}

TEST(AnyReference, AStrongJointThatStopsAbruptlyStaysNearItsVelocityLimit) {
  // It could reach its velocity limit within milliseconds and exceed it far before such an
  // acceleration is removed smoothly.
  const Chain chain = Chain::from_urdf_file(std::string(GA_ROBOTS) + "/seven_joints.urdf");
  const std::size_t joint = 2;
  Values q(7, 0.5), qd(7, 0.0), qdd(7, 0.0);
  const double all = strength(chain, q, joint), velocity = chain.joints()[joint].limits.velocity;
  ASSERT_GT(all, 100 * velocity);
  Obedient arm(chain, q);
  for (int k = 0; k < 100; ++k) arm.cycle({q, qd, qdd});
  qdd[joint] = 0.4 * all;
  while (qd[joint] < 0.5 * velocity) {
    q[joint] += (qd[joint] + qdd[joint] * kDt / 2) * kDt;
    qd[joint] += qdd[joint] * kDt;
    arm.cycle({q, qd, qdd});
  }
  qd[joint] = qdd[joint] = 0;
  double fastest = 0;
  for (int k = 0; k < 2000; ++k) {
    arm.cycle({q, qd, qdd});
    fastest = std::max(fastest, std::abs(arm.qd[joint]));
  }
  EXPECT_LT(fastest, 1.5 * velocity);
  EXPECT_NEAR(arm.q[joint], q[joint], 1e-6);
}

// ---- Any arm, any law, any sequence.

/// A chain, with its velocity and effort limits or without.
struct Arm {
  std::string name;
  Chain chain;
};

Chain without_limits(const Chain& chain) {
  std::vector<ga_dynamics::DhJoint> rows;
  for (const auto& joint : chain.joints()) {
    rows.push_back({joint.type, joint.dh, joint.body, joint.drive, {}, joint.name});
  }
  return Chain::from_dh(rows, chain.gravity_in_frame0());
}

std::vector<Arm> arms() {
  std::vector<Arm> arms;
  for (const char* file : {"puma560_akb", "scara", "seven_joints"}) {
    arms.push_back({file, Chain::from_urdf_file(std::string(GA_ROBOTS) + "/" + file + ".urdf")});
  }
  arms.push_back({"puma560_akb without limits", without_limits(arms.front().chain)});
  return arms;
}

/// The largest and the smallest of the last values.
class Range {
 public:
  explicit Range(int memory) : memory_(memory) {}
  void add(int now, double value) {
    while (!high_.empty() && high_.back().second <= value) high_.pop_back();
    while (!low_.empty() && low_.back().second >= value) low_.pop_back();
    high_.emplace_back(now, value);
    low_.emplace_back(now, value);
    while (high_.front().first < now - memory_) high_.pop_front();
    while (low_.front().first < now - memory_) low_.pop_front();
  }
  double outside(double value) const {
    return std::max({value - high_.front().second, low_.front().second - value, 0.0});
  }

 private:
  int memory_;
  std::deque<std::pair<int, double>> high_, low_;
};

struct Outcome {
  double outside = 0;  ///< distance from the input range, in s at the joint's velocity limit
  double arrival = 0;  ///< s, until the followed reference reaches the input at rest
};

constexpr double kMemory = 4;    ///< s
constexpr double kSequence = 6;  ///< s
constexpr double kPatience = 5;  ///< s

/// An ideal arm: its position is the followed reference of the previous cycle.
Outcome follow(const Arm& arm, const LawParameters& p, unsigned seed, int only) {
  const std::size_t n = arm.chain.joints().size();
  ControlLaw law(arm.chain, p);
  Sender sender(arm.chain, seed, only);
  Values q = sender.rest().q, qd(n, 0.0), tau(n);
  law.start(q, qd, Values(n, NAN));
  std::vector<Range> ranges(n, Range(static_cast<int>(kMemory / kDt)));
  for (std::size_t i = 0; i < n; ++i) ranges[i].add(-1, q[i]);
  Outcome outcome;
  int k = 0;
  const auto cycle = [&](const Sample& sample) {
    law.update(q, qd, sample.reference(), kDt, tau);
    for (std::size_t i = 0; i < n; ++i) {
      const auto& limits = arm.chain.joints()[i].limits;
      const double velocity = or_else(limits.velocity, 3);
      ranges[i].add(k, law.reference().q[i]);
      q[i] = law.followed().q[i];
      qd[i] = law.followed().qd[i];
      ASSERT_TRUE(std::isfinite(tau[i]) && std::isfinite(q[i]) && std::isfinite(qd[i]))
          << arm.name << ", seed " << seed << ", cycle " << k << ", joint " << i + 1;
      outcome.outside = std::max(outcome.outside, ranges[i].outside(q[i]) / velocity);
    }
    ++k;
  };
  while (k * kDt < kSequence && !::testing::Test::HasFatalFailure()) cycle(sender.next());
  const Sample rest = sender.rest();
  const int end = k;
  double last_away = 0;
  while (k * kDt < kSequence + kPatience && !::testing::Test::HasFatalFailure()) {
    cycle(rest);
    for (std::size_t i = 0; i < n; ++i) {
      if (std::abs(q[i] - rest.q[i]) > 1e-4 || std::abs(qd[i]) > 1e-3) last_away = (k - end) * kDt;
    }
  }
  outcome.arrival = last_away;
  return outcome;
}

TEST(AnyReference, IsFollowedCloselyAndReached) {
  // The integral law follows like the tracking law.
  double outside = 0, arrival = 0;
  for (const Arm& arm : arms()) {
    for (const LawKind kind : {LawKind::kPointToPoint, LawKind::kTracking}) {
      for (const bool keep_limits : {false, true}) {
        LawParameters p = parameters(kind, 40);
        p.keep_limits = keep_limits;
        p.friction = 0.5;
        for (int only = -1; only < kFaults; ++only) {
          for (unsigned seed = 1; seed <= (only < 0 ? 6u : 1u); ++seed) {
            const Outcome outcome = follow(arm, p, seed, only);
            const std::string what = arm.name + ", law " + std::to_string(static_cast<int>(kind)) +
                                     (keep_limits ? ", limits kept" : "") + ", fault " +
                                     std::to_string(only) + ", seed " + std::to_string(seed);
            outside = std::max(outside, outcome.outside);
            arrival = std::max(arrival, outcome.arrival);
            const bool contradicts = only < 0 || only >= static_cast<int>(Fault::kWildVelocities);
            EXPECT_LT(outcome.outside, contradicts ? 1.5 : 0.2) << what;
            EXPECT_LT(outcome.arrival, 3) << what;
          }
        }
      }
    }
  }
  RecordProperty("outside", std::to_string(outside) + " s at the velocity limit");
  RecordProperty("arrival", std::to_string(arrival) + " s");
}

}  // namespace
}  // namespace ga_controllers
