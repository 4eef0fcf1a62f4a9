// SPDX-License-Identifier: Apache-2.0

// How an arm is powered and let go: delays, the arm-power input, brakes that a person switches.

#include <algorithm>
#include <cmath>
#include <cstdio>

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

  /// Cycles in which the arm-power input shows what the output switches.
  void run_powered(int cycles) {
    in_.power_known = true;
    for (int k = 0; k < cycles; ++k) {
      out_ = machine_.update(in_);
      in_.power_present = out_.power;
    }
  }
  double largest_step(const SafetyOutputs& before) const {
    double step = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      const double change = std::abs(out_.torque[i] - before.torque[i]);
      step = std::max(step, change / settings_.joints[i].max_torque);
    }
    return step;
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
  expect_passed(run(100));
}

// A person, or a slow brake, keeps the arm where it is while its command goes on and grows.
TEST_F(SafetyStart, TheTorqueBlendsToTheCommandWhenTheBrakesOpen) {
  SafetySettings safety;
  safety.brake_delay = 0.05;
  start(safety);
  for (std::size_t i = 0; i < 6; ++i) {
    in_.hold_torque[i] = 0.3 * settings_.joints[i].max_torque;
    in_.torque_command[i] = 0.8 * settings_.joints[i].max_torque;
  }
  ASSERT_GT(until([&] { return !zero(out_); }), 0);
  expect_hold();
  double largest = 0;
  int blended = 0;
  for (int k = 0; k < 200; ++k) {
    const SafetyOutputs before = out_;
    out_ = run(1);
    largest = std::max(largest, largest_step(before));
    if (out_.brakes_released && out_.torque != in_.torque_command) ++blended;
  }
  expect_passed(out_);
  EXPECT_LE(largest, 0.0051) << "half of the limit within 0.1 s";
  EXPECT_NEAR(blended, 100, 2);
  std::printf(
      "brakes open, command 50 %% above the holding torque: %.2f %% per cycle for %d cycles\n",
      100 * largest, blended);
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
  run_powered(10);
  for (int k = 0; k < 100; ++k) {
    in_.power_present = k % 5 != 0;
    run(1);
  }
  EXPECT_EQ(machine_.state(), SafetyState::kActive) << settings_.describe(machine_.cause());
}

// Otherwise a contact that opens for most of the time would never be noticed.
TEST_F(SafetyStart, ALooseContactAddsUp) {
  start({});
  run_powered(10);
  int cycles = 0;
  for (; cycles < 1000 && machine_.state() == SafetyState::kActive; ++cycles) {
    in_.power_present = cycles % 6 == 0;
    out_ = machine_.update(in_);
  }
  EXPECT_EQ(machine_.cause().fault, Fault::kPowerLost) << settings_.describe(machine_.cause());
  EXPECT_LE(cycles, 10);
  expect_cut(out_);
  std::printf("arm power absent in 5 of 6 cycles: power-lost after %d cycles\n", cycles);
}

TEST_F(SafetyStart, PowerThatDoesNotGoOffIsAFaultBeforeTheStart) {
  ASSERT_TRUE(machine_.open());
  in_.power_known = in_.power_present = true;
  const int cycles = until([&] { return machine_.state() == SafetyState::kFault; });
  EXPECT_NEAR(cycles, 501, 1);
  const FaultRecord& cause = machine_.cause();
  EXPECT_EQ(cause.fault, Fault::kPowerStuck);
  const std::string text = settings_.describe(cause);
  EXPECT_NE(text.find("welded contact, a broken wire"), std::string::npos) << text;
  std::printf("%-38s %-18s %-10s %14d %14s  %s\n", "power shown while it is off",
              to_string(cause.fault), to_string(reaction_to(cause.fault)), cycles, "never on",
              text.c_str());
  EXPECT_FALSE(machine_.calibrated());
  EXPECT_TRUE(machine_.clear_faults());
  run(1000);
  EXPECT_EQ(machine_.cause().fault, Fault::kPowerStuck) << "again, until it is repaired";
  in_.power_present = false;
  EXPECT_TRUE(machine_.clear_faults());
  run(1000);
  EXPECT_EQ(machine_.state(), SafetyState::kReady);
}

TEST_F(SafetyStart, EveryStartWaitsUntilThePowerIsSeenOff) {
  for (const bool brakes_wired : {true, false}) {
    SCOPED_TRACE(brakes_wired);
    start({}, brakes_wired);
    run_powered(10);
    ASSERT_TRUE(out_.power);
    ASSERT_TRUE(machine_.deactivate());
    run_powered(300);
    ASSERT_EQ(machine_.state(), SafetyState::kCalibrated);
    in_.power_present = true;  // a contactor that lets go late, or never
    ASSERT_TRUE(machine_.activate());
    expect_cut(run(200));
    EXPECT_EQ(machine_.state(), SafetyState::kActive);
    in_.power_present = false;
    run_powered(10);
    EXPECT_TRUE(out_.power);
    EXPECT_FALSE(zero(out_));
    ASSERT_TRUE(machine_.deactivate());
    run_powered(300);
    in_.power_present = true;
    ASSERT_TRUE(machine_.activate());
    expect_cut(run(600));
    EXPECT_EQ(machine_.cause().fault, Fault::kPowerStuck);
  }
}

