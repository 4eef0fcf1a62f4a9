// SPDX-License-Identifier: Apache-2.0

// What the adaptation makes of its equations, without a law: the samples are exact unless a test
// spoils them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "adaptation.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "wave.hpp"

namespace ga_controllers {
namespace {

using ga_dynamics::Chain;
using ga_dynamics::DhJoint;

constexpr double kFrictionVelocity = 0.005;

LawParameters adaptive(AdaptationParameters a = {}) {
  LawParameters p = parameters(LawKind::kTrackingIntegral);
  a.enabled = true;
  p.adaptation = a;
  p.friction_velocity = kFrictionVelocity;
  return p;
}

std::vector<double> limits(const Chain& chain) {
  std::vector<double> result;
  for (const auto& joint : chain.joints()) result.push_back(joint.limits.effort);
  return result;
}

/// Changes the bodies and drives of a chain.
template <class Change>
Chain changed(const Chain& chain, const Change& change) {
  std::vector<DhJoint> rows;
  for (const auto& joint : chain.joints()) {
    rows.push_back({joint.type, joint.dh, joint.body, joint.drive, joint.limits, joint.name});
    change(rows.back(), rows.size() - 1);
  }
  return Chain::from_dh(rows, chain.gravity_in_frame0());
}

Chain loaded(const Chain& chain, double mass, Values com = {}) {
  return chain.with_payload(ga_dynamics::make_payload(mass, com, {}));
}

/// An estimator that is fed with the torques of a real arm on the wave.
struct Fed {
  explicit Fed(const Chain& arm, const LawParameters& p = adaptive())
      : estimator(puma(), p, limits(puma())), tau(6), doubt(6) {
    use(arm);
  }
  void use(const Chain& arm) {
    real = arm;
    dynamics = std::make_unique<ga_dynamics::Dynamics>(
        real, ga_dynamics::DynamicsOptions{.drives = ga_dynamics::Drives::kArmature});
  }
  /// `spoil(t)` may change tau, doubt and valid of a cycle.
  template <class Spoil>
  void feed(double seconds, const Spoil& spoil) {
    for (int k = 0; k < static_cast<int>(seconds / kDt); ++k, ++cycle) {
      Wave w(speed * kDt * cycle);
      for (std::size_t i = 0; i < 6; ++i) w.qd[i] *= speed, w.qdd[i] *= speed * speed;
      dynamics->inverse_dynamics(w.q, w.qd, w.qdd, tau);
      for (std::size_t i = 0; i < 6; ++i) {
        tau[i] += real.joints()[i].drive.friction(w.qd[i], kFrictionVelocity);
      }
      std::fill(doubt.begin(), doubt.end(), 0.0);
      valid = true;
      spoil(w);
      estimator.take({w.q, w.qd, w.qdd, tau, doubt, valid}, kDt);
    }
  }
  void feed(double seconds) {
    feed(seconds, [](const Wave&) {});
  }
  double payload() const { return estimator.estimate().payload_mass; }
  double deviation() const { return estimator.estimate().payload_mass_deviation; }

