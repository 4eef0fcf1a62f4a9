// SPDX-License-Identifier: Apache-2.0

// The exact analysis of a complete arm in one posture against its simulation.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "ga_controllers/stability.hpp"
#include "inertia_ratios.hpp"
#include "refusal.hpp"
#include "simulated_loop.hpp"
#include "uncertain_arm.hpp"

namespace ga_controllers::test {
namespace {

using ga_dynamics::test::refusal;

struct Case {
  Chain model, real;
  ArmLoop loop;
  Values q;
};

/// A random model error, loop and posture. The descriptions without rotor inertias get some.
Case random_case(const std::string& name, Random& random) {
  const Chain arm = load(name);
  std::vector<DhJoint> model = rows(arm);
  add_rotors(model, random, 0.003, 0.3);
  std::vector<DhJoint> real = model;
  const double heavier = random.log_uniform(0.35, 6);
  for (DhJoint& row : real)
    scale(row, random.uniform(0.8, 1.2), heavier * random.log_uniform(0.7, 1.4));
  if (random.chance(0.7)) {
    const double mass = random.log_uniform(0.1, 8), moment = 0.002 * mass;
    real.back().body = lump(real.back().body, {mass,
                                               {random.uniform(-0.08, 0.08), 0.05, 0.06},
                                               {moment, 0, 0, 0, moment, 0, 0, 0, moment}});
  }
  ArmLoop loop;
  const double rate = random.log_uniform(250, 2000), w = random.log_uniform(15, 0.12 * rate);
  loop.period = 1 / rate;
  loop.delay = static_cast<int>(random.uniform(0, 4));
  loop.subtracts_disturbance = random.chance(0.7);
  const double ratio = random.log_uniform(0.8, 4);
  const bool equal = random.chance(0.5);
  for (std::size_t i = 0; i < (equal ? 1 : model.size()); ++i) {
    const double own = equal ? w : w * random.log_uniform(0.7, 1.4);
    loop.gains.push_back(gains_from_bandwidth(own, random.uniform(0.7, 1.2)));
    loop.observer_bandwidth.push_back(ratio * own);
  }
  return {chain_of(model, arm), chain_of(real, arm), loop, random.posture(arm)};
}

TEST(ArmSpectralRadius, AgreesWithSimulationInEveryRandomCase) {
  Random random(11);
  std::array<int, 3> cases{};
  int stable = 0, unstable = 0, skipped = 0;
  for (int k = 0; stable + unstable < 150; ++k) {
    const std::size_t arm = static_cast<std::size_t>(k) % kArms.size();
    const Case c = random_case(kArms[arm], random);
    const double radius = spectral_radius(c.loop, c.model, c.real, c.q);
    const bool expected = radius < 1;
    // Within 2 % of the border, or too slow to be decided by a simulation.
    if ((spectral_radius(c.loop, c.model, scaled(c.real, 1.02), c.q) < 1) != expected ||
        (spectral_radius(c.loop, c.model, scaled(c.real, 0.98), c.q) < 1) != expected) {
      ++skipped;
      continue;
    }
    const Outcome outcome = simulate(c.loop, c.model, c.real, c.q, 20'000);
    EXPECT_EQ(outcome, expected ? Outcome::kStable : Outcome::kUnstable)
        << kArms[arm] << ", case " << k << ": radius " << radius << ", delay " << c.loop.delay
        << ", rate " << 1 / c.loop.period << ", " << c.loop.gains.size() << " gains";
    ++(expected ? stable : unstable);
    ++cases[arm];
  }
  for (const int count : cases) EXPECT_GE(count, 34);
  EXPECT_GT(stable, 40);
  EXPECT_GT(unstable, 40);
  EXPECT_LT(skipped, 30);
  RecordProperty("cases", std::to_string(stable) + " stable, " + std::to_string(unstable) +
                              " unstable, " + std::to_string(skipped) + " skipped");
}

TEST(ArmSpectralRadius, OfEqualGainsWithoutGravityIsThatOfItsWorstScalarLoop) {
  Random random(5);
  for (int k = 0; k < 60; ++k) {
    Case c = random_case(kArms[static_cast<std::size_t>(k) % 3], random);
    c.loop.gains.resize(1);
    c.loop.observer_bandwidth.resize(1);
    const Chain model = c.model.with_gravity({0, 0, 0}), real = c.real.with_gravity({0, 0, 0});
    const LoopSettings loop{.gains = c.loop.gains[0],
                            .subtracts_disturbance = c.loop.subtracts_disturbance,
                            .observer_bandwidth = c.loop.observer_bandwidth[0],
                            .period = c.loop.period,
                            .delay = c.loop.delay};
    double worst = 0;
    for (const double rho : inertia_ratios(model, real, c.q))
      worst = std::max(worst, spectral_radius(loop, rho));
    EXPECT_NEAR(spectral_radius(c.loop, model, real, c.q), worst, 1e-7);
  }
}

TEST(UncertainArm, IsLinearizedAboutTheEquilibriumWithTheLawsTorque) {
  // Against the accelerations of the real arm under the model's torques, both disturbed a little.
  Random random(9);
  for (int k = 0; k < 30; ++k) {
    const Case c = random_case(kArms[static_cast<std::size_t>(k) % 3], random);
    const std::size_t n = c.q.size();
    const ga_dynamics::DynamicsOptions armature{.drives = ga_dynamics::Drives::kArmature};
    ga_dynamics::Dynamics model(c.model, armature), real(c.real, armature);
    Values weight(n), rest(n), u(n), tau(n), qdd(n);
    real.gravity(c.q, weight);
    model.forward_dynamics(c.q, rest, weight, u);
    RealArm other{.payload = 1, .mass = 1, .armature = {}};
    for (const auto& joint : c.real.joints()) other.armature.push_back(joint.drive.armature);
    UncertainArm arm(c.model, c.real);
    const LinearPlant plant = arm.linearized(c.q, other, 1, true);
    Values q = c.q, estimate = c.q, command = u, dq(n), de(n), du(n);
    for (std::size_t i = 0; i < n; ++i) {
      q[i] += dq[i] = random.uniform(-1e-5, 1e-5);
      estimate[i] += de[i] = random.uniform(-1e-5, 1e-5);
      command[i] += du[i] = random.uniform(-1e-3, 1e-3);
    }
    model.inverse_dynamics(estimate, rest, command, tau);
    real.forward_dynamics(q, rest, tau, qdd);
    double size = 0;
    for (const double value : qdd) size = std::max(size, std::abs(value));
    for (std::size_t i = 0; i < n; ++i) {
      double expected = 0;
      for (std::size_t j = 0; j < n; ++j) {
        double input = du[j];
        for (std::size_t m = 0; m < n; ++m) input += plant.model_stiffness(j, m) * de[m];
        expected += plant.ratio(i, j) * input - plant.stiffness(i, j) * dq[j];
      }
      EXPECT_NEAR(qdd[i], expected, 2e-3 * size) << "case " << k << ", joint " << i;
    }
  }
}

TEST(UncertainArm, LosesStiffnessUprightAndGainsSomeHanging) {
  const Chain arm = load("seven_joints");
  const Chain loaded = arm.with_payload({2, {0, 0, 0.1}, {1e-3, 0, 0, 0, 1e-3, 0, 0, 0, 1e-3}});
  UncertainArm uncertain(arm, loaded);
  const RealArm real{.payload = 1, .mass = 1, .armature = Values(7, 0.0)};
  const Values upright(7, 0.0), hanging{0, 2, 0, 1.1416, 0, 0, 0};
  EXPECT_LT(uncertain.gravity_stiffness(upright, real), -100);
  EXPECT_GT(uncertain.gravity_stiffness(hanging, real), -10);
}

TEST(ArmSpectralRadius, FindsAnArmThatFallsOver) {
  // Upright with an unknown 2 kg at low stiffness: the weight's moment grows faster than Kp q.
  const Chain arm = load("seven_joints");
  const Chain loaded = arm.with_payload({2, {0, 0, 0.1}, {1e-3, 0, 0, 0, 1e-3, 0, 0, 0, 1e-3}});
  ArmLoop loop;
  loop.subtracts_disturbance = false;
  loop.gains = {gains_from_bandwidth(12, 1)};
  loop.observer_bandwidth = {24};
  const Values upright(7, 0.0), hanging{0, 2, 0, 1.14, 0, 0, 0};
  EXPECT_GT(spectral_radius(loop, arm, loaded, upright), 1);
  EXPECT_EQ(simulate(loop, arm, loaded, upright, 20'000), Outcome::kUnstable);
  EXPECT_LT(spectral_radius(loop, arm, loaded, hanging), 1);
  EXPECT_EQ(simulate(loop, arm, loaded, hanging, 20'000), Outcome::kStable);
  const Chain floating = arm.with_gravity({0, 0, 0}),
              floating_loaded = loaded.with_gravity({0, 0, 0});
  EXPECT_LT(spectral_radius(loop, floating, floating_loaded, upright), 1);
}

TEST(ArmSpectralRadius, RefusesBadArgumentsByName) {
  const Chain arm = load("puma560_akb");
  ArmLoop loop;
  loop.gains = {gains_from_bandwidth(40, 1)};
  loop.observer_bandwidth = {80};
  const Values q(6, 0.1);
  const auto refused = [&](const ArmLoop& l, const Chain& real, const Values& at) {
    return refusal([&] { spectral_radius(l, arm, real, at); });
  };
  EXPECT_EQ(refused(loop, arm, q), "accepted");
  EXPECT_NE(refused(loop, load("scara"), q).find("real has 4 joints"), std::string::npos);
  EXPECT_NE(refused(loop, arm, Values(5)).find("q has 5 values for 6 joints"), std::string::npos);
  EXPECT_NE(refused(loop, arm, Values(6, NAN)).find("q is not finite"), std::string::npos);
  ArmLoop two = loop;
  two.gains.push_back(two.gains[0]);
  EXPECT_NE(refused(two, arm, q).find("gains has 2 values for 6 joints"), std::string::npos);
}

}  // namespace
}  // namespace ga_controllers::test
