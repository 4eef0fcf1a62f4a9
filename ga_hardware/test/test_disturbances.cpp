// SPDX-License-Identifier: Apache-2.0
// Errors of the description and imperfect drives: each has the effect that it declares.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>

#include "ga_dynamics/dynamics.hpp"
#include "ga_hardware/simulated_arm.hpp"
#include "puma_cell.hpp"

namespace {

using ga_dynamics::Chain;
using ga_dynamics::DhJoint;
using ga_hardware::actual_arm;
using ga_hardware::Disturbances;
using ga_hardware::draw_errors;
using ga_hardware::JointErrors;
using ga_hardware::SimulatedArm;
using ga_hardware::SimulatedArmSettings;
using ga_hardware::test::puma;

/// One upright axis, which no gravity acts on: 0.8 kg m² of the link and 0.2 of the rotor.
Chain turntable(double coulomb = 0) {
  DhJoint joint;
  joint.body.mass = 1;
  joint.body.inertia = {0.8, 0, 0, 0, 0.8, 0, 0, 0, 0.8};
  joint.drive.armature = 0.2;
  joint.drive.coulomb_positive = joint.drive.coulomb_negative = coulomb;
  joint.limits.effort = 10;
  joint.name = "axis";
  return Chain::from_dh({joint});
}

constexpr double kCycle = 1e-3;

SimulatedArmSettings at_once(const Disturbances& disturbances) {
  SimulatedArmSettings settings;
  settings.disturbances = disturbances;
  settings.brake_release_time = 0;
  settings.safety.overspeed_ratio = 0;
  return settings;
}

/// One cycle; returns what the motor gave.
double cycle(SimulatedArm& arm, double torque) {
  arm.command(std::vector<double>{torque});
  arm.advance(kCycle);
  return arm.motor_torque()[0];
}

void start(SimulatedArm& arm, double torque = 0) {
  ASSERT_TRUE(arm.power_on());
  cycle(arm, torque);
}

TEST(Disturbances, NoneIsTheDescribedArm) {
  EXPECT_EQ(draw_errors({}, 3, 7), std::vector<JointErrors>(3));
  SimulatedArm arm(turntable(), at_once({}));
  start(arm);
  EXPECT_EQ(cycle(arm, 3), 3);
  EXPECT_NEAR(arm.plant().qd()[0], 3 * kCycle / 1.0, 1e-12);
}

TEST(Disturbances, ErrorsAreWithinTheirRangeAndDependOnTheSeedAlone) {
  Disturbances all;
  all.mismatch = 0.2;
  all.com_error = 0.03;
  all.friction_error = 0.3;
  all.armature_error = 0.4;
  all.torque_constant_error = 0.1;
  const auto errors = draw_errors(all, 200, 5);
  EXPECT_EQ(errors, draw_errors(all, 200, 5));
  EXPECT_NE(errors, draw_errors(all, 200, 6));
  const auto spans = [&](auto&& value, double middle, double most) {
    double low = INFINITY, high = -INFINITY;
    for (const JointErrors& e : errors) {
      low = std::min(low, value(e));
      high = std::max(high, value(e));
    }
    EXPECT_GE(low, middle - most);
    EXPECT_LE(high, middle + most);
    EXPECT_LT(low, middle - 0.9 * most);
    EXPECT_GT(high, middle + 0.9 * most);
  };
  spans([](const JointErrors& e) { return e.mass; }, 1, 0.2);
  spans([](const JointErrors& e) { return e.inertia; }, 1, 0.2);
  spans([](const JointErrors& e) { return e.com[2]; }, 0, 0.03);
  spans([](const JointErrors& e) { return e.friction; }, 1, 0.3);
  spans([](const JointErrors& e) { return e.armature; }, 1, 0.4);
  spans([](const JointErrors& e) { return e.torque_constant; }, 1, 0.1);
}

TEST(Disturbances, OneKindOfErrorDoesNotChangeAnother) {
  Disturbances one, two;
  one.mismatch = two.mismatch = 0.2;
  two.friction_error = two.com_error = two.armature_error = 0.1;
  const auto a = draw_errors(one, 6, 3), b = draw_errors(two, 6, 3);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(a[i].mass, b[i].mass);
    EXPECT_EQ(a[i].inertia, b[i].inertia);
    EXPECT_EQ(a[i].friction, 1);
    EXPECT_NE(b[i].friction, 1);
  }
}