  Chain real = puma();
  std::unique_ptr<ga_dynamics::Dynamics> dynamics;
  Adaptation estimator;
  Values tau, doubt;
  bool valid = true;
  double speed = 1;
  int cycle = 0;
};

TEST(Estimation, FindsAPayloadFromExactTorques) {
  Fed fed(loaded(puma(), 2.5));
  fed.feed(2);
  EXPECT_NEAR(fed.payload(), 2.5, 0.1);
}

TEST(Estimation, KeepsItsAccuracyInFastMotions) {
  // Both sides of the equations pass the same filter.
  Fed fed(loaded(puma(), 2.5));
  fed.speed = 6;
  fed.feed(4);
  EXPECT_NEAR(fed.payload(), 2.5, 0.1);
  const ModelUnknowns& unknowns = fed.estimator.unknowns();
  for (std::size_t k = 0; k < unknowns.size(); ++k) {
    if (unknowns.is_payload_mass(k) || unknowns.is_payload_moment(k)) continue;
    EXPECT_NEAR(fed.estimator.values()[k], 0, 0.08) << k;
  }
}

TEST(Estimation, DropsASampleWithABadCycle) {
  Fed fed(loaded(puma(), 2.5)), spoiled(loaded(puma(), 2.5));
  fed.feed(2);
  int k = 0;
  spoiled.feed(2, [&](const Wave&) {
    if (++k % 100 != 0) return;
    spoiled.valid = false;
    for (double& torque : spoiled.tau) torque = 0;
  });
  EXPECT_NEAR(spoiled.payload(), 2.5, 0.1);
}

TEST(Estimation, TrustsAnEquationAsFarAsItsAccelerationIsKnown) {
  double found[2];
  for (const bool doubts : {false, true}) {
    Fed fed(puma());
    fed.feed(1, [&](const Wave&) {
      fed.tau[1] -= 15;
      if (doubts) std::fill(fed.doubt.begin(), fed.doubt.end(), 200.0);
    });
    found[doubts] = 0;
    for (const double x : fed.estimator.values()) found[doubts] += std::abs(x);
  }
  EXPECT_GT(found[false], 0.5);
  EXPECT_LT(found[true], 0.2 * found[false]);
}

TEST(Estimation, SlowJointsDoNotCount) {
  // Around every reversal there is no friction.
  const auto stick = [](Fed& fed) {
    return [&](const Wave& w) {
      for (std::size_t i = 0; i < 6; ++i) {
        if (std::abs(w.qd[i]) > 0.02) continue;
        fed.tau[i] -= fed.real.joints()[i].drive.friction(w.qd[i], kFrictionVelocity);
      }
    };
  };
  Fed clean(puma()), sticks(puma());
  clean.feed(10);
  sticks.feed(10, stick(sticks));
  for (std::size_t k = 0; k < clean.estimator.values().size(); ++k) {
    EXPECT_NEAR(sticks.estimator.values()[k], clean.estimator.values()[k], 0.1) << k;
  }
}

TEST(Estimation, FollowsAFrictionThatChangesAsDrivesWarmUp) {
  Fed fed(puma());
  fed.feed(60);
  fed.use(changed(puma(), [](DhJoint& row, std::size_t) { row.drive.viscous *= 0.85; }));
  fed.feed(60);
  const ModelUnknowns& unknowns = fed.estimator.unknowns();
  for (const std::size_t i : {0, 1, 2}) {
    const double viscous = unknowns.drive(i, fed.estimator.values()).viscous;
    EXPECT_NEAR(viscous / puma().joints()[i].drive.viscous, 0.85, 0.04) << i;
  }
}

TEST(Estimation, ContactsWithAgreementInBetweenAreForgotten) {
  Fed fed(puma());
  fed.feed(5);
  const double before = fed.deviation();
  for (int contact = 0; contact < 8; ++contact) {
    bool paused = false;
    fed.feed(0.3, [&](const Wave&) {
      for (double& torque : fed.tau) torque += 25;
      paused = paused || fed.estimator.estimate().paused;
    });
    EXPECT_TRUE(paused);
    EXPECT_LT(fed.deviation(), 2 * before) << contact;
    fed.feed(3);
  }
}

TEST(Estimation, ContactAfterContactMakesThePayloadUncertain) {
  Fed fed(puma());
  fed.feed(5);
  const double before = fed.deviation();
  fed.feed(6, [&](const Wave&) {
    for (double& torque : fed.tau) torque += 25;
  });
  EXPECT_GT(fed.deviation(), 4 * before);
}

TEST(Estimation, APayloadThatIsToldTakesItsMomentAlong) {
  const ga_dynamics::Payload load = ga_dynamics::make_payload(2, Values{0.1, 0, 0.1}, {});
  Fed fed(puma().with_payload(load));
  fed.feed(4);
  ASSERT_NEAR(fed.payload(), 2, 0.2);
  const Values before(fed.estimator.values().begin(), fed.estimator.values().end());
  const ga_dynamics::Payload half = ga_dynamics::make_payload(1, Values{0.1, 0, 0.1}, {});
  fed.estimator.set_payload(half);
  const ModelUnknowns& unknowns = fed.estimator.unknowns();
  EXPECT_NEAR(fed.payload(), 1, 0.2);
  for (std::size_t k = 0; k < unknowns.size(); ++k) {
    if (unknowns.is_payload_moment(k)) {
      EXPECT_NEAR(fed.estimator.values()[k], before[k] - half.com[unknowns.axis(k)], 1e-9) << k;
    }
  }
}

TEST(Estimation, WhatIsToldBeyondTheEstimateLeavesItWithinItsBounds) {
  Fed fed(puma());
  fed.estimator.set_payload(ga_dynamics::make_payload(5, Values{0.3, 0, 0.3}, {}));
  fed.estimator.set_payload({});
  for (std::size_t k = 0; k < fed.estimator.values().size(); ++k) {
    EXPECT_NEAR(fed.estimator.values()[k], 0, 0.02) << k;
  }
}

TEST(Estimation, AnUnknownAtItsBoundLeavesTheRestToTheOthers) {
  // Wrist and hand are lighter than described, which a payload cannot explain: it is not negative.
  const Chain light = changed(puma(), [](DhJoint& row, std::size_t i) {
    if (i < 2) return;
    row.body.mass *= 0.75;
    for (double& entry : row.body.inertia) entry *= 0.75;
  });
  Fed fed(light);
  fed.feed(3);
  EXPECT_LT(fed.payload(), 0.02);
  // The torques of the estimated arm.
  ModelUnknowns::Bodies bodies;
  bodies.bodies.resize(6), bodies.armature.resize(6), bodies.drives.resize(6);
  fed.estimator.unknowns().make(fed.estimator.values(), bodies);
  ga_dynamics::Dynamics estimated(puma(), {.drives = ga_dynamics::Drives::kArmature});
  estimated.set_bodies(bodies.bodies, bodies.armature);
  double left = 0, all = 0;
  for (double t = 0; t < 6; t += 0.1) {
    const Wave w(t);
    Values real(6), described(6), found(6);
    fed.dynamics->gravity(w.q, real);
    ga_dynamics::Dynamics(puma()).gravity(w.q, described);
    estimated.gravity(w.q, found);
    left += std::pow(found[2] - real[2], 2), all += std::pow(described[2] - real[2], 2);
  }
  EXPECT_LT(left, 0.04 * all);
}

TEST(Estimation, TheDeviationIsHonestAboutCorrelatedNoise) {
  // Torque noise with the bandwidth of the filter: neighboring samples say the same.
  double square = 0, deviation = 0;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    Fed fed(loaded(puma(), 2));
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    Values noise(6);
    fed.feed(4, [&](const Wave&) {
      for (std::size_t i = 0; i < 6; ++i) {
        noise[i] += kDt / 0.02 * (normal(random) * 6.3 - noise[i]);
        fed.tau[i] += 2e-3 * puma().joints()[i].limits.effort * noise[i];
      }
    });
    square += std::pow(fed.payload() - 2, 2) / 8;
    deviation = fed.deviation();
  }
  EXPECT_LT(std::sqrt(square), 1.5 * deviation);
}

TEST(Estimation, APayloadCountsOnceItIsKnown) {
  Fed fed(loaded(puma(), 1));
  fed.feed(3);
  ASSERT_NEAR(fed.payload(), 1, 0.1);
  fed.use(loaded(puma(), 3));
  fed.estimator.doubt_payload();
  fed.estimator.interrupt();
  const double before = fed.payload();
  while (fed.deviation() > 0.3 * 2) {
    EXPECT_EQ(fed.payload(), before);
    fed.feed(0.005);
    ASSERT_LT(fed.cycle, 6000);
  }
  fed.feed(1);
  EXPECT_NEAR(fed.payload(), 3, 0.2);
}

TEST(Estimation, ForgetsWhatItHasLearnedFromAPush) {
  Fed fed(puma());
  fed.feed(1, [&](const Wave&) { fed.tau[0] += 30, fed.tau[1] -= 30, fed.tau[2] += 20; });
  int paused = 0;
  for (int k = 0; k < 1000; ++k) {
    fed.feed(0.01);
    paused += fed.estimator.estimate().paused;
  }
  EXPECT_LT(paused, 600);
  fed.feed(2);
  EXPECT_FALSE(fed.estimator.estimate().paused);
  EXPECT_LT(fed.payload(), 0.1);
  const ModelUnknowns& unknowns = fed.estimator.unknowns();
  for (std::size_t k = unknowns.begin(6); k < unknowns.size(); ++k) {
    EXPECT_NEAR(fed.estimator.values()[k], 0, 0.1) << k;
  }
}

TEST(Unknowns, DescribePossibleBodiesWithinTheirBounds) {
  // More than what is accepted.
  const LawParameters p = adaptive({.mass = 1, .friction = 1, .armature = 1});
  const ModelUnknowns unknowns(puma(), p, limits(puma()));
  ModelUnknowns::Bodies bodies;
  bodies.bodies.resize(6), bodies.armature.resize(6), bodies.drives.resize(6);
  for (const bool low : {true, false}) {
    std::vector<double> x(unknowns.size());
    double payload = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const auto b = unknowns.bounds(k, payload);
      EXPECT_LE(b.low, 0);
      EXPECT_GE(b.high, 0);
      x[k] = low ? b.low : b.high;
      if (!unknowns.is_payload_mass(k)) continue;
      EXPECT_EQ(b.low, 0);
      payload = x[k];
    }
    unknowns.make(x, bodies);
    for (std::size_t i = 0; i < 6; ++i) {
      if (ga_dynamics::is_physical(puma().joints()[i].body)) {
        EXPECT_TRUE(ga_dynamics::is_physical(bodies.bodies[i])) << i;
      }
      if (puma().joints()[i].body.mass > 0) {
        EXPECT_GT(bodies.bodies[i].mass, 0) << i;
      }
      EXPECT_GE(bodies.armature[i], 0) << i;
      EXPECT_GE(bodies.drives[i].viscous, 0) << i;
      EXPECT_GE(bodies.drives[i].coulomb_positive, 0) << i;
      EXPECT_GE(bodies.drives[i].coulomb_negative, 0) << i;
    }
  }
}

