// SPDX-License-Identifier: Apache-2.0

// When the driver powers the arm, holds it, lets it go, and what it tells its guard.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <thread>

#include "ga_dynamics/dynamics.hpp"
#include "process/guard.hpp"
#include "runtime/arm_driver.hpp"

namespace puma_hardware {
namespace {

using Six = std::array<double, 6>;
constexpr double kPeriod = 0.001;
constexpr int kPower = 2, kBrake = 9;

ArmDriverOptions patient() {
  ArmDriverOptions options;
  options.period = kPeriod;
  options.guard_timeout = 60;
  return options;
}

/// A driver and the emulated arm in this process.
struct Driven {
  explicit Driven(bool brakes_wired, Heartbeat* heartbeat = nullptr)
      : Driven(brakes_wired ? Parameters{{"pcl726.brake_output", std::to_string(kBrake)}}
                            : Parameters{},
               default_emulated_arm(), heartbeat) {}
  Driven(const Parameters& parameters, const emulator::EmulatedArmOptions& options,
         Heartbeat* heartbeat = nullptr)
      : robot(ga_dynamics::Chain::from_urdf_file(PUMA_URDF), parameters, Bus::kPrivate, "",
              options),
        driver(robot, heartbeat, patient()) {
    idle();
  }

  void idle(int cycles = 1) {
    for (int k = 0; k < cycles; ++k) {
      driver.read(kPeriod);
      driver.idle();
    }
  }
  /// Commands what balances gravity.
  void drive(int cycles = 1) {
    for (int k = 0; k < cycles; ++k) {
      Six torque;
      dynamics.gravity(truth(), torque);
      driver.read(kPeriod);
      driver.command(torque, 0);
    }
  }
  Six truth() {
    Six q;
    std::copy_n(robot.arm()->plant().q().begin(), 6, q.begin());
    return q;
  }
  void know_position() { ASSERT_TRUE(driver.arm().set_position(truth())); }
  SafetyState state() const { return driver.arm().safety().state(); }
  double largest_volts() {
    double largest = 0;
    for (int joint = 0; joint < 6; ++joint) {
      largest = std::max(largest, std::abs(robot.cards()->output_volts(joint)));
    }
    return largest;
  }

