// SPDX-License-Identifier: Apache-2.0

// The simulated arm: what it must keep, where it must stop, and that it holds still.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <tuple>

#include "ga_dynamics/plant.hpp"

namespace ga_dynamics {
namespace {

using Values = std::vector<double>;
constexpr double kG = 9.81;

/// A rod of 2 kg, its center at 0.5 m, about a horizontal axis; q = 0 hangs down, gravity along −y
/// of frame 0... i.e. x points down at zero.
std::vector<DhJoint> pendulum() {
  std::vector<DhJoint> rows(1);
  rows[0].body = {2, {0.5, 0, 0}, {0.001, 0, 0, 0, 0.04, 0, 0, 0, 0.04}};
  return rows;
}
constexpr double kInertia = 0.04 + 2 * 0.5 * 0.5, kWeight = 2 * kG * 0.5;

Chain hanging(const std::vector<DhJoint>& rows) { return Chain::from_dh(rows, {kG, 0, 0}); }

Chain puma() { return Chain::from_urdf_file(std::string(GA_ROBOTS) + "/puma560_akb.urdf"); }

TEST(Plant, SmallSwingHasThePendulumsPeriod) {
  for (const Integrator integrator : {Integrator::kRungeKutta4, Integrator::kDormandPrince}) {
    Plant plant(hanging(pendulum()), {.integrator = integrator});
    plant.reset(Values{0.01}, Values{0.0});
    const Values none{0.0};
    double crossing = 0, before = plant.q()[0];
    while (crossing == 0 && plant.time() < 2) {
      plant.step(none, 1e-3);
      if (before > 0 && plant.q()[0] <= 0) {
        crossing = plant.time() - 1e-3 * plant.q()[0] / (plant.q()[0] - before);
      }
      before = plant.q()[0];
    }
    // a quarter of the period, with the first correction for the amplitude
    const double quarter = std::numbers::pi / 2 * std::sqrt(kInertia / kWeight) * (1 + 1e-4 / 16);
    EXPECT_NEAR(crossing, quarter, 2e-7);
  }
}

TEST(Plant, BothIntegratorsAgreeOnThePuma) {
  std::vector<Values> ends;
  for (const Integrator integrator : {Integrator::kRungeKutta4, Integrator::kDormandPrince}) {
    Plant plant(puma(), {.integrator = integrator, .friction = false});
    plant.reset(Values{0, -0.5, 1, 0, 0.5, 0}, Values(6, 0.0));
    const Values tau{5, -20, -5, 0.5, 0.2, 0.1};
    for (int k = 0; k < 300; ++k) plant.step(tau, 1e-3);
    ends.emplace_back(plant.q().begin(), plant.q().end());
  }
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(ends[0][i], ends[1][i], 1e-8);
}

TEST(Plant, RungeKuttaKeepsItsOrderWhileJointsStickAndSlide) {
  // Joint 1 sticks all the time, the others slide one way: halving the step divides the error by
  // about 16.
  const auto end = [](double sub_step) {
    Plant plant(puma(), {.sub_step = sub_step, .stops = false});
    plant.reset(Values{0, -0.5, 1, 0, 0.5, 0}, Values{0, 1, 1, 2, 2, 2});
    const Values tau{1, 30, 20, 3, 3, 3};
    for (int k = 0; k < 5; ++k) plant.step(tau, 16e-3);
    EXPECT_TRUE(plant.held(0));
    EXPECT_FALSE(plant.held(1));
    return Values(plant.q().begin(), plant.q().end());
  };
  const Values coarse = end(16e-3), middle = end(8e-3), fine = end(1e-3);
  for (const std::size_t i : {1U, 2U, 4U}) {
    const double order = std::log2(std::abs(coarse[i] - fine[i]) / std::abs(middle[i] - fine[i]));
    EXPECT_GT(order, 3.5) << "joint " << i + 1;
  }
  EXPECT_EQ(coarse[0], 0);
}

TEST(Plant, StictionHoldsToTheLastBitAndDoesNotChatter) {
  std::vector<DhJoint> rows = pendulum();
  rows[0].drive = {0, 0.1, 3, 3};
  Plant plant(hanging(rows));
  const double angle = 0.2;  // needs 2·9.81·0.5·sin(0.2) = 1.95 N m, friction gives 3
  plant.reset(Values{angle}, Values{0.0});
  for (int k = 0; k < 2000; ++k) {
    // torques that stay within the friction cone
    plant.step(Values{0.9 * std::sin(0.1 * k)}, 1e-3);
    ASSERT_EQ(plant.q()[0], angle);
    ASSERT_EQ(plant.qd()[0], 0);
    ASSERT_TRUE(plant.held(0));
  }
}

TEST(Plant, BreaksAwayWhereFrictionIsExceededAndNotBefore) {
  std::vector<DhJoint> rows = pendulum();
  rows[0].drive = {0, 0, 3, 2};
  const auto moved = [&](double tau, double ratio) {
    Plant plant(Chain::from_dh(rows, {0, 0, 0}), {.static_ratio = ratio});
    plant.reset(Values{0.0}, Values{0.0});
    plant.step(Values{tau}, 0.1);
    return plant.q()[0];
  };
  EXPECT_EQ(moved(2.999, 1), 0);
  EXPECT_NEAR(moved(3.5, 1), 0.5 * 0.5 / kInertia * 0.01, 1e-12);
  EXPECT_EQ(moved(-1.999, 1), 0);
  EXPECT_NEAR(moved(-2.5, 1), -0.5 * 0.5 / kInertia * 0.01, 1e-12);
  EXPECT_EQ(moved(3.5, 1.2), 0);  // break-away at 3.6
  EXPECT_GT(moved(3.7, 1.2), 0);
}

TEST(Plant, FrictionBringsASlidingJointToRestWhereItMust) {
  std::vector<DhJoint> rows = pendulum();
  rows[0].drive = {0, 0, 3, 3};
  Plant plant(Chain::from_dh(rows, {0, 0, 0}));
  plant.reset(Values{0.0}, Values{2.0});
  for (int k = 0; k < 1000; ++k) plant.step(Values{0.0}, 1e-3);
  EXPECT_TRUE(plant.held(0));
  EXPECT_EQ(plant.qd()[0], 0);
  EXPECT_NEAR(plant.q()[0], 2.0 * 2.0 * kInertia / (2 * 3), 1e-6);  // ½ I ω² = M φ
}

TEST(Plant, BrakesHoldTheFallingArm) {
  const Chain chain = puma();
  Plant plant(chain, {.friction = false, .brake_torque = {150, 250, 150, 0, 0, 0}});
  plant.reset(Values{0, 0, 1.57, 0, 0, 0}, Values(6, 0.0));
  for (int joint = 0; joint < 3; ++joint) plant.set_brake(joint, true);
  for (int k = 0; k < 1000; ++k) plant.step(Values(6, 0.0), 1e-3);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(plant.qd()[i], 0);
  EXPECT_EQ(plant.q()[1], 0);
  for (int joint = 0; joint < 3; ++joint) plant.set_brake(joint, false);
  for (int k = 0; k < 50; ++k) plant.step(Values(6, 0.0), 1e-3);
  EXPECT_GT(std::abs(plant.qd()[1]), 0.01) << "released, it falls";
}

TEST(Plant, StopsHoldAndLetGo) {
  std::vector<DhJoint> rows = pendulum();
  rows[0].limits.lower = -1;
  rows[0].limits.upper = 0.5;
  Plant plant(Chain::from_dh(rows, {0, 0, 0}));
  plant.reset(Values{0.0}, Values{0.0});
  for (int k = 0; k < 2000; ++k) plant.step(Values{1.0}, 1e-3);
  EXPECT_EQ(plant.q()[0], 0.5);
  EXPECT_EQ(plant.qd()[0], 0);
  EXPECT_TRUE(plant.held(0));
  plant.step(Values{-1.0}, 0.1);
  EXPECT_NEAR(plant.q()[0], 0.5 - 0.5 / kInertia * 0.01, 1e-9);
}

TEST(Plant, StopsAreBeyondTheLimitsByTheirMargin) {
  std::vector<DhJoint> rows = pendulum();
  rows[0].limits.lower = -1;
  rows[0].limits.upper = 0.5;
  Plant plant(Chain::from_dh(rows, {0, 0, 0}), {.stop_margin = 0.1});
  plant.reset(Values{0.0}, Values{0.0});
  for (int k = 0; k < 2000; ++k) plant.step(Values{1.0}, 1e-3);
  EXPECT_EQ(plant.q()[0], 0.6);
  for (int k = 0; k < 4000; ++k) plant.step(Values{-1.0}, 1e-3);
  EXPECT_EQ(plant.q()[0], -1.1);
  EXPECT_THROW(Plant(Chain::from_dh(rows), {.stop_margin = -0.1}), std::invalid_argument);
}

TEST(Plant, ImpactAtAStopIsFeltByTheOtherJoints) {
  // Two free links without gravity: momentum about joint 1 is not kept by a stop there, but that of
  // joint 2's own rotation is: D_2·qd does not change by an impulse at joint 1.
  std::vector<DhJoint> rows(2, pendulum()[0]);
  rows[1].dh.a = 1;
  rows[0].limits.upper = 0.1;
  const Chain chain = Chain::from_dh(rows, {0, 0, 0});
  Plant plant(chain);
  plant.reset(Values{0.0, 0.5}, Values{1.0, 0.0});
  Dynamics dynamics(chain);
  const auto momentum2 = [&] {
    Values d(4);
    dynamics.inertia_matrix(plant.q(), d);
    return d[2] * plant.qd()[0] + d[3] * plant.qd()[1];
  };
  double before = momentum2();
  while (!plant.held(0) && plant.time() < 1) {
    before = momentum2();
    plant.step(Values(2, 0.0), 2.5e-4);
  }
  ASSERT_TRUE(plant.held(0));
  EXPECT_NEAR(momentum2(), before, 1e-3 * std::abs(before));
  EXPECT_EQ(plant.qd()[0], 0);
  EXPECT_GT(std::abs(plant.qd()[1]), 0.1);
}

TEST(Plant, TorqueLimitsBoundWhatTheMotorGives) {
  std::vector<DhJoint> rows = pendulum();
  rows[0].limits.effort = 2;
  Plant plant(Chain::from_dh(rows, {0, 0, 0}));
  plant.reset(Values{0.0}, Values{0.0});
  plant.step(Values{100.0}, 0.1);
  EXPECT_NEAR(plant.qd()[0], 2 / kInertia * 0.1, 1e-12);
}

TEST(Plant, ElasticDriveOscillatesAtItsFrequency) {
  // q̈ = −K/I q: a torque that depends on the state.
  Plant plant(Chain::from_dh(pendulum(), {0, 0, 0}));
  plant.reset(Values{0.1}, Values{0.0});
  const double stiffness = 500, omega = std::sqrt(stiffness / kInertia);
  const TorqueFunction spring = [&](double, std::span<const double> q, std::span<const double>,
                                    std::span<double> tau) { tau[0] = -stiffness * q[0]; };
  for (int k = 0; k < 500; ++k) plant.step(spring, 1e-3);
  EXPECT_NEAR(plant.q()[0], 0.1 * std::cos(omega * 0.5), 1e-7);
}

TEST(Plant, RefusesATorqueThatIsNotFiniteAndGoesOnWithTheNext) {
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    for (const Integrator integrator : {Integrator::kRungeKutta4, Integrator::kDormandPrince}) {
      std::vector<DhJoint> rows(2, pendulum()[0]);
      rows[1].dh.a = 1;
      rows[1].name = "elbow";
      rows[1].limits.effort = 5;  // which would turn an infinite torque into 5 N m
      Plant plant(hanging(rows), {.integrator = integrator});
      plant.reset(Values{0.1, 0.2}, Values{0.3, 0.4});
      ASSERT_TRUE(plant.step(Values{0, 0}, 1e-3));
      const Values q(plant.q().begin(), plant.q().end()), qd(plant.qd().begin(), plant.qd().end());
      EXPECT_FALSE(plant.step(Values{0, bad}, 1e-3));
      EXPECT_EQ(plant.fault(), PlantFault::kTorqueNotFinite);
      EXPECT_NE(plant.error().find("joint 'elbow': torque is "), std::string::npos)
          << plant.error();
      EXPECT_NE(plant.error().find("t = 0.001 s"), std::string::npos) << plant.error();
      EXPECT_EQ(Values(plant.q().begin(), plant.q().end()), q);
      EXPECT_EQ(Values(plant.qd().begin(), plant.qd().end()), qd);
      EXPECT_EQ(plant.time(), 1e-3);
      EXPECT_TRUE(plant.step(Values{0, 0}, 1e-3));
      EXPECT_EQ(plant.fault(), PlantFault::kNone);
      EXPECT_EQ(plant.error(), "");
    }
  }
}

TEST(Plant, StopsWhereATorqueFunctionStopsBeingFinite) {
  for (const Integrator integrator : {Integrator::kRungeKutta4, Integrator::kDormandPrince}) {
    Plant plant(hanging(pendulum()), {.integrator = integrator});
    plant.reset(Values{0.1}, Values{0.0});
    const TorqueFunction law = [](double t, std::span<const double>, std::span<const double>,
                                  std::span<double> tau) { tau[0] = t > 0.0051 ? NAN : 0; };
    EXPECT_FALSE(plant.step(law, 0.01));
    EXPECT_NEAR(plant.time(), 0.005, 1e-9) << "the end of the last sub-step before";
    EXPECT_LT(plant.q()[0], 0.1);
    EXPECT_TRUE(std::isfinite(plant.qd()[0]));
  }
}

TEST(Plant, ReportsAMotionThatDivergesUntilItIsReset) {
  for (const Integrator integrator : {Integrator::kRungeKutta4, Integrator::kDormandPrince}) {
    Plant plant(hanging(pendulum()), {.integrator = integrator, .torque_limits = false});
    plant.reset(Values{0.1}, Values{0.0});
    EXPECT_FALSE(plant.step(Values{1e308}, 1e-3)) << "over an inertia of 0.54 kg m²: infinite";
    EXPECT_EQ(plant.fault(), PlantFault::kDiverged) << plant.error();
    EXPECT_TRUE(std::isnan(plant.q()[0])) << "for those who do not ask";
    EXPECT_FALSE(plant.step(Values{0.0}, 1e-3)) << "it does not come back by itself";
    plant.reset(Values{0.1}, Values{0.0});
    EXPECT_TRUE(plant.step(Values{0.0}, 1e-3));
  }
}

TEST(Plant, NamesAJointWithoutInertia) {
  std::vector<DhJoint> rows(2, pendulum()[0]);
  rows[1].body = {};
  rows[0].drive.coulomb_positive = rows[0].drive.coulomb_negative = 50;  // which holds joint 1
  Plant plant(hanging(rows));
  plant.reset(Values{0.1, 0.2}, Values{0.0, 0.0});
  EXPECT_FALSE(plant.step(Values{0.0, 1.0}, 1e-3));
  EXPECT_EQ(plant.fault(), PlantFault::kSingularInertia) << plant.error();
  EXPECT_NE(plant.error().find("armature"), std::string::npos) << plant.error();
}

TEST(Plant, RefusesStatesSizesAndJointsThatCannotBe) {
  Plant plant(hanging(pendulum()));
  EXPECT_THROW(plant.reset(Values{NAN}, Values{0.0}), std::invalid_argument);
  EXPECT_THROW(plant.reset(Values{0.0}, Values{HUGE_VAL}), std::invalid_argument);
  EXPECT_THROW(plant.reset(Values{0.0, 0.0}, Values{0.0}), std::invalid_argument);
  EXPECT_THROW(plant.step(Values{}, 1e-3), std::invalid_argument);
  EXPECT_THROW(plant.step(Values{0.0}, -1e-3), std::invalid_argument);
  EXPECT_THROW(plant.step(Values{0.0}, NAN), std::invalid_argument);
  EXPECT_THROW(plant.step(Values{0.0}, HUGE_VAL), std::invalid_argument);
  EXPECT_THROW(plant.set_brake(1, true), std::out_of_range);
  EXPECT_THROW(std::ignore = plant.brake(-1), std::out_of_range);
  EXPECT_THROW(std::ignore = plant.held(7), std::out_of_range);
}

TEST(Plant, RefusesImpossibleOptions) {
  const Chain chain = puma();
  EXPECT_THROW(Plant(chain, {.sub_step = 0}), std::invalid_argument);
  EXPECT_THROW(Plant(chain, {.static_ratio = 0.5}), std::invalid_argument);
  EXPECT_THROW(Plant(chain, {.brake_torque = {1, 2}}), std::invalid_argument);
  EXPECT_THROW(Plant(chain, {.brake_torque = {1, 2, -3, 0, 0, 0}}), std::invalid_argument);
  EXPECT_THROW(Plant(chain, {.brake_torque = {1, HUGE_VAL, 3, 0, 0, 0}}), std::invalid_argument);
  EXPECT_THROW(Plant(chain, {.impact_duration = -1e-3}), std::invalid_argument);
  EXPECT_THROW(Plant(chain, {.impact_duration = NAN}), std::invalid_argument);
}

}  // namespace
}  // namespace ga_dynamics