TEST(Unknowns, TheMomentOfAPayloadIsThatOfItsMass) {
  const ModelUnknowns unknowns(puma(), adaptive(), limits(puma()));
  int moments = 0;
  for (std::size_t k = 0; k < unknowns.size(); ++k) {
    if (!unknowns.is_payload_moment(k)) continue;
    ++moments;
    // Three standard deviations of the offset, for 0.1 kg and what else may be at the tip.
    EXPECT_NEAR(unknowns.bounds(k, 0.1).high, 0.3 * 0.12, 1e-12);
    EXPECT_LT(unknowns.bounds(k, 0).high, 0.02) << "no payload, hardly a moment";
  }
  EXPECT_GT(moments, 0);
}

TEST(Unknowns, ThePayloadStaysNearTheTipInEveryDirection) {
  const ModelUnknowns unknowns(puma(), adaptive(), limits(puma()));
  std::vector<double> x(unknowns.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (unknowns.is_payload_mass(k)) x[k] = 2;
    if (unknowns.is_payload_moment(k)) x[k] = 10;
  }
  unknowns.limit(x);
  const ga_dynamics::LinkInertia load = unknowns.payload(x);
  EXPECT_EQ(load.mass, 2);
  EXPECT_LE(std::hypot(load.com[0], load.com[1], load.com[2]), 0.3 + 1e-12);
  EXPECT_GT(load.com[0], 0.1);
}

TEST(Unknowns, FrictionScalesInBothDirections) {
  const ModelUnknowns unknowns(puma(), adaptive(), limits(puma()));
  for (std::size_t k = unknowns.begin(6); k < unknowns.size(); ++k) {
    std::vector<double> x(unknowns.size());
    x[k] = 0.2;
    const std::size_t i = unknowns.joint(k);
    const ga_dynamics::Drive drive = unknowns.drive(i, x), &described = puma().joints()[i].drive;
    for (const double qd : {-0.5, 0.5}) {
      const double change = drive.friction(qd, kFrictionVelocity) + drive.armature * 2 -
                            described.friction(qd, kFrictionVelocity) - described.armature * 2;
      EXPECT_NEAR(change, 0.2 * unknowns.drive_column(k, qd, 2), 1e-12) << k;
    }
  }
}

}  // namespace
}  // namespace ga_controllers