  Robot robot;
  ArmDriver driver;
  ga_dynamics::Dynamics dynamics{robot.chain()};
};

TEST(ArmDriver, PowersAnArmWithWiredBrakesAsSoonAsItIsAllowed) {
  Driven arm(true);
  arm.driver.allow_power(true);
  arm.idle(10);
  EXPECT_EQ(arm.state(), SafetyState::kReady) << "not before its position is known";
  EXPECT_FALSE(arm.robot.cards()->digital_output(kPower));
  arm.know_position();
  const Six before = arm.truth();
  arm.idle();
  EXPECT_EQ(arm.state(), SafetyState::kActive);
  arm.idle(1000);
  EXPECT_EQ(arm.state(), SafetyState::kActive);
  EXPECT_TRUE(arm.driver.busy());
  EXPECT_TRUE(arm.robot.cards()->digital_output(kPower));
  EXPECT_FALSE(arm.robot.cards()->digital_output(kBrake)) << "on until there is a command";
  arm.drive(500);
  EXPECT_TRUE(arm.robot.cards()->digital_output(kBrake));
  EXPECT_GT(arm.largest_volts(), 0.1);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(arm.truth()[i], before[i], 1e-3) << i;
}

TEST(ArmDriver, DoesNotPowerAnArmThatItMayNot) {
  Driven arm(true);
  arm.know_position();
  arm.idle(10);
  arm.drive();
  EXPECT_EQ(arm.state(), SafetyState::kCalibrated);
  EXPECT_FALSE(arm.driver.busy());
  EXPECT_FALSE(arm.robot.cards()->digital_output(kPower));
}

TEST(ArmDriver, WaitsForACommandWhereTheBrakesFollowThePower) {
  Driven arm(false);
  arm.driver.allow_power(true);
  arm.know_position();
  arm.idle(10);
  EXPECT_EQ(arm.state(), SafetyState::kCalibrated);
  EXPECT_FALSE(arm.robot.cards()->digital_output(kPower));
  arm.drive();
  EXPECT_EQ(arm.state(), SafetyState::kActive);
  arm.drive();
  EXPECT_TRUE(arm.robot.cards()->digital_output(kPower));
}

TEST(ArmDriver, StopsOverTheNextCyclesAndStaysOff) {
  Driven arm(true);
  arm.driver.allow_power(true);
  arm.know_position();
  arm.drive(500);
  ASSERT_GT(arm.largest_volts(), 0.1);
  arm.driver.allow_power(false);
  arm.driver.stop();
  EXPECT_TRUE(arm.driver.busy()) << "a ramp, no cut";
  const double ramp = arm.robot.settings().safety.ramp_time;
  arm.idle(static_cast<int>(2 * ramp / kPeriod));
  EXPECT_FALSE(arm.driver.busy());
  EXPECT_EQ(arm.state(), SafetyState::kCalibrated);
  EXPECT_EQ(arm.largest_volts(), 0);
  EXPECT_FALSE(arm.robot.cards()->digital_output(kPower));
}

TEST(ArmDriver, CutsAtOnce) {
  Driven arm(true);
  arm.driver.allow_power(true);
  arm.know_position();
  arm.drive(500);
  ASSERT_GT(arm.largest_volts(), 0.1);
  arm.driver.cut();
  EXPECT_EQ(arm.largest_volts(), 0);
  EXPECT_FALSE(arm.robot.cards()->digital_output(kPower));
  EXPECT_FALSE(arm.robot.cards()->digital_output(kBrake));
  arm.idle(10);
  EXPECT_EQ(arm.largest_volts(), 0) << "and does not come back";
}

TEST(ArmDriver, AFaultWithdrawsThePermissionToPowerTheArm) {
  Driven arm(true);
  arm.driver.allow_power(true);
  arm.know_position();
  arm.drive(500);
  ASSERT_EQ(arm.state(), SafetyState::kActive);
  arm.driver.arm().emergency_stop();
  arm.idle();
  ASSERT_EQ(arm.state(), SafetyState::kFault);
  ASSERT_TRUE(arm.driver.arm().safety().clear_faults());
  arm.idle(10);
  arm.drive(10);
  EXPECT_EQ(arm.state(), SafetyState::kCalibrated) << "not without a new request";
  EXPECT_FALSE(arm.robot.cards()->digital_output(kPower));
  EXPECT_EQ(arm.largest_volts(), 0);
  arm.driver.allow_power(true);
  arm.idle();
  EXPECT_EQ(arm.state(), SafetyState::kActive);
}

class GuardedDriver : public testing::Test {
 protected:
  ~GuardedDriver() override { Heartbeat::remove(name_); }
  std::string name_ = "driver_" + std::to_string(getpid());
  Heartbeat heartbeat_{name_}, seen_{name_};