TEST_F(SafetyStart, PowerThatAPersonSwitchesMayBeOnBeforeTheStart) {
  start({});
  in_.power_known = in_.power_present = true;
  in_.power_switched = false;
  expect_passed(run(1000));
}

TEST_F(SafetyStart, NothingMovesWhenThePowerReturns) {
  start({});
  run_powered(10);
  in_.power_present = false;
  out_ = run(7);
  EXPECT_EQ(machine_.cause().fault, Fault::kPowerLost);
  expect_cut(out_);
  in_.power_present = true;
  expect_cut(run(400));
  in_.power_present = false;
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
    run(90);
    in_.torque_command[0] = 10;
    run(10);
  }
  EXPECT_EQ(machine_.state(), SafetyState::kActive) << settings_.describe(machine_.cause());
}

// An observer that expects acceleration shows a velocity, also where nothing moves.
TEST_F(SafetyStart, AStallIsSeenByThePosition) {
  start({});
  run(10);
  in_.qd[0] = 0.3;
  in_.torque_command[0] = 90;
  run(90);
  in_.q[0] += 2e-3;
  run(90);
  EXPECT_EQ(machine_.state(), SafetyState::kActive) << "it moves a little";
  run(15);
  EXPECT_EQ(machine_.cause().fault, Fault::kStall) << settings_.describe(machine_.cause());
}

TEST_F(SafetyStart, APersonOpensTheBrakesAndClosesThem) {
  SafetySettings safety;
  safety.manual_stop_time = 3;
  start(safety);
  out_ = run(1000);
  EXPECT_EQ(machine_.brake_request(), BrakeRequest::kOpen);
  expect_hold();
  EXPECT_FALSE(out_.brakes_released);
  EXPECT_TRUE(machine_.keeps_position()) << "while the person opens them";
  machine_.confirm_brakes();
  out_ = run(110);
  expect_passed(out_);
  EXPECT_EQ(machine_.brake_request(), BrakeRequest::kNone);
  EXPECT_FALSE(machine_.keeps_position());

  ASSERT_TRUE(machine_.deactivate());
  out_ = run(1000);
  EXPECT_EQ(machine_.brake_request(), BrakeRequest::kClose);
  EXPECT_TRUE(machine_.keeps_position());
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

// The caller's holding torque becomes that of another law one cycle after the stop has begun.
TEST_F(SafetyStart, TheHoldThatKeepsThePositionBeginsWithoutAStep) {
  SafetySettings safety;
  safety.manual_stop_time = 3;
  start(safety);
  run(10);
  machine_.confirm_brakes();
  out_ = run(200);
  ASSERT_TRUE(machine_.deactivate());
  double largest = 0;
  for (int k = 0; k < 500; ++k) {
    const SafetyOutputs before = out_;
    const double share = machine_.keeps_position() ? 0.4 : 0.05;
    for (std::size_t i = 0; i < 6; ++i) {
      in_.hold_torque[i] = share * settings_.joints[i].max_torque;
    }
    out_ = run(1);
    largest = std::max(largest, largest_step(before));
  }
  expect_hold();
  EXPECT_LE(largest, 0.3 * (1 - std::exp(-0.001 / 0.02)) + 1e-3) << "it blends with 20 ms";
}

// Stiffness would drive an arm away whose position, or whose answer to torque, is not as it seems.
TEST_F(SafetyStart, DoubtfulPositionsAreNotKept) {
  const struct {
    Fault fault;
    bool kept;
    void (*cause)(SafetyInputs&);
  } stops[] = {
      {Fault::kThermal, true, [](SafetyInputs& in) { in.thermal = 1; }},
      {Fault::kGuardLost, true, [](SafetyInputs& in) { in.guard_lost = true; }},
      {Fault::kAdTimeout, false, [](SafetyInputs& in) { in.ad_timeout = true; }},
      {Fault::kFollowingError, false, [](SafetyInputs& in) { in.following_error[1] = 0.2; }},
      {Fault::kStall, false,
       [](SafetyInputs& in) {
         in.qd[0] = 0;
         in.torque_command[0] = 90;
       }},
  };
  for (const auto& stop : stops) {
    SCOPED_TRACE(to_string(stop.fault));
    SafetySettings safety;
    safety.manual_stop_time = 3;
    start(safety);
    run(10);
    machine_.confirm_brakes();
    run(200);
    stop.cause(in_);
    run(150);
    EXPECT_EQ(machine_.cause().fault, stop.fault);
    EXPECT_EQ(machine_.brake_request(), BrakeRequest::kClose);
    EXPECT_EQ(machine_.keeps_position(), stop.kept);
  }
}

TEST_F(SafetyStart, NobodyClosesBrakesThatNobodyWasAskedToOpen) {
  SafetySettings safety;
  safety.manual_stop_time = 3;
  safety.power_delay = 0.5;
  start(safety);
  run(100);
  ASSERT_EQ(machine_.brake_request(), BrakeRequest::kNone);
  ASSERT_TRUE(machine_.deactivate());
  EXPECT_EQ(machine_.brake_request(), BrakeRequest::kNone);
  EXPECT_LE(until([&] { return machine_.state() == SafetyState::kCalibrated; }), 252);
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
