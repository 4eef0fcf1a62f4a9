// SPDX-License-Identifier: Apache-2.0

// The stability check against closed-loop simulations with the law itself; the rule by which gains
// are refused; gains for elastic drives.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

#include "ga_controllers/stability.hpp"
#include "refusal.hpp"
#include "simulated_loop.hpp"
#include "state_observer.hpp"

namespace ga_controllers::test {
namespace {

using ga_dynamics::test::refusal;

/// A law to be checked, and what is known about the arm.
struct Case {
  Chain model;
  LawKind kind = LawKind::kTrackingIntegral;
  std::vector<JointGains> gains;
  double rate = 1000;
  Uncertainty uncertainty;
};

/// Torque and velocity limits that small motions do not reach; no position limits.
Chain unlimited(const Chain& chain) {
  std::vector<DhJoint> all = rows(chain);
  for (DhJoint& row : all) row.limits = {-1e3, 1e3, 1e3, 1e6};
  return chain_of(all, chain);
}

/// Holds the arm at q with the ControlLaw, from a velocity of about 1e-5 rad/s.
Outcome simulate(const Case& c, const Chain& real, const Values& q, int cycles) {
  const std::size_t n = q.size();
  const double dt = 1 / c.rate;
  LawParameters parameters;
  parameters.kind = c.kind;
  parameters.gains = c.gains;
  ControlLaw law(unlimited(c.model), parameters);
  ga_dynamics::Plant plant(real, {.sub_step = std::min(2.5e-4, dt),
                                  .friction = false,
                                  .torque_limits = false,
                                  .stops = false});
  // Integral action takes over the torque that holds the arm: it starts in equilibrium.
  Values weight(n), rest(n), tau(n);
  plant.dynamics().gravity(q, weight);
  law.start(q, rest, weight);
  Values start(n);
  for (std::size_t i = 0; i < n; ++i) start[i] = i % 2 == 0 ? 1e-5 : -0.7e-5;
  plant.reset(q, start);
  std::vector<Values> queue(static_cast<std::size_t>(c.uncertainty.delay), weight);
  Decision decision(cycles, {.settled = 1e-8, .diverged = 0.3, .change = 0.05});
  for (int k = 1; k <= cycles; ++k) {
    law.update(plant.q(), plant.qd(), {q, rest, rest}, dt, tau);
    queue.push_back(tau);
    if (!plant.step(queue.front(), dt)) return Outcome::kUnstable;
    queue.erase(queue.begin());
    for (std::size_t i = 0; i < n; ++i) decision.note(std::abs(plant.qd()[i]));
    if (const auto decided = decision.next()) return *decided;
  }
  return decision.at_the_end();
}

/// A random law, rate and uncertainty. Descriptions without rotor inertias get some.
Case random_case(const std::string& name, Random& random) {
  std::vector<DhJoint> all = rows(load(name));
  add_rotors(all, random, 0.02, 0.5);
  Case c{.model = chain_of(all, load(name)), .gains = {}, .uncertainty = {}};
  c.kind = random.chance(0.7) ? LawKind::kTrackingIntegral : LawKind::kTracking;
  // Without integral action the unknown payload would draw the arm far from its posture: no weight.
  if (c.kind == LawKind::kTracking) c.model = c.model.with_gravity({0, 0, 0});
  c.rate = random.log_uniform(250, 2000);
  const double w = random.log_uniform(20, 0.1 * c.rate), ratio = random.uniform(1.2, 3);
  const bool equal = random.chance(0.6);
  for (std::size_t i = 0; i < (equal ? 1 : all.size()); ++i) {
    JointGains g = gains_from_bandwidth(equal ? w : w * random.uniform(0.8, 1.25), 1);
    g.ki = integral_gain(g, ratio * design_bandwidth(g));
    c.gains.push_back(g);
  }
  c.uncertainty = {.model = {.payload = random.log_uniform(0.1, 4),
                             .mass = random.uniform(0, 0.3),
                             .armature_low = random.uniform(0.4, 1),
                             .armature_high = random.log_uniform(1, 8)},
                   .delay = static_cast<int>(random.uniform(0, 5)),
                   .declared = true};
  return c;
}

TEST(LawStability, CheckAgreesWithTheLawOnASimulatedArmInEveryRandomCase) {
  constexpr std::array<const char*, 3> kArms = {"puma560_akb", "ur10e", "seven_joints"};
  constexpr int kCases = 120;
  Random random(21);
  int accepted = 0, refused = 0, border = 0;
  std::array<int, 3> cases{};
  for (int k = 0; accepted + refused < kCases && k < 3 * kCases; ++k) {
    const std::size_t arm = static_cast<std::size_t>(k) % kArms.size();
    const Case c = random_case(kArms[arm], random);
    const LawCheck check = check_law(c.model, c.kind, c.gains, c.rate, c.uncertainty);
    const ArmLoop loop = loop_of(c.kind, c.gains, c.rate, c.uncertainty.delay);
    const Chain heavy = heaviest(c.model, c.uncertainty.model),
                light = lightest(c.model, c.uncertainty.model);
    // Within 5 % of the border a simulation takes too long to decide.
    const auto stable = [&](double factor) {
      return spectral_radius(loop, c.model, scaled(heavy, factor), check.report.posture_low) < 1 &&
             spectral_radius(loop, c.model, scaled(light, 1 / factor), check.report.posture_high) <
                 1;
    };
    if (stable(1.05) != stable(1 / 1.05)) {
      ++border;
      continue;
    }
    const int cycles = 20'000;
    const Outcome low = simulate(c, heavy, check.report.posture_low, cycles);
    const Outcome high = simulate(c, light, check.report.posture_high, cycles);
    const bool settles = low == Outcome::kStable && high == Outcome::kStable;
    const bool diverges = low == Outcome::kUnstable || high == Outcome::kUnstable;
    EXPECT_TRUE(check.accepted() ? settles : diverges)
        << kArms[arm] << ", case " << k << ", simulated: heavy " << static_cast<int>(low)
        << ", light " << static_cast<int>(high) << ", rate " << c.rate << ", delay "
        << c.uncertainty.delay << "\n"
        << check.report.text;
    ++(check.accepted() ? accepted : refused);
    ++cases[arm];
  }
  EXPECT_EQ(accepted + refused, kCases);
  for (const int count : cases) EXPECT_GE(count, kCases / 4);
  EXPECT_GE(accepted, kCases / 4);
  EXPECT_GE(refused, kCases / 4);
  EXPECT_LE(border, kCases / 3);
  const std::string summary = std::to_string(accepted + refused) +
                              " cases agree: " + std::to_string(accepted) + " accepted, " +
                              std::to_string(refused) + " refused; " + std::to_string(border) +
                              " within 5 % of the border were left out";
  std::printf("%s\n", summary.c_str());
  RecordProperty("cases", summary);
}

TEST(LawStability, LoopHasTheObserverOfTheLaw) {
  const JointGains g = gains_from_bandwidth(40, 1);
  const ArmLoop integral = loop_of(LawKind::kTrackingIntegral, std::vector{g}, 500, 2, {60});
  EXPECT_TRUE(integral.subtracts_disturbance);
  EXPECT_NEAR(integral.observer_bandwidth[0], 80, 0.1);
  EXPECT_EQ(integral.period, 0.002);
  EXPECT_EQ(integral.delay, 2);
  EXPECT_EQ(integral.resonance, Values{60});
  EXPECT_TRUE(loop_of(LawKind::kGravityHold, std::vector{g}, 500).subtracts_disturbance);
  for (const LawKind kind : {LawKind::kTracking, LawKind::kPointToPoint}) {
    EXPECT_FALSE(loop_of(kind, std::vector{g}, 500).subtracts_disturbance);
  }
  const JointGains none{g.kp, g.kd, 0};
  EXPECT_FALSE(loop_of(LawKind::kTrackingIntegral, std::vector{none}, 500).subtracts_disturbance);
  // Ki changes the observer of laws with integral action only.
  const JointGains slow{g.kp, g.kd, integral_gain(g, 55)};
  EXPECT_NEAR(loop_of(LawKind::kTrackingIntegral, std::vector{slow}, 500).observer_bandwidth[0], 55,
              0.01);
  EXPECT_NEAR(loop_of(LawKind::kTracking, std::vector{slow}, 500).observer_bandwidth[0], 80, 0.01);
  EXPECT_TRUE(
      contains(refusal([&] { loop_of(LawKind::kTracking, std::vector{g}, 0); }), "rate is"));
}

LawCheck check_integral(const std::string& robot, double bandwidth, const Uncertainty& u,
                        double rate = 1000) {
  return check_law(load(robot), LawKind::kTrackingIntegral,
                   std::vector{gains_from_bandwidth(bandwidth, 1)}, rate, u);
}

TEST(LawCheck, RefusesGainsThatAreUnstableWithAnExactModel) {
  for (const bool declared : {false, true}) {
    const LawCheck check =
        check_integral("puma560_akb", 200, {.model = {}, .delay = 4, .declared = declared});
    EXPECT_FALSE(check.accepted());
    EXPECT_TRUE(contains(check.refusal, "unstable even with an exact model")) << check.refusal;
    EXPECT_TRUE(contains(check.refusal, "Remedy: lower the gains to bandwidth")) << check.refusal;
  }
}

TEST(LawCheck, RefusesWhatIsUnstableWithinADeclaredUncertaintyAndWarnsOtherwise) {
  Uncertainty u{.model = {.payload = 2}, .delay = 0, .declared = true};
  const LawCheck refused = check_integral("seven_joints", 40, u);
  EXPECT_FALSE(refused.accepted());
  for (const char* part : {"declared uncertainty (payload 0 to 2 kg", "stable for rho 0.24",
                           "closed-loop bandwidth of 12", "Remedy: "}) {
    EXPECT_TRUE(contains(refused.refusal, part)) << part << "\n" << refused.refusal;
  }
  EXPECT_FALSE(contains(refused.refusal, "\n"));
  u.declared = false;
  const LawCheck warned = check_integral("seven_joints", 40, u);
  EXPECT_TRUE(warned.accepted());
  ASSERT_FALSE(warned.warnings.empty());
  EXPECT_TRUE(contains(warned.warnings[0], "unstable if the arm differs from its description"))
      << warned.warnings[0];
  EXPECT_TRUE(contains(warned.warnings[0], "Declare the uncertainty")) << warned.warnings[0];
}

TEST(LawCheck, WarnsNearTheLimitAndOfMissingRotorInertia) {
  const Uncertainty near{.model = {.payload = 0, .mass = 0, .armature_low = 1, .armature_high = 3},
                         .declared = true};
  const LawCheck marginal = check_integral("puma560_akb", 40, near);
  EXPECT_TRUE(marginal.accepted());
  ASSERT_EQ(marginal.warnings.size(), 1u);
  EXPECT_TRUE(contains(marginal.warnings[0], "near the limit of stability"))
      << marginal.warnings[0];
  EXPECT_TRUE(contains(marginal.summary, "marginal")) << marginal.summary;
  const LawCheck ur = check_integral("ur10e", 40, {});
  EXPECT_TRUE(ur.accepted());
  ASSERT_FALSE(ur.warnings.empty());
  EXPECT_TRUE(contains(ur.warnings.back(), "no rotor inertia")) << ur.warnings.back();
  EXPECT_TRUE(contains(ur.warnings.back(), "0 is assumed")) << ur.warnings.back();
}

TEST(LawCheck, AcceptsTheDefaultsOfEveryArmWithoutADeclaration) {
  for (const std::string robot : {"puma560_akb", "ur10e", "seven_joints", "scara"}) {
    for (const double rate : {500.0, 1000.0}) {
      const LawCheck check = check_integral(robot, 30, {.model = {}, .delay = 1}, rate);
      EXPECT_TRUE(check.accepted()) << robot << check.refusal;
      EXPECT_TRUE(contains(check.summary, "stable for rho")) << check.summary;
      EXPECT_TRUE(contains(check.summary, "closed-loop bandwidth")) << check.summary;
    }
  }
  const LawCheck puma = check_integral("puma560_akb", 40, {.model = {}, .delay = 1});
  EXPECT_TRUE(puma.warnings.empty());
}

TEST(LawCheck, RefusesGainsTooFastForElasticDrives) {
  const LawCheck refused = check_integral("puma560_akb", 40, {.model = {}, .resonance = {60}});
  EXPECT_FALSE(refused.accepted());
  EXPECT_TRUE(
      contains(refused.refusal, "too fast for the elastic drives: joint joint1, joint2, joint3, "))
      << refused.refusal;
  EXPECT_TRUE(contains(refused.refusal, "lower their sum to 94.2 rad/s")) << refused.refusal;
  EXPECT_TRUE(check_integral("puma560_akb", 40, {.model = {}, .resonance = {80}}).accepted());
}

TEST(LawCheck, NamesTheLawsThatItDoesNotCheck) {
  const Chain puma = load("puma560_akb");
  const std::vector gains{gains_from_bandwidth(40, 1)};
  const auto summary = [&](LawKind kind) {
    const LawCheck check = check_law(puma, kind, gains, 1000, {});
    EXPECT_FALSE(is_checked(kind));
    EXPECT_TRUE(check.accepted());
    EXPECT_TRUE(check.warnings.empty());
    return check.summary;
  };
  EXPECT_EQ(summary(LawKind::kGravityCompensation),
            "stability: gravity compensation is not checked");
  EXPECT_EQ(summary(LawKind::kHandGuiding), "stability: hand guiding is not checked");
}

TEST(LawCheck, DoesNotCheckSingularArms) {
  const Chain puma = load("puma560_akb");
  const std::vector gains{gains_from_bandwidth(40, 1)};
  std::vector<DhJoint> massless = rows(puma);
  massless[5].body = {};
  massless[5].drive.armature = 0;
  const LawCheck check = check_law(chain_of(massless, puma), LawKind::kTracking, gains, 1000, {});
  EXPECT_TRUE(check.accepted());
  ASSERT_EQ(check.warnings.size(), 1u);
  EXPECT_TRUE(contains(check.warnings[0], "'joint6' moves no inertia")) << check.warnings[0];
}

TEST(GainsForResonance, KeepsBandwidthAndObserverWithinTheRecommendedPartOfIt) {
  const JointGains given = gains_from_bandwidth(40, 1);
  EXPECT_EQ(gains_for_resonance(LawKind::kTrackingIntegral, given, 0), given);
  EXPECT_EQ(gains_for_resonance(LawKind::kTrackingIntegral, given, 100), given)
      << "fast enough drives";
  for (const double f : {60.0, 40.0, 20.0}) {
    const JointGains g = gains_for_resonance(LawKind::kTrackingIntegral, given, f);
    const double w = design_bandwidth(g), wo = observer_bandwidth(g);
    EXPECT_NEAR((w + wo) / (2 * std::numbers::pi * f), kElasticFit, 1e-6) << f;
    EXPECT_GE(wo, (kSlowestObserver - 1e-6) * w) << f;
    EXPECT_NEAR(g.kd, 2 * w, 1e-9) << "the damping ratio stays";
    EXPECT_FALSE(check_integral("puma560_akb", 40, {.model = {}, .resonance = {f}}).accepted());
    const LawCheck check = check_law(load("puma560_akb"), LawKind::kTrackingIntegral,
                                     std::vector{g}, 1000, {.model = {}, .resonance = {f}});
    EXPECT_TRUE(check.accepted()) << f << check.refusal;
    EXPECT_TRUE(check.warnings.empty()) << f << check.warnings[0];
  }
  EXPECT_EQ(design_bandwidth(gains_for_resonance(LawKind::kTrackingIntegral, given, 60)), 40)
      << "the observer suffices";
  const JointGains without{given.kp, given.kd, 0};
  EXPECT_EQ(gains_for_resonance(LawKind::kTrackingIntegral, without, 40).ki, 0);
  // Without integral action the observer follows Kp and Kd.
  for (const LawKind kind : {LawKind::kTracking, LawKind::kPointToPoint}) {
    const JointGains g = gains_for_resonance(kind, given, 60);
    EXPECT_NEAR(3 * design_bandwidth(g) / (2 * std::numbers::pi * 60), kElasticFit, 1e-6);
    EXPECT_NEAR(g.kd, 2 * design_bandwidth(g), 1e-9);
    EXPECT_TRUE(
        check_law(load("puma560_akb"), kind, std::vector{g}, 1000, {.model = {}, .resonance = {60}})
            .warnings.empty());
  }
  EXPECT_TRUE(contains(refusal([&] { gains_for_resonance(LawKind::kTrackingIntegral, given, -1); }),
                       "resonance is -1"));
}

}  // namespace
}  // namespace ga_controllers::test
