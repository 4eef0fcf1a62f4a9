// SPDX-License-Identifier: Apache-2.0

// Every check, its reaction, its record and its message.

#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "safety_fixture.hpp"

namespace ga_hardware {
namespace {

struct Case {
  const char* name;
  Fault fault;
  int joint;
  double value, threshold;
  int cycles;  ///< until it trips
  std::function<void(SafetyInputs&)> cause;
};

std::vector<Case> cases() {
  return {
      {"thermal switch of joint 3", Fault::kThermal, 2, 1, 0, 1, [](auto& in) { in.thermal = 4; }},
      {"count jump of joint 4", Fault::kEncoderJump, 3, 338, 16.02, 1,
       [](auto& in) { in.count_speed[3] = 338; }},
      {"count speed no number", Fault::kEncoderJump, 3, kNan, 16.02, 1,
       [](auto& in) { in.count_speed[3] = kNan; }},
      {"frozen encoder, potentiometer moves", Fault::kEncoderFrozen, 0, 0.3, 0.25, 3,
       [n = 0](auto& in) mutable {
         in.count_speed[0] = 0;
         in.torque_command[0] = 60;
         in.pot_turns[0] = 0.15 * n++;
       }},
      {"frozen encoder, no potentiometer", Fault::kEncoderFrozen, 0, 60, 48.8, 251,
       [](auto& in) {
         in.count_speed[0] = 0;
         in.torque_command[0] = 60;
         in.pot_fresh[0] = false;
       }},
      {"potentiometer off by half a turn", Fault::kPotMismatch, 4, -0.5, 0.45, 1,
       [](auto& in) { in.pot_turns[4] = -0.5; }},
      {"overspeed of joint 2", Fault::kOverspeed, 1, -1.9, 1.812, 1,
       [](auto& in) { in.qd[1] = -1.9; }},
      {"speed no number", Fault::kOverspeed, 1, kNan, 1.812, 1, [](auto& in) { in.qd[1] = kNan; }},
      {"soft limit of joint 5", Fault::kSoftLimit, 4, 1.72, 1.7103, 1,
       [](auto& in) { in.q[4] = 1.72; }},
      {"soft limit below", Fault::kSoftLimit, 4, -1.72, -1.7103, 1,
       [](auto& in) { in.q[4] = -1.72; }},
      {"hard limit of joint 5", Fault::kHardLimit, 4, 1.75, 1.7453, 1,
       [](auto& in) { in.q[4] = 1.75; }},
      {"hard limit below", Fault::kHardLimit, 4, -1.75, -1.7453, 1,
       [](auto& in) { in.q[4] = -1.75; }},
      {"position no number", Fault::kHardLimit, 4, kNan, -1.7453, 1,
       [](auto& in) { in.q[4] = kNan; }},
      {"three A/D time-outs", Fault::kAdTimeout, -1, 3, 3, 3,
       [](auto& in) { in.ad_timeout = true; }},
      {"old command", Fault::kCommandTimeout, -1, 0.011, 0.010, 1,
       [](auto& in) { in.command_age = 0.011; }},
      {"age no number", Fault::kCommandTimeout, -1, kNan, 0.010, 1,
       [](auto& in) { in.command_age = kNan; }},
      {"torque no number", Fault::kTorqueNotFinite, 5, kNan, 21.3, 1,
       [](auto& in) { in.torque_command[5] = kNan; }},
      {"infinite torque", Fault::kTorqueNotFinite, 5, kInfinity, 21.3, 1,
       [](auto& in) { in.torque_command[5] = kInfinity; }},
      {"torque of 1.6 times the limit", Fault::kTorqueExcessive, 2, -143.04, 134.1, 1,
       [](auto& in) { in.torque_command[2] = -143.04; }},
      {"three late cycles", Fault::kDeadlineMissed, -1, 1.6e-3, 1.5e-3, 3,
       [](auto& in) { in.period = 1.6e-3; }},
      {"a gap of five cycles", Fault::kDeadlineMissed, -1, 5e-3, 1.5e-3, 1,
       [](auto& in) { in.period = 5e-3; }},
      {"lost card", Fault::kCardLost, -1, 0x300, 0, 1,
       [](auto& in) {
         in.card_lost = true;
         in.lost_card = 0x300;
       }},
      {"lost guard", Fault::kGuardLost, -1, 1, 0, 1, [](auto& in) { in.guard_lost = true; }},
      {"the guard has cut", Fault::kGuardCut, -1, 1, 0, 1, [](auto& in) { in.guard_cut = true; }},
      {"power gone for 6 ms", Fault::kPowerLost, -1, 0.006, 0.005, 7,
       [n = 0](auto& in) mutable {
         in.power_known = true;
         in.power_present = n++ == 0;
       }},
      {"power does not come", Fault::kPowerLost, -1, kNan, 0.5, 501,
       [](auto& in) { in.power_known = true; }},
      {"others are not kept off the arm", Fault::kClaimLost, -1, 1, 0, 1,
       [](auto& in) { in.claim_lost = true; }},
      {"stall of joint 1", Fault::kStall, 0, 90, 87.84, 101,
       [](auto& in) {
         in.qd[0] = 0;
         in.torque_command[0] = 90;
       }},
      {"joint 3 away from its reference", Fault::kFollowingError, 2, -0.16, 0.15, 1,
       [](auto& in) { in.following_error[2] = -0.16; }},
      {"emergency stop", Fault::kEmergencyStop, -1, 1, 0, 1,
       [](auto& in) { in.emergency_stop = true; }},
  };
}

// Every fault, its reaction, and the number of cycles until it.
TEST_F(SafetyTest, EveryFaultHasItsReaction) {
  std::printf("%-38s %-18s %-10s %14s %14s  %s\n", "cause", "fault", "reaction", "cycles to it",
              "cycles to 0 V", "message");
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    machine_ = settings_.machine();
    in_ = healthy(settings_);
    activate();
    in_.hold_available = true;
    auto cause = c.cause;
    SafetyOutputs out = run(1), before;
    int cycles = 0;
    while (machine_.fault_count() == 0 && cycles < 1000) {
      before = out;
      cause(in_);
      out = machine_.update(in_);
      ++cycles;
    }
    EXPECT_NEAR(cycles, c.cycles, c.cycles > 100 ? 1 : 0) << "sums of time round";
    ASSERT_GE(machine_.fault_count(), 1);
    const FaultRecord record = machine_.fault(0);
    EXPECT_EQ(record.fault, c.fault) << settings_.describe(record);
    EXPECT_EQ(record.joint, c.joint);
    if (std::isfinite(c.value)) {
      EXPECT_NEAR(record.value, c.value, 1e-9);
    }
    EXPECT_NEAR(record.threshold, c.threshold, 1e-4);
    EXPECT_EQ(record.cycle, 6u + static_cast<unsigned>(cycles));

    const Reaction reaction = reaction_to(c.fault);
    EXPECT_EQ(machine_.cause().fault, reaction == Reaction::kLimit ? Fault::kNone : c.fault);
    EXPECT_EQ(machine_.state(),
              reaction == Reaction::kLimit ? SafetyState::kActive : SafetyState::kFault);
    if (reaction == Reaction::kCut) expect_cut(out);
    if (reaction == Reaction::kRampDown) {
      EXPECT_FALSE(out.brakes_released);
      EXPECT_TRUE(out.power);
    }
    if (reaction == Reaction::kHold) {
      EXPECT_TRUE(out.brakes_released);
    }
    if (reaction == Reaction::kHold || reaction == Reaction::kRampDown) {
      const bool wrong = c.fault == Fault::kTorqueNotFinite || c.fault == Fault::kTorqueExcessive;
      const double left = wrong ? 0 : std::exp(-(in_.period - kPeriod) / 0.02);
      for (std::size_t i = 0; i < 6; ++i) {
        const double hold = in_.hold_torque[i];
        EXPECT_NEAR(out.torque[i], hold + left * (before.torque[i] - hold), 1e-9)
            << "it begins with the torque before, unless that is wrong or old";
      }
    }
    in_ = healthy(settings_);
    in_.hold_available = true;
    int to_zero = 1;
    while (!zero(out) && to_zero < 5000 && reaction != Reaction::kLimit) {
      out = machine_.update(in_);
      ++to_zero;
    }
    if (reaction != Reaction::kLimit) {
      expect_cut(out);
      EXPECT_EQ(machine_.cause().fault, c.fault) << "latched";
    }
    const std::string zero_in =
        reaction == Reaction::kLimit ? "continues" : std::to_string(to_zero);
    EXPECT_LE(to_zero, reaction == Reaction::kCut        ? 1
                       : reaction == Reaction::kRampDown ? 252
                                                         : 2253);
    std::printf("%-38s %-18s %-10s %14d %14s  %s\n", c.name, to_string(c.fault),
                to_string(reaction), cycles, zero_in.c_str(), settings_.describe(record).c_str());

    // Latched until the user clears it; then calibrated, or not.
    if (reaction == Reaction::kLimit) continue;
    expect_cut(run(100));
    EXPECT_FALSE(machine_.activate());
    EXPECT_TRUE(machine_.clear_faults());
    EXPECT_EQ(machine_.state(),
              spoils_calibration(c.fault) ? SafetyState::kReady : SafetyState::kCalibrated);
    EXPECT_EQ(machine_.fault_count(), 0);
    EXPECT_EQ(machine_.cause().fault, Fault::kNone);
  }
}

TEST_F(SafetyTest, RemembersTheFirstSixteen) {
  activate();
  in_.thermal = 63;
  in_.count_speed.fill(1000);
  in_.pot_turns.fill(9);
  in_.qd.fill(100);
  run(10);
  EXPECT_EQ(machine_.fault_count(), 24);
  EXPECT_EQ(machine_.cause().fault, Fault::kThermal);
  EXPECT_EQ(machine_.fault(0).fault, Fault::kThermal);
  EXPECT_NE(machine_.fault(15).fault, Fault::kNone);
  EXPECT_EQ(machine_.fault(16).fault, Fault::kNone);
  EXPECT_EQ(machine_.fault(-1).fault, Fault::kNone);
}

TEST_F(SafetyTest, DescribesFaultsInWords) {
  EXPECT_EQ(settings_.describe({}), "no fault");
  EXPECT_EQ(settings_.describe({Fault::kOverspeed, 1, 2.31, 1.812, 7}),
            "joint2: overspeed: 2.31 rad/s, allowed 1.81");
  EXPECT_EQ(settings_.describe({Fault::kDeadlineMissed, -1, 0.005, 0.0015, 7}),
            "deadline-missed: too many late cycles, the last took 0.005 s, allowed 0.0015");
  EXPECT_EQ(settings_.describe({Fault::kCardLost, -1, 0x2C0, 0, 7}),
            "card-lost: no response from the card at address 0x2c0");
  EXPECT_STREQ(to_string(SafetyState::kCalibrating), "calibrating");
  EXPECT_STREQ(to_string(SafetyState::kFault), "fault");
  EXPECT_STREQ(to_string(Reaction::kRampDown), "ramp down");
}

}  // namespace
}  // namespace ga_hardware