TEST(Disturbances, TheActualArmHasTheErrorsAndThePayload) {
  std::vector<JointErrors> errors(6);
  errors[2] = {1.1, 0.8, {0.01, -0.02, 0.03}, 1.3, 0.7, 1};
  const Chain arm = actual_arm(puma(), errors, {});
  const auto& before = puma().joints()[2];
  const auto& after = arm.joints()[2];
  EXPECT_DOUBLE_EQ(after.body.mass, 1.1 * before.body.mass);
  EXPECT_DOUBLE_EQ(after.body.inertia[4], 0.8 * before.body.inertia[4]);
  EXPECT_DOUBLE_EQ(after.body.com[1], before.body.com[1] - 0.02);
  EXPECT_DOUBLE_EQ(after.drive.viscous, 1.3 * before.drive.viscous);
  EXPECT_DOUBLE_EQ(after.drive.coulomb_positive, 1.3 * before.drive.coulomb_positive);
  EXPECT_DOUBLE_EQ(after.drive.coulomb_negative, 1.3 * before.drive.coulomb_negative);
  EXPECT_DOUBLE_EQ(after.drive.armature, 0.7 * before.drive.armature);
  EXPECT_DOUBLE_EQ(arm.joints()[1].body.mass, puma().joints()[1].body.mass);

  // A payload off the flange: the same gravity torques as with_payload().
  const ga_dynamics::LinkInertia payload{2, {0.1, 0.05, 0.2}, {}};
  const std::vector<double> q{0.1, -0.8, 0.9, 0.3, 0.5, 0.2};
  std::vector<double> expected(6), found(6);
  ga_dynamics::Dynamics(puma().with_payload(payload)).gravity(q, expected);
  ga_dynamics::Dynamics(actual_arm(puma(), {}, payload)).gravity(q, found);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(found[i], expected[i], 1e-9) << i;
}

TEST(Disturbances, TheErrorsReachTheSimulatedArm) {
  SimulatedArmSettings settings = at_once({});
  settings.errors = {{1, 2, {}, 1, 3, 1}};
  SimulatedArm arm(turntable(), settings);
  start(arm);
  cycle(arm, 1);
  // 2 · 0.8 + 3 · 0.2 kg m²
  EXPECT_NEAR(arm.plant().qd()[0], kCycle / 2.2, 1e-12);
}

TEST(Disturbances, FrictionErrorsChangeTheTorqueThatMovesAJoint) {
  SimulatedArmSettings settings = at_once({});
  settings.errors = {{1, 1, {}, 1.5, 1, 1}};
  SimulatedArm arm(turntable(2), settings);
  start(arm);
  for (int k = 0; k < 10; ++k) cycle(arm, 2.9);
  EXPECT_EQ(arm.plant().qd()[0], 0) << "3 N m hold it";
  cycle(arm, 3.5);
  EXPECT_NEAR(arm.plant().qd()[0], 0.5 * kCycle, 1e-9);
}

TEST(Disturbances, StictionHoldsAJointBeyondItsCoulombFriction) {
  SimulatedArm arm(turntable(2), at_once({.stiction = 1.5}));
  start(arm);
  cycle(arm, 2.9);
  EXPECT_EQ(arm.plant().qd()[0], 0);
  cycle(arm, 3.1);
  EXPECT_GT(arm.plant().qd()[0], 0);
}

TEST(Disturbances, TorqueConstantsScaleWhatTheMotorsGive) {
  SimulatedArmSettings settings = at_once({});
  settings.errors = {{1, 1, {}, 1, 1, 0.9}};
  SimulatedArm arm(turntable(), settings);
  start(arm);
  EXPECT_DOUBLE_EQ(cycle(arm, 5), 4.5);
  EXPECT_EQ(arm.torque()[0], 5) << "the command is not affected";
  EXPECT_NEAR(arm.plant().qd()[0], 4.5 * kCycle, 1e-12);
}

