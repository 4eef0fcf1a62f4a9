// SPDX-License-Identifier: Apache-2.0

// The check of an arm over its declared uncertainty: range of rho, verdict, remedy, warnings.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ga_controllers/stability.hpp"
#include "inertia_ratios.hpp"
#include "simulated_loop.hpp"

namespace ga_controllers::test {
namespace {

TEST(CheckStability, BoundsRhoOfEveryArmWithinTheUncertainty) {
  for (const std::string& name : kArms) {
    const Chain chain = load(name);
    const ModelUncertainty u{.payload = 2.5, .mass = 0.2};
    const StabilityReport report = check_stability(chain, integral_loop(40, 2, 0), u);
    Random random(3);
    double low = 1, high = 1;
    for (int k = 0; k < 3000; ++k) {
      // Independent errors of every link and joint.
      std::vector<DhJoint> real = rows(chain);
      for (DhJoint& row : real) scale(row, random.uniform(0.8, 1.2), random.uniform(0.5, 2));
      add_payload(real, chain, random.uniform(0, u.payload), u.payload_radius);
      const bool corner = k % 2 == 0;
      const Values q = random.posture(chain);
      const Eigen::VectorXd rho = corner ? inertia_ratios(chain, heaviest(chain, u), q)
                                         : inertia_ratios(chain, chain_of(real, chain), q);
      low = std::min(low, rho.minCoeff());
      high = std::max(high, rho.maxCoeff());
      high = std::max(high, inertia_ratios(chain, lightest(chain, u), q).maxCoeff());
    }
    EXPECT_LE(report.rho_low, 1.005 * low) << name;
    EXPECT_GE(report.rho_high, 0.995 * high) << name;
    // And they are reached.
    EXPECT_NEAR(inertia_ratios(chain, heaviest(chain, u), report.posture_low).minCoeff(),
                report.rho_low, 1e-6 * report.rho_low);
    EXPECT_NEAR(inertia_ratios(chain, lightest(chain, u), report.posture_high).maxCoeff(),
                report.rho_high, 1e-6 * report.rho_high);
  }
}

TEST(CheckStability, AgreesWithSimulationsOfTheHeaviestAndTheLightestArm) {
  Random random(2);
  int stable = 0, marginal = 0, unstable = 0;
  for (int k = 0; k < 45; ++k) {
    const Chain arm = load(kArms[static_cast<std::size_t>(k) % kArms.size()]);
    std::vector<DhJoint> all = rows(arm);
    add_rotors(all, random, 0.02, 0.5);
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
    const Outcome heavy = simulate(loop, chain, heaviest(chain, u), report.posture_low, 15'000);
    const Outcome light = simulate(loop, chain, lightest(chain, u), report.posture_high, 15'000);
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
}  // namespace ga_controllers::test
