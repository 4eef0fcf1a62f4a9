// SPDX-License-Identifier: Apache-2.0

// Impacts of the simulated arm at its joint stops: one and several at once, with joints that are
// free, held by friction, held by their brakes. For arms of our own, and for random ones.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "counting_allocator.hpp"
#include "ga_dynamics/plant.hpp"

namespace ga_dynamics {
namespace {

using Values = std::vector<double>;

Chain puma() { return Chain::from_urdf_file(std::string(GA_ROBOTS) + "/puma560_akb.urdf"); }

/// Rods of 1 m in a vertical plane, x down at zero, each with its stops.
std::vector<DhJoint> rods(const std::vector<JointLimits>& limits) {
  std::vector<DhJoint> rows(limits.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].body = {2, {0.5, 0, 0}, {0.001, 0, 0, 0, 0.17, 0, 0, 0, 0.17}};
    rows[i].dh.a = i == 0 ? 0 : 1;
    rows[i].limits = limits[i];
  }
  return rows;
}
constexpr Vector3 kDown{9.81, 0, 0}, kWeightless{0, 0, 0};

Values product(const Values& matrix, std::span<const double> v) {
  Values result(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) {
    for (std::size_t k = 0; k < v.size(); ++k) result[i] += matrix[i * v.size() + k] * v[k];
  }
  return result;
}
Values inertia_at(const Chain& chain, std::span<const double> q) {
  Values d(q.size() * q.size());
  Dynamics(chain, {.drives = Drives::kArmature}).inertia_matrix(q, d);
  return d;
}
double kinetic(const Values& d, std::span<const double> qd) {
  const Values p = product(d, qd);
  double twice = 0;
  for (std::size_t i = 0; i < p.size(); ++i) twice += p[i] * qd[i];
  return twice / 2;
}

/// Farthest that a joint is beyond its stop.
double beyond(const Chain& chain, const Plant& plant) {
  double farthest = 0;
  for (std::size_t i = 0; i < chain.joints().size(); ++i) {
    const JointLimits& limits = chain.joints()[i].limits;
    farthest = std::max({farthest, plant.q()[i] - limits.upper, limits.lower - plant.q()[i]});
  }
  return farthest;
}

TEST(PlantImpact, LockedJointsOfThePumaDoNotCoast) {
  // From rest and without torque the upper arm falls on its stop. That turns joint 1, which
  // friction had held: friction brings it to rest again.
  const Chain chain = puma();
  Plant plant(chain);
  plant.reset(Values{0, -0.5, 1, 0, 0.5, 0}, Values(6, 0.0));
  double fastest = 0;
  for (int k = 0; k < 4000; ++k) {
    ASSERT_TRUE(plant.step(Values(6, 0.0), 1e-3));
    for (int i = 0; i < 6; ++i) {
      if (plant.held(i)) {
        ASSERT_EQ(plant.qd()[static_cast<std::size_t>(i)], 0) << plant.time();
      }
    }
    ASSERT_EQ(beyond(chain, plant), 0) << plant.time();
    fastest = std::max(fastest, std::abs(plant.qd()[0]));
  }
  EXPECT_GT(plant.impacts(), 0);
  EXPECT_EQ(plant.q()[1], chain.joints()[1].limits.upper);
  EXPECT_GT(fastest, 0.02) << "the impact is more than friction holds";
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(plant.held(i)) << "joint " << i + 1;
  EXPECT_LT(std::abs(plant.q()[0]), 0.05);
}

TEST(PlantImpact, JointsAtStopsStayThereWhenOthersHitTheirs) {
  // Three rods fall against narrow stops, one after the other: each impact pushes those that lie on
  // their stops already.
  const Chain chain = Chain::from_dh(rods({{.lower = -0.9, .upper = 0.9},
                                           {.lower = -0.4, .upper = 1.2},
                                           {.lower = -0.3, .upper = 0.5}}),
                                     kDown);
  for (const Integrator integrator : {Integrator::kRungeKutta4, Integrator::kDormandPrince}) {
    Plant plant(chain, {.integrator = integrator});
    plant.reset(Values{-0.9, 0.3, 0.5}, Values{0.0, 0.0, 0.0});
    for (int k = 0; k < 5000; ++k) {
      plant.step(Values(3, 0.0), 1e-3);
      ASSERT_EQ(beyond(chain, plant), 0) << plant.time();
    }
    EXPECT_GT(plant.impacts(), 3);
  }
}

TEST(PlantImpact, ASecondStopTakesTheImpulseOfTheFirst) {
  // Joint 2 rests on its lower stop, joint 1 hits its upper one. The impulse pushes joint 2 into
  // its stop: both rest. On the other side of the second joint nothing holds it, and it swings on.
  const Chain chain =
      Chain::from_dh(rods({{.lower = -1, .upper = 0.5}, {.lower = 0.3, .upper = 1}}), kWeightless);
  Plant plant(chain);
  plant.reset(Values{0.5, 1.0}, Values{1.0, 0.0});
  plant.step(Values(2, 0.0), 0.0);
  EXPECT_EQ(plant.qd()[0], 0);
  EXPECT_EQ(plant.qd()[1], 0);
  EXPECT_EQ(plant.impacts(), 1);
  plant.reset(Values{0.5, 0.3}, Values{1.0, 0.0});
  plant.step(Values(2, 0.0), 0.0);
  EXPECT_EQ(plant.qd()[0], 0);
  const Values d = inertia_at(chain, plant.q());
  EXPECT_NEAR(plant.qd()[1], d[1] / d[3], 1e-12) << "D_22 qd2 is as it was";
}

TEST(PlantImpact, AClosedBrakeHoldsThroughAnImpact) {
  std::vector<DhJoint> rows = rods({{}, {.lower = -1, .upper = 0.5}});
  const Chain chain = Chain::from_dh(rows, kWeightless);
  Plant plant(chain, {.brake_torque = {100, 0}});
  plant.reset(Values{0.2, 0.4}, Values{0.0, 5.0});
  plant.set_brake(0, true);
  plant.step(Values(2, 0.0), 0.5);
  EXPECT_EQ(plant.impacts(), 1);
  EXPECT_EQ(plant.q()[0], 0.2);
  EXPECT_EQ(plant.q()[1], 0.5);
  EXPECT_EQ(plant.qd()[0], 0);
  EXPECT_TRUE(plant.held(0));
  plant.set_brake(0, false);
  plant.reset(Values{0.2, 0.4}, Values{0.0, 5.0});
  plant.step(Values(2, 0.0), 0.5);
  EXPECT_GT(plant.qd()[0], 0.5) << "released, the impact turns it";
}

TEST(PlantImpact, FrictionHoldsAnImpulseUpToItsTorqueTimesTheDuration) {
  const double speed = 3, duration = 2e-3, ratio = 1.5;
  std::vector<DhJoint> rows = rods({{}, {.lower = -1, .upper = 0.5}});
  const Values at{0.2, 0.5};
  const Values d = inertia_at(Chain::from_dh(rows, kWeightless), at);
  const double needed = d[1] * speed;  // with both joints at rest after the impact
  for (const double share : {0.5, 0.99, 1.01, 2.0}) {
    const double friction = needed / (share * duration * ratio);
    rows[0].drive.coulomb_positive = friction;
    rows[0].drive.coulomb_negative = 1e9;
    const Chain chain = Chain::from_dh(rows, kWeightless);
    Plant plant(chain, {.static_ratio = ratio, .impact_duration = duration});
    plant.reset(at, Values{0.0, speed});
    plant.step(Values(2, 0.0), 0.0);
    EXPECT_EQ(plant.qd()[1], 0);
    if (share < 1) {
      EXPECT_EQ(plant.qd()[0], 0) << share;
      EXPECT_TRUE(plant.held(0));
    } else {
      EXPECT_NEAR(plant.qd()[0], (needed - friction * ratio * duration) / d[0], 1e-12) << share;
      EXPECT_FALSE(plant.held(0));
    }
  }
  rows[0].drive.coulomb_positive = 1e9;
  const Chain chain = Chain::from_dh(rows, kWeightless);
  Plant plant(chain, {.impact_duration = 0});
  plant.reset(at, Values{0.0, speed});
  plant.step(Values(2, 0.0), 0.0);
  EXPECT_NEAR(plant.qd()[0], needed / d[0], 1e-12) << "no time to hold anything";
}

TEST(PlantImpact, ASlidingJointThatAnImpactTurnsRoundGoesOnTheOtherWay) {
  std::vector<DhJoint> rows = rods({{}, {.lower = -1, .upper = 0.5}});
  rows[0].drive.coulomb_positive = rows[0].drive.coulomb_negative = 0.1;
  const Chain chain = Chain::from_dh(rows, kWeightless);
  Plant plant(chain);
  const Values before{-0.1, 5.0};
  plant.reset(Values{0.2, 0.4999}, before);
  plant.step(Values(2, 0.0), 2.5e-4);
  ASSERT_EQ(plant.impacts(), 1);
  const Values d = inertia_at(chain, plant.q());
  EXPECT_NEAR(d[0] * plant.qd()[0], d[0] * before[0] + d[1] * before[1], 0.01 * d[1] * before[1]);
  EXPECT_GT(plant.qd()[0], 0.5);
}

// --- random arms ---

struct RandomArm {
  Chain chain;
  PlantOptions options;
  Values q, qd;
  std::vector<bool> brake;
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  bool chance(double probability) { return uniform(0, 1) < probability; }