TEST(Disturbances, ReducedTorqueLimitsBindUnknownToTheCommand) {
  SimulatedArm arm(turntable(), at_once({.torque_limit = 0.3}));
  start(arm);
  EXPECT_DOUBLE_EQ(cycle(arm, 2), 2);
  EXPECT_DOUBLE_EQ(cycle(arm, 8), 3);
  EXPECT_DOUBLE_EQ(cycle(arm, -8), -3);
  EXPECT_EQ(arm.torque()[0], -8);
}

TEST(Disturbances, DelayShiftsTheTorqueByExactlyItsCycles) {
  for (const int delay : {0, 1, 2, 5}) {
    SimulatedArm arm(turntable(), at_once({.delay = static_cast<double>(delay)}));
    start(arm, 1);  // the brakes open when this torque has arrived
    EXPECT_EQ(arm.motor_torque()[0], 1) << delay;
    for (int k = 0; k < 20; ++k) {
      const double expected = k < delay ? 1 : 2 + 0.1 * (k - delay);
      EXPECT_DOUBLE_EQ(cycle(arm, 2 + 0.1 * k), expected) << delay << " cycles, cycle " << k;
    }
  }
}

TEST(Disturbances, NothingFlowsAfterACutWhateverTheDelay) {
  SimulatedArm arm(turntable(), at_once({.delay = 5, .lag = 0.05}));
  start(arm, 2);
  cycle(arm, 4);
  arm.cut();
  arm.advance(kCycle);
  EXPECT_EQ(arm.motor_torque()[0], 0);
}

TEST(Disturbances, LagHasItsTimeConstant) {
  const double lag = 0.008;
  SimulatedArm arm(turntable(), at_once({.lag = lag}));
  start(arm);
  double given = 0;
  for (int k = 1; k <= 24; ++k) {
    given = cycle(arm, 1);
    EXPECT_NEAR(given, 1 - std::exp(-k * kCycle / lag), 1e-12) << k;
  }
  // The momentum is the integral of the torque: t − T (1 − e^(−t/T)).
  EXPECT_NEAR(arm.plant().qd()[0], 0.024 - lag * given, 1e-9);
}

TEST(Disturbances, AnythingImpossibleIsRefusedByName) {
  const auto refused = [](const Disturbances& d, const std::string& name) {
    try {
      SimulatedArm arm(turntable(), at_once(d));
      ADD_FAILURE() << name << " was accepted";
    } catch (const std::invalid_argument& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find(name), std::string::npos) << text;
      EXPECT_NE(text.find("give "), std::string::npos) << text;
    }
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& option : ga_hardware::disturbance_options()) {
    for (const double bad : {kNan, -1.0, 1e9, static_cast<double>(INFINITY)}) {
      Disturbances d;
      d.*option.value = bad;
      refused(d, option.name);
    }
  }
  refused({.delay = 1.5}, "delay");
  refused({.stiction = 0.9}, "stiction");
  SimulatedArmSettings settings = at_once({});
  settings.errors.resize(2);
  EXPECT_THROW(SimulatedArm(turntable(), settings), std::invalid_argument);
}

TEST(Disturbances, LimitsOfARangeAreAllowed) {
  for (const auto& option : ga_hardware::disturbance_options()) {
    for (const double value : {option.least, option.most}) {
      EXPECT_EQ(refusal(option, value), "") << option.name;
      Disturbances d;
      d.*option.value = value * option.scale;
      EXPECT_NO_THROW(check(d)) << option.name << ' ' << value;
    }
  }
}

TEST(SimulatedArm, ThePositionIsTheUnfilteredReading) {
  SimulatedArmSettings settings = at_once({});
  settings.signals = {{1000, 0, 2e-4}};
  SimulatedArm arm(turntable(), settings);
  start(arm);
  double noise = 0;
  for (int k = 0; k < 200; ++k) {
    cycle(arm, 1);
    const double reading = arm.position()[0];
    EXPECT_NEAR(std::remainder(reading, 1e-3), 0, 1e-12) << "whole counts";
    noise = std::max(noise, std::abs(reading - arm.plant().q()[0]));
  }
  EXPECT_GT(noise, 5e-4) << "more than quantization alone";
  EXPECT_LT(noise, 2e-3);
}

}  // namespace
