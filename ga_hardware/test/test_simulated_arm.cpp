// SPDX-License-Identifier: Apache-2.0
// The simulated arm without ROS 2: drives, brakes and faults as a state machine.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "ga_dynamics/dynamics.hpp"
#include "ga_hardware/arm_model.hpp"
#include "ga_hardware/simulated_arm.hpp"
#include "puma_cell.hpp"

namespace {

using ga_hardware::DriveState;
using ga_hardware::Fault;
using ga_hardware::parse_injection;
using ga_hardware::SimulatedArm;
using ga_hardware::SimulatedArmSettings;
using ga_hardware::test::puma;

SimulatedArmSettings settings() {
  SimulatedArmSettings s;
  s.signals = ga_hardware::signals_of(puma());
  s.plant.brake_torque = {100, 200, 90, 0, 0, 0};
  return s;
}

const std::vector<double> kPush{40, 0, 0, 1, 0, 0};

/// Cycles without a command.
void idle(SimulatedArm& arm, double seconds) {
  for (double t = 0; t < seconds - 1e-9; t += 1e-3) {
    arm.advance(1e-3);
    arm.idle();
  }
}

void push(SimulatedArm& arm, double seconds, const std::vector<double>& torque = kPush) {
  for (double t = 0; t < seconds - 1e-9; t += 1e-3) {
    arm.advance(1e-3);
    arm.command(torque);
  }
}

/// Powered, brakes open, torque applied.
void run(SimulatedArm& arm) {
  ASSERT_TRUE(arm.power_on());
  push(arm, 0.25);
  ASSERT_EQ(arm.state(), DriveState::kRunning);
}

TEST(SimulatedArm, GoesThroughItsStatesAndBack) {
  SimulatedArm arm(puma(), settings());
  EXPECT_EQ(arm.state(), DriveState::kOff);
  push(arm, 0.01);
  EXPECT_EQ(arm.state(), DriveState::kOff) << "without power";
  EXPECT_TRUE(arm.power_on());
  EXPECT_EQ(arm.state(), DriveState::kStanding);
  idle(arm, 0.5);
  EXPECT_EQ(arm.state(), DriveState::kStanding) << "nothing was commanded yet";
  EXPECT_TRUE(arm.powered());
  EXPECT_TRUE(arm.brake_closed(1));
  EXPECT_FALSE(arm.brake_closed(4)) << "joint 5 has none";
  push(arm, 0.19);
  EXPECT_EQ(arm.state(), DriveState::kStarting);
  push(arm, 0.02);
  EXPECT_EQ(arm.state(), DriveState::kRunning);
  EXPECT_FALSE(arm.brake_closed(1));
  arm.stop();
  EXPECT_EQ(arm.state(), DriveState::kStopping);
  idle(arm, 0.001);
  EXPECT_TRUE(arm.brake_closed(1));
  for (int k = 0; k < 260; ++k) {
    idle(arm, 0.001);
    EXPECT_TRUE(arm.powered()) << k;
  }
  EXPECT_EQ(arm.state(), DriveState::kStanding);
  arm.power_off();
  idle(arm, 0.3);
  EXPECT_EQ(arm.state(), DriveState::kOff);
  EXPECT_FALSE(arm.powered());
}

TEST(SimulatedArm, TorqueIsQuantizedByTheDac) {
  SimulatedArm arm(puma(), settings());
  run(arm);
  const double step = 20.0 / 4096 * 9.76;  // N m of joint 1
  EXPECT_NEAR(arm.torque()[0], 40, step / 2);
  EXPECT_NEAR(std::remainder(arm.torque()[0], step), 0, 1e-9);
  push(arm, 0.001, {140, 0, 0, 0, 0, 0});
  EXPECT_LE(arm.torque()[0], 97.6);
}

/// rad/s, the largest velocity that is measured in 0.2 s of an arm with 2.5 kg that is held by the right
/// torque.
double measured_at_rest(double known) {
  SimulatedArmSettings s = settings();
  s.start = {0, -0.3, 1.6, 0, 0, 0};
  s.payload.mass = 2.5;
  s.known_payload.mass = known;
  s.brake_release_time = 0;
  SimulatedArm arm(puma(), s);
  std::vector<double> torque(6);
  ga_dynamics::Dynamics(puma().with_payload(s.payload)).gravity(s.start, torque);
  EXPECT_TRUE(arm.power_on());
  double fastest = 0;
  for (int k = 0; k < 200; ++k) {
    arm.command(torque);
    arm.advance(1e-3);
    for (const double qd : arm.velocity()) fastest = std::max(fastest, std::abs(qd));
    for (const double qd : arm.plant().qd()) EXPECT_LT(std::abs(qd), 1e-3) << "friction holds it";
  }
  return fastest;
}

TEST(SimulatedArm, VelocityObserversThatKnowThePayloadSeeNoMotionAtRest) {
  EXPECT_LT(measured_at_rest(2.5), 1e-3);
  EXPECT_GT(measured_at_rest(0), 5e-3) << "its weight looks like an acceleration";
}

TEST(SimulatedArm, AFaultDuringAStopDoesNotRestoreTorque) {
  SimulatedArm arm(puma(), settings());
  run(arm);
  arm.inject({Fault::kThermal, 2});
  push(arm, 0.1);
  EXPECT_EQ(arm.state(), DriveState::kStopping);
  EXPECT_EQ(arm.thermal(), 4U);
  const double fading = std::abs(arm.torque()[1]);
  EXPECT_FALSE(arm.power_on());
  push(arm, 0.1);
  EXPECT_LT(std::abs(arm.torque()[1]), fading);
  EXPECT_FALSE(arm.reset_fault()) << "the joint is still hot";
  idle(arm, 0.1);
  EXPECT_EQ(arm.state(), DriveState::kOff);
  EXPECT_EQ(arm.torque()[1], 0);
  arm.inject({});
  EXPECT_TRUE(arm.reset_fault());
  EXPECT_TRUE(arm.power_on());
}

TEST(SimulatedArm, TheFirstFaultIsKept) {
  SimulatedArm arm(puma(), settings());
  run(arm);
  arm.inject({Fault::kEncoderJump, 0});
  push(arm, 0.002);
  arm.inject({Fault::kThermal, 1});
  push(arm, 0.002);
  EXPECT_EQ(arm.fault().fault, Fault::kEncoderJump);
  EXPECT_EQ(arm.fault().joint, 0);
  EXPECT_GT(arm.fault().value, arm.fault().threshold);
  EXPECT_EQ(arm.torque()[0], 0) << "cut";
}

TEST(SimulatedArm, AStaleCommandIsHeldThenRampedDown) {
  SimulatedArmSettings s = settings();
  s.start = {0, -0.3, 1, 0, 0.5, 0};  // outstretched: gravity pulls joint 2
  s.safety.hold_time = 0.5;
  SimulatedArm arm(puma(), s);
  ASSERT_TRUE(arm.power_on());
  ga_dynamics::Dynamics dynamics(puma());
  std::vector<double> gravity(6);
  dynamics.gravity(s.start, gravity);
  ASSERT_GT(std::abs(gravity[1]), 20);
  push(arm, 0.3, gravity);
  idle(arm, 0.015);
  EXPECT_EQ(arm.fault().fault, Fault::kCommandTimeout);
  EXPECT_EQ(arm.safety().reaction(), ga_hardware::Reaction::kHold);
  idle(arm, 0.4);
  EXPECT_NEAR(arm.torque()[1], gravity[1], 0.05 * std::abs(gravity[1])) << "held";
  EXPECT_FALSE(arm.brake_closed(1));
  idle(arm, 0.5);
  EXPECT_EQ(arm.torque()[1], 0);
  EXPECT_TRUE(arm.brake_closed(1));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(arm.plant().q()[i], s.start[i], 0.01) << i;
}

TEST(SimulatedArm, TorqueOutwardsFadesAtASoftLimitAndAHardLimitCuts) {
  SimulatedArmSettings s = settings();
  const double limit = puma().joints()[0].limits.upper;
  s.start = {limit - 0.02, -1.5, 1.5, 0, 0, 0};
  SimulatedArm arm(puma(), s);
  ASSERT_TRUE(arm.power_on());
  push(arm, 0.002, {80, 0, 0, 0, 0, 0});
  const double margin = s.safety.soft_limit_margin;
  EXPECT_NEAR(arm.torque()[0], 0.02 / margin * 97.6, 1);
  push(arm, 0.002, {-80, 0, 0, 0, 0, 0});
  EXPECT_NEAR(arm.torque()[0], -80, 0.1) << "inwards there is all of it";
  EXPECT_EQ(arm.fault().fault, Fault::kNone);
  EXPECT_EQ(arm.safety().fault(0).fault, Fault::kSoftLimit);
  // Dragged beyond the limit by an external force.
  s.plant.stops = false;
  s.safety.overspeed_ratio = 0;
  SimulatedArm dragged(puma(), s);
  run(dragged);
  const std::vector<double> here(dragged.plant().q().begin(), dragged.plant().q().end());
  dragged.plant().reset(here, std::vector<double>{1.5, 0, 0, 0, 0, 0});
  push(dragged, 0.05);
  EXPECT_EQ(dragged.fault().fault, Fault::kHardLimit);
  EXPECT_EQ(dragged.torque()[0], 0);
}

TEST(SimulatedArm, ATorqueFarBeyondTheLimitIsAFault) {
  SimulatedArm arm(puma(), settings());
  run(arm);
  push(arm, 0.001, {150, 0, 0, 0, 0, 0});
  EXPECT_EQ(arm.fault().fault, Fault::kTorqueExcessive);
  EXPECT_EQ(arm.state(), DriveState::kStopping);
}

TEST(SimulatedArm, AFrozenEncoderIsDetectedBeforeTheArmRunsAway) {
  SimulatedArm arm(puma(), settings());
  run(arm);
  arm.inject({Fault::kEncoderFrozen, 0});
  const double before = arm.plant().q()[0];
  push(arm, 1, {60, 0, 0, 0, 0, 0});
  EXPECT_EQ(arm.fault().fault, Fault::kEncoderFrozen);
  EXPECT_LT(std::abs(arm.plant().q()[0] - before), 0.1);
}

TEST(SimulatedArm, AnArmWithoutLimitsMovesFreely) {
  std::vector<ga_dynamics::DhJoint> rows(1);
  rows[0].body = {1, {0.1, 0, 0}, {0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.01}};
  SimulatedArm arm(ga_dynamics::Chain::from_dh(rows), {});
  ASSERT_TRUE(arm.power_on());
  push(arm, 1, {0.5});
  EXPECT_EQ(arm.fault().fault, Fault::kNone);
  EXPECT_GT(arm.position()[0], 3);
  EXPECT_EQ(arm.torque()[0], 0.5);
}

TEST(SimulatedArm, DeadlinesAreMonitoredOnRequest) {
  SimulatedArmSettings s = settings();
  s.safety.deadline_ratio = 1.5;
  SimulatedArm arm(puma(), s);
  run(arm);
  const auto cycle = [&arm](double dt) {
    arm.advance(dt);
    arm.command(kPush);
  };
  cycle(2e-3);
  cycle(2e-3);
  cycle(1e-3);  // in time: resets the counter
  cycle(2e-3);
  cycle(2e-3);
  EXPECT_EQ(arm.fault().fault, Fault::kNone);
  cycle(2e-3);
  EXPECT_EQ(arm.fault().fault, Fault::kDeadlineMissed);
  EXPECT_EQ(arm.late_cycles(), 5U);
}

TEST(SimulatedArm, TheSimulationPausesDuringALongGap) {
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
  push(arm, 0.3, {1});
  EXPECT_TRUE(arm.diverged());
  EXPECT_EQ(arm.torque()[0], 0);
  EXPECT_EQ(arm.state(), DriveState::kOff);
  EXPECT_TRUE(std::isfinite(arm.position()[0]));
  EXPECT_TRUE(arm.reset_fault());
  EXPECT_FALSE(arm.diverged());
}

TEST(SimulatedArm, AnArmThatWasNeverCommandedGetsNoTorqueFromAStopOrFault) {
  for (const Fault fault : {Fault::kNone, Fault::kThermal}) {
    SimulatedArmSettings s = settings();
    s.start = {0, -0.3, 1, 0, 0.5, 0};  // outstretched: the holding torque is large
    SimulatedArm arm(puma(), s);
    ASSERT_TRUE(arm.power_on());
    idle(arm, 0.1);
    if (fault == Fault::kNone) arm.stop();
    arm.inject({fault, 1});
    for (int k = 0; k < 400; ++k) {
      idle(arm, 0.001);
      for (const double torque : arm.torque()) ASSERT_EQ(torque, 0) << k;
    }
  }
}

TEST(SimulatedArm, ABadFirstCommandIsAFaultWithoutTorque) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), 1e6}) {
    SimulatedArmSettings s = settings();
    s.start = {0, -0.3, 1, 0, 0.5, 0};
    SimulatedArm arm(puma(), s);
    ASSERT_TRUE(arm.power_on());
    push(arm, 0.1, {bad, 0, 0, 0, 0, 0});
    EXPECT_NE(arm.fault().fault, Fault::kNone);
    EXPECT_TRUE(arm.brakes_closed());
    for (const double torque : arm.torque()) EXPECT_EQ(torque, 0);
  }
}