  /// Is the guard of an arm.
  void watch(const Driven& arm) {
    heartbeat_.watch(cut_settings(arm.robot.settings().cards.pcl726), 100'000'000);
    heartbeat_.guard_beat();
  }
  void start_watched(Driven& arm) {
    watch(arm);
    ASSERT_TRUE(arm.driver.arm_guard());
    arm.driver.allow_power(true);
    arm.know_position();
  }
};

TEST_F(GuardedDriver, IsWatchedUntilItHasStopped) {
  Driven arm(true, &heartbeat_);
  start_watched(arm);
  arm.drive(100);
  ASSERT_EQ(arm.state(), SafetyState::kActive);
  EXPECT_TRUE(seen_.armed());
  arm.driver.allow_power(false);
  arm.driver.stop();
  arm.idle(5);
  EXPECT_TRUE(seen_.armed()) << "while it ramps down";
  arm.idle(static_cast<int>(2 * arm.robot.settings().safety.ramp_time / kPeriod));
  EXPECT_FALSE(seen_.armed());
}

TEST_F(GuardedDriver, GoesOnWithoutAGuardThatWasNotArmed) {
  Driven arm(true, &heartbeat_);
  arm.driver.allow_power(true);
  arm.know_position();
  arm.idle(10);
  EXPECT_FALSE(seen_.armed()) << "only arm_guard() does that";
  EXPECT_EQ(arm.state(), SafetyState::kActive);
}

TEST_F(GuardedDriver, IsNotPoweredWithoutAGuard) {
  Driven arm(true, &heartbeat_);
  EXPECT_NE(arm.driver.power_refusal().find("no guard is running"), std::string::npos);
  EXPECT_FALSE(arm.driver.arm_guard());
  EXPECT_FALSE(seen_.armed());
  EXPECT_NE(arm.driver.arm_refusal().find("no guard is running"), std::string::npos);
  watch(arm);
  EXPECT_EQ(arm.driver.power_refusal(), "");
  EXPECT_TRUE(arm.driver.arm_guard());
  EXPECT_TRUE(seen_.armed());
}

TEST_F(GuardedDriver, StaysWatchedFromOneMotionToTheNext) {
  Driven arm(true, &heartbeat_);
  watch(arm);
  arm.driver.keep_guard(true);
  ASSERT_TRUE(arm.driver.arm_guard());
  arm.know_position();
  for (int motion = 0; motion < 2; ++motion) {
    arm.driver.allow_power(true);
    arm.drive(100);
    arm.driver.allow_power(false);
    arm.driver.stop();
    arm.idle(600);
    EXPECT_FALSE(arm.driver.busy());
    EXPECT_TRUE(seen_.armed());
  }
  arm.driver.keep_guard(false);
  EXPECT_FALSE(seen_.armed());
}

TEST_F(GuardedDriver, StopsWhenItsHeartbeatWasRemoved) {
  Driven arm(true, &heartbeat_);
  start_watched(arm);
  arm.drive(300);
  ASSERT_EQ(arm.state(), SafetyState::kActive);
  Heartbeat::remove(name_);
  for (int k = 0; k < 2000 && arm.state() == SafetyState::kActive; ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    arm.drive();
  }
  EXPECT_EQ(arm.driver.arm().safety().cause().fault, Fault::kClaimLost);
  EXPECT_EQ(arm.driver.arm().safety().reaction(), Reaction::kRampDown);
}

// A person needs seconds to close the brakes. Until then, an unknown payload must not sink.
TEST(ArmDriver, APersonAtTheBrakesHasTimeAlsoWithAPayload) {
  for (const bool opening : {true, false}) {
    SCOPED_TRACE(opening ? "start" : "stop");
    emulator::EmulatedArmOptions options = default_emulated_arm();
    options.start = {0, -0.2, 1.4, 0, 0, 0};
    options.payload = 2.5;
    Driven arm(Parameters{{"manual_power", "true"}}, options);
    arm.robot.cards()->set_hand_switches(true, false);
    arm.know_position();
    arm.driver.allow_power(true);
    arm.drive(200);
    ASSERT_EQ(arm.driver.arm().brake_request(), BrakeRequest::kOpen);
    arm.robot.cards()->set_hand_switches(true, true);
    if (!opening) {
      arm.driver.arm().confirm_brakes();
      arm.drive(20);
      arm.driver.allow_power(false);
      arm.driver.stop();
    }
    const Six before = arm.truth();
    const double speed = arm.robot.arm()->plant().qd()[1];
    opening ? arm.drive(9000) : arm.idle(9000);
    EXPECT_EQ(arm.driver.arm().brake_request(),
              opening ? BrakeRequest::kOpen : BrakeRequest::kClose);
    double moved = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      moved = std::max(moved, std::abs(arm.truth()[i] - before[i]));
    }
    std::printf("%s by hand, 2.5 kg unknown, from %.3f rad/s: %.1f mrad within 9 s\n",
                opening ? "start" : "stop", speed, 1e3 * moved);
    EXPECT_LT(moved, 0.03);
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_LT(std::abs(arm.robot.arm()->plant().qd()[i]), 1e-3) << "it stands";
    }
  }
}

TEST_F(GuardedDriver, StopsWhenTheGuardTrips) {
  Driven arm(true, &heartbeat_);
  start_watched(arm);
  arm.drive(100);
  ASSERT_GT(arm.largest_volts(), 0.1);
  ASSERT_FALSE(arm.driver.tripped());
  seen_.trip();
  arm.idle();
  EXPECT_TRUE(arm.driver.tripped());
  EXPECT_EQ(arm.largest_volts(), 0);
  EXPECT_EQ(arm.driver.arm().safety().cause().fault, Fault::kGuardCut);
}

}  // namespace
}  // namespace puma_hardware