  /// 1 to 8 joints, revolute and prismatic; some start at their stops, some at rest, some braked.
  RandomArm arm(bool friction) {
    const auto n = static_cast<std::size_t>(uniform(1, 9));
    std::vector<DhJoint> rows(n);
    RandomArm arm{Chain::from_dh(std::vector<DhJoint>(1, rods({{}})[0])), {}, {}, {}, {}};
    for (DhJoint& row : rows) {
      if (chance(0.3)) row.type = JointType::kPrismatic;
      const double right_angle = std::numbers::pi / 2 * std::floor(uniform(-1, 3));
      row.dh = {chance(0.5) ? right_angle : uniform(-3, 3), uniform(-0.5, 0.5), uniform(-0.3, 0.3),
                uniform(-3, 3)};
      const double mass = uniform(0.3, 5), x = uniform(0.1, 0.4), y = uniform(0.1, 0.4),
                   z = uniform(0.1, 0.4);
      row.body = {mass,
                  {uniform(-0.2, 0.2), uniform(-0.2, 0.2), uniform(-0.2, 0.2)},
                  {mass / 12 * (y * y + z * z), 0, 0, 0, mass / 12 * (x * x + z * z), 0, 0, 0,
                   mass / 12 * (x * x + y * y)}};
      row.drive.armature = chance(0.7) ? uniform(0.01, 0.3) : 0;
      if (friction && chance(0.6)) {
        row.drive.viscous = uniform(0, 1);
        row.drive.coulomb_positive = uniform(0, 8);
        row.drive.coulomb_negative = uniform(0, 8);
      }
      const double q = uniform(-1, 1);
      if (chance(0.8)) row.limits.lower = q - uniform(0.01, 0.3);
      if (chance(0.8)) row.limits.upper = q + uniform(0.01, 0.3);
      const bool at_upper = std::isfinite(row.limits.upper) && chance(0.2);
      const bool at_lower = std::isfinite(row.limits.lower) && chance(0.2);
      arm.q.push_back(at_upper ? row.limits.upper : at_lower ? row.limits.lower : q);
      const bool braked = friction && chance(0.25);
      arm.brake.push_back(braked);
      arm.qd.push_back(braked || chance(0.3) ? 0 : uniform(-2, 2));
    }
    arm.chain = Chain::from_dh(rows, {uniform(-9, 9), uniform(-9, 9), uniform(-9, 9)});
    arm.options.brake_torque = Values(n, 1e9);
    arm.options.static_ratio = chance(0.5) ? 1 : uniform(1, 1.5);
    return arm;
  }

