// SPDX-License-Identifier: Apache-2.0

// The check of an arm over its declared uncertainty: range of rho, verdict, remedy, warnings.

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "ga_controllers/stability.hpp"
#include "simulated_loop.hpp"

namespace ga_controllers {
namespace {

using ga_dynamics::Chain;
using ga_dynamics::DhJoint;
using test::chain_of;
using test::load;
using test::Outcome;
using test::Random;
using test::rows;
using test::Values;

ArmLoop integral_loop(double w, double ratio, int delay) {
  ArmLoop loop;
  loop.gains = {gains_from_bandwidth(w, 1)};
  loop.observer_bandwidth = {ratio * w};
  loop.delay = delay;
  return loop;
}

/// The chain with the payload of the uncertainty at its tip, then as plain rows.
Chain heaviest(const Chain& chain, const ModelUncertainty& u) {
  std::vector<DhJoint> all = rows(chain);
  for (DhJoint& row : all) test::scale(row, 1 + u.mass, u.armature_high);
  const double moment = u.payload * u.payload_radius * u.payload_radius;
  const ga_dynamics::LinkInertia payload{
      u.payload, {0, 0, 0}, {moment, 0, 0, 0, moment, 0, 0, 0, moment}};
  all.back().body = lump(all.back().body, transformed(chain.tip().pose, payload));
  return chain_of(all, chain);
}
Chain lightest(const Chain& chain, const ModelUncertainty& u) {
  std::vector<DhJoint> all = rows(chain);
  for (DhJoint& row : all) test::scale(row, 1 - u.mass, u.armature_low);
  return chain_of(all, chain);
}

Eigen::VectorXd ratios(const Chain& model, const Chain& real, const Values& q) {
  const auto n = static_cast<long>(q.size());
  Eigen::MatrixXd m(n, n), r(n, n);
  const ga_dynamics::DynamicsOptions armature{.drives = ga_dynamics::Drives::kArmature};
  ga_dynamics::Dynamics(model, armature)
      .inertia_matrix(q, {m.data(), static_cast<std::size_t>(n * n)});
  ga_dynamics::Dynamics(real, armature)
      .inertia_matrix(q, {r.data(), static_cast<std::size_t>(n * n)});
  return Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd>(m, r).eigenvalues();
}

TEST(CheckStability, BoundsRhoOfEveryArmWithinTheUncertainty) {
  for (const std::string name : {"puma560_akb", "seven_joints", "scara"}) {
    const Chain chain = load(name);
    const ModelUncertainty u{.payload = 2.5, .mass = 0.2};
    const StabilityReport report = check_stability(chain, integral_loop(40, 2, 0), u);
    Random random(3);
    double low = 1, high = 1;
    for (int k = 0; k < 3000; ++k) {
      // Independent errors of every link and joint.
      std::vector<DhJoint> real = rows(chain);
      for (DhJoint& row : real) test::scale(row, random.uniform(0.8, 1.2), random.uniform(0.5, 2));
      const double mass = random.uniform(0, u.payload),
                   moment = mass * u.payload_radius * u.payload_radius;
      const ga_dynamics::LinkInertia payload{
          mass, {0, 0, 0}, {moment, 0, 0, 0, moment, 0, 0, 0, moment}};
      real.back().body = lump(real.back().body, transformed(chain.tip().pose, payload));
      const bool corner = k % 2 == 0;
      const Values q = random.posture(chain);
      const Eigen::VectorXd rho =
          corner ? ratios(chain, heaviest(chain, u), q) : ratios(chain, chain_of(real, chain), q);
      low = std::min(low, rho.minCoeff());
      high = std::max(high, rho.maxCoeff());
      high = std::max(high, ratios(chain, lightest(chain, u), q).maxCoeff());
    }
    EXPECT_LE(report.rho_low, 1.005 * low) << name;
    EXPECT_GE(report.rho_high, 0.995 * high) << name;
    // And they are reached.
    EXPECT_NEAR(ratios(chain, heaviest(chain, u), report.posture_low).minCoeff(), report.rho_low,
                1e-6 * report.rho_low);
    EXPECT_NEAR(ratios(chain, lightest(chain, u), report.posture_high).maxCoeff(), report.rho_high,
                1e-6 * report.rho_high);
  }
}

TEST(CheckStability, AgreesWithSimulationsOfTheHeaviestAndTheLightestArm) {
  Random random(2);
  int stable = 0, marginal = 0, unstable = 0;
  for (int k = 0; k < 45; ++k) {
    const Chain arm = load(std::array{"puma560_akb", "seven_joints", "scara"}[k % 3]);
    std::vector<DhJoint> all = rows(arm);
    for (DhJoint& row : all) {
      if (row.drive.armature == 0) row.drive.armature = random.log_uniform(0.02, 0.5);
    }
    const Chain chain = chain_of(all, arm);
    const ModelUncertainty u{.payload = random.log_uniform(0.1, 4),
                             .mass = random.uniform(0, 0.3),
                             .armature_low = random.uniform(0.4, 1),
                             .armature_high = random.log_uniform(1, 5)};
    ArmLoop loop = integral_loop(random.log_uniform(25, 100), random.uniform(1.5, 3),
                                 static_cast<int>(random.uniform(0, 4)));
    loop.subtracts_disturbance = random.chance(0.7);
    if (random.chance(0.3)) {
      loop.gains.resize(chain.joints().size(), loop.gains[0]);
      for (JointGains& gains : loop.gains) {
        const double factor = random.uniform(0.8, 1.2);
        gains = {gains.kp * factor * factor, gains.kd * factor, 0};
      }
    }
    const StabilityReport report = check_stability(chain, loop, u);
    if (std::abs(report.radius - 1) < 3e-4) continue;  // too slow to be decided by a simulation
    const Outcome heavy =
        test::simulate(loop, chain, heaviest(chain, u), report.posture_low, 15'000);
    const Outcome light =
        test::simulate(loop, chain, lightest(chain, u), report.posture_high, 15'000);
    const bool failed = heavy == Outcome::kUnstable || light == Outcome::kUnstable;
    const bool passed = heavy == Outcome::kStable && light == Outcome::kStable;
    if (report.verdict == StabilityVerdict::kUnstable) {
      EXPECT_TRUE(failed) << k << "\n" << report.text;
      ++unstable;
    } else {
      EXPECT_TRUE(passed) << k << "\n" << report.text;
      ++(report.verdict == StabilityVerdict::kStable ? stable : marginal);
    }
  }
  EXPECT_GE(stable, 5);
  EXPECT_GE(marginal, 5);
  EXPECT_GE(unstable, 5);
  RecordProperty("cases", std::to_string(stable) + " stable, " + std::to_string(marginal) +
                              " marginal, " + std::to_string(unstable) + " unstable");
}

TEST(CheckStability, OfRotorInertiasHasTheVerdictsOfTheDesignStudy) {
  // PUMA at 40 rad/s: rotor inertias of 2, 4 and 8 times the model leave rho at 0.50, 0.25, 0.125.
  const Chain puma = load("puma560_akb");
  const auto check = [&](double factor) {
    return check_stability(puma, integral_loop(40, 2, 0),
                           {.payload = 0, .mass = 0, .armature_low = 1, .armature_high = factor});
  };
  EXPECT_NEAR(check(2).rho_low, 0.50, 0.01);
  EXPECT_NEAR(check(4).rho_low, 0.25, 0.01);
  EXPECT_NEAR(check(8).rho_low, 0.125, 0.005);
  EXPECT_EQ(check(2).verdict, StabilityVerdict::kStable);
  EXPECT_EQ(check(4).verdict, StabilityVerdict::kMarginal);
  EXPECT_EQ(check(8).verdict, StabilityVerdict::kUnstable);
  EXPECT_NEAR(check(1).rho_low, 1, 1e-9);
  EXPECT_NEAR(check(1).rho_high, 1, 1e-9);
}

TEST(CheckStability, WarnsWithinAFactorOfOneAndAHalf) {
  const Chain puma = load("puma560_akb");
  const StableRange range = check_stability(puma, integral_loop(40, 2, 2), {}).stable;
  // The wrist is nearly all rotor: rho is the inverse of the factor on it.
  const auto verdict = [&](double low, double high) {
    return check_stability(puma, integral_loop(40, 2, 2),
                           {.payload = 0, .mass = 0, .armature_low = low, .armature_high = high})
        .verdict;
  };
  EXPECT_EQ(verdict(1, 0.97 / (1.5 * range.lower)), StabilityVerdict::kStable);
  EXPECT_EQ(verdict(1, 1.03 / (1.5 * range.lower)), StabilityVerdict::kMarginal);
  EXPECT_EQ(verdict(1, 0.97 / range.lower), StabilityVerdict::kMarginal);
  EXPECT_EQ(verdict(1, 1.03 / range.lower), StabilityVerdict::kUnstable);
  EXPECT_EQ(verdict(1.03 * 1.5 / range.upper, 1), StabilityVerdict::kStable);
  EXPECT_EQ(verdict(0.97 * 1.5 / range.upper, 1), StabilityVerdict::kMarginal);
  EXPECT_EQ(verdict(0.97 / range.upper, 1), StabilityVerdict::kUnstable);
}

}  // namespace
}  // namespace ga_controllers
