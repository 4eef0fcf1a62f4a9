// SPDX-License-Identifier: Apache-2.0

// How an arm is powered and let go: delays, the arm-power input, brakes that a person switches.

#include "safety_fixture.hpp"

namespace ga_hardware {
namespace {

class SafetyStart : public SafetyTest {
 protected:
  /// Calibrated and activated with other settings; nothing has run yet.
  void start(const SafetySettings& safety, bool brakes_wired = true) {
    settings_.safety = safety;
    settings_.brakes_wired = brakes_wired;
    machine_ = settings_.machine();
    in_ = healthy(settings_);
    in_.hold_available = true;
    ASSERT_TRUE(machine_.open());
    ASSERT_TRUE(machine_.calibrated());
    ASSERT_TRUE(machine_.activate());
  }
  /// Cycles until the condition holds; the last outputs are in out_.
  template <typename Condition>
  int until(const Condition& condition, int most = 20000) {
    for (int k = 1; k <= most; ++k) {
      out_ = machine_.update(in_);
      if (condition()) return k;
    }
    return -1;
  }
  void expect_hold() const {
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_NEAR(out_.torque[i], in_.hold_torque[i], 1e-9) << i;
    }
  }

  SafetyOutputs out_;
};

TEST_F(SafetyStart, PowerThenTorqueThenBrakes) {
  SafetySettings safety;
  safety.power_delay = 0.1;
  safety.brake_delay = 0.05;
  start(safety);
  EXPECT_EQ(until([&] { return out_.power; }), 1);
  EXPECT_TRUE(zero(out_));
  EXPECT_NEAR(until([&] { return !zero(out_); }), 100, 2);
  expect_hold();
  EXPECT_FALSE(out_.brakes_released);
  EXPECT_NEAR(until([&] { return out_.brakes_released; }), 50, 2);
  expect_passed(out_);
}

TEST_F(SafetyStart, TorqueWaitsForThePower) {
  start({});
  in_.power_known = true;
  run(300);
  out_ = run(1);
  EXPECT_TRUE(out_.power);
  EXPECT_TRUE(zero(out_)) << "the relay has not closed";
  EXPECT_FALSE(out_.brakes_released);
  in_.power_present = true;
  EXPECT_LE(until([&] { return out_.brakes_released; }), 2);
  expect_passed(out_);
}

TEST_F(SafetyStart, BrakesThatFollowThePowerGetTheTorqueFirst) {
  SafetySettings safety;
  safety.power_delay = safety.brake_delay = 1;
  start(safety, false);
  out_ = run(1);
  expect_passed(out_);
}

TEST_F(SafetyStart, AContactMayBounce) {
  start({});
  in_.power_known = in_.power_present = true;
  run(10);
  for (int k = 0; k < 100; ++k) {
    in_.power_present = k % 5 != 0;
    run(1);
  }
  EXPECT_EQ(machine_.state(), SafetyState::kActive) << settings_.describe(machine_.cause());
}

TEST_F(SafetyStart, NothingMovesWhenThePowerReturns) {
  start({});
  in_.power_known = in_.power_present = true;
  run(10);
  in_.power_present = false;
  out_ = run(7);
  EXPECT_EQ(machine_.cause().fault, Fault::kPowerLost);
  expect_cut(out_);
  in_.power_present = true;
  expect_cut(run(5000));
  EXPECT_FALSE(machine_.activate()) << "not before a person has cleared the fault";
  EXPECT_TRUE(machine_.clear_faults());
  expect_cut(run(5000));
  EXPECT_TRUE(machine_.activate()) << "and asks for it";
}

TEST_F(SafetyStart, AShortPushIsNoStall) {
  start({});
  in_.qd[0] = 0;
  for (int k = 0; k < 10; ++k) {
    in_.torque_command[0] = 90;
    run(400);
    in_.torque_command[0] = 10;
    run(10);
  }
  EXPECT_EQ(machine_.state(), SafetyState::kActive) << settings_.describe(machine_.cause());
}

TEST_F(SafetyStart, APersonOpensTheBrakesAndClosesThem) {
  SafetySettings safety;
  safety.manual_stop_time = 3;
  start(safety);
  out_ = run(1000);
  EXPECT_EQ(machine_.brake_request(), BrakeRequest::kOpen);
  expect_hold();
  EXPECT_FALSE(out_.brakes_released);
  machine_.confirm_brakes();
  out_ = run(10);
  expect_passed(out_);
  EXPECT_EQ(machine_.brake_request(), BrakeRequest::kNone);

  ASSERT_TRUE(machine_.deactivate());
  out_ = run(1000);
  EXPECT_EQ(machine_.brake_request(), BrakeRequest::kClose);
  expect_hold();
  EXPECT_TRUE(out_.power);
  machine_.confirm_brakes();
  EXPECT_NEAR(until([&] { return zero(out_); }), 250, 3) << "the ramp";
  EXPECT_EQ(machine_.state(), SafetyState::kCalibrated);
}

TEST_F(SafetyStart, TheTorqueEndsEvenIfNobodyClosesTheBrakes) {
  SafetySettings safety;
  safety.manual_stop_time = 3;
  start(safety);
  run(10);
  machine_.confirm_brakes();
  run(10);
  in_.thermal = 1;  // the fault repeats in every cycle
  out_ = run(1);
  EXPECT_EQ(machine_.brake_request(), BrakeRequest::kClose);
  const int cycles = until([&] { return zero(out_); });
  EXPECT_NEAR(cycles, 3250, 10);
  EXPECT_EQ(machine_.state(), SafetyState::kFault);
}

TEST_F(SafetyStart, ACutDoesNotWaitForAPerson) {
  SafetySettings safety;
  safety.manual_stop_time = 3;
  start(safety);
  run(10);
  machine_.confirm_brakes();
  run(10);
  in_.emergency_stop = true;
  expect_cut(run(1));
}

}  // namespace
}  // namespace ga_hardware