 private:
  std::mt19937 engine_;
};

Plant plant_of(const RandomArm& arm) {
  Plant plant(arm.chain, arm.options);
  for (std::size_t i = 0; i < arm.q.size(); ++i) {
    plant.set_brake(static_cast<int>(i), arm.brake[i]);
  }
  plant.reset(arm.q, arm.qd);
  return plant;
}

TEST(PlantImpact, ImpulsesKeepTheirBoundsAndEnergyOnRandomArms) {
  Random random(1);
  int impacts = 0, broke_loose = 0, held = 0, several = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const RandomArm arm = random.arm(true);
    const std::size_t n = arm.q.size();
    Plant plant = plant_of(arm);
    const Values d = inertia_at(arm.chain, arm.q), before = product(d, arm.qd);
    plant.step(Values(n, 0.0), 0.0);
    if (plant.impacts() == 0) continue;
    ++impacts;
    const Values after = product(d, plant.qd());
    double scale = 0;
    for (const double p : before) scale = std::max(scale, std::abs(p));
    int stops = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto& [limits, drive] =
          std::pair(arm.chain.joints()[i].limits, arm.chain.joints()[i].drive);
      const double impulse = after[i] - before[i], qd = plant.qd()[i], rounding = 1e-9 * scale;
      const bool upper = arm.q[i] >= limits.upper, lower = arm.q[i] <= limits.lower;
      stops += upper || lower;
      if (upper) {
        EXPECT_LE(qd, 0);
      }
      if (lower) {
        EXPECT_GE(qd, 0);
      }
      if (arm.brake[i]) {
        EXPECT_EQ(qd, 0);
        continue;
      }
      const double seconds = arm.options.impact_duration * arm.options.static_ratio;
      const double against_positive = arm.qd[i] == 0 ? seconds * drive.coulomb_positive : 0;
      const double against_negative = arm.qd[i] == 0 ? seconds * drive.coulomb_negative : 0;
      if (!upper) {
        EXPECT_GE(impulse, -against_positive - rounding);
      }
      if (!lower) {
        EXPECT_LE(impulse, against_negative + rounding);
      }
      if (arm.qd[i] == 0 && drive.coulomb_positive > 0) ++(qd == 0 ? held : broke_loose);
    }
    several += stops > 1;
    const double lost = kinetic(d, arm.qd) - kinetic(d, plant.qd());
    EXPECT_GE(lost, -1e-12 * kinetic(d, arm.qd)) << trial;
    EXPECT_NEAR(plant.impact_loss(), lost, 1e-9 * kinetic(d, arm.qd));
  }
  EXPECT_GT(impacts, 500);
  EXPECT_GT(several, 200);
  EXPECT_GT(broke_loose, 100);
  EXPECT_GT(held, 20);
}

