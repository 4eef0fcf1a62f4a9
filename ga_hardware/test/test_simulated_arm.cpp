// SPDX-License-Identifier: Apache-2.0
// The simulated arm without ROS 2: drives, brakes and faults as a state machine.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "ga_hardware/joint_signals.hpp"
#include "ga_hardware/simulated_arm.hpp"

namespace {

using ga_hardware::DriveState;
using ga_hardware::Fault;
using ga_hardware::parse_injection;
using ga_hardware::SimulatedArm;
using ga_hardware::SimulatedArmSettings;

const ga_dynamics::Chain& puma() {
  static const auto chain = ga_dynamics::Chain::from_urdf_file(PUMA_URDF);
  return chain;
}

SimulatedArmSettings settings() {
  SimulatedArmSettings s;
  s.signals = ga_hardware::signals_of(puma());
  s.plant.brake_torque = {100, 200, 90, 0, 0, 0};
  return s;
}

void advance(SimulatedArm& arm, double seconds) {
  for (double t = 0; t < seconds - 1e-9; t += 1e-3) arm.advance(1e-3);
}

const std::vector<double> kPush{40, 0, 0, 1, 0, 0};

/// Powered, engaged, brakes open, pushed.
void run(SimulatedArm& arm) {
  ASSERT_TRUE(arm.power_on());
  ASSERT_TRUE(arm.engage());
  arm.command(kPush);
  advance(arm, 0.25);
  ASSERT_EQ(arm.state(), DriveState::kRunning);
}

TEST(SimulatedArm, GoesThroughItsStatesAndBack) {
  SimulatedArm arm(puma(), settings());
  EXPECT_EQ(arm.state(), DriveState::kOff);
  EXPECT_FALSE(arm.engage()) << "without power";
  EXPECT_TRUE(arm.power_on());
  EXPECT_EQ(arm.state(), DriveState::kStanding);
  EXPECT_TRUE(arm.engage());
  advance(arm, 0.5);
  EXPECT_EQ(arm.state(), DriveState::kStarting) << "nothing was commanded yet";
  EXPECT_TRUE(arm.brake_closed(1));
  EXPECT_FALSE(arm.brake_closed(4)) << "joint 5 has none";
  arm.command(kPush);
  advance(arm, 0.19);
  EXPECT_EQ(arm.state(), DriveState::kStarting);
  advance(arm, 0.02);
  EXPECT_EQ(arm.state(), DriveState::kRunning);
  EXPECT_FALSE(arm.brake_closed(1));
  arm.release();
  EXPECT_EQ(arm.state(), DriveState::kStopping);
  EXPECT_TRUE(arm.brake_closed(1));
  advance(arm, 0.251);
  EXPECT_EQ(arm.state(), DriveState::kStanding);
  arm.power_off();
  EXPECT_EQ(arm.state(), DriveState::kOff);
}

TEST(SimulatedArm, TorqueIsWhatTheDacLetsThrough) {
  SimulatedArm arm(puma(), settings());
  run(arm);
  const double step = 20.0 / 4096 * 9.76;  // N m of joint 1
  EXPECT_NEAR(arm.torque()[0], 40, step / 2);
  EXPECT_NEAR(std::remainder(arm.torque()[0], step), 0, 1e-9);
  arm.command(std::vector<double>{1000, 0, 0, 0, 0, 0});
  arm.advance(1e-3);
  EXPECT_LE(arm.torque()[0], 97.6);
}

TEST(SimulatedArm, AFaultDuringAStopDoesNotGiveTorqueBack) {
  SimulatedArm arm(puma(), settings());
  run(arm);
  arm.inject({Fault::kThermal, 2});
  advance(arm, 0.1);
  EXPECT_EQ(arm.state(), DriveState::kStopping);
  EXPECT_EQ(arm.thermal(), 4U);
  const double fading = arm.torque()[0];
  EXPECT_LT(fading, 30);
  EXPECT_FALSE(arm.engage());
  EXPECT_FALSE(arm.power_on());
  arm.command(kPush);
  advance(arm, 0.1);
  EXPECT_LT(arm.torque()[0], fading);
  EXPECT_FALSE(arm.reset_fault()) << "the joint is still hot";
  advance(arm, 0.1);
  EXPECT_EQ(arm.state(), DriveState::kOff);
  arm.inject({});
  EXPECT_TRUE(arm.reset_fault());
  EXPECT_TRUE(arm.power_on());
}

TEST(SimulatedArm, TheFirstFaultIsKept) {
  SimulatedArm arm(puma(), settings());
  run(arm);
  arm.inject({Fault::kEncoderJump, 0});
  advance(arm, 0.002);
  arm.inject({Fault::kThermal, 1});
  advance(arm, 0.002);
  EXPECT_EQ(arm.fault().fault, Fault::kEncoderJump);
  EXPECT_EQ(arm.fault().joint, 0);
  EXPECT_GT(arm.fault().value, arm.fault().threshold);
}

TEST(SimulatedArm, DeadlinesAreWatchedOnRequest) {
  SimulatedArmSettings s = settings();
  s.deadline_ratio = 1.5;
  SimulatedArm arm(puma(), s);
  run(arm);
  arm.advance(2e-3);
  arm.advance(2e-3);
  arm.advance(1e-3);  // in time: the count begins anew
  arm.advance(2e-3);
  arm.advance(2e-3);
  EXPECT_EQ(arm.fault().fault, Fault::kNone);
  arm.advance(2e-3);
  EXPECT_EQ(arm.fault().fault, Fault::kDeadlineMissed);
  EXPECT_EQ(arm.late_cycles(), 5U);
}

TEST(SimulatedArm, ALongPauseDoesNotPassInTheSimulation) {
  SimulatedArm arm(puma(), settings());
  arm.advance(1e-3);
  const double before = arm.plant().time();
  arm.advance(60);
  EXPECT_NEAR(arm.plant().time() - before, 0.2, 1e-9);
  arm.advance(-1);
  arm.advance(std::numeric_limits<double>::quiet_NaN());
  EXPECT_NEAR(arm.plant().time() - before, 0.2, 1e-9);
}

TEST(SimulatedArm, AFailedIntegrationIsAnErrorAndCanBeReset) {
  // Viscous friction so stiff that a sub-step of 1 ms cannot follow it.
  std::vector<ga_dynamics::DhJoint> rows(1);
  rows[0].body = {1, {0.1, 0, 0}, {1e-6, 0, 0, 0, 1e-6, 0, 0, 0, 1e-6}};
  rows[0].drive.viscous = 1e4;
  SimulatedArmSettings s;
  s.plant.sub_step = 1e-3;
  SimulatedArm arm(ga_dynamics::Chain::from_dh(rows), s);
  ASSERT_TRUE(arm.power_on());
  ASSERT_TRUE(arm.engage());
  arm.command(std::vector<double>{1});
  advance(arm, 0.3);
  EXPECT_TRUE(arm.diverged());
  EXPECT_EQ(arm.state(), DriveState::kOff);
  EXPECT_TRUE(std::isfinite(arm.position()[0]));
  EXPECT_TRUE(arm.reset_fault());
  EXPECT_FALSE(arm.diverged());
}

TEST(SimulatedArm, RefusesImpossibleSettings) {
  SimulatedArmSettings s = settings();
  s.start = {0, 0};
  EXPECT_THROW(SimulatedArm(puma(), s), std::invalid_argument);
  s = settings();
  s.deadline_ratio = 0.9;
  EXPECT_THROW(SimulatedArm(puma(), s), std::invalid_argument);
}

TEST(SimulatedArm, ReadsInjectionsByName) {
  EXPECT_EQ(parse_injection("", puma()).fault, Fault::kNone);
  EXPECT_EQ(parse_injection("thermal:joint6", puma()).joint, 5);
  EXPECT_EQ(parse_injection("card-lost", puma()).fault, Fault::kCardLost);
  EXPECT_THROW(parse_injection("card-lost:joint1", puma()), std::invalid_argument);
  EXPECT_THROW(parse_injection("overspeed:joint1", puma()), std::invalid_argument);
  EXPECT_THROW(parse_injection("thermal:", puma()), std::invalid_argument);
}

}  // namespace
