// SPDX-License-Identifier: Apache-2.0

// When torque may flow: states, stops, holds, limits.

#include <cmath>

#include "safety_fixture.hpp"

namespace ga_hardware {
namespace {

TEST_F(SafetyTest, GoesThroughItsStatesInOrder) {
  EXPECT_EQ(machine_.state(), SafetyState::kOff);
  EXPECT_FALSE(machine_.calibrated());
  EXPECT_FALSE(machine_.activate());
  EXPECT_FALSE(machine_.deactivate());
  EXPECT_FALSE(machine_.begin_calibration());
  EXPECT_FALSE(machine_.forget_calibration());
  EXPECT_TRUE(machine_.open());
  EXPECT_FALSE(machine_.open());
  EXPECT_EQ(machine_.state(), SafetyState::kReady);
  EXPECT_FALSE(machine_.activate());
  EXPECT_TRUE(machine_.calibrated());
  EXPECT_FALSE(machine_.begin_calibration());
  EXPECT_TRUE(machine_.forget_calibration());
  EXPECT_TRUE(machine_.calibrated());
  EXPECT_FALSE(machine_.calibrated());
  EXPECT_TRUE(machine_.activate());
  EXPECT_FALSE(machine_.activate());
  EXPECT_EQ(machine_.state(), SafetyState::kActive);
  machine_.close();
  EXPECT_EQ(machine_.state(), SafetyState::kOff);
}

TEST_F(SafetyTest, GivesNoTorqueUnlessActive) {
  expect_cut(run(3));
  machine_.open();
  expect_cut(run(3));
  machine_.calibrated();
  expect_cut(run(3));
  machine_.activate();
  expect_passed(run(3));
  machine_.close();
  expect_cut(run(3));
}

TEST_F(SafetyTest, KeepsTheBrakesOnUntilTheFirstCommand) {
  machine_.open();
  machine_.calibrated();
  machine_.activate();
  in_.command_age = kInfinity;
  in_.torque_command.fill(kNan);
  SafetyOutputs out = run(1000);
  EXPECT_EQ(machine_.state(), SafetyState::kActive);
  EXPECT_TRUE(zero(out));
  EXPECT_TRUE(out.power);
  EXPECT_FALSE(out.brakes_released);
  in_ = healthy(settings_);
  expect_passed(run(1));
}

TEST_F(SafetyTest, AllTorqueIsAvailableAtASoftLimit) {
  settings_ = puma();
  SafetyJoint& joint = settings_.joints[4];
  joint.soft_lower = joint.lower + 0.025;
  joint.soft_upper = joint.upper - 0.1;
  machine_ = settings_.machine();
  in_ = healthy(settings_);
  activate();
  const auto at = [&](double q, double torque) {
    in_.q[4] = q;
    in_.torque_command[4] = torque * joint.max_torque;
    return machine_.update(in_).torque[4] / joint.max_torque;
  };
  EXPECT_DOUBLE_EQ(at(joint.soft_upper, 0.9), 0.9);
  EXPECT_DOUBLE_EQ(at(joint.upper - 0.0351, 0.9), 0.9) << "and up to soft_limit_margin";
  EXPECT_EQ(machine_.fault_count(), 0);
  EXPECT_NEAR(at(joint.upper - 0.0175, 0.9), 0.5, 1e-9) << "then less and less outward";
  EXPECT_DOUBLE_EQ(at(joint.upper - 0.0175, -0.9), -0.9) << "all of it inward";
  EXPECT_EQ(machine_.fault(0).fault, Fault::kSoftLimit);
  EXPECT_NEAR(machine_.fault(0).threshold, joint.upper - 0.035, 1e-12);
  EXPECT_NEAR(at(joint.lower + 0.01, -0.9), -0.5, 1e-9)
      << "where the soft limit is nearer, a fifth of the way beyond it";
  EXPECT_EQ(machine_.state(), SafetyState::kActive);
  at(joint.upper + 0.001, 0);
  EXPECT_EQ(machine_.cause().fault, Fault::kHardLimit);
}

TEST_F(SafetyTest, AHealthyArmTripsNothing) {
  activate();
  for (int k = 0; k < 10000; ++k) {
    in_.pot_turns[static_cast<std::size_t>(k % 6)] = 0.2 * std::sin(k);
    in_.ad_timeout = k % 4 == 0;
    in_.period = k % 5 == 0 ? 2 * kPeriod : kPeriod;
    in_.command_age = k % 8 * kPeriod;
    machine_.update(in_);
  }
  EXPECT_EQ(machine_.state(), SafetyState::kActive);
  EXPECT_EQ(machine_.fault_count(), 0);
  EXPECT_EQ(machine_.cause().fault, Fault::kNone);
}

TEST_F(SafetyTest, ClampsTorqueAtTheLimit) {
  activate();
  in_.torque_command[1] = 1.2 * 186.4;
  in_.torque_command[4] = -1.4 * 20.1;
  const SafetyOutputs out = run(10);
  EXPECT_EQ(out.torque[1], 186.4);
  EXPECT_EQ(out.torque[4], -20.1);
  EXPECT_EQ(machine_.fault_count(), 0);
}

TEST_F(SafetyTest, StopsByARampWithTheBrakes) {
  activate();
  const auto before = in_.torque_command;
  EXPECT_TRUE(machine_.deactivate());
  EXPECT_EQ(machine_.reaction(), Reaction::kRampDown);
  in_.torque_command.fill(kNan);  // commands are no longer needed
  in_.command_age = kInfinity;
  double last = 2 * before[0];
  for (int k = 0; k < 250; ++k) {
    const SafetyOutputs out = run(1);
    EXPECT_EQ(machine_.state(), SafetyState::kActive);
    EXPECT_FALSE(out.brakes_released);
    EXPECT_TRUE(out.power);
    EXPECT_LT(out.torque[0], last);
    last = out.torque[0];
  }
  EXPECT_LT(last, 0.01 * before[0]);
  EXPECT_TRUE(machine_.deactivate()) << "twice is once";
  expect_cut(run(2));
  EXPECT_EQ(machine_.state(), SafetyState::kCalibrated);
  EXPECT_EQ(machine_.fault_count(), 0);
}

TEST_F(SafetyTest, BlendsToAnAvailableHoldingTorqueWithoutAStep) {
  activate();
  in_.hold_available = true;
  machine_.deactivate();
  PerJoint<double> last = run(1).torque;
  EXPECT_EQ(last, in_.torque_command) << "the last torque continues";
  for (int k = 1; k < 126; ++k) {
    const auto torque = run(1).torque;
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_NEAR(torque[i], last[i], 0.005 * settings_.joints[i].max_torque) << k;
    }
    last = torque;
  }
  EXPECT_NEAR(last[0], 0.5 * in_.hold_torque[0], 1e-3 * in_.hold_torque[0]);
  in_.hold_torque[3] = kNan;
  EXPECT_NEAR(run(1).torque[0], last[0], 0.005 * in_.hold_torque[0]) << "a broken one is not used";
  in_.hold_torque[3] = 10 * in_.hold_torque[2];
  EXPECT_NEAR(run(1).torque[3], last[3], 0.005 * in_.torque_command[3]) << "nor one that steps";
}

TEST_F(SafetyTest, AHoldBlendsToTheHoldingTorqueWithoutAStep) {
  activate();
  in_.command_age = 1;
  in_.hold_available = true;
  EXPECT_EQ(run(1).torque, in_.torque_command);
  EXPECT_EQ(machine_.reaction(), Reaction::kHold);
  EXPECT_NEAR(run(20).torque[0], (1 + std::exp(-1)) * in_.hold_torque[0], 1e-9);
  EXPECT_NEAR(run(200).torque[0], in_.hold_torque[0], 1e-3 * in_.hold_torque[0]);
}

TEST_F(SafetyTest, ALateSuccessorIsNoFaultAndTheArmIsHeldUntilItCommands) {
  activate();
  in_.command_age = 0.005;
  in_.handover = in_.hold_available = true;
  EXPECT_EQ(run(1).torque, in_.torque_command) << "the predecessor's torque";
  in_.command_age = 0.5;
  SafetyOutputs last = run(1);
  EXPECT_EQ(last.torque, in_.torque_command) << "no step";
  EXPECT_NEAR(run(20).torque[0], (1 + std::exp(-1)) * in_.hold_torque[0], 1e-9);
  last = run(1970);
  EXPECT_TRUE(last.power && last.brakes_released);
  EXPECT_NEAR(last.torque[0], in_.hold_torque[0], 1e-3 * in_.hold_torque[0]);
  EXPECT_EQ(machine_.state(), SafetyState::kActive);
  EXPECT_EQ(machine_.fault_count(), 0);
  in_.command_age = 0;
  in_.handover = false;
  EXPECT_EQ(run(1).torque, in_.torque_command) << "the successor's";
  in_.command_age = 1;
  run(1);
  EXPECT_EQ(machine_.cause().fault, Fault::kCommandTimeout) << "afterwards it is a fault again";
}

TEST_F(SafetyTest, ASuccessorThatDoesNotCommandWithinTheHoldTimeIsAFault) {
  activate();
  in_.command_age = 1;
  in_.handover = in_.hold_available = true;
  run(2000);
  EXPECT_EQ(machine_.state(), SafetyState::kActive);
  run(3);
  EXPECT_EQ(machine_.cause().fault, Fault::kCommandTimeout);
  EXPECT_EQ(machine_.reaction(), Reaction::kRampDown) << "the arm has been held for hold_time";
  run(252);
  expect_cut(run(1));
}

TEST_F(SafetyTest, AHandoverIsNotAwaitedWithoutAHoldingTorqueOrACommand) {
  activate();
  in_.command_age = 1;
  in_.handover = true;
  run(1);
  EXPECT_EQ(machine_.cause().fault, Fault::kCommandTimeout);
  EXPECT_EQ(machine_.reaction(), Reaction::kRampDown);

  machine_ = settings_.machine();
  ASSERT_TRUE(machine_.open() && machine_.calibrated() && machine_.activate());
  in_.command_age = kInfinity;
  in_.hold_available = true;
  EXPECT_FALSE(run(10).brakes_released);
  EXPECT_TRUE(zero(run(1)));
}

TEST_F(SafetyTest, AFaultWhileASuccessorIsAwaitedStopsTheArmFromItsTorque) {
  activate();
  in_.command_age = 1;
  in_.handover = in_.hold_available = true;
  const SafetyOutputs last = run(100);
  in_.thermal = 1;
  EXPECT_NEAR(run(1).torque[0], last.torque[0], 0.01 * in_.torque_command[0]);
  EXPECT_EQ(machine_.reaction(), Reaction::kRampDown);
  EXPECT_EQ(machine_.cause().fault, Fault::kThermal);
  in_.emergency_stop = true;
  expect_cut(run(1));
}

TEST_F(SafetyTest, DropsThePowerFirstWhenTheBrakesFollowIt) {
  settings_.brakes_wired = false;
  machine_ = settings_.machine();
  activate();
  machine_.deactivate();
  EXPECT_FALSE(run(1).power);
}

TEST_F(SafetyTest, WithBrakesThatFollowThePowerItWaitsForTheFirstCommandToo) {
  settings_.brakes_wired = false;
  machine_ = settings_.machine();
  ASSERT_TRUE(machine_.open() && machine_.calibrated() && machine_.activate());
  SafetyInputs in = healthy(settings_);
  in.command_age = kInfinity;
  EXPECT_FALSE(machine_.update(in).power) << "the brakes would open and nothing holds the arm";
  in.command_age = 0;
  EXPECT_TRUE(machine_.update(in).power);
}

TEST_F(SafetyTest, ARampOfNoTimeEndsAtOnce) {
  settings_.safety.ramp_time = 0;
  machine_ = settings_.machine();
  activate();
  machine_.deactivate();
  expect_cut(run(1));
  EXPECT_EQ(machine_.state(), SafetyState::kCalibrated);
}

TEST_F(SafetyTest, AHoldWithoutALawIsARampDown) {
  activate();
  in_.command_age = 1;
  const SafetyOutputs out = run(1);
  EXPECT_EQ(machine_.reaction(), Reaction::kRampDown);
  EXPECT_FALSE(out.brakes_released);
  EXPECT_EQ(out.torque, in_.torque_command) << "the last torque fades";
  run(251);
  expect_cut(run(1));
}

TEST_F(SafetyTest, AHoldEndsInARampDown) {
  activate();
  in_.command_age = 1;
  in_.hold_available = true;
  run(2000);
  EXPECT_EQ(machine_.reaction(), Reaction::kHold);
  EXPECT_FALSE(machine_.clear_faults()) << "not while the arm is held";
  run(2);
  EXPECT_EQ(machine_.reaction(), Reaction::kRampDown);
  EXPECT_FALSE(machine_.clear_faults());
  run(252);
  EXPECT_EQ(machine_.reaction(), Reaction::kNone);
  EXPECT_TRUE(machine_.clear_faults());
}

TEST_F(SafetyTest, AnInvalidHoldingTorqueEndsTheHold) {
  activate();
  in_.command_age = 1;
  in_.hold_available = true;
  run(10);
  in_.hold_torque[0] = kNan;
  const SafetyOutputs out = run(1);
  EXPECT_EQ(machine_.reaction(), Reaction::kRampDown);
  EXPECT_TRUE(std::isfinite(out.torque[0]));
}

TEST_F(SafetyTest, AWorseFaultOvertakesAMilderOne) {
  activate();
  in_.command_age = 1;
  in_.hold_available = true;
  run(10);
  in_.thermal = 1;
  run(1);
  EXPECT_EQ(machine_.reaction(), Reaction::kRampDown);
  in_.qd[0] = 5;
  expect_cut(run(1));
  EXPECT_EQ(machine_.cause().fault, Fault::kCommandTimeout);
  ASSERT_EQ(machine_.fault_count(), 3);
  EXPECT_EQ(machine_.fault(1).fault, Fault::kThermal);
  EXPECT_EQ(machine_.fault(2).fault, Fault::kOverspeed);
  in_ = healthy(settings_);
  in_.thermal = 2;
  expect_cut(run(10));
}

TEST_F(SafetyTest, AMilderFaultInTheSameCycleDoesNotUndoACut) {
  activate();
  in_.emergency_stop = true;
  in_.guard_lost = true;
  in_.command_age = 1;
  in_.hold_available = true;
  expect_cut(run(1));
  EXPECT_EQ(machine_.cause().fault, Fault::kEmergencyStop);
  EXPECT_EQ(machine_.fault_count(), 3) << "but is recorded";
}

TEST_F(SafetyTest, AFaultInAStopIsAFault) {
  activate();
  machine_.deactivate();
  run(10);
  in_.thermal = 1;
  run(1);
  EXPECT_EQ(machine_.state(), SafetyState::kFault);
  EXPECT_EQ(machine_.reaction(), Reaction::kRampDown);
  run(260);
  EXPECT_EQ(machine_.reaction(), Reaction::kNone);
  EXPECT_EQ(machine_.state(), SafetyState::kFault);
}

TEST_F(SafetyTest, APersistingCauseTripsAgainAfterClearing) {
  activate();
  in_.thermal = 1;
  run(300);
  EXPECT_TRUE(machine_.clear_faults());
  EXPECT_EQ(machine_.state(), SafetyState::kCalibrated);
  run(1);
  EXPECT_EQ(machine_.state(), SafetyState::kFault);
}

TEST_F(SafetyTest, FaultsAtRestNeedNoRamp) {
  machine_.open();
  in_.thermal = 1;
  expect_cut(run(1));
  EXPECT_EQ(machine_.state(), SafetyState::kFault);
  EXPECT_EQ(machine_.reaction(), Reaction::kNone);
  in_.thermal = 0;
  EXPECT_TRUE(machine_.clear_faults());
  EXPECT_EQ(machine_.state(), SafetyState::kReady);
  in_.q[0] = 9;
  in_.qd[0] = 3;
  in_.command_age = kInfinity;
  in_.period = 1;
  in_.guard_lost = true;
  in_.pot_turns[0] = 7;
  run(10);
  EXPECT_EQ(machine_.state(), SafetyState::kReady) << "an arm without power may be moved by hand";
  in_.pot_turns[0] = 0;
  machine_.calibrated();
  run(10);
  EXPECT_EQ(machine_.state(), SafetyState::kCalibrated);
  in_.pot_turns[0] = 7;
  run(1);
  EXPECT_EQ(machine_.cause().fault, Fault::kPotMismatch);
}

TEST_F(SafetyTest, OutwardTorqueFadesBetweenTheSoftAndTheHardLimit) {
  activate();
  const double upper = settings_.joints[2].upper, lower = settings_.joints[2].lower;
  in_.torque_command[2] = 80;
  in_.q[2] = upper - 0.0175;  // the middle of the margin
  EXPECT_NEAR(run(1).torque[2], 0.5 * 89.4, 1e-9);
  in_.torque_command[2] = -80;
  EXPECT_EQ(run(1).torque[2], -80) << "inwards is free";
  in_.q[2] = lower + 1e-9;
  EXPECT_NEAR(run(1).torque[2], 0, 1e-5);
  EXPECT_EQ(machine_.state(), SafetyState::kActive);
  EXPECT_EQ(machine_.fault_count(), 1) << "once per joint";
  EXPECT_TRUE(machine_.clear_faults());
  EXPECT_EQ(machine_.fault_count(), 0);
  EXPECT_EQ(machine_.state(), SafetyState::kActive);
}

TEST_F(SafetyTest, SoftLimitsFarFromTheHardOnesDoNotShiftThese) {
  const double upper = settings_.joints[2].upper;
  settings_.joints[2].soft_upper = upper - 0.5;
  machine_ = settings_.machine();
  in_.q[2] = upper - 0.04;  // parked beyond the soft limit
  activate();
  in_.torque_command[2] = 80;
  EXPECT_EQ(run(1).torque[2], 80) << "all torque, or the arm would fall inwards";
  in_.q[2] = upper + 0.03;
  run(1);
  EXPECT_EQ(machine_.state(), SafetyState::kFault);
  EXPECT_EQ(machine_.cause().fault, Fault::kHardLimit);
}

TEST_F(SafetyTest, OutwardTorqueOfAJointWithoutATorqueLimitFadesToo) {
  settings_.joints[2].max_torque = kInfinity;
  machine_ = settings_.machine();
  activate();
  in_.torque_command[2] = 300;
  EXPECT_EQ(run(1).torque[2], 300);
  in_.q[2] = settings_.joints[2].upper - 0.0175;  // the middle of the margin
  EXPECT_NEAR(run(1).torque[2], 150, 1e-9);
  in_.torque_command[2] = -300;
  EXPECT_EQ(run(1).torque[2], -300) << "inwards is free";

  // A stop or a hold there begins with the same torque.
  for (const bool held : {false, true}) {
    machine_ = settings_.machine();
    in_ = healthy(settings_);
    in_.torque_command[2] = in_.hold_torque[2] = 300;
    activate();
    in_.hold_available = true;
    in_.q[2] = settings_.joints[2].upper - 0.0175;
    run(1);
    if (held) {
      in_.command_age = kInfinity;
    } else {
      machine_.deactivate();
    }
    EXPECT_NEAR(run(1).torque[2], 150, 1e-9) << (held ? "hold" : "stop");
  }
}

TEST_F(SafetyTest, AnArmBeyondItsLimitMayOnlyComeBack) {
  in_.q[0] = settings_.joints[0].upper + 0.2;
  in_.torque_command[0] = 20;
  activate();
  EXPECT_EQ(run(1).torque[0], 0) << "not outwards";
  in_.torque_command[0] = -20;
  EXPECT_EQ(run(1).torque[0], -20);
  in_.q[0] -= 0.1;
  run(1);
  EXPECT_EQ(machine_.state(), SafetyState::kActive);
  in_.q[0] += 0.034;
  run(1);
  EXPECT_EQ(machine_.state(), SafetyState::kActive) << "within the margin of where it was";
  in_.q[0] += 0.002;
  expect_cut(run(1));
  EXPECT_EQ(machine_.cause().fault, Fault::kHardLimit);
}

TEST_F(SafetyTest, BackInsideTheLimitHoldsAgain) {
  in_.q[0] = settings_.joints[0].lower - 0.2;
  activate();
  in_.q[0] = 0;
  run(1);
  in_.q[0] = settings_.joints[0].lower - 0.001;
  expect_cut(run(1));
}

TEST_F(SafetyTest, CalibratingIsSlow) {
  machine_.open();
  ASSERT_TRUE(machine_.begin_calibration());
  expect_passed(run(5));
  EXPECT_EQ(machine_.state(), SafetyState::kCalibrating);
  EXPECT_FALSE(machine_.calibrated()) << "not before the arm stands";
  EXPECT_TRUE(machine_.deactivate());
  run(260);
  EXPECT_EQ(machine_.state(), SafetyState::kReady);
  EXPECT_TRUE(machine_.begin_calibration());
  run(5);
  in_.qd[0] = 0.26 * 1.92;
  expect_cut(run(1));
  EXPECT_EQ(machine_.cause().fault, Fault::kOverspeed);
  in_.qd[0] = 0;
  machine_.clear_faults();
  EXPECT_EQ(machine_.state(), SafetyState::kReady);
}

TEST_F(SafetyTest, ABlockedJointIsNotAFrozenEncoder) {
  activate();
  in_.count_speed[0] = in_.qd[0] = 0;
  in_.torque_command[0] = 70;
  run(5000);
  EXPECT_EQ(machine_.state(), SafetyState::kActive) << "the potentiometer stands still as well";
  in_.count_speed[0] = 0.1;
  run(1);
  in_.count_speed[0] = 0;
  in_.pot_turns[0] = 0.4;
  run(5);
  EXPECT_EQ(machine_.state(), SafetyState::kActive) << "compared with where it stood still";
}

TEST_F(SafetyTest, AWeakTorqueNeedNotMoveAnything) {
  activate();
  in_.count_speed[0] = in_.qd[0] = 0;
  in_.torque_command[0] = 40;
  in_.pot_fresh[0] = false;
  run(5000);
  EXPECT_EQ(machine_.state(), SafetyState::kActive);
}

TEST_F(SafetyTest, ALateCycleDoesNotEndARamp) {
  activate();
  const auto before = in_.torque_command;
  in_.period = 0.8;  // longer than the ramp; the deadline's fault is a ramp too
  const SafetyOutputs first = run(1);
  EXPECT_EQ(machine_.cause().fault, Fault::kDeadlineMissed);
  EXPECT_NEAR(first.torque[0], before[0], 1e-9);
  in_.period = kPeriod;
  EXPECT_GT(run(1).torque[0], 0.95 * before[0]);
  in_.period = 0.8;
  EXPECT_GT(run(1).torque[0], 0.9 * before[0]);
}

TEST_F(SafetyTest, AnImpossiblePeriodDoesNotStopARamp) {
  activate();
  in_.thermal = 1;
  run(1);
  in_.period = 0;
  run(125);
  in_.period = kNan;
  run(126);
  expect_cut(run(1));
}

}  // namespace
}  // namespace ga_hardware