TEST(PlantImpact, RandomArmsStayWithinTheirStopsAndBehindTheirBrakes) {
  Random random(2);
  long impacts = 0;
  for (int trial = 0; trial < 150; ++trial) {
    const RandomArm arm = random.arm(true);
    const std::size_t n = arm.q.size();
    Plant plant = plant_of(arm);
    Values tau(n);
    double loss = 0;
    for (int k = 0; k < 300; ++k) {
      if (k % 50 == 0) {
        for (double& t : tau) t = random.chance(0.5) ? 0 : random.uniform(-60, 60);
      }
      ASSERT_TRUE(plant.step(tau, 1e-3)) << plant.error();
      ASSERT_EQ(beyond(arm.chain, plant), 0) << "trial " << trial << ", t = " << plant.time();
      for (std::size_t i = 0; i < n; ++i) {
        if (plant.held(static_cast<int>(i))) {
          ASSERT_EQ(plant.qd()[i], 0);
          ASSERT_EQ(plant.qdd()[i], 0);
        }
        if (arm.brake[i]) {
          ASSERT_EQ(plant.q()[i], arm.q[i]) << "trial " << trial << ", joint " << i;
          ASSERT_TRUE(plant.held(static_cast<int>(i)));
        }
      }
      ASSERT_GE(plant.impact_loss(), loss - 1e-9);
      loss = plant.impact_loss();
    }
    impacts += plant.impacts();
  }
  EXPECT_GT(impacts, 500);
}