TEST(SimulatedArm, HasNoPowerAfterAFaultUntilItIsSwitchedOnAgain) {
  SimulatedArm arm(puma(), settings());
  run(arm);
  arm.inject({Fault::kEmergencyStop, -1});
  push(arm, 0.01);
  arm.inject({});
  ASSERT_TRUE(arm.reset_fault());
  push(arm, 0.5);
  EXPECT_EQ(arm.state(), DriveState::kOff);
  EXPECT_EQ(arm.torque()[0], 0);
  EXPECT_TRUE(arm.power_on());
}

TEST(SimulatedArm, AHoldKeepsTheBrakesOpen) {
  SimulatedArm arm(puma(), settings());
  run(arm);
  idle(arm, 0.1);
  ASSERT_EQ(arm.safety().reaction(), ga_hardware::Reaction::kHold);
  EXPECT_FALSE(arm.brakes_closed());
}

TEST(SimulatedArm, IgnoresFaultsOfJointsThatItDoesNotHave) {
  SimulatedArm arm(puma(), settings());
  run(arm);
  for (const int joint : {-1, 6, 1000}) {
    arm.inject({Fault::kThermal, joint});
    arm.inject({Fault::kEncoderJump, joint});
    push(arm, 0.002);
  }
  EXPECT_EQ(arm.fault().fault, Fault::kNone);
}

TEST(SimulatedArm, StaysObservableWithGapsBetweenShortCycles) {
  SimulatedArmSettings s = settings();
  s.observer_bandwidth = 1000;
  SimulatedArm arm(puma(), s);
  for (int round = 0; round < 300; ++round) {
    for (int k = 0; k < 6; ++k) arm.advance(1e-3);
    arm.advance(0.2);
    ASSERT_LT(std::abs(arm.velocity()[0]), 0.2) << round;
    ASSERT_LT(std::abs(arm.position()[0] - arm.plant().q()[0]), 0.01) << round;
  }
}

TEST(SimulatedArm, RefusesImpossibleSettings) {
  SimulatedArmSettings s = settings();
  s.start = {0, 0};
  EXPECT_THROW(SimulatedArm(puma(), s), std::invalid_argument);
  s = settings();
  s.safety.deadline_ratio = 0.9;
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
