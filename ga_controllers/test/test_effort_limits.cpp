// SPDX-License-Identifier: Apache-2.0

// No law ever exceeds a joint's effort limit: at the start, in a hold, after a change of law, while
// blending, without a state or a reference; also where gravity needs more than the limit.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "wave.hpp"

namespace ga_controllers {
namespace {

using ga_dynamics::Chain;

/// Random numbers of this test.
struct Dice {
  explicit Dice(unsigned seed) : random(seed) {}
  double between(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  }
  bool one_in(int n) { return random() % static_cast<unsigned>(n) == 0; }
  std::mt19937 random;
};

/// Three to seven joints in any arrangement, some prismatic. Effort limits from a tenth to twice
/// the worst-case gravity torque (about mass · g · reach).
Chain random_arm(Dice& dice) {
  std::vector<ga_dynamics::DhJoint> rows;
  const int n = 3 + static_cast<int>(dice.random() % 5);
  double mass_beyond = 0;
  std::vector<double> masses;
  for (int i = 0; i < n; ++i) masses.push_back(dice.between(0.5, 12));
  for (const double mass : masses) mass_beyond += mass;
  for (int i = 0; i < n; ++i) {
    ga_dynamics::DhJoint row;
    row.type =
        dice.one_in(6) ? ga_dynamics::JointType::kPrismatic : ga_dynamics::JointType::kRevolute;
    row.dh.a = i > 0 ? dice.between(0, 0.5) : 0;
    row.dh.alpha = i > 0 ? dice.between(-M_PI, M_PI) : 0;
    row.dh.d = i > 0 ? dice.between(-0.2, 0.3) : 0;
    const double mass = masses[static_cast<std::size_t>(i)], width = dice.between(0.02, 0.2);
    const double inertia = mass * width * width;
    row.body = {mass,
                {dice.between(-0.2, 0.2), dice.between(-0.2, 0.2), dice.between(-0.2, 0.2)},
                {inertia, 0, 0, 0, inertia, 0, 0, 0, inertia}};
    row.drive = {dice.between(0, 0.5), dice.between(0, 2), dice.between(0, 3), dice.between(0, 3)};
    row.limits.effort = mass_beyond * 9.81 * 0.5 * dice.between(0.1, 2);
    row.limits.velocity = dice.between(0.5, 6);
    row.limits.lower = -dice.between(0.5, 3);
    row.limits.upper = dice.between(0.5, 3);
    mass_beyond -= mass;
    rows.push_back(row);
  }
  return Chain::from_dh(rows, {dice.between(-6, 6), dice.between(-6, 6), -9.81});
}

/// One random value per joint.
template <class Value>
Values each(const Chain& chain, Value value) {
  Values values;
  for (const auto& joint : chain.joints()) values.push_back(value(joint));
  return values;
}

/// Sometimes NaN, sometimes infinity.
void spoil(Dice& dice, Values& values) {
  if (dice.one_in(2)) values[dice.random() % values.size()] = dice.one_in(2) ? NAN : INFINITY;
}

LawParameters random_law(Dice& dice, const Chain& chain) {
  LawParameters p = parameters(kAllLaws[dice.random() % 4], dice.between(5, 150));
  p.friction = dice.one_in(2) ? dice.between(0, 1) : 0;
  p.blend_time = dice.one_in(4) ? 0 : dice.between(0.01, 1);
  p.keep_limits = dice.one_in(2);
  if (dice.one_in(3)) {
    p.torque_limit =
        each(chain, [&](const auto& joint) { return joint.limits.effort * dice.between(0.1, 1); });
  }
  if (dice.one_in(3)) {
    p.torque_rate_limit =
        each(chain, [&](const auto& joint) { return joint.limits.effort * dice.between(1, 100); });
  }
  return p;
}

TEST(EffortLimits, GravityBeyondThemIsNotTakenOver) {
  // An arm that is too weak for its pose was held with 118 N m on a joint limited to 90 N m.
  const Chain chain = puma();
  const Values stretched{0, 0, M_PI / 2, 0, 0, 0}, rest(6, 0.0);
  Values gravity(6), tau(6);
  const Chain heavy = chain.with_payload({.mass = 40, .com = {0, 0, 0.1}, .inertia = {}});
  ga_dynamics::Dynamics(heavy).gravity(stretched, gravity);
  ASSERT_GT(std::abs(gravity[1]), 1.2 * chain.joints()[1].limits.effort);
  for (const LawKind kind : kAllLaws) {
    ControlLaw law(heavy, parameters(kind));
    law.start(stretched, rest, gravity);
    for (int k = 0; k < 2000; ++k) {
      law.update(stretched, rest, {stretched, rest, rest}, kDt, tau);
      for (std::size_t i = 0; i < 6; ++i) {
        ASSERT_LE(std::abs(tau[i]), chain.joints()[i].limits.effort)
            << "law " << static_cast<int>(kind) << ", cycle " << k << ", joint " << i + 1;
      }
    }
  }
}

TEST(EffortLimits, HoldForEveryLawInEveryState) {
  int weak = 0, cut = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    Dice dice(seed);
    const Chain chain = random_arm(dice);
    const std::size_t n = chain.joints().size();
    ControlLaw law(chain, random_law(dice, chain));
    Values tau(n), gravity(n);
    const auto anywhere = [&] { return each(chain, [&](auto&) { return dice.between(-3, 3); }); };
    Values q = anywhere(), qd = anywhere(), goal = anywhere();
    for (int k = 0; k < 600; ++k) {
      if (k == 0 || dice.one_in(100)) {
        q = anywhere();
        Values before = each(
            chain, [&](const auto& joint) { return joint.limits.effort * dice.between(-3, 3); });
        if (dice.one_in(3)) ga_dynamics::Dynamics(chain).gravity(q, before);
        if (dice.one_in(3)) spoil(dice, before);
        Values at = q;
        if (dice.one_in(4)) spoil(dice, at);
        if (k > 0 || dice.one_in(2)) law.start(at, qd, before);
      }
      if (dice.one_in(60)) law.change(kAllLaws[dice.random() % 4]);
      if (dice.one_in(60)) {
        const JointGains gains = gains_from_bandwidth(dice.between(5, 150), 1);
        law.change_gains(std::span(&gains, 1));
      }
      if (dice.one_in(40)) goal = anywhere();
      if (dice.one_in(10)) qd = anywhere();
      Values measured = q, wanted = goal, rates = qd;
      if (dice.one_in(30)) spoil(dice, measured);
      if (dice.one_in(30)) spoil(dice, wanted);
      Values speed = qd;
      if (dice.one_in(30)) speed[0] = 1e200;  // finite, but yields a non-finite torque
      if (dice.one_in(30)) rates[0] = dice.one_in(2) ? 1e300 : 1e5;
      const Reference reference = dice.one_in(20)  ? Reference{}
                                  : dice.one_in(2) ? Reference{wanted, {}, {}}
                                                   : Reference{wanted, rates, rates};
      law.update(measured, speed, reference, dice.one_in(50) ? 0.08 : kDt, tau);
      ga_dynamics::Dynamics(chain).gravity(q, gravity);
      for (std::size_t i = 0; i < n; ++i) {
        const double limit = chain.joints()[i].limits.effort;
        weak += std::abs(gravity[i]) > limit;
        cut += std::abs(tau[i]) == limit;
        ASSERT_TRUE(std::abs(tau[i]) <= limit)  // false for NaN too
            << tau[i] << " N m on a joint of " << limit << " N m: seed " << seed << ", cycle " << k
            << ", joint " << i + 1;
      }
    }
  }
  EXPECT_GT(weak, 1000) << "the arms are too strong for this test";
  EXPECT_GT(cut, 1000);
}

TEST(EffortLimits, WithoutAnyTheLawsWork) {
  // Descriptions without limits have zero or no value.
  std::vector<ga_dynamics::DhJoint> rows;
  const Chain limited = puma();
  for (const auto& joint : limited.joints()) {
    ga_dynamics::DhJoint row{joint.type, joint.dh, joint.body, joint.drive, {}, joint.name};
    if (rows.size() % 2 == 0) row.limits.effort = row.limits.velocity = 0;
    rows.push_back(row);
  }
  const Chain chain = Chain::from_dh(rows, limited.gravity_in_frame0());
  const Values start = Wave(0).q, rest(6, 0.0);
  Values far = start;
  for (double& value : far) value += 0.5;
  for (const LawKind kind : kAllLaws) {
    for (const bool keep_limits : {false, true}) {
      LawParameters p = parameters(kind, 40);
      p.keep_limits = keep_limits;
      p.friction = 1;
      ControlLaw law(chain, p);
      ga_dynamics::Dynamics dynamics(chain, {.drives = ga_dynamics::Drives::kArmature});
      Values q = start, qd = rest, qdd(6), tau(6), before(6);
      law.start(q, qd, Values(6, NAN));
      double step = 0;
      for (int k = 0; k < 4000; ++k) {
        // GCC 13 reports a false overflow for an assignment.
        std::copy(tau.begin(), tau.end(), before.begin());
        law.update(q, qd, {k < 100 ? start : far, rest, rest}, kDt, tau);
        // Friction is fed forward but not simulated: the model is not exact.
        ASSERT_TRUE(dynamics.forward_dynamics(q, qd, tau, qdd));
        for (std::size_t i = 0; i < 6; ++i) {
          ASSERT_TRUE(std::isfinite(tau[i]));
          EXPECT_FALSE(law.saturated(static_cast<int>(i)));
          if (k >= 100) step = std::max(step, std::abs(tau[i] - before[i]));
          q[i] += (qd[i] + qdd[i] * kDt / 2) * kDt;
          qd[i] += qdd[i] * kDt;
        }
      }
      if (kind == LawKind::kGravityHold || kind == LawKind::kGravityCompensation) continue;
      if (kind == LawKind::kHandGuiding) continue;
      EXPECT_LT(step, 20) << "law " << static_cast<int>(kind) << ": a jump is smoothed as well";
      for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(q[i], far[i], 0.05);
    }
  }
}

}  // namespace
}  // namespace ga_controllers