TEST(PlantImpact, EnergyIsLostInImpactsAndNowhereElse) {
  // Without friction, on springs as elastic drives: kinetic, potential and elastic energy and what
  // the impacts took are constant.
  Random random(3);
  long impacts = 0;
  for (int trial = 0; trial < 80; ++trial) {
    const RandomArm arm = random.arm(false);
    const std::size_t n = arm.q.size();
    Plant plant = plant_of(arm);
    const double stiffness = 20;
    const TorqueFunction springs = [&](double, std::span<const double> q, std::span<const double>,
                                       std::span<double> tau) {
      for (std::size_t i = 0; i < n; ++i) tau[i] = -stiffness * (q[i] - arm.q[i]);
    };
    const auto energy = [&] {
      const MechanicalEnergy e = plant.energy();
      double elastic = 0;
      for (std::size_t i = 0; i < n; ++i) {
        elastic += stiffness / 2 * std::pow(plant.q()[i] - arm.q[i], 2);
      }
      return e.kinetic + e.potential + elastic;
    };
    const double begin = energy();
    double most = plant.energy().kinetic;
    for (int k = 0; k < 200; ++k) {
      ASSERT_TRUE(plant.step(springs, 1e-3)) << plant.error();
      most = std::max(most, plant.energy().kinetic);
      ASSERT_NEAR(energy() + plant.impact_loss(), begin, 1e-9 * (most + 1))
          << "trial " << trial << ", t = " << plant.time();
    }
    impacts += plant.impacts();
  }
  EXPECT_GT(impacts, 100);
}

TEST(PlantImpact, DoesNotDependOnTheSubStep) {
  // The PUMA falls on its stop, is turned by the impact and comes to rest; impacts are located, so
  // only sticking has an error of the order of the sub-step.
  const auto end = [](double sub_step, double dt) {
    Plant plant(puma(), {.sub_step = sub_step});
    plant.reset(Values{0, -0.5, 1, 0, 0.5, 0}, Values{0, 1, 0, 0.5, 0, 0});
    for (long k = 0; k < std::lround(2 / dt); ++k) plant.step(Values(6, 0.0), dt);
    EXPECT_GT(plant.impacts(), 0);
    return Values(plant.q().begin(), plant.q().end());
  };
  const Values fine = end(2.5e-5, 1e-3), middle = end(2.5e-4, 1e-3), coarse = end(1e-3, 1e-3);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(middle[i], fine[i], 2e-5) << "joint " << i + 1;
    EXPECT_NEAR(coarse[i], fine[i], 2e-4) << "joint " << i + 1;
  }
  const Values long_steps = end(2.5e-4, 0.1);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(long_steps[i], middle[i], 1e-9);
}

TEST(PlantImpact, ImpactsAllocateNothing) {
  Random random(4);
  for (int trial = 0; trial < 20; ++trial) {
    const RandomArm arm = random.arm(true);
    Plant plant = plant_of(arm);
    const Values none(arm.q.size(), 0.0);
    const long before = test::allocations();
    for (int k = 0; k < 100; ++k) plant.step(none, 1e-3);
    EXPECT_EQ(test::allocations(), before);
  }
}

}  // namespace
}  // namespace ga_dynamics
